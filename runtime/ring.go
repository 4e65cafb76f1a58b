package runtime

import (
	"encoding/binary"
	"sync/atomic"
)

// The ring carries committed hits to the host. Many threads may write, also threads of other processes that map the
// arena. One thread reads.
//
// Positions count bytes since the creation of the ring. Position p is at offset p % size of the data; size is a power
// of two. Records are 8-byte aligned and do not wrap.
//
//   - A writer loads head and tail. A record that would wrap needs a filler up to the end of the data. If the record
//     and its filler do not fit between head and tail+size, the writer drops the record and counts it. It drops the
//     newest record because the reader may already be reading the committed ones. Otherwise the writer reserves space
//     by a compare-and-swap on head.
//   - The writer fills in everything except the first word and commits by storing that word, which is never 0. A filler
//     has the kind byte 0xff.
//   - The reader loads the first word of the record at tail; 0 means not committed yet. It reads the record, zeroes its
//     bytes, and stores the new tail. So unreserved bytes between head and tail+size are always zero.
//
// Layout of a record: word 0 is size | flags<<32 | kind<<48 | 1<<56. Then follow program, probe, pid and tid (32 bits
// each), time (64 bits), hold and facility number (32 bits each), and comm (16 bytes). Items start at byte 56, see Log.
//
// A reader that finds nothing sets the sleep word, checks again, and sleeps. A writer that has committed swaps the
// sleep word for 0 and wakes the reader only if the word was 1. So hits that log nothing wake nobody, and a busy reader
// is not woken.
type ring struct {
	data                    []byte
	first                   []uint64 // data as words
	head, tail, sleep, lost *uint64
	wake                    chan struct{} // holds at most one token
	size                    uint64
}

const (
	recordHeader = 56
	committed    = uint64(1) << 56
	fillerKind   = uint64(0xff)
)

// init uses arena memory as the data of the ring.
func (r *ring) init(a *Arena, off uint64, size int) {
	r.data = a.bytes[off : off+uint64(size)]
	r.first = a.words[off/8 : (off+uint64(size))/8]
	r.head, r.tail = &a.words[wordRingHead], &a.words[wordRingTail]
	r.sleep, r.lost = &a.words[wordRingSleep], &a.words[wordLostRing]
	r.wake = make(chan struct{}, 1)
	r.size = uint64(size)
}

// Commit makes the log of a hit visible to the host. The engine calls it on the thread that owns the hit, after the
// probed instruction has completed, so that an instruction that faults logs nothing. Without items Commit writes
// nothing and wakes nobody, unless the program asked for a facility. Commit fills in Size and the flags RecordEvent and
// RecordHold of the header. It returns false if the ring was full and the hit was lost and counted. A thread that was
// to be held for that hit must then continue.
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

// commit writes a record to the ring, or counts it as lost.
func (a *Arena) commit(hdr *Header, items []byte) bool {
	hdr.Size = uint32(recordHeader + len(items))
	if !a.ring.put(hdr, items) {
		atomic.AddUint64(a.ring.lost, 1)
		return false
	}
	return true
}

// put writes one record, commits it, and wakes the reader if it sleeps. It returns false if there is no room.
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

// word returns the first word of a record, see the layout at ring.
func (hdr *Header) word() uint64 {
	return uint64(hdr.Size) | uint64(hdr.Flags)<<32 | uint64(hdr.Kind)<<48 | committed
}

// encode writes the header except its first word.
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
		default: // the channel already holds a token
		}
	}
}

// reserve reserves room for a record and returns its offset in the data.
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

// consume zeroes the bytes at the tail and returns them to the writers.
func (r *ring) consume(size uint64) {
	tail := atomic.LoadUint64(r.tail)
	at := tail & (r.size - 1)
	atomic.StoreUint64(&r.first[at/8], 0)
	clear(r.data[at+8 : at+size])
	atomic.StoreUint64(r.tail, tail+size)
}

// resync drops everything that was reserved. It runs after damage, when sizes cannot be trusted any more. It overtakes
// writers that have reserved but not committed. The number of lost records is unknown, so it counts one.
func (r *ring) resync() {
	head, tail := atomic.LoadUint64(r.head), atomic.LoadUint64(r.tail)
	for p := tail; p < head; p += 8 {
		atomic.StoreUint64(&r.first[p&(r.size-1)/8], 0)
	}
	atomic.StoreUint64(r.tail, head)
	atomic.AddUint64(r.lost, 1)
}

// Next removes the oldest record from the ring; ok is false if there is none. Only one goroutine may call it at a time.
// For a record with damaged items Next returns the items before the damage.
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

// Written returns the position up to which the ring has been written, in bytes since its creation; Consumed returns the
// position up to which it has been read. Everything committed before a call of Written has been removed once Consumed
// reaches the value it returned. Any goroutine may call them.
func (a *Arena) Written() uint64 { return atomic.LoadUint64(a.ring.head) }

// Consumed is described at Written.
func (a *Arena) Consumed() uint64 { return atomic.LoadUint64(a.ring.tail) }

// Pending reports whether a record is in the ring or being written to it. Any goroutine may call it.
func (a *Arena) Pending() bool {
	tail := atomic.LoadUint64(a.ring.tail) // loaded first, because head only grows
	return atomic.LoadUint64(a.ring.head) != tail
}

// Wait sleeps until a record is available (true) or done is closed (false). Only the goroutine that calls Next may call
// it.
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
