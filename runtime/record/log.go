package record

import (
	"encoding/binary"

	"gotap/runtime/value"
)

// Log is the log of one hit: the items that programs logged, which are committed after the probed instruction has
// completed. It belongs to one thread. It may contain items of several programs, one after another.
//
// An item is a header word and its fields; all lengths are multiples of 8:
//
//	header   bytes of the item with the header (bits 0–15) | number of the format (16–31) | program (32–63)
//	         the low three bits of the length, which is a multiple of 8, say where the item goes: see Destination
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

// ItemHeader is the size of an item's header in bytes.
const ItemHeader = 8

// Limits of logs.
const (
	DefaultLog = 1024     // bytes of the log of a hit
	MaxLog     = 16 << 10 // bytes logMax may ask for
)

// Reset empties the log for the next hit.
func (h *Log) Reset() { h.n, h.event, h.deferred, h.open, h.over = 0, false, false, -1, false }

// HasItems reports whether there is anything to commit.
func (h *Log) HasItems() bool { return h.n > 0 }

// HasEvent reports whether an event is among the items, so that a callback must run.
func (h *Log) HasEvent() bool { return h.event }

// Len returns the number of bytes logged.
func (h *Log) Len() int { return h.n }

// Start begins the log of one program, which may log up to limit bytes.
func (h *Log) Start(limit int) {
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

// Discard removes everything that this program logged.
func (h *Log) Discard() { h.n, h.open = h.mark, -1 }

// Begin starts an item.
func (h *Log) Begin(program, format uint32) {
	h.CloseOpen()
	h.open, h.over = h.n, false
	if p := h.Room(ItemHeader); p != nil {
		binary.LittleEndian.PutUint64(p, uint64(program)<<32|uint64(format&0xffff)<<16)
	}
}

// Room reserves n bytes of the log for the current item. It returns nil if they are not available.
func (h *Log) Room(n int) []byte {
	if h.over || h.open < 0 || h.n+n > h.limit {
		h.over = true
		return nil
	}
	p := h.buf[h.n : h.n+n]
	h.n += n
	return p
}

// Word appends a field of one word.
func (h *Log) Word(v uint64) {
	if p := h.Room(8); p != nil {
		binary.LittleEndian.PutUint64(p, v)
	}
}

// Text appends a field of text.
func (h *Log) Text(s []byte, cut bool) {
	padded := (len(s) + 7) &^ 7
	p := h.Room(8 + padded)
	if p == nil {
		return
	}
	binary.LittleEndian.PutUint64(p, value.HeaderWord(len(s), cut))
	clear(p[8+copy(p[8:], s):])
}

// End completes an item. It reports false if the item did not fit and was removed.
func (h *Log) End() bool {
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

// CloseOpen removes an item that was begun and not ended, which a trap or an unverified program can leave. Run calls it
// at every end, so that the log always consists of complete items and Commit need not check them.
func (h *Log) CloseOpen() {
	if h.open >= 0 {
		h.n, h.open = h.open, -1
	}
}

// itemEnd returns the end of the complete item at an offset.
func (h *Log) itemEnd(at int) int {
	return at + max(ItemHeader, int(binary.LittleEndian.Uint16(h.buf[at:])&^destinationMask))
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

// TakeBack shortens the log of this program to a number of bytes. It reports false if no item begins there.
func (h *Log) TakeBack(size uint64) bool {
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

// Fail marks the current item as one that does not fit, so that end removes it.
func (h *Log) Fail() { h.over = true }

// Failed reports whether the current item does not fit, or the last one did not.
func (h *Log) Failed() bool { return h.over }

// Used returns the number of bytes that this program has logged.
func (h *Log) Used() int { return h.n - h.mark }

// Limit returns the number of bytes that this program may log in all.
func (h *Log) Limit() int { return h.limit - h.mark }

// Left returns the number of bytes that this program may still log.
func (h *Log) Left() int { return h.limit - h.n }

// Shrink returns the last n bytes that room has reserved.
func (h *Log) Shrink(n int) { h.n -= n }

// SetEvent notes that an exit with an event was logged.
func (h *Log) SetEvent() { h.event = true }

// Last returns the position of this program's last item, or of the current one, counted from its first.
func (h *Log) Last() int { return h.lastItem() - h.mark }

// EndDeferred completes an item that goes to a destination in the arena. It reports false if the item did not fit and
// was removed.
func (h *Log) EndDeferred(to Destination, object uint64) bool {
	h.deferred = true
	h.Word(object)
	at := h.open
	whole := h.End()
	if at >= 0 && h.n > at {
		h.buf[at] |= byte(to)
	}
	return whole
}

// Data returns the number of bytes of data in this program's items: what was read from the target or the program's
// stack, without headers, lengths and padding.
func (h *Log) Data(programs []Program) (n int) {
	for at := h.mark; at < h.n; at = h.itemEnd(at) {
		header := binary.LittleEndian.Uint64(h.buf[at:])
		f := FormatOf(programs, uint32(header>>32), uint32(header>>16&0xffff))
		switch {
		case f == nil:
		case f.Kind == ItemRange || f.Kind == ItemString:
			n += int(uint32(binary.LittleEndian.Uint64(h.buf[at+ItemHeader:])))
		case f.Kind == ItemWords && f.Text == "":
			n += h.itemEnd(at) - at - ItemHeader
		}
	}
	return n
}

// Part is what one program has logged, outside a Log: whole items, and the bytes of the one that is open.
type Part struct {
	Items  []byte // complete items
	InItem bool   // an item is open
	Item   []byte // its bytes so far, with its header
	Full   bool   // that item, or the last one, did not fit
}

// Save moves what the running program has logged to p, whose memory it reuses.
func (h *Log) Save(p *Part) {
	end := h.n
	if p.InItem = h.open >= 0; p.InItem {
		end = h.open
	}
	p.Items = append(p.Items[:0], h.buf[h.mark:end]...)
	p.Item = append(p.Item[:0], h.buf[end:h.n]...)
	p.Full = h.over
	h.Discard()
}

// Restore appends what a program has logged elsewhere, after start. It reports false when that is not a row of whole
// items, or more than the program may log.
func (h *Log) Restore(p *Part) bool {
	if len(p.Items)+len(p.Item) > h.limit-h.mark || !wholeItems(p.Items) || len(p.Item)%8 != 0 || !p.InItem && len(p.Item) > 0 {
		return false
	}
	h.n += copy(h.buf[h.n:], p.Items)
	if p.InItem {
		h.open = h.n
		h.n += copy(h.buf[h.n:], p.Item)
	}
	h.over, h.deferred = p.Full, h.deferred || h.n > h.mark
	return true
}

// wholeItems reports whether a log is a row of items.
func wholeItems(log []byte) bool {
	for len(log) >= ItemHeader {
		size := int(binary.LittleEndian.Uint16(log)) &^ destinationMask
		if size < ItemHeader || size > len(log) {
			return false
		}
		log = log[size:]
	}
	return len(log) == 0
}

// Items returns everything that was logged in the hit.
func (h *Log) Items() []byte { return h.buf[:h.n] }

// HasDeferred reports whether there may be items that do not go to the host.
func (h *Log) HasDeferred() bool { return h.deferred }
