package runtime

import (
	"encoding/binary"
	"sync/atomic"
)

// The ring carries committed hits to the host. Many threads, also of other processes that map
// the arena, may write; one reads.
//
// Positions count bytes since the beginning; position p is at offset p % size of the data, and
// size is a power of two. Records are 8-byte aligned and do not wrap.
//
//   - A writer loads head and tail. If the record, and the filler to the end of the data when the record would wrap, does not
//     fit between head and tail+size, the record is dropped and counted: the newest is what is lost, for what was committed
//     may already be being read. Else it reserves by a compare-and-swap on head.
//   - It writes the record but for its first word, and commits by storing that word, which is never 0. A filler has
//     the kind byte 0xff.
//   - The reader looks at the first word of the record at tail: 0 means that it is not committed yet. It takes the record,
//     zeroes its bytes, and stores the new tail. So bytes between head and tail+size are always zero.
//
// Layout of a record: word 0 is size | flags<<32 | kind<<48 | 1<<56, then program, probe, pid,
// tid (32 bits each), time, hold and the number of the facility (32 bits each), comm; items
// from byte 56 on, see Log.
//
// The reader that finds nothing sets the sleep word, looks again, and sleeps. A writer that has
// committed swaps the sleep word for 0, and only when it was 1 wakes the reader: nothing is
// woken by hits that log nothing, nor while the reader is busy.
type ring struct {
	data                    []byte
	first                   []uint64 // data as words
	head, tail, sleep, lost *uint64
	wake                    chan struct{} // holds one token at most
	size                    uint64
}

const (
	recordHeader = 56
	committed    = uint64(1) << 56
	fillerKind   = uint64(0xff)
)

// init looks at memory of the arena as the data of the ring.
func (r *ring) init(a *Arena, off uint64, size int) {
	r.data = a.bytes[off : off+uint64(size)]
	r.first = a.words[off/8 : (off+uint64(size))/8]
	r.head, r.tail = &a.words[wordRingHead], &a.words[wordRingTail]
	r.sleep, r.lost = &a.words[wordRingSleep], &a.words[wordLostRing]
	r.wake = make(chan struct{}, 1)
	r.size = uint64(size)
}

// Commit makes the log of a hit visible to the host. The engine calls it on the thread that owns the hit when the probed instruction
// has completed, not before, so that an instruction that faults has logged nothing. Without items it writes nothing and wakes nobody,
// unless the program asked for a facility. Size and the flags RecordEvent and RecordHold of the header are filled in. false: the ring
// was full and the hit is lost and counted; a thread that was to be held for it must go on.
func (a *Arena) Commit(hdr Header, h *Log) bool {
	if h.n == 0 && hdr.Kind != ExitFacility {
		return true
	}
	items := h.buf[:h.n]
	if h.deferred {
		if items = a.sortOut(&hdr, items); len(items) == 0 && hdr.Kind != ExitFacility {
			return true
		}
	}
	if h.event {
		hdr.Flags |= RecordEvent
	}
	if hdr.Hold != 0 {
		hdr.Flags |= RecordHold
	}
	return a.commit(&hdr, items)
}

// commit puts a record into the ring, or counts it as lost.
func (a *Arena) commit(hdr *Header, items []byte) bool {
	hdr.Size = uint32(recordHeader + len(items))
	if !a.ring.put(hdr, items) {
		atomic.AddUint64(a.ring.lost, 1)
		return false
	}
	return true
}

// put writes one record, commits it, and wakes the reader if it sleeps. false: there is no room.
func (r *ring) put(hdr *Header, items []byte) bool {
	at, ok := r.reserve(uint64(hdr.Size))
	if !ok {
		return false
	}
	p := r.data[at : at+uint64(hdr.Size)]
	hdr.encode(p)
	copy(p[recordHeader:], items)
	r.publish(at, hdr.word())
	return true
}

// word is the first word of a record: see the layout.
func (hdr *Header) word() uint64 {
	return uint64(hdr.Size) | uint64(hdr.Flags)<<32 | uint64(hdr.Kind)<<48 | committed
}

// encode writes all of the header but the first word.
func (hdr *Header) encode(p []byte) {
	binary.LittleEndian.PutUint32(p[8:], hdr.Program)
	binary.LittleEndian.PutUint32(p[12:], hdr.Probe)
	binary.LittleEndian.PutUint32(p[16:], hdr.Pid)
	binary.LittleEndian.PutUint32(p[20:], hdr.Tid)
	binary.LittleEndian.PutUint64(p[24:], hdr.Time)
	binary.LittleEndian.PutUint32(p[32:], hdr.Hold)
	binary.LittleEndian.PutUint32(p[36:], hdr.Exit)
	copy(p[40:recordHeader], hdr.Comm[:])
}

