package arena

import (
	"slices"
	"sync/atomic"
)

// A table is a hash map of fixed size in the arena. Any number of threads use it at once without a lock.
//
// Slots. Each slot has a state word, a key and a cell (and a stamp, when the object evicts).
// The state is
//
//	bits 0–1    free, busy (being filled or emptied by one thread), full, dying
//	bits 2–15   pins: threads that use the slot right now
//	bits 16–47  upper half of the key's hash
//	bits 48–63  changes: counts unpins and releases, so that a reader notices a writer in between
//
// Cells of one word lie behind their states, in pairs of words that begin at multiples of 16 bytes, unless the object
// evicts. Other cells lie behind their keys.
//
// Use. A thread pins a full slot with a compare-and-swap, compares the key, works on the cell with atomic operations,
// and unpins. A pinned slot is never emptied. Deleting makes it dying, which hides it from new look-ups, and the thread
// that removes the last pin empties it. So an addition either is in the cell before a take reads it, or goes to a new
// slot of the same key. None is lost, and none lands under another key.
//
// Use without a pin. Native code (package runtime/native/amd64) replaces a pair by one instruction, which compares and
// swaps both words. It reads the state, compares the key, reads the cell, and swaps if the pair is still what it has
// read. The state is still the same only if the slot has been full, with this key, all the time: what empties a slot
// changes it, and counts as a change. A dying slot no longer gets such an addition, so a take that has killed the slot
// and has waited for the pins has all of them. Reads take no instruction that locks: they read the state once more. An
// addition takes one locked operation in place of three, which is a third of the time.
//
// Probing. A search for a key starts at slot hash%slots. The home word of that slot holds the reach (bits 48–63), the
// number of slots to search, which only grows. There are no tombstones, and emptied slots are reused at once. The reach
// of a home is that of its unluckiest insertion so far. In tables that are at most two thirds full it stays at some
// dozens.
//
// Inserting must not create a key twice. The inserter reads the home word, whose low bits count insertions, and
// searches. It fills the first free slot while that is busy. It then swaps the home word for one with the next count
// and, if needed, a larger reach. If the swap fails, another key of this home was inserted meanwhile, so the inserter
// empties its slot and starts again. Equal keys have the same home, so of two threads that insert one key only one
// succeeds. The other then finds a slot within reach that is busy with the same hash, and waits until it is full. All
// waiting is bounded (see backoff). A thread that dies in between costs other threads that use the key one update each
// time, which is counted as contended.
type table struct {
	home, stamp    []uint64 // stamp is nil unless the object evicts
	states         []uint64 // a state for each slot, or a pair of state and cell
	step           int      // words of states for each slot
	entries        []uint64 // a key for each slot, and the cell if it is not behind the state
	keyWords, size int      // words of a key, words of an entry
	mask           uint64   // slots-1

	used  *uint64 // slots that are not free, including busy ones that have a permit
	limit uint64  // maximum number of keys
	clock *uint64 // writes, for stamps
}

const (
	slotFree  = 0
	slotBusy  = 1
	slotFull  = 2
	slotDying = 3

	statusMask = uint64(3)
	pinOne     = uint64(1) << 2
	pinMask    = uint64(0x3fff) << 2
	tagMask    = uint64(0xffff_ffff) << 16
	changeOne  = uint64(1) << 48 // an overflow leaves the word and is harmless
	reachShift = 48
	maxReach   = 1<<16 - 1
)

// tableSlots returns the number of slots for limit keys at a load of at most two thirds.
func tableSlots(limit int) int { return max(powerOfTwo(limit+limit/2), 8) }

// isPaired reports whether cells lie behind their states.
func isPaired(cellWords int, stamped bool) bool { return cellWords == 1 && !stamped }

// tableWords returns the number of words that a table needs.
func tableWords(limit, keyWords, cellWords int, stamped bool) uint64 {
	per := 2 + keyWords + cellWords
	if stamped {
		per++
	}
	return uint64(tableSlots(limit)) * uint64(per)
}

// newTable uses zeroed memory of tableWords words as a table. The memory begins at a multiple of 16 bytes.
func newTable(mem []uint64, limit, keyWords, cellWords int, stamped bool, used, clock *uint64) table {
	n := tableSlots(limit)
	t := table{keyWords: keyWords, size: keyWords + cellWords, step: 1, mask: uint64(n - 1), used: used, clock: clock, limit: uint64(limit)}
	if isPaired(cellWords, stamped) {
		t.size, t.step = keyWords, 2
	}
	t.home, mem = mem[:n], mem[n:]
	t.states, mem = mem[:n*t.step], mem[n*t.step:]
	if stamped {
		t.stamp, mem = mem[:n], mem[n:]
	}
	t.entries = mem[:n*t.size]
	return t
}

