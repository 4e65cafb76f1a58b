package calls

import (
	"math/rand/v2"
	"testing"

	"gotap/runtime/arena"
)

func newStacks(t *testing.T) (*arena.Arena, *Stacks) {
	t.Helper()
	a, err := arena.New(arena.Options{Size: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	s, err := New(a)
	if err != nil {
		t.Fatal(err)
	}
	return a, s
}

// push does what native code does at an entry.
func (k *Stack) push(sp uint64, fn uint32, this int) {
	state := k.words[StateAt/8]
	top := state & 0xffff
	w := k.words[top:]
	w[SPAt/8], w[BeforeAt/8], w[TimeAt/8] = sp, state&(1<<32-1)|uint64(fn)<<32, 0
	k.words[StateAt/8] = (state>>32+1)<<32 | top<<16 | (top + uint64(FrameSize(this)/8))
}

// frames returns the stack pointers of the frames, the newest first.
func (k *Stack) frames() (sps []uint64) {
	for f, ok := k.Newest(); ok; f, ok = k.Older(f) {
		sps = append(sps, f.SP)
	}
	return sps
}

// TestFrames: frames are found from the newest on, and can be removed in any order.
func TestFrames(t *testing.T) {
	_, s := newStacks(t)
	k := s.Take(7)
	for sp := uint64(10); sp > 5; sp-- {
		k.push(sp, uint32(sp)*2, int(sp))
	}
	remove := func(sp uint64) {
		t.Helper()
		for f, ok := k.Newest(); ok; f, ok = k.Older(f) {
			if f.SP == sp {
				if at, ok := k.FrameAt(f.This); f.Func != uint32(sp)*2 || !ok || at != f {
					t.Errorf("%+v, at its storage %+v", f, at)
				}
				k.Remove(f)
				return
			}
		}
		t.Errorf("%d is not there: %v", sp, k.frames())
	}
	remove(8)
	if got := k.frames(); len(got) != 5 || got[2] != noCall {
		t.Errorf("%v", got)
	}
	remove(6)
	remove(7) // and what was removed below
	if got := k.frames(); len(got) != 2 || got[0] != 9 || got[1] != 10 {
		t.Errorf("%v", got)
	}
	remove(10)
	remove(9)
	if got := k.frames(); len(got) != 0 || uint16(k.words[0]) != empty {
		t.Errorf("%v, state %#x", got, k.words[0])
	}
}

// TestOwners: an owner finds its stack where native code looks for it, and a table with many owners has room for most
// of them.
func TestOwners(t *testing.T) {
	a, s := newStacks(t)
	o, err := NewOwners(a)
	if err != nil {
		t.Fatal(err)
	}
	const base, distance = 0x7f12_3456_7740, 8<<20 + 4096 // as the stacks of threads lie
	var stacks []*Stack
	entered := 0
	for i := range uint64(MaxThreads) {
		k := s.Take(int(i))
		stacks = append(stacks, k)
		if o.Set(base+i*distance, k) {
			entered++
		}
	}
	if s.Take(1) != nil {
		t.Error("more stacks than there are")
	}
	if entered < MaxThreads*99/100 {
		t.Errorf("%d of %d have room", entered, MaxThreads)
	}
	find := func(owner uint64) (number uint64, ok bool) {
		for i := range Probes {
			if w := o.words[(SlotOf(owner)+i)*SlotSize/8:]; w[0] == owner {
				return w[1], true
			}
		}
		return 0, false
	}
	found := 0
	for i := range uint64(MaxThreads) {
		if n, ok := find(base + i*distance); ok {
			if n != uint64(stacks[i].number) {
				t.Errorf("owner %d has stack %d, not %d", i, n, stacks[i].number)
			}
			found++
		}
		o.Remove(base + i*distance)
		s.Give(stacks[i])
	}
	if found != entered {
		t.Errorf("%d entered, %d found", entered, found)
	}
	if k := s.Take(1); k == nil || !o.Set(base, k) || !o.Set(base, stacks[3]) {
		t.Error("no stack after all were given back")
	} else if n, _ := find(base); n != uint64(stacks[3].number) {
		t.Error("an owner kept its former stack")
	}
}

// TestGarbage: whatever is in a stack, the host gets to an end inside of it.
func TestGarbage(t *testing.T) {
	_, s := newStacks(t)
	k := s.Take(7)
	behind := s.words[StackSize/8*MaxThreads-1:]
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		for i := range k.words {
			if k.words[i] = r.Uint64(); r.IntN(2) == 0 {
				at := uint64(r.IntN(StackSize / 8))
				k.words[i] = at | at/2<<16 | uint64(r.Uint32())<<32
			}
		}
		n := 0
		for f, ok := k.Newest(); ok; f, ok = k.Older(f) {
			n++
			if n%3 == 0 {
				k.Remove(f)
			}
		}
		if f, ok := k.Newest(); ok {
			k.Remove(f)
		}
		k.FrameAt(r.Uint64())
		if n > StackSize/8 {
			t.Fatalf("%d frames", n)
		}
	}
	for _, w := range behind {
		if w != 0 {
			t.Fatal("wrote behind the stack")
		}
	}
}

// TestOwnersSpread: threads whose own data lie at equal distances, as stacks of one size do, all find a slot.
func TestOwnersSpread(t *testing.T) {
	a, s := newStacks(t)
	k := s.Take(1)
	for _, distance := range []uint64{64, 4 << 10, 20 << 10, 64 << 10, 1 << 20, 8<<20 + 4096, 8 << 20, 64 << 20, 1 << 30, 64 << 30} {
		o, err := NewOwners(a)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(MaxThreads) {
			if owner := 0x7ffff7d8a740 - i*distance; !o.Set(owner, k) {
				t.Fatalf("at a distance of %#x, thread %d finds no slot", distance, i)
			}
		}
	}
}
