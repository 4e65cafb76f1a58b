package arena

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"gotap/runtime/key"
	"gotap/runtime/object"
)

// Shares of threads in counts and sums by key.
//
// A block has entries for each such object: a key, and what its thread has added under it. An entry belongs to its key
// for ever, and what was added only grows, as in other shares: the host remembers what of each entry it has added to
// the table (KeyShare.Collect). So native code compares the key and adds with a plain instruction, whatever comes in
// between.
//
// A key gets an entry when the thread adds to it and finds it in the table, that is after it has been inserted there.
// So there are no more keys than the object may have, and a key without a free entry is counted in the table. The entry
// is taken by a compare-and-swap, because a signal handler of the thread may want it too. A key that the host has taken
// or deleted keeps its entry, and is inserted again when it has gained. If others have filled the table meanwhile, what
// it has gained is counted as dropped, like any key that finds no room. Objects that evict keys, or report an error
// when they are full, have no entries: there each addition has to be made when it happens.

// KeyShare is the part that shares of threads have in an aggregation whose keys have one word. Its methods may be
// called from any goroutine.
type KeyShare struct {
	a  *Arena
	st *Storage
	at atomic.Pointer[KeyEntries] // nil: there are none

	mu    sync.Mutex
	added [][]uint64 // by block, then by entry: what has been added to the table
}

// KeyEntries tells where the entries of an object lie in each share, in bytes from its start.
//
// The words of an entry are the key less KeyBias, 0 while the entry is free; how often the thread has added; and of
// sums what it has added. A key is searched from the entry on that KeyMultiplier selects, in KeyProbes entries: the
// upper Bits bits of the product number it.
type KeyEntries struct {
	Used    uint64 // of a word that is not 0 if there may be entries that are not free
	Entries uint64
	Bits    int
	Shift   int // an entry has 1<<Shift bytes
}

// Constants of entries, for executors.
const (
	KeyBias       = 0x6b657973 // a key that is hardly ever used. It has no entry
	KeyMultiplier = 0x9e3779b97f4a7c15
	KeyProbes     = 4
)

const (
	mostKeyBits  = 11 // 32 KiB of counts
	leastKeyBits = 4
)

// newKeyShare returns the share in an object; nil if it has none. Nothing is reserved for it yet.
func newKeyShare(a *Arena, st *Storage) *KeyShare {
	if adds := st.Kind == object.KindCount || st.Kind == object.KindSum; !adds || st.shape.Words != 1 || st.Full != object.FullDrop {
		return nil
	}
	return &KeyShare{a: a, st: st}
}

// Entries returns where the entries are. They get their place at the first call, twice as many as the object may have
// keys if there is room. ok is false if there is none: then everybody has to count in the table.
func (s *KeyShare) Entries() (e KeyEntries, ok bool) {
	if s == nil {
		return e, false
	}
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	if at := s.at.Load(); at != nil {
		return *at, true
	}
	e.Shift = 4
	if s.words() > 1 {
		e.Shift = 5
	}
	b := &s.a.shares
	for e.Bits = min(max(bits.Len(uint(2*s.st.Max-1)), leastKeyBits), mostKeyBits); e.Bits >= leastKeyBits; e.Bits-- {
		size := (uint64(1)<<e.Bits + KeyProbes - 1) << e.Shift
		if size+cacheLine > b.keyed-b.nextKeyed {
			continue
		}
		e.Used = b.size + b.nextKeyed
		e.Entries = e.Used + cacheLine
		b.nextKeyed += (size + 2*cacheLine - 1) &^ (cacheLine - 1)
		b.nextKeyed = min(b.nextKeyed, b.keyed)
		s.at.Store(&e)
		return e, true
	}
	return KeyEntries{}, false
}

// cacheLine is the size in bytes of the processor's unit of memory.
const cacheLine = 64

// words returns how many words of an entry are added to those of the cell.
func (s *KeyShare) words() int {
	if s.st.Kind == object.KindSum {
		return 2
	}
	return 1
}

// Collect adds to the table what the entries have gained since the last time.
func (s *KeyShare) Collect() {
	if s != nil {
		s.collect(func(e *KeyEntries) (first, n int) { return 0, 1<<e.Bits + KeyProbes - 1 })
	}
}

// CollectKey is Collect for one key, whose words are given. Others may be collected, too.
func (s *KeyShare) CollectKey(words []uint64) {
	if s != nil && len(words) == 1 {
		s.collect(func(e *KeyEntries) (first, n int) { return int(words[0] * KeyMultiplier >> (64 - e.Bits)), KeyProbes })
	}
}

// collect adds what n entries of each block have gained, from a first one on.
func (s *KeyShare) collect(which func(*KeyEntries) (first, n int)) {
	e := s.at.Load()
	if e == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	first, entries := which(e)
	b := &s.a.shares
	used := int(b.used.Load())
	for n := len(s.added); n < used; n++ {
		s.added = append(s.added, nil)
	}
	for n := range used {
		share := b.off + uint64(n)*b.stride
		if s.a.load((share+e.Used)/8) == 0 {
			continue
		}
		if s.added[n] == nil {
			s.added[n] = make([]uint64, (1<<e.Bits+KeyProbes-1)*s.words())
		}
		for i := first; i < first+entries; i++ {
			if !s.collectEntry((share+e.Entries)/8+uint64(i)<<(e.Shift-3), s.added[n][i*s.words():][:s.words()]) {
				return
			}
		}
	}
}

// collectEntry adds what an entry has gained, whose first word has an index in the arena. It returns false if it had to
// wait too long: so much that the caller should do that once only. A process that writes into the table may cause it.
func (s *KeyShare) collectEntry(index uint64, added []uint64) bool {
	k := s.a.load(index)
	if k == 0 {
		return true
	}
	var now, gained [2]uint64
	any := false
	for i := range added {
		now[i] = s.a.load(index + 1 + uint64(i))
		gained[i] = now[i] - added[i]
		any = any || gained[i] != 0
	}
	copy(added, now[:])
	return !any || s.add(k+KeyBias, gained[:len(added)])
}

// add adds to a key of the table, or counts what it cannot add. It returns false if others kept the key busy, or a
// place that it could have.
func (s *KeyShare) add(word uint64, gained []uint64) bool {
	k, t := [1]uint64{word}, &s.st.table
	slot, got := t.insert(k[:], key.Hash(k[:]), s.st.fresh)
	waits := true
	for b := (backoff{}); waits && got == insertFull && t.hasDying(); { // mostly the slot that the key had when it was taken
		waits = b.wait()
		slot, got = t.insert(k[:], key.Hash(k[:]), s.st.fresh)
	}
	switch got {
	case insertBusy:
		atomic.AddUint64(&s.st.obj.desc[descContended], gained[cellCount])
		return false
	case insertFull:
		atomic.AddUint64(&s.st.obj.desc[descDropped], gained[cellCount])
		return waits
	}
	cell := t.cell(slot)
	for i, n := range gained {
		atomic.AddUint64(&cell[i], n)
	}
	t.unpin(slot)
	return true
}
