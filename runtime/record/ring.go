package record

import (
	"encoding/binary"
	"sync/atomic"
	"time"
)

// Ring carries committed hits to the host. Many threads may write, also threads of other processes that map the
// arena. One thread reads.
//
// Positions count bytes since the creation of the ring. Position p is at offset p % size of the data; size is a power
// of two. Records are 8-byte aligned and do not wrap.
//
//   - A writer loads head and tail. A record that would wrap needs a filler up to the end of the data. If the record
//     and its filler do not fit between head and tail+size, the writer drops the record and counts it. It drops the
//     newest record because the reader may already be reading the committed ones. Otherwise the writer reserves space
//     by a compare-and-swap on head. A writer in another process then stores the size in the first word, so that the
//     reader can skip the record if the writer is killed.
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
// is not woken. The writer may commit by a plain store, which the processor may make visible after the writer has read
// the sleep word. But it reads that after its compare-and-swap on head, which nothing passes. So a writer that does not
// see that the reader sleeps has moved the head before: then the reader finds that something is reserved, and looks
// again after some time (Wait).
//
// A process that maps the arena may write anything anywhere at any time. So the reader keeps its position to itself and
// only tells it to the writers by the tail; nobody uses a size or a position from the ring that has not been checked
// since it was loaded. Such a process can spoil what the ring holds, and nothing else.
type Ring struct {
	data                    []byte
	first                   []uint64 // data as words
	head, tail, sleep, lost *uint64
	read                    *atomic.Uint64 // the position of the reader
	wake                    chan struct{}  // holds at most one token
	size                    uint64
}

// HeaderSize is the size of an encoded Header in bytes.
const HeaderSize = 56

const (
	committed  = uint64(1) << 56
	fillerKind = uint64(0xff)
)

// Words of records, for writers in other processes.
const (
	Committed = committed
	Filler    = fillerKind<<48 | committed // and its size
)

// RingWords are the words that the writers and the reader of a ring share. Those that different sides write are on
// separate cache lines.
type RingWords struct {
	Head  *uint64 // total bytes reserved, by the writers
	Tail  *uint64 // total bytes consumed, by the reader
	Sleep *uint64 // 1: the reader sleeps and must be woken
	Lost  *uint64 // records dropped because the ring was full
}

// NewRing returns a ring on zeroed memory, whose size is a power of two. bytes and words are the same memory.
func NewRing(bytes []byte, words []uint64, shared RingWords) Ring {
	return Ring{data: bytes, first: words, head: shared.Head, tail: shared.Tail, sleep: shared.Sleep, lost: shared.Lost,
		read: new(atomic.Uint64), wake: make(chan struct{}, 1), size: uint64(len(bytes))}
}

// Commit writes a record to the ring, or counts it as lost. It fills in the header's Size.
func (r *Ring) Commit(hdr *Header, items []byte) bool {
	hdr.Size = uint32(HeaderSize + len(items))
	if !r.put(hdr, items) {
		atomic.AddUint64(r.lost, 1)
		return false
	}
	return true
}

// put writes one record, commits it, and wakes the reader if it sleeps. It returns false if there is no room.
func (r *Ring) put(hdr *Header, items []byte) bool {
	at, ok := r.reserve(uint64(hdr.Size))
	if !ok {
		return false
	}
	p := r.data[at : at+uint64(hdr.Size)]
	hdr.encode(p)
	copy(p[HeaderSize:], items)
	r.publish(at, hdr.word())
	return true
}

// publish commits a reserved record by storing its first word, and wakes the reader if it sleeps.
func (r *Ring) publish(at, word uint64) {
	atomic.StoreUint64(&r.first[at/8], word)
	if atomic.LoadUint64(r.sleep) != 0 && atomic.SwapUint64(r.sleep, 0) != 0 {
		r.Wake()
	}
}

