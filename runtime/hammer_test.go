package runtime

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotap/runtime/arena"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/value"
)

func TestFullPolicies(t *testing.T) {
	b := newBench(t)
	add := func(off uint64, k int64) outcome.Trap {
		return b.run(&Code{Insts: seq(push(k), op(opcode.KeyInt), push(1), opV(opcode.Agg, off), op(opcode.Exit))}).Trap
	}
	for full, want := range map[object.Full]struct {
		keys string
		trap outcome.Trap
		lost string
	}{
		object.FullDrop:  {"1:2 2:1 3:1 4:1", outcome.NoTrap, "count n full"},
		object.FullEvict: {"1:1 5:1 6:1 7:1", outcome.NoTrap, "count n evicted"},
		object.FullError: {"1:2 2:1 3:1 4:1", outcome.TrapFull, ""}, // the trap tells
	} {
		b.a = newArena(t)
		b.m = NewMachine(b.a)
		id, off := b.declare(t, object.Object{Name: "n", Kind: object.KindCount, Keys: 1, Max: 4, Full: full})
		b.refine(t, id, value.KindAny, value.KindInt)
		trap := outcome.NoTrap
		for _, k := range []int64{1, 2, 3, 4, 5, 6, 7, 1} {
			if t := add(off, k); t != outcome.NoTrap {
				trap = t
			}
		}
		var keys []string
		s := b.a.Handle(id).Entries()
		for _, e := range s.Entries {
			keys = append(keys, fmt.Sprintf("%d:%d", e.Key[0].Int, e.Data.Int))
		}
		if len(keys) != 4 || trap != want.trap || !sameWords(keys, want.keys) {
			t.Errorf("policy %d: %v, %v", full, keys, trap)
		}
		lost := map[string]uint64{want.lost: 3}
		switch full {
		case object.FullEvict:
			lost[want.lost] = 4 // the second 1 is a new key again
		case object.FullError:
			clear(lost)
		}
		if !maps.Equal(b.a.Lost(), lost) {
			t.Errorf("policy %d lost %v", full, b.a.Lost())
		}
	}
}

func sameWords(got []string, want string) bool {
	have := map[string]bool{}
	for _, g := range got {
		have[g] = true
	}
	for w := range strings.FieldsSeq(want) {
		if !have[w] {
			return false
		}
	}
	return true
}

// hammer starts the functions together, several times each, and waits.
func hammer(times int, each ...func(i int)) {
	var start, done sync.WaitGroup
	start.Add(1)
	for _, f := range each {
		for i := range times {
			done.Go(func() { start.Wait(); f(i) })
		}
	}
	start.Done()
	done.Wait()
}

// adder runs a program again and again on a machine of its own.
func adder(a *arena.Arena, rounds int, insts func(round int) []Inst) {
	b := &bench{a: a, m: NewMachine(a), thread: newThread()}
	b.ctx = Context{Thread: b.thread, Word: 8, Tid: 1}
	for i := range rounds {
		b.run(&Code{Insts: insts(i)})
	}
}

// TestTakeLosesNothing: eight threads add while the host takes; what was taken and what is left
// is all that was added.
func TestTakeLosesNothing(t *testing.T) {
	const threads, rounds = 8, 1500
	for _, kind := range []object.Kind{object.KindCount, object.KindSum, object.KindAvg, object.KindStats, object.KindMin, object.KindHist, object.KindLhist} {
		for _, keys := range []int{0, 1} {
			t.Run(fmt.Sprint(kind, keys), func(t *testing.T) {
				a := newArena(t)
				id, err := a.Declare(object.Object{Kind: kind, Keys: keys, Hi: 10, Step: 1, Max: 16})
				if err != nil {
					t.Fatal(err)
				}
				a.Refine(id, []value.Kind{value.KindInt}[:keys], value.KindAny)
				_, off := a.Lookup(id)
				hits := takeWhileAdding(a, id, threads, func() {
					adder(a, rounds, func(i int) []Inst {
						if keys == 0 {
							return seq(push(2), opV(opcode.Agg, off), op(opcode.Exit))
						}
						return seq(push(int64(i%11)), op(opcode.KeyInt), push(2), opV(opcode.Agg, off), op(opcode.Exit))
					})
				}, t)
				if kind == object.KindSum {
					hits /= 2
				}
				if hits != threads*rounds {
					t.Errorf("%d hits, want %d (lost %v)", hits, threads*rounds, a.Lost())
				}
			})
		}
	}
}

// takeWhileAdding returns the sum of all that was taken, and checks each piece.
func takeWhileAdding(a *arena.Arena, id, threads int, add func(), t *testing.T) (total int64) {
	var running atomic.Int64
	running.Store(int64(threads))
	h := a.Handle(id)
	take := func() {
		for _, e := range h.Take().Entries {
			d := e.Data
			if d.Kind == object.KindAvg || d.Kind == object.KindStats {
				if d.Sum != 2*d.Count {
					t.Errorf("torn: count %d, sum %d", d.Count, d.Sum)
				}
			}
			if d.Kind == object.KindSum {
				total += d.Sum
			} else {
				total += d.Count
			}
		}
	}
	var host sync.WaitGroup
	host.Go(func() {
		for running.Load() > 0 {
			take()
			h.Entries()
		}
	})
	hammer(threads, func(int) { defer running.Add(-1); add() })
	host.Wait()
	take()
	return total
}

