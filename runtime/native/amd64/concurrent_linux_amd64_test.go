package amd64

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// TestTwoProcessors: two processes execute one program at once while the host reads and takes. Nothing is lost.
func TestTwoProcessors(t *testing.T) {
	w := newWorld(t)
	other := w.other(ownData + 0x100)
	p, ids := w.everything()
	const times = 400_000
	g := w.arena.NewGate(gate.Limits{After: 10, Every: 3})
	all := w.arena.NewGate(gate.Limits{})
	done := make(chan error, 2)
	w.setBarrier(2)
	for _, c := range []*tracee{w.c, other} {
		w.hammer(c, []native.Program{{Run: p, Gate: all}, {Run: w.plan(op(opcode.Exit)), Gate: g}}, times, done)
	}
	taken, sums, low, high := make([]int64, len(ids)), make([]int64, len(ids)), int64(math.MaxInt64), int64(0)
	sorted, squares := uint64(0), uint64(0)
	take := func() {
		for i, id := range ids[:len(ids)-1] {
			for _, e := range w.arena.Handle(id).Take().Entries {
				taken[i], sums[i] = taken[i]+e.Data.Count, sums[i]+e.Data.Sum
				switch e.Data.Kind {
				case object.KindStats:
					for _, b := range e.Data.Bins {
						sorted += b.Count
					}
					squares += e.Data.Squares.Lo
				case object.KindMin:
					low = min(low, e.Data.Min)
				case object.KindMax:
					high = max(high, e.Data.Max)
				}
			}
			w.arena.Handle(id).Get()
		}
	}
	for running := 2; running > 0; {
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
	if low != 1 || high != times {
		t.Errorf("the extremes are %d and %d", low, high)
	}
	if n := uint64(times); sorted != 2*n || squares != n*(n+1)*(2*n+1)/3 {
		t.Errorf("stats have %d values in buckets, and %d as the sum of their squares", sorted, squares)
	}
	for i, id := range ids[:len(ids)-1] {
		_, off := w.arena.Lookup(id)
		if l, _ := w.arena.LayoutOf(off); l.Banked && binary.LittleEndian.Uint64(w.memory[l.Word:])&^arena.BankMask != 0 {
			t.Errorf("%s: a bank remains pinned", l.Object.Kind)
		}
		if o := w.arena.Handle(id).Object(); taken[i] != 2*times {
			t.Errorf("%s counts %d of %d", o.Kind, taken[i], 2*times)
		} else if sum := int64(times * (times + 1)); sums[i] != 0 && sums[i] != sum {
			t.Errorf("%s adds up to %d, not %d", o.Kind, sums[i], sum)
		}
	}
	if n := w.counted(ids[len(ids)-1]); n != 5*2*times {
		t.Errorf("the variable is %d", n)
	}
	if all.Hits() != 2*times || g.Seen() != 2*times || g.Hits() != (2*times-10)/3 {
		t.Errorf("%d hits; %d of %d", all.Hits(), g.Hits(), g.Seen())
	}
}

// TestKeysAtOnce: two processes use the same keys at once, while the host takes them all and deletes some. Native code
// finds dying and new slots; nothing is lost, and no slot remains in use. The processes swap pairs, or one of them pins
// slots.
func TestKeysAtOnce(t *testing.T) {
	for first := range 3 {
		w := newWorld(t)
		w.sites = first // see world.site
		keysAtOnce(t, w)
	}
}

func keysAtOnce(t *testing.T, w *world) {
	other := w.other(ownData + 0x100)
	times := int64(8000)
	switch {
	case os.Getenv("GOTAP_LONG") != "":
		times = 200_000
	case testing.Short():
		times = 2000
	}
	kind := []value.Kind{value.KindInt}
	count, countID := w.object(object.Object{Kind: object.KindCount, Keys: 1, Max: 40}, kind...)
	sum, sumID := w.object(object.Object{Kind: object.KindSum, Keys: 1, Max: 40, Full: object.FullEvict}, kind...)
	m, mID := w.object(object.Object{Kind: object.KindMap, Keys: 1, Max: 40}, kind...)
	left := opV(opcode.PushR, uint64(fileIndex[asm.RBX])<<16)
	key := []runtime.Inst{left, push(7), op(opcode.And), op(opcode.KeyInt)}
	p := w.plan(slices.Concat(key, []runtime.Inst{push(1), opV(opcode.Agg, count)}, key, []runtime.Inst{push(2), opV(opcode.Agg, sum)},
		key, []runtime.Inst{push(1), opV(opcode.MapAdd, m), opA(opcode.Drop, 1)}, []runtime.Inst{push(9), op(opcode.KeyInt), opV(opcode.MapDel, m)},
		[]runtime.Inst{push(9), op(opcode.KeyInt), left, opV(opcode.MapSet, m), op(opcode.Exit)})...)
	done := make(chan error, 2)
	w.setBarrier(2)
	for _, c := range []*tracee{w.c, other} {
		w.hammer(c, []native.Program{{Run: p}}, uint64(times), done)
	}
	var counts, sums, values int64
	take := func() {
		for _, e := range w.arena.Handle(countID).Take().Entries {
			counts += e.Data.Count
		}
		for _, e := range w.arena.Handle(sumID).Take().Entries {
			sums += e.Data.Sum
		}
		for _, e := range w.arena.Handle(mID).Take().Entries {
			if e.Key[0].Int != 9 {
				values += e.Data.Int
			}
		}
	}
	for running := 2; running > 0; {
		select {
		case err := <-done:
			if running--; err != nil {
				t.Fatal(err)
			}
		case <-time.After(200 * time.Microsecond):
			take()
		}
	}
	take()
	if counts != 2*times || sums != 4*times || values != 2*times {
		t.Errorf("%d counted, %d summed, %d in the map", counts, sums, values)
	}
	for _, off := range []uint64{count, sum, m} {
		l, _ := w.arena.LayoutOf(off)
		for slot := range l.Table.Slots {
			if s := binary.LittleEndian.Uint64(w.memory[l.Table.State+8*slot*uint64(stateWords(l.Table)):]); s<<16 != 0 {
				t.Errorf("%s: slot %d remains in state %#x", l.Object.Kind, slot, s)
			}
		}
		if n := binary.LittleEndian.Uint64(w.memory[l.Table.Used:]); n != 0 {
			t.Errorf("%s: %d keys remain", l.Object.Kind, n)
		}
	}
}

// hammer lets a tracee run programs many times, with the number of runs that are left in rbx.
func (w *world) hammer(c *tracee, programs []native.Program, times uint64, done chan<- error) {
	c.setControl(1)
	stub := w.place(c, programs, Site{Addr: codeAddr, Tail: ret})
	regs := c.loop(codeAddr, times)
	go c.do(func() {
		c.free()
		done <- w.serve(c, stub, programs, &regs)
	})
}

// serve lets a tracee run and answers its doorbells, until a loop ends.
func (w *world) serve(c *tracee, stub *native.Stub, programs []native.Program, regs *regFile) error {
	var state runtime.State
	var log record.Log
	for m := runtime.NewMachine(w.arena); ; {
		if sig := c.run(regs); sig != syscall.SIGTRAP {
			return fmt.Errorf("signal %v at %#x", sig, regs[fileRIP])
		}
		d, was := stub.DoorbellAt(int(regs[fileRIP]-codeAddr)-1), *regs
		if d == nil {
			return nil
		}
		frame := c.words(regs[fileRSP], d.FrameWords())
		d.State(regs[:], frame, &state)
		d.Restore(was[:], frame)
		log.Reset()
		m.Resume(programs[d.Program].Run.Code, w.context(&was), &log, &state)
		regs[fileRIP] = codeAddr + uint64(d.Resume)
	}
}

// TestAtomic: two processes execute a single operation at once, as fast as they can.
func TestAtomic(t *testing.T) {
	w := newWorld(t)
	other := w.other(ownData + 0x100)
	const times = 2_000_000
	number, numberID := w.object(object.Object{Kind: object.KindInt})
	array, arrayID := w.object(object.Object{Kind: object.KindArray, Size: 1})
	least, leastID := w.object(object.Object{Kind: object.KindMin})
	left := opV(opcode.PushR, uint64(fileIndex[asm.RBX])<<16)
	exit, drop := op(opcode.Exit), opA(opcode.Drop, 1)
	for _, c := range []struct {
		name string
		p    *native.Plan
		id   int
		key  []value.Value
		want int64
	}{
		{"inc", w.plan(opV(opcode.IncGV, number), exit), numberID, nil, 2 * times},
		{"dec", w.plan(opV(opcode.DecGV, number), exit), numberID, nil, -2 * times},
		{"add a constant", w.plan(push(3), opV(opcode.AddGV, number), exit), numberID, nil, 6 * times},
		{"add a word", w.plan(left, opV(opcode.AddGV, number), exit), numberID, nil, times * (times + 1)},
		{"fetch and add", w.plan(left, opV(opcode.FetchAddGV, number), drop, exit), numberID, nil, times * (times + 1)},
		{"add to an element", w.plan(left, push(0), opV(opcode.AddLV, array), exit), arrayID, []value.Value{value.Int(0)}, times * (times + 1)},
		{"minimum", w.plan(left, opV(opcode.Agg, least), exit), leastID, nil, 1},
	} {
		w.arena.Handle(c.id).Clear()
		done := make(chan error, 2)
		w.setBarrier(2)
		for _, c2 := range []*tracee{w.c, other} {
			w.hammer(c2, []native.Program{{Run: c.p}}, times, done)
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		d, _ := w.arena.Handle(c.id).Get(c.key...)
		if d.Int != c.want {
			t.Errorf("%s: %d, not %d", c.name, d.Int, c.want)
		}
	}
}
