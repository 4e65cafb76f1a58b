package amd64

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/calls"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// keyedBy returns a program that counts what is in rbx twice, and adds it up, under a key that operations calculate of
// it; and the objects.
func (w *world) keyedBy(max int, key ...runtime.Inst) (p *native.Plan, count, sum uint64, ids [2]int) {
	left := opV(opcode.PushR, uint64(fileIndex[asm.RBX])<<16)
	key = slices.Concat([]runtime.Inst{left}, key, []runtime.Inst{op(opcode.KeyInt)})
	count, ids[0] = w.object(object.Object{Kind: object.KindCount, Keys: 1, Max: max}, value.KindInt)
	sum, ids[1] = w.object(object.Object{Kind: object.KindSum, Keys: 1, Max: max}, value.KindInt)
	counts := append(slices.Clone(key), push(1), opV(opcode.Agg, count))
	return w.plan(slices.Concat(counts, counts, key, []runtime.Inst{left, opV(opcode.Agg, sum), op(opcode.Exit)})...), count, sum, ids
}

// entriesOf returns the entries of an object.
func (w *world) entriesOf(off uint64) arena.KeyEntries {
	w.t.Helper()
	l, _ := w.arena.LayoutOf(off)
	e, ok := l.KeyShare.Entries()
	if !ok {
		w.t.Fatal("no entries")
	}
	return e
}

// ownIn adds up what the blocks of all threads have for an object.
func (w *world) ownIn(e arena.KeyEntries) (count uint64) {
	for n := range uint64(calls.MaxThreads) {
		at := w.stacks.Offset() + n*calls.BlockSize + calls.ShareAt + e.Entries
		for i := range uint64(1<<e.Bits + arena.KeyProbes - 1) {
			count += binary.LittleEndian.Uint64(w.memory[at+i<<e.Shift+8:])
		}
	}
	return count
}

// everyStep is at which of the instructions of a stub a case is tried: every one, or every second, and so on.
func everyStep() int {
	switch {
	case os.Getenv("GOTAP_LONG") != "":
		return 1
	case testing.Short():
		return 10
	}
	return 2
}

// TestReentrantEntries runs a stub in the middle of itself after each of its instructions: when both hits have the same
// new key, when they have keys whose searches begin at one entry, and when one of them has an entry. All hits count
// under their keys. Without GOTAP_LONG each of these cases is tried at every other instruction, so each has two.
func TestReentrantEntries(t *testing.T) {
	for _, sites := range []int{0, 5} { // see world.site: pairs, or pins
		w := newWorld(t)
		p, off, _, ids := w.keyedBy(4096)
		w.sites = sites
		stub := w.place(w.c, []native.Program{{Run: p, Gate: w.arena.NewGate(gate.Limits{})}}, Site{Addr: codeAddr, Flags: true, RedZone: true})
		e := w.entriesOf(off)
		counts := map[uint64]int64{}
		r := rand.New(rand.NewPCG(1, 2))
		fresh := func(like uint64) uint64 { // a key that the table has, and whose search begins where that of another one does, unless that is 0
			for {
				k := r.Uint64N(1 << 40)
				if _, had := counts[k]; had || like != 0 && k*arena.KeyMultiplier>>(64-e.Bits) != like*arena.KeyMultiplier>>(64-e.Bits) {
					continue
				}
				counts[k] = 0
				for _, id := range ids {
					w.arena.Handle(id).Add(0, value.Int(int64(k)))
				}
				return k
			}
		}
		old := fresh(0)
		w.c.do(func() {
			every := everyStep()
			for i, words := range []func() (outer, inner uint64){
				func() (_, _ uint64) { k := fresh(0); return k, k },
				func() (_, _ uint64) { k := fresh(0); return k, fresh(k) },
				func() (_, _ uint64) { return old, fresh(old) },
				func() (_, _ uint64) { return fresh(old), old },
			} {
				for steps, ended := i%every, false; !ended; steps += every {
					outer, inner := words()
					var err error
					if ended, err = w.reenter(stub, steps, outer, inner); err != nil {
						t.Error(err)
						return
					}
					if counts[outer]++; !ended {
						counts[inner]++
					}
				}
			}
		})
		if w.ownIn(e) == 0 {
			t.Error("nothing was counted in entries")
		}
		total := int64(0)
		for k, n := range counts {
			total += n
			// The host has added once, nothing.
			c, _ := w.arena.Handle(ids[0]).Get(value.Int(int64(k)))
			s, _ := w.arena.Handle(ids[1]).Get(value.Int(int64(k)))
			if c.Count != 2*n+1 || s.Count != n+1 || s.Sum != n*int64(k) {
				t.Errorf("key %d: %d and %d counted, %d in all, not of %d hits", k, c.Count-1, s.Count-1, s.Sum, n)
			}
		}
		if total < int64(500/everyStep()) {
			t.Errorf("%d hits", total)
		}
	}
}