// reserve reserves room for a record and returns its offset in the data.
func (r *Ring) reserve(size uint64) (at uint64, ok bool) {
	for range mostTries {
		head, tail := atomic.LoadUint64(r.head), atomic.LoadUint64(r.tail)
		at = head & (r.size - 1)
		need, filler := size, uint64(0)
		if at+size > r.size {
			filler = r.size - at
			need += filler
		}
		if used := head - tail; head%8 != 0 || used > r.size || need > r.size-used {
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
	return 0, false
}

// mostTries is how often a writer tries to reserve space while others are faster. Only a process that does nothing but
// write to head can be faster that often.
const mostTries = 1 << 16

// peek returns the committed record at the tail, without consuming it.
func (r *Ring) peek() (record []byte, word uint64) {
	for {
		at := r.read.Load() & (r.size - 1)
		word = atomic.LoadUint64(&r.first[at/8])
		size := word & 0xffff_ffff
		if word == 0 {
			return nil, 0
		}
		if size < 8 || size%8 != 0 || at+size > r.size {
			return nil, word // damaged; the caller resynchronises
		}
		if word == size && size >= HeaderSize { // it is being written
			return nil, 0
		}
		if word>>48&0xff != fillerKind {
			return r.data[at : at+size], word
		}
		r.consume(size)
	}
}

// consume zeroes the bytes at the tail and returns them to the writers.
func (r *Ring) consume(size uint64) {
	read := r.read.Load()
	at := read & (r.size - 1)
	atomic.StoreUint64(&r.first[at/8], 0)
	clear(r.data[at+8 : at+size])
	r.moveTo(read + size)
}

// moveTo sets the position of the reader.
func (r *Ring) moveTo(at uint64) {
	r.read.Store(at)
	atomic.StoreUint64(r.tail, at)
}

// reserved returns the number of bytes that are reserved or committed and have not been read; ok is false if the head
// is damaged.
func (r *Ring) reserved() (bytes uint64, ok bool) {
	bytes = atomic.LoadUint64(r.head) - r.read.Load()
	return bytes, bytes <= r.size && bytes%8 == 0
}

// resync drops everything that was reserved. It runs after damage, when sizes cannot be trusted any more. It overtakes
// writers that have reserved but not committed. The number of lost records is unknown, so it counts one.
func (r *Ring) resync() {
	read := r.read.Load()
	bytes, ok := r.reserved()
	end := read + bytes
	if !ok {
		bytes, end = r.size, read
		atomic.StoreUint64(r.head, read)
	}
	for p := read; p != read+bytes; p += 8 {
		atomic.StoreUint64(&r.first[p&(r.size-1)/8], 0)
	}
	r.moveTo(end)
	atomic.AddUint64(r.lost, 1)
}

// PutWords writes encoded records to the ring in order. Each record is committed separately: if the ring fills up, the
// remaining records are lost, and each of them is counted.
func (r *Ring) PutWords(records []uint64) {
	for len(records) > HeaderSize/8 {
		word := records[0]
		size := word & 0xffff_ffff
		if size < HeaderSize || size%8 != 0 || size/8 > uint64(len(records)) {
			return // only another process that maps the arena can cause this
		}
		at, ok := r.reserve(size)
		if ok {
			for i := uint64(1); i < size/8; i++ {
				binary.LittleEndian.PutUint64(r.data[at+8*i:], records[i])
			}
			r.publish(at, word)
		} else {
			atomic.AddUint64(r.lost, 1)
		}
		records = records[size/8:]
	}
}

// Next removes the oldest record from the ring; ok is false if there is none. Only one goroutine may call it at a time.
// For a record with damaged items it returns the items before the damage.
func (r *Ring) Next(programs []Program) (rec Record, ok bool) {
	p, word := r.peek()
	if word == 0 {
		r.mend()
		return Record{}, false
	}
	if len(p) < HeaderSize {
		r.resync()
		return Record{}, false
	}
	rec.Header = decodeHeader(p, word)
	rec.Items, _ = decodeItems(p[HeaderSize:], programs, int64(rec.Pid))
	r.consume(uint64(len(p)))
	return rec, true
}

// mend restores the words that writers read, if a process has written to them that should not. The reader has found no
// record.
func (r *Ring) mend() {
	if _, ok := r.reserved(); !ok {
		r.resync()
	}
	if read := r.read.Load(); atomic.LoadUint64(r.tail) != read {
		atomic.StoreUint64(r.tail, read)
	}
}

// Unfinished returns the position of the next record if that is reserved and not committed. Any goroutine may call it.
func (r *Ring) Unfinished() (at uint64, ok bool) {
	at = r.read.Load()
	return at, atomic.LoadUint64(r.head) != at && atomic.LoadUint64(&r.first[at&(r.size-1)/8])&committed == 0
}

// SkipUnfinished skips records that are reserved and not committed, because their writers have ended, and counts them
// as lost. No writer may be writing; the reader may read.
func (r *Ring) SkipUnfinished() (skipped int) {
	at := r.read.Load()
	bytes, ok := r.reserved()
	if !ok {
		return 0 // the reader will find it
	}
	for end := at + bytes; at < end; {
		first := &r.first[at&(r.size-1)/8]
		word := atomic.LoadUint64(first)
		size := word & 0xffff_ffff
		fits := size >= 8 && size%8 == 0 && at&(r.size-1)+size <= r.size
		switch {
		case word == 0: // nothing has been written; the next record is behind the zeros
			size = 8
			fallthrough
		case word == size && size >= HeaderSize && fits:
			if word != 0 {
				skipped++
			}
			atomic.StoreUint64(first, size|Filler)
		case !fits: // the reader will find the damage
			return skipped
		}
		at += size
	}
	atomic.AddUint64(r.lost, uint64(skipped))
	return skipped
}

// Wake wakes the reader if it sleeps. A writer in another process has found that it does, and has cleared the word that
// says so.
func (r *Ring) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // the channel already holds a token
	}
}

// Written returns the position up to which the ring has been written, in bytes since its creation.
func (r *Ring) Written() uint64 {
	head := atomic.LoadUint64(r.head) // loaded first: a reader that has got beyond it meanwhile has read all of it
	read := r.read.Load()
	if bytes := head - read; bytes <= r.size && bytes%8 == 0 {
		return head
	}
	return read
}

// Consumed returns the position up to which the ring has been read.
func (r *Ring) Consumed() uint64 { return r.read.Load() }

// Pending reports whether a record is in the ring or being written to it. Any goroutine may call it.
func (r *Ring) Pending() bool {
	read := r.read.Load() // loaded first, because head only grows
	return atomic.LoadUint64(r.head) != read
}

// commitPause is how long the reader sleeps while a record is reserved and not committed. Its writer takes less than a
// microsecond, if it has a processor.
const commitPause = 100 * time.Microsecond

// Wait sleeps until a record is available (true) or done is closed (false). Only the goroutine that calls next may call
// it.
func (r *Ring) Wait(done <-chan struct{}) bool {
	for {
		atomic.StoreUint64(r.sleep, 1)
		if _, word := r.peek(); word != 0 {
			atomic.StoreUint64(r.sleep, 0)
			return true
		}
		var again <-chan time.Time
		if bytes, ok := r.reserved(); ok && bytes != 0 {
			again = time.After(commitPause)
		}
		select {
		case <-r.wake:
		case <-again:
		case <-done:
			atomic.StoreUint64(r.sleep, 0)
			return false
		}
	}
}
