package arena

import (
	"sync"
	"sync/atomic"
)

// Shares of threads. An addition that several processors contend for costs many times what one costs in a word that
// only one thread writes. So native code counts in a share of its thread: a block of memory with a word for each word
// of the objects and gates that it counts in. The host adds what the shares have gained to the words themselves before
// it reads or empties them (Share.Collect), so everything else here and in package gate knows only those.
//
// A word of a share only grows, modulo 2^64, and is never reset: the host remembers what it has added of the sum of all
// blocks. So no addition is lost or added twice, whenever it comes. A block keeps its words when its thread has ended,
// and the next thread goes on from there.
//
// Blocks and what is in them belong to the traced processes. What they write there changes numbers, and nothing else:
// the host has the offsets, and the number of blocks, in its own memory.

// shareBlocks is where the blocks are.
type shareBlocks struct {
	off, stride, size uint64 // of the first, from one to the next, and of each, in bytes; size 0: there are none
	next              uint64 // bytes of a block in use, guarded by the arena's mutex
	keyed, nextKeyed  uint64 // the same for entries of keys (keyshare.go), which are behind that
	used              atomic.Uint64
}

// OpenShares tells where the blocks are: in memory that Reserve returned, the first one at an offset, each stride bytes
// behind the one before. A block has size bytes for words without keys, and behind them keyed bytes for entries of
// keys; both are multiples of 64. It is called once, before anything counts in them.
func (a *Arena) OpenShares(off, stride, size, keyed uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := &a.shares
	b.off, b.stride, b.size, b.keyed = off, stride, size, keyed
}

// UseShare notes that a thread gets the block of a number, from 0 on. Blocks beyond the greatest number are not read.
func (a *Arena) UseShare(n int) {
	for used := a.shares.used.Load(); uint64(n) >= used; used = a.shares.used.Load() {
		if a.shares.used.CompareAndSwap(used, uint64(n)+1) {
			return
		}
	}
}

// Share is the part that shares of threads have in some words of the arena. Its methods may be called from any
// goroutine.
type Share struct {
	a  *Arena
	to []uint64      // the words
	at atomic.Uint64 // where their copies are in a block, plus 1; 0: there are none

	mu    sync.Mutex
	added []uint64 // what of the sums of the copies has been added to the words
}

// newShare returns the share in some words. Nothing is reserved for it yet.
func newShare(a *Arena, to []uint64) *Share { return &Share{a: a, to: to} }

// Offset returns where the copies of the words are in each block, in bytes. They get their place at the first call. ok
// is false if there are no blocks, or they are full: then everybody has to count in the words themselves, atomically.
func (s *Share) Offset() (off uint64, ok bool) {
	if s == nil {
		return 0, false
	}
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	if at := s.at.Load(); at > 0 {
		return at - 1, true
	}
	b, bytes := &s.a.shares, uint64(len(s.to))*8
	if bytes > b.size-b.next {
		return 0, false
	}
	off = b.next
	b.next += bytes
	s.added = make([]uint64, len(s.to))
	s.at.Store(off + 1)
	return off, true
}

// Collect adds to the words what the copies have gained since the last time.
func (s *Share) Collect() {
	at := s.at.Load()
	if at == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &s.a.shares
	first := (b.off + at - 1) / 8
	for i := range s.to {
		sum, word := uint64(0), first+uint64(i)
		for range b.used.Load() {
			sum += s.a.load(word)
			word += b.stride / 8
		}
		if gained := sum - s.added[i]; gained != 0 {
			atomic.AddUint64(&s.to[i], gained)
			s.added[i] = sum
		}
	}
}
