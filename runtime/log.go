package runtime

import "encoding/binary"

// Log is the log of one hit: the items that programs logged, which are committed after the probed instruction has
// completed. It belongs to one thread. It may contain items of several programs, one after another.
//
// An item is a header word and its fields; all lengths are multiples of 8:
//
//	header   bytes of the item with the header (bits 0–15) | number of the format (16–31) | program (32–63)
//	         the low three bits of the length, which is a multiple of 8, say where the item goes: see deferred.go
//	number   one word: integer, float, boolean
//	text     a word with length | cut<<32, then the bytes, zero-padded; also bytes and stacks
//
// Literal fields of a format take no space.
type Log struct {
	buf      []byte // grows to the amount that the programs of this thread may log, and never shrinks
	n        int    // bytes used
	event    bool   // an exit with an event was logged
	deferred bool   // there may be items that do not go to the host
	open     int    // start of the current item, -1 if there is none
	over     bool   // the current item does not fit, or the last one did not
	mark     int    // where the log of the running program starts
	limit    int    // where it must end
}

// hitSize lets several programs of one place log; each keeps its own limit. A place may have probes of several files;
// 64 KiB is the amount that four programs with the largest log can fill. What exceeds it is counted as "log full" like
// everything else.
const hitSize = 4 * MaxLog

const itemHeader = 8

// Reset empties the log for the next hit.
func (h *Log) Reset() { h.n, h.event, h.deferred, h.open, h.over = 0, false, false, -1, false }

// HasItems reports whether there is anything to commit.
func (h *Log) HasItems() bool { return h.n > 0 }

// HasEvent reports whether an event is among the items, so that a callback must run.
func (h *Log) HasEvent() bool { return h.event }

// Len returns the number of bytes logged.
func (h *Log) Len() int { return h.n }

// start begins the log of one program, which may log up to limit bytes.
func (h *Log) start(limit int) {
	h.mark, h.open, h.over = h.n, -1, false
	h.limit = min(h.n+limit, hitSize)
	if h.limit > len(h.buf) {
		h.grow()
	}
}

// grow makes room up to the limit. It is the only allocation in the path of a hit, and happens a few times in the life
// of a Log. Doubling keeps that number small; programs that log more than before are rarely armed.
func (h *Log) grow() {
	buf := make([]byte, min(max(2*len(h.buf), h.limit), hitSize))
	copy(buf, h.buf[:h.n])
	h.buf = buf
}

// discard removes everything that this program logged.
func (h *Log) discard() { h.n, h.open = h.mark, -1 }

// begin starts an item.
func (h *Log) begin(program, format uint32) {
	h.closeOpen()
	h.open, h.over = h.n, false
	if p := h.room(itemHeader); p != nil {
		binary.LittleEndian.PutUint64(p, uint64(program)<<32|uint64(format&0xffff)<<16)
	}
}

// room reserves n bytes of the log for the current item. It returns nil if they are not available.
func (h *Log) room(n int) []byte {
	if h.over || h.open < 0 || h.n+n > h.limit {
		h.over = true
		return nil
	}
	p := h.buf[h.n : h.n+n]
	h.n += n
	return p
}

// word appends a field of one word.
func (h *Log) word(v uint64) {
	if p := h.room(8); p != nil {
		binary.LittleEndian.PutUint64(p, v)
	}
}

// text appends a field of text.
func (h *Log) text(s []byte, cut bool) {
	padded := (len(s) + 7) &^ 7
	p := h.room(8 + padded)
	if p == nil {
		return
	}
	binary.LittleEndian.PutUint64(p, keyHeader(len(s), cut))
	clear(p[8+copy(p[8:], s):])
}

// end completes an item. It reports false if the item did not fit and was removed.
func (h *Log) end() bool {
	if h.open < 0 {
		return true
	}
	if h.over {
		h.n, h.open = h.open, -1
		return false
	}
	binary.LittleEndian.PutUint16(h.buf[h.open:], uint16(h.n-h.open))
	h.open = -1
	return true
}

// closeOpen removes an item that was begun and not ended, which a trap or an unverified program can leave. Run calls it
// at every end, so that the log always consists of complete items and Commit need not check them.
func (h *Log) closeOpen() {
	if h.open >= 0 {
		h.n, h.open = h.open, -1
	}
}

// itemEnd returns the end of the complete item at an offset.
func (h *Log) itemEnd(at int) int {
	return at + max(itemHeader, int(binary.LittleEndian.Uint16(h.buf[at:])&^whereMask))
}

// lastItem returns the start of this program's last item, or of its log if there is none. The current item counts too.
func (h *Log) lastItem() int {
	if h.open >= 0 {
		return h.open
	}
	last := h.mark
	for at := h.mark; at < h.n; at = h.itemEnd(at) {
		last = at
	}
	return last
}

// takeBack shortens the log of this program to a number of bytes. It reports false if no item begins there.
func (h *Log) takeBack(size uint64) bool {
	if size > uint64(h.n-h.mark) {
		return false
	}
	end, at := h.mark+int(size), h.mark
	for at < end && at != h.open {
		at = h.itemEnd(at)
	}
	if at != end {
		return false
	}
	h.n, h.open, h.over = end, -1, false
	return true
}
