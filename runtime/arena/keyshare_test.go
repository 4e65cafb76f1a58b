package arena

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotap/runtime/key"
	"gotap/runtime/object"
	"gotap/runtime/value"
)

// keyThread adds by key as native code does: in the entries of a block.
type keyThread struct {
	a     *Arena
	share uint64 // in bytes
	e     KeyEntries
	st    *Storage
	own   int // how often in an entry
}

// keyThread returns the thread with the block of a number.
func (a *Arena) keyThread(t *testing.T, id int, first uint64, n, stride int) *keyThread {
	t.Helper()
	_, off := a.Lookup(id)
	l, _ := a.LayoutOf(off)
	e, ok := l.KeyShare.Entries()
	if again, _ := l.KeyShare.Entries(); !ok || again != e {
		t.Fatalf("entries at %+v and %+v", e, again)
	}
	a.UseShare(n)
	return &keyThread{a: a, share: first + uint64(n*stride), e: e, st: a.objectByID(id).storage.Load()}
}

// add adds to a key.
func (k *keyThread) add(word, v uint64) {
	stored, at := word-KeyBias, k.share/8+k.e.Entries/8+word*KeyMultiplier>>(64-k.e.Bits)<<(k.e.Shift-3)
	entry := func(i int) []uint64 { return k.a.words[at+uint64(i)<<(k.e.Shift-3):] }
	for i := 0; stored != 0 && i < KeyProbes; i++ {
		if w := entry(i); w[0] == stored {
			if k.e.Shift == 5 {
				atomic.AddUint64(&w[2], v)
			}
			atomic.AddUint64(&w[1], 1)
			k.own++
			return
		}
	}
	words := [1]uint64{word}
	slot, got := k.st.offer(words[:])
	if got > insertNew {
		return
	}
	k.st.addSlot(slot, int64(v))
	k.st.table.unpin(slot)
	for i := 0; stored != 0 && i < KeyProbes; i++ {
		if w := entry(i); w[0] == 0 {
			atomic.AddUint64(&k.a.words[(k.share+k.e.Used)/8], 1)
			atomic.StoreUint64(&w[0], stored)
			return
		}
	}
}

// TestKeyShares: what threads add to keys in their blocks, and in the table, is in what the host reads, and is taken
// once, whatever the host does meanwhile. One of the keys has no entries.
func TestKeyShares(t *testing.T) {
	for _, kind := range []object.Kind{object.KindCount, object.KindSum} {
		keyShares(t, kind)
	}
}