// publish commits a reserved record by storing its first word, and wakes the reader if it sleeps.
func (r *ring) publish(at, word uint64) {
	atomic.StoreUint64(&r.first[at/8], word)
	if atomic.LoadUint64(r.sleep) != 0 && atomic.SwapUint64(r.sleep, 0) != 0 {
		select {
		case r.wake <- struct{}{}:
		default: // a token is there already
		}
	}
}

// reserve takes room for a record and returns where it starts in the data.
func (r *ring) reserve(size uint64) (at uint64, ok bool) {
	for {
		head, tail := atomic.LoadUint64(r.head), atomic.LoadUint64(r.tail)
		at = head & (r.size - 1)
		need, filler := size, uint64(0)
		if at+size > r.size {
			filler = r.size - at
			need += filler
		}
		if need > r.size-(head-tail) {
			return 0, false
		}
		if !atomic.CompareAndSwapUint64(r.head, head, head+need) {
			continue
		}
		if filler != 0 {
			atomic.StoreUint64(&r.first[at/8], filler|fillerKind<<48|committed)
			at = 0
		}
		return at, true
	}
}

// peek returns the committed record at the tail, without consuming it.
func (r *ring) peek() (record []byte, word uint64) {
	for {
		at := atomic.LoadUint64(r.tail) & (r.size - 1)
		word = atomic.LoadUint64(&r.first[at/8])
		if word == 0 {
			return nil, 0
		}
		size := word & 0xffff_ffff
		if size < 8 || size%8 != 0 || at+size > r.size {
			return nil, word // damaged; the caller resynchronises
		}
		if word>>48&0xff != fillerKind {
			return r.data[at : at+size], word
		}
		r.consume(size)
	}
}

// consume zeroes the bytes at the tail and gives them back to writers.
func (r *ring) consume(size uint64) {
	tail := atomic.LoadUint64(r.tail)
	at := tail & (r.size - 1)
	atomic.StoreUint64(&r.first[at/8], 0)
	clear(r.data[at+8 : at+size])
	atomic.StoreUint64(r.tail, tail+size)
}

// resync drops all that was reserved, after damage: sizes cannot be trusted any more. Writers
// that reserved and have not committed would be overtaken, so the loss is counted as one
// record, not known better.
func (r *ring) resync() {
	head, tail := atomic.LoadUint64(r.head), atomic.LoadUint64(r.tail)
	for p := tail; p < head; p += 8 {
		atomic.StoreUint64(&r.first[p&(r.size-1)/8], 0)
	}
	atomic.StoreUint64(r.tail, head)
	atomic.AddUint64(r.lost, 1)
}

// Next takes the oldest record out of the ring; ok is false when there is none. One goroutine
// at a time. A record whose items are damaged comes with the items before the damage.
func (a *Arena) Next() (rec Record, ok bool) {
	p, word := a.ring.peek()
	if word == 0 {
		return Record{}, false
	}
	if len(p) < recordHeader {
		a.ring.resync()
		return Record{}, false
	}
	rec.Header = decodeHeader(p, word)
	rec.Items, _ = decodeItems(p[recordHeader:], *a.programs.Load(), int64(rec.Pid))
	a.ring.consume(uint64(len(p)))
	return rec, true
}

// Written is the position that the ring has been written to, and Consumed the one that it has been read to: bytes since its beginning.
// What was committed before Written was asked has been taken out when Consumed has come as far. Any goroutine may ask.
func (a *Arena) Written() uint64 { return atomic.LoadUint64(a.ring.head) }

// Consumed is described with Written.
func (a *Arena) Consumed() uint64 { return atomic.LoadUint64(a.ring.tail) }

// Pending reports whether a record is in the ring, or on its way into it. Any goroutine may ask.
func (a *Arena) Pending() bool {
	tail := atomic.LoadUint64(a.ring.tail) // first: the head only grows
	return atomic.LoadUint64(a.ring.head) != tail
}

// Wait sleeps until a record is there (true) or done is closed (false). The goroutine that
// calls Next calls it.
func (a *Arena) Wait(done <-chan struct{}) bool {
	r := &a.ring
	for {
		atomic.StoreUint64(r.sleep, 1)
		if _, word := r.peek(); word != 0 {
			atomic.StoreUint64(r.sleep, 0)
			return true
		}
		select {
		case <-r.wake:
		case <-done:
			atomic.StoreUint64(r.sleep, 0)
			return false
		}
	}
}