// TestTakesOfEntries: two threads add by key in their entries, and one that has none beside them, while the host reads
// and takes. Every addition is taken once, and what is read never falls between two takes. One of the keys never has an
// entry.
func TestTakesOfEntries(t *testing.T) {
	for _, sites := range []int{0, 1, 5} { // see world.site: own data are asked for, or read; pairs, or pins
		w := newWorld(t)
		second, third := w.other(ownData+0x100), w.other(ownData+0x200)
		w.owners.Remove(ownData + 0x200)
		p, off, _, ids := w.keyedBy(200, push(127), op(opcode.And), push(arena.KeyBias-5), op(opcode.Add))
		g := w.arena.NewGate(gate.Limits{})
		const times = 100_000
		done := make(chan error, 3)
		w.setBarrier(3)
		for _, c := range []*tracee{w.c, second, third} {
			w.sites = sites
			w.hammer(c, []native.Program{{Run: p, Gate: g}}, times, done)
		}
		var counts, hits, total int64
		take := func() {
			one := value.Int(arena.KeyBias + 3)
			before, _ := w.arena.Handle(ids[1]).Get(one)
			if now, _ := w.arena.Handle(ids[1]).Get(one); now.Sum < before.Sum {
				t.Errorf("the sum is %d after %d", now.Sum, before.Sum)
			}
			for _, e := range w.arena.Handle(ids[0]).Take().Entries {
				counts += e.Data.Count
			}
			for _, e := range w.arena.Handle(ids[1]).Take().Entries {
				hits, total = hits+e.Data.Count, total+e.Data.Sum
			}
		}
		for running := 3; running > 0; {
			select {
			case err := <-done:
				if running--; err != nil {
					t.Fatal(err)
				}
			default:
				take()
			}
		}
		take()
		if counts != 6*times || hits != 3*times || total != 3*times*(times+1)/2 {
			t.Errorf("%d and %d taken, %d in all", counts, hits, total)
		}
		if own := w.ownIn(w.entriesOf(off)); own < times {
			t.Errorf("%d counted in entries", own)
		}
		if lost := w.arena.Lost(); len(lost) > 0 {
			t.Errorf("lost %v", lost)
		}
	}
}

// TestSpoiledEntries: whatever is in the blocks, native code writes into blocks, and to keys that the table has.
func TestSpoiledEntries(t *testing.T) {
	w := newWorld(t)
	p, count, _, ids := w.keyedBy(8, push(7), op(opcode.And))
	w.sites = 0
	stub := w.place(w.c, []native.Program{{Run: p}}, Site{Addr: codeAddr})
	for k := range int64(8) {
		for _, id := range ids {
			w.arena.Handle(id).Add(0, value.Int(k))
		}
	}
	l, _ := w.arena.LayoutOf(count)
	others := w.memory[w.from:l.Table.Home]
	before := slices.Clone(others)
	r := rand.New(rand.NewPCG(1, 2))
	blocks := w.memory[w.stacks.Offset():][:calls.MaxThreads*calls.BlockSize]
	for range 200 {
		for range 200 {
			block := uint64(r.IntN(2)) * calls.BlockSize
			at := block + calls.ShareAt + r.Uint64N((calls.BlockSize-calls.ShareAt)/8)*8
			binary.LittleEndian.PutUint64(blocks[at:], r.Uint64N(16)-arena.KeyBias*uint64(r.IntN(2)))
		}
		if d := w.ring(codeAddr, stub, stackAddr+stackSize/2, 0); d != nil {
			t.Fatalf("it rings: %+v", d)
		}
	}
	if !bytes.Equal(others, before) {
		t.Error("other objects have changed")
	}
	for _, id := range ids {
		if n := w.arena.Handle(id).Len(); n > 8 {
			t.Errorf("%d keys", n)
		}
	}
}