func (t *table) slots() int             { return int(t.mask + 1) }
func (t *table) state(slot int) *uint64 { return &t.states[slot*t.step] }
func (t *table) key(slot int) []uint64  { return t.entries[slot*t.size:][:t.keyWords] }

func (t *table) cell(slot int) []uint64 {
	if t.step == 2 {
		return t.states[2*slot+1:][:1]
	}
	return t.entries[slot*t.size+t.keyWords : (slot+1)*t.size]
}

// tagOf returns the part of a hash that the state word keeps, at its position in the word.
func tagOf(hash uint64) uint64 { return hash >> 32 << 16 }

// found is the outcome of a search.
type found uint8

const (
	absent  found = iota
	present       // pinned
	unsure        // a slot that may hold this key is being filled
)

// find pins the slot of a key.
func (t *table) find(key []uint64, hash uint64) (slot int, ok bool) {
	for b := (backoff{}); ; {
		slot, f := t.search(key, hash, atomic.LoadUint64(&t.home[hash&t.mask])>>reachShift)
		if f != unsure || !b.wait() {
			return slot, f == present
		}
	}
}

// search searches the first reach slots starting at the key's home.
func (t *table) search(key []uint64, hash, reach uint64) (int, found) {
	tag, result := tagOf(hash), absent
	for d := range min(reach, t.mask+1) { // other processes may have written the reach
		slot := int((hash + d) & t.mask)
		switch t.pin(slot, tag) {
		case present:
			if t.hasKey(slot, key) {
				return slot, present
			}
			t.unpin(slot)
		case unsure:
			result = unsure
		}
	}
	return 0, result
}

// pin pins a full slot with this tag. It returns unsure if the slot is busy with this tag.
func (t *table) pin(slot int, tag uint64) found {
	p := t.state(slot)
	for {
		s := atomic.LoadUint64(p)
		if s&tagMask != tag || s&pinMask == pinMask {
			return absent
		}
		switch s & statusMask {
		case slotBusy:
			return unsure
		case slotFull:
			if atomic.CompareAndSwapUint64(p, s, s+pinOne) {
				return present
			}
		default:
			return absent
		}
	}
}

// unpin removes a pin. Removing the last pin of a dying slot empties the slot.
func (t *table) unpin(slot int) {
	p := t.state(slot)
	s := atomic.AddUint64(p, changeOne-pinOne)
	if s&statusMask != slotDying || s&pinMask != 0 {
		return
	}
	if atomic.CompareAndSwapUint64(p, s, s&^statusMask|slotBusy) {
		t.release(slot)
		atomic.AddUint64(t.used, ^uint64(0))
	}
}

// release makes a busy slot free.
func (t *table) release(slot int) {
	p := t.state(slot)
	s := atomic.LoadUint64(p)
	atomic.StoreUint64(p, s&^(statusMask|pinMask|tagMask)+changeOne)
}

// hasKey compares the key of a pinned slot. Keys of one shape are self-delimiting: none is a prefix of another.
func (t *table) hasKey(slot int, key []uint64) bool {
	k := t.key(slot)
	return len(key) <= len(k) && slices.Equal(k[:len(key)], key)
}

// inserted is the outcome of an insertion.
type inserted uint8

const (
	insertOld  inserted = iota // the key was there
	insertNew                  // a new slot
	insertFull                 // the table has its maximum number of keys
	insertBusy                 // gave up waiting
)

// insert pins the slot of a key. If there is none it creates one, whose cell fresh initializes.
func (t *table) insert(key []uint64, hash uint64, fresh func(cell []uint64)) (int, inserted) {
	if len(key) > t.keyWords {
		return 0, insertBusy
	}
	home := &t.home[hash&t.mask]
	for b := (backoff{}); ; {
		h := atomic.LoadUint64(home)
		slot, f := t.search(key, hash, h>>reachShift)
		if f == present {
			return slot, insertOld
		}
		if f == absent {
			slot, got := t.tryInsert(home, h, key, hash, fresh)
			if got != insertBusy {
				return slot, got
			}
		}
		if !b.wait() {
			return 0, insertBusy
		}
	}
}