func keyShares(t *testing.T, kind object.Kind) {
	const threads, times, size, keys = 4, 20000, 4096, 50
	a, first := shared(t, threads, size)
	id, _ := a.Declare(object.Object{Kind: kind, Keys: 1, Max: 2 * keys}) // a key that is taken may have two slots for a moment
	if err := a.Refine(id, []value.Kind{value.KindInt}, value.KindInt); err != nil {
		t.Fatal(err)
	}
	wordOf := func(i int) uint64 { return uint64(i%keys) * 16 }
	h := a.Handle(id)
	var wg sync.WaitGroup
	var own atomic.Int64
	for n := range threads {
		k := a.keyThread(t, id, first, n, 2*size)
		wg.Go(func() {
			for i := range times {
				if word := wordOf(i); i%keys == 7 {
					k.add(KeyBias, 2)
				} else {
					k.add(word, 2)
				}
			}
			own.Add(int64(k.own))
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	var count, sum int64
	take := func() {
		for _, e := range h.Take().Entries {
			count, sum = count+e.Data.Count, sum+e.Data.Sum
		}
	}
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		before, _ := h.Get(value.Int(16))
		if now, _ := h.Get(value.Int(16)); now.Count < before.Count || h.Len() > 2*keys {
			t.Fatalf("%d after %d, %d keys", now.Count, before.Count, h.Len())
		}
		take()
	}
	take()
	if want := int64(threads * times); count != want || kind == object.KindSum && sum != 2*want {
		t.Errorf("%s: %d taken, %d in all, not %d", kind, count, sum, want)
	}
	if lost := a.Lost(); len(lost) > 0 {
		t.Errorf("%s: lost %v", kind, lost)
	}
	if h.Len() != 0 || len(h.Entries().Entries) != 0 {
		t.Errorf("%s: %d keys remain", kind, h.Len())
	}
	if own.Load() < threads*times/2 {
		t.Errorf("%s: %d of %d in entries", kind, own.Load(), threads*times)
	}
}

// TestKeySharesFull: a key that has been taken and finds no room when it has gained is counted as dropped; one that was
// deleted comes back; a copy has what the entries have gained.
func TestKeySharesFull(t *testing.T) {
	const size = 4096
	a, first := shared(t, 1, size)
	var ids [2]int
	for i := range ids {
		ids[i], _ = a.Declare(object.Object{Name: "n", Kind: object.KindCount, Keys: 1, Max: 2})
		a.Refine(ids[i], []value.Kind{value.KindInt}, value.KindInt)
	}
	h, k := a.Handle(ids[0]), a.keyThread(t, ids[0], first, 0, 2*size)
	expect := func(what string, key, want int64) {
		t.Helper()
		if d, _ := h.Get(value.Int(key)); d.Count != want {
			t.Errorf("%s: %d, not %d", what, d.Count, want)
		}
	}
	for range 3 {
		k.add(1, 1)
	}
	expect("counted", 1, 3)
	if !h.Delete(value.Int(1)) {
		t.Error("it was not there")
	}
	k.add(1, 1)
	expect("after its deletion", 1, 1)
	k.add(1, 1)
	if err := a.Handle(ids[1]).CopyFrom(h); err != nil {
		t.Error(err)
	}
	if d, _ := a.Handle(ids[1]).Get(value.Int(1)); d.Count != 2 {
		t.Errorf("%d were copied", d.Count)
	}
	h.Clear()
	for key := range int64(2) {
		h.Add(1, value.Int(5+key))
	}
	k.add(1, 1)
	k.add(1, 1)
	expect("without room", 1, 0)
	if n := a.Lost()["count n full"]; n != 2 {
		t.Errorf("%d dropped", n)
	}
	if k.own != 6 {
		t.Errorf("%d in entries", k.own)
	}
}

// TestKeySharesWait: what a key has gained waits for the slot that it had, while somebody still uses that.
func TestKeySharesWait(t *testing.T) {
	defer func(n int) { sleeps = n }(sleeps)
	sleeps = 1 << 20
	const size = 4096
	a, first := shared(t, 1, size)
	id, _ := a.Declare(object.Object{Kind: object.KindCount, Keys: 1, Max: 1})
	a.Refine(id, []value.Kind{value.KindInt}, value.KindInt)
	h, k := a.Handle(id), a.keyThread(t, id, first, 0, 2*size)
	k.add(1, 1)
	words := []uint64{1}
	slot, ok := k.st.table.find(words, key.Hash(words))
	if !ok || !h.Delete(value.Int(1)) {
		t.Fatal("it is not there")
	}
	k.add(1, 1)
	go func() {
		time.Sleep(time.Millisecond)
		k.st.table.unpin(slot)
	}()
	if d, _ := h.Get(value.Int(1)); d.Count != 1 || len(a.Lost()) != 0 {
		t.Errorf("%d counted, lost %v", d.Count, a.Lost())
	}
}

// TestKeyEntriesOf: objects have entries if they only add under a key of one word and drop what has no room, as long as
// there is room in the blocks.
func TestKeyEntriesOf(t *testing.T) {
	a, _ := shared(t, 2, 1024)
	one, two := []value.Kind{value.KindInt}, []value.Kind{value.KindInt, value.KindInt}
	for _, c := range []struct {
		o    object.Object
		keys []value.Kind
		bits int
	}{
		{object.Object{Kind: object.KindCount}, two, 0},
		{object.Object{Kind: object.KindCount}, []value.Kind{value.KindText}, 0},
		{object.Object{Kind: object.KindCount, Full: object.FullEvict}, one, 0},
		{object.Object{Kind: object.KindCount, Full: object.FullError}, one, 0},
		{object.Object{Kind: object.KindHist}, one, 0},
		{object.Object{Kind: object.KindAvg}, one, 0},
		{object.Object{Kind: object.KindMap}, one, 0},
		{object.Object{Kind: object.KindCount, Max: 3}, one, 4}, // 19 entries of 16 bytes, and 64
		{object.Object{Kind: object.KindCount}, one, 5},
		{object.Object{Kind: object.KindSum, Max: 3}, one, 0},
	} {
		c.o.Keys = len(c.keys)
		id, _ := a.Declare(c.o)
		if err := a.Refine(id, c.keys, value.KindInt); err != nil {
			t.Fatal(err)
		}
		_, off := a.Lookup(id)
		l, _ := a.LayoutOf(off)
		if e, _ := l.KeyShare.Entries(); e.Bits != c.bits {
			t.Errorf("%+v: %+v", c.o, e)
		}
	}
}

// TestSpoiledEntries: the host reads entries that somebody writes at random, and the object has no more keys than it
// may have.
func TestSpoiledEntries(t *testing.T) {
	const size = 4096
	a, first := shared(t, 3, size)
	id, _ := a.Declare(object.Object{Kind: object.KindSum, Keys: 1, Max: 20})
	a.Refine(id, []value.Kind{value.KindInt}, value.KindInt)
	a.keyThread(t, id, first, 1, 2*size)
	r := rand.New(rand.NewPCG(1, 2))
	h := a.Handle(id)
	for range 50 {
		for i := range uint64(6 * size / 8) {
			atomic.StoreUint64(&a.words[first/8+i], r.Uint64N(1<<r.IntN(64)))
		}
		if h.Get(value.Int(3)); h.Len() > 20 {
			t.Fatalf("%d keys", h.Len())
		}
		if n := len(h.Take().Entries); n > 20 || h.Len() > 20 {
			t.Fatalf("%d taken, %d remain", n, h.Len())
		}
	}
	// A slot that stays busy costs what its key has gained, and one wait.
	defer func(n int) { sleeps = n }(sleeps)
	sleeps = 1
	clear(a.words[first/8:][:6*size/8])
	h.Take()
	k := a.keyThread(t, id, first, 0, 2*size)
	for range 3 {
		k.add(9, 1)
	}
	h.Take()
	hash := key.Hash([]uint64{9})
	a.objectByID(id).storage.Load().table.claim(hash)
	before := a.Lost()
	k.add(9, 1)
	if _, ok := h.Get(value.Int(9)); ok {
		t.Error("a busy slot is read")
	}
	if now := a.Lost(); now["a sum contended"] != before["a sum contended"]+1 {
		t.Errorf("lost %v, before %v", now, before)
	}
}
