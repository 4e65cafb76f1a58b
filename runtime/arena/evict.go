package arena

import (
	"slices"
	"sync"
	"sync/atomic"
)

// evictor deletes the least recently written key of a table.
//
// Finding that key requires reading every stamp, so one scan remembers the oldest few slots. Stamps only grow. So a
// remembered slot whose stamp has not changed is still older than every slot that was not remembered.
type evictor struct {
	mu  sync.Mutex // held by one thread only while it evicts
	old [64]candidate
	n   int
}

type candidate struct {
	slot  int
	stamp uint64
}

// evict deletes the oldest key and returns its first word. ok is false if there was nothing to delete.
func (e *evictor) evict(t *table) (first uint64, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for range 3 {
		for e.n > 0 {
			e.n--
			if first, ok = e.forget(t, e.old[e.n]); ok {
				return first, true
			}
		}
		e.look(t)
	}
	return 0, false
}

// forget deletes the slot if it has not changed since it was remembered.
func (e *evictor) forget(t *table, c candidate) (first uint64, gone bool) {
	if atomic.LoadUint64(&t.stamp[c.slot]) != c.stamp || !t.pinAny(c.slot) {
		return 0, false
	}
	same := atomic.LoadUint64(&t.stamp[c.slot]) == c.stamp
	first = t.key(c.slot)[0]
	gone = same && t.kill(c.slot)
	t.unpin(c.slot)
	return first, gone
}

// look remembers the oldest slots, with the oldest last.
func (e *evictor) look(t *table) {
	e.n = 0
	for slot := range t.slots() {
		if atomic.LoadUint64(t.state(slot))&statusMask != slotFull {
			continue
		}
		e.offer(candidate{slot, atomic.LoadUint64(&t.stamp[slot])})
	}
}

// offer keeps a candidate if it is among the oldest so far. The list is sorted, youngest first.
func (e *evictor) offer(c candidate) {
	if e.n == len(e.old) {
		if c.stamp >= e.old[0].stamp {
			return
		}
		copy(e.old[:], e.old[1:])
		e.n--
	}
	at, _ := slices.BinarySearchFunc(e.old[:e.n], c, func(a, b candidate) int {
		return compareDown(a.stamp, b.stamp)
	})
	copy(e.old[at+1:e.n+1], e.old[at:e.n])
	e.old[at] = c
	e.n++
}

// compareDown orders larger stamps first.
func compareDown(a, b uint64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}