// tryInsert creates a slot for a key that was absent when its home word was h. It returns insertBusy if the caller must
// search again.
func (t *table) tryInsert(home *uint64, h uint64, key []uint64, hash uint64, fresh func([]uint64)) (int, inserted) {
	if atomic.LoadUint64(t.used) >= t.limit {
		return 0, insertFull
	}
	slot, reach := t.claim(hash)
	if reach == 0 {
		return 0, insertFull
	}
	k := t.key(slot)
	clear(k[copy(k, key):])
	fresh(t.cell(slot))
	next := h&^(maxReach<<reachShift) + 1
	next = next&^(maxReach<<reachShift) | max(h>>reachShift, reach)<<reachShift
	if !atomic.CompareAndSwapUint64(home, h, next) {
		t.release(slot)
		return 0, insertBusy
	}
	if !t.permit() {
		t.release(slot)
		return 0, insertFull
	}
	p := t.state(slot)
	atomic.StoreUint64(p, atomic.LoadUint64(p)&^statusMask|slotFull|pinOne)
	return slot, insertNew
}

// claim makes the first free slot from the hash's home on busy. It returns the slot and its distance, counted from 1,
// or 0 if there is none.
func (t *table) claim(hash uint64) (slot int, reach uint64) {
	for d := uint64(0); d <= t.mask && d < maxReach; d++ {
		slot := int((hash + d) & t.mask)
		p := t.state(slot)
		s := atomic.LoadUint64(p)
		if s&statusMask != slotFree {
			continue
		}
		if atomic.CompareAndSwapUint64(p, s, s&^tagMask|slotBusy|tagOf(hash)) {
			return slot, d + 1
		}
	}
	return 0, 0
}

// permit counts one more key unless the table has its maximum number of keys.
func (t *table) permit() bool {
	for {
		n := atomic.LoadUint64(t.used)
		if n >= t.limit {
			return false
		}
		if atomic.CompareAndSwapUint64(t.used, n, n+1) {
			return true
		}
	}
}

// kill makes a pinned slot dying, so that no look-up finds it any more. It returns false if the slot is not full,
// because another thread killed it first.
func (t *table) kill(slot int) bool {
	p := t.state(slot)
	for {
		s := atomic.LoadUint64(p)
		if s&statusMask != slotFull {
			return false
		}
		if atomic.CompareAndSwapUint64(p, s, s&^statusMask|slotDying) {
			return true
		}
	}
}

// hasDying reports whether a slot is about to be emptied.
func (t *table) hasDying() bool {
	for slot := range t.slots() {
		if atomic.LoadUint64(t.state(slot))&statusMask == slotDying {
			return true
		}
	}
	return false
}

// settle waits until the caller's pin is the only one of a dying slot. From then on the cell is final. It returns false
// if a thread keeps its pin too long, which only a dead thread does.
func (t *table) settle(slot int) bool {
	for b := (backoff{}); atomic.LoadUint64(t.state(slot))&pinMask != pinOne; {
		if !b.wait() {
			return false
		}
	}
	return true
}

// remove deletes a key if it is present and no other thread deletes it at the same time.
func (t *table) remove(key []uint64, hash uint64) {
	if slot, ok := t.find(key, hash); ok {
		t.kill(slot)
		t.unpin(slot)
	}
}

// touch stamps a pinned slot as the most recently written.
func (t *table) touch(slot int) {
	if t.stamp != nil {
		atomic.StoreUint64(&t.stamp[slot], atomic.AddUint64(t.clock, 1))
	}
}

// pinAny pins a full slot whatever its key is. Walks over the table use it.
func (t *table) pinAny(slot int) bool {
	p := t.state(slot)
	for {
		s := atomic.LoadUint64(p)
		if s&statusMask != slotFull || s&pinMask == pinMask {
			return false
		}
		if atomic.CompareAndSwapUint64(p, s, s+pinOne) {
			return true
		}
	}
}

// steady runs read until no other thread has used the pinned slot during the read. If writers never leave a gap, it
// gives up and keeps the last read, whose words may then be a hit apart. Taking has no such limit.
func (t *table) steady(slot int, read func()) {
	p := t.state(slot)
	for b := (backoff{}); ; {
		before := atomic.LoadUint64(p)
		read()
		if before&pinMask == pinOne && atomic.LoadUint64(p) == before || b.turns == yields || !b.wait() {
			return
		}
	}
}