// TestExactUnderThreads: eight threads and no host: every count is exact, keyed and not.
func TestExactUnderThreads(t *testing.T) {
	b := newBench(t)
	a := b.a
	_, gv := b.declare(t, object.Object{Kind: object.KindInt})
	m, mOff := b.declare(t, object.Object{Kind: object.KindMap, Keys: 1})
	s, sOff := b.declare(t, object.Object{Kind: object.KindSum, Keys: 1})
	b.refine(t, m, value.KindInt, value.KindInt)
	b.refine(t, s, value.KindAny, value.KindText)
	const threads, rounds = 8, 2000
	hammer(threads, func(int) {
		adder(a, rounds, func(i int) []Inst {
			return seq(opV(opcode.IncGV, gv), push(int64(i&3)), op(opcode.KeyInt), push(1), opV(opcode.MapAdd, mOff), opA(opcode.Drop, 1),
				push(0x1000+int64(i&3)), push(9), op(opcode.Str), opA(opcode.KeyText, uint32(value.KindText)), push(int64(i)), opV(opcode.Agg, sOff), op(opcode.Exit))
		})
	})
	if d, _ := a.Handle(0).Get(); d.Int != threads*rounds {
		t.Errorf("variable: %d", d.Int)
	}
	for k := range int64(4) {
		if d, _ := a.Handle(m).Get(value.Int(k)); d.Int != threads*rounds/4 {
			t.Errorf("key %d: %d", k, d.Int)
		}
	}
	total := int64(0)
	for _, e := range a.Handle(s).Entries().Entries {
		total += e.Data.Sum
	}
	if total != threads*rounds*(rounds-1)/2 || a.Handle(s).Len() != 4 {
		t.Errorf("sums: %d of %d keys", total, a.Handle(s).Len())
	}
}

// TestHammer: writers, evictions, deletes, clears and readers at once; afterwards the table is
// still whole.
func TestHammer(t *testing.T) {
	b := newBench(t)
	a := b.a
	m, mOff := b.declare(t, object.Object{Name: "m", Kind: object.KindMap, Keys: 1, Max: 64})
	e, eOff := b.declare(t, object.Object{Name: "e", Kind: object.KindCount, Keys: 1, Max: 16, Full: object.FullEvict})
	x, xOff := b.declare(t, object.Object{Name: "x", Kind: object.KindMap, Keys: 1, Max: 8})
	_, tOff := b.declare(t, object.Object{Kind: object.KindText, Text: "start"})
	b.refine(t, m, value.KindInt, value.KindInt)
	b.refine(t, e, value.KindAny, value.KindInt)
	b.refine(t, x, value.KindText, value.KindInt)
	texts := []string{strings.Repeat("a", 100), strings.Repeat("b", 200), ""}
	write := func(id int) {
		adder(a, 1000, func(i int) []Inst {
			k := int64(i*7 + id)
			return seq(push(k&63), op(opcode.KeyInt), push(k&63), opV(opcode.MapSet, mOff), push(k), op(opcode.KeyInt), push(1), opV(opcode.Agg, eOff),
				push(k&7), op(opcode.KeyInt), opA(opcode.Text, uint32(TextComm)), opV(opcode.MapSetS, xOff),
				push(k&7), op(opcode.KeyInt), opV(opcode.MapDel, xOff), push(k&63), op(opcode.KeyInt), opV(opcode.MapGet, mOff), op(opcode.Exit))
		})
	}
	host := func(id int) {
		for i := range 200 {
			switch (i + id) % 4 {
			case 0:
				a.Handle(m).Clear()
			case 1:
				a.Handle(m).Delete(value.Int(int64(i & 63)))
				a.Handle(x).Set(value.Text(texts[i%3]), value.Int(int64(i&7)))
				a.Handle(3).Set(value.Text(texts[i%3]))
			case 2:
				checkHammered(t, a, m, x)
			case 3:
				a.Handle(e).Take()
			}
		}
	}
	_ = tOff
	hammer(4, write, host)
	for _, id := range []int{m, e, x} {
		h := a.Handle(id)
		h.Clear()
		if h.Len() != 0 || len(h.Entries().Entries) != 0 {
			t.Errorf("object %d is not empty: %d", id, h.Len())
		}
		_, off := a.Lookup(id)
		for _, s := range slotStates(a, b.memory, off) {
			if s&0xffff != 0 { // a status or pins
				t.Fatalf("object %d: a slot is left in state %#x", id, s)
			}
		}
	}
	for cause := range a.Lost() {
		if strings.Contains(cause, "contended") {
			t.Errorf("lost: %s", cause)
		}
	}
}

// checkHammered: whatever is read was written whole.
func checkHammered(t *testing.T, a *arena.Arena, m, x int) {
	for _, e := range a.Handle(m).Entries().Entries {
		if e.Data.Int != e.Key[0].Int && e.Data.Int != 0 { // 0: made and not yet set
			t.Errorf("under %d: %d", e.Key[0].Int, e.Data.Int)
		}
	}
	for _, e := range a.Handle(x).Entries().Entries {
		if s := e.Data.Text; s != "comm" && strings.Trim(s, "a") != "" && strings.Trim(s, "b") != "" {
			t.Errorf("torn text %q", s)
		}
	}
	if d, _ := a.Handle(3).Get(); strings.Trim(d.Text, "a") != "" && strings.Trim(d.Text, "b") != "" && d.Text != "start" {
		t.Errorf("torn text %q", d.Text)
	}
}

// slotStates returns the state words of an object's table.
func slotStates(a *arena.Arena, memory []uint64, object uint64) (states []uint64) {
	l, _ := a.LayoutOf(object)
	step := uint64(1)
	if l.Table.Paired {
		step = 2
	}
	for slot := range l.Table.Slots {
		states = append(states, memory[l.Table.State/8+slot*step])
	}
	return states
}
