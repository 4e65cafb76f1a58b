package runtime

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotap/runtime/opcode"
)

// keyedHandle declares an object keyed by one integer.
func keyedHandle(t testing.TB, a *Arena, o Object) *Handle {
	t.Helper()
	o.Keys = 1
	id, err := a.Declare(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Refine(id, []ValueKind{ValueInt}, ValueInt); err != nil {
		t.Fatal(err)
	}
	return a.Handle(id)
}

// TestTableAgainstMap does random things to a map object and to a Go map.
func TestTableAgainstMap(t *testing.T) {
	a := newArena(t)
	const limit = 100
	h := keyedHandle(t, a, Object{Name: "m", Kind: KindMap, Max: limit})
	truth, r := map[int64]int64{}, rand.New(rand.NewPCG(1, 1))
	dropped := uint64(0)
	for i := range 200_000 {
		k, v := r.Int64N(300), r.Int64()
		_, have := truth[k]
		switch r.IntN(5) {
		case 0, 1:
			if err := h.Set(Int(v), Int(k)); err == nil {
				truth[k] = v
			} else if !errors.Is(err, ErrFull) || have || len(truth) != limit {
				t.Fatalf("step %d: %v with %d keys", i, err, len(truth))
			} else {
				dropped++
			}
		case 2:
			if h.Delete(Int(k)) != have {
				t.Fatalf("step %d: delete of %d", i, k)
			}
			delete(truth, k)
		case 3:
			if have {
				h.Add(3, Int(k))
				truth[k] += 3
			}
		case 4:
			if d, ok := h.Get(Int(k)); ok != have || ok && d.Int != truth[k] {
				t.Fatalf("step %d: get of %d: %v %v", i, k, d.Int, ok)
			}
		}
		if h.Len() != len(truth) {
			t.Fatalf("step %d: %d keys, want %d", i, h.Len(), len(truth))
		}
	}
	if got := a.Lost()["map m full"]; got != dropped || dropped == 0 {
		t.Errorf("lost %d, want %d", got, dropped)
	}
	for _, e := range h.Take().Entries {
		if truth[e.Key[0].Int] != e.Data.Int {
			t.Errorf("key %v: %d", e.Key, e.Data.Int)
		}
		delete(truth, e.Key[0].Int)
	}
	if len(truth) != 0 || h.Len() != 0 {
		t.Errorf("not taken: %v", truth)
	}
}

// TestProbesStayShort: a million keys that come and go leave no long searches behind.
func TestProbesStayShort(t *testing.T) {
	a := newArena(t)
	h := keyedHandle(t, a, Object{Kind: KindMap, Max: 1000})
	for i := range int64(300_000) {
		if err := h.Set(Int(1), Int(i*16)); err != nil {
			t.Fatal(err)
		}
		if i >= 900 {
			h.Delete(Int((i - 900) * 16))
		}
	}
	reach := uint64(0)
	for _, w := range h.obj.storage.Load().table.home {
		reach = max(reach, w>>reachShift)
	}
	if reach > 64 {
		t.Errorf("a search looks at up to %d slots", reach)
	}
}

func TestFullPolicies(t *testing.T) {
	b := newBench(t)
	add := func(off uint64, k int64) Trap {
		return b.run(&Code{Insts: seq(push(k), op(opcode.KeyInt), push(1), opV(opcode.Agg, off), op(opcode.Exit))}).Trap
	}
	for full, want := range map[Full]struct {
		keys string
		trap Trap
		lost string
	}{
		FullDrop:  {"1:2 2:1 3:1 4:1", NoTrap, "count n full"},
		FullEvict: {"1:1 5:1 6:1 7:1", NoTrap, "count n evicted"},
		FullError: {"1:2 2:1 3:1 4:1", TrapFull, ""}, // the trap tells
	} {
		b.a = newArena(t)
		b.m = NewMachine(b.a)
		id, off := b.declare(t, Object{Name: "n", Kind: KindCount, Keys: 1, Max: 4, Full: full})
		b.refine(t, id, ValueAny, ValueInt)
		trap := NoTrap
		for _, k := range []int64{1, 2, 3, 4, 5, 6, 7, 1} {
			if t := add(off, k); t != NoTrap {
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
		case FullEvict:
			lost[want.lost] = 4 // the second 1 is a new key again
		case FullError:
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

// TestEvictionIsExact compares with a list ordered by last write.
func TestEvictionIsExact(t *testing.T) {
	a := newArena(t)
	h := keyedHandle(t, a, Object{Kind: KindMap, Max: 200, Full: FullEvict})
	var order []int64 // oldest first
	r := rand.New(rand.NewPCG(9, 9))
	for range 20_000 {
		k := r.Int64N(400)
		h.Set(Int(k), Int(k))
		for i, x := range order {
			if x == k {
				order = append(order[:i], order[i+1:]...)
				break
			}
		}
		if order = append(order, k); len(order) > 200 {
			order = order[1:]
		}
	}
	for _, k := range order {
		if _, ok := h.Get(Int(k)); !ok {
			t.Fatalf("%d is gone, and is not among the oldest", k)
		}
	}
	if h.Len() != len(order) {
		t.Fatalf("%d keys", h.Len())
	}
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
func adder(a *Arena, rounds int, insts func(round int) []Inst) {
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
	for _, kind := range []ObjectKind{KindCount, KindSum, KindAvg, KindStats, KindMin, KindHist, KindLhist} {
		for _, keys := range []int{0, 1} {
			t.Run(fmt.Sprint(kind, keys), func(t *testing.T) {
				a := newArena(t)
				id, err := a.Declare(Object{Kind: kind, Keys: keys, Hi: 10, Step: 1, Max: 16})
				if err != nil {
					t.Fatal(err)
				}
				a.Refine(id, []ValueKind{ValueInt}[:keys], ValueAny)
				_, off := a.Lookup(id)
				hits := takeWhileAdding(a, id, threads, func() {
					adder(a, rounds, func(i int) []Inst {
						if keys == 0 {
							return seq(push(2), opV(opcode.Agg, off), op(opcode.Exit))
						}
						return seq(push(int64(i%11)), op(opcode.KeyInt), push(2), opV(opcode.Agg, off), op(opcode.Exit))
					})
				}, t)
				if kind == KindSum {
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
func takeWhileAdding(a *Arena, id, threads int, add func(), t *testing.T) (total int64) {
	var running atomic.Int64
	running.Store(int64(threads))
	h := a.Handle(id)
	take := func() {
		for _, e := range h.Take().Entries {
			d := e.Data
			if d.Kind == KindAvg || d.Kind == KindStats {
				if d.Sum != 2*d.Count {
					t.Errorf("torn: count %d, sum %d", d.Count, d.Sum)
				}
			}
			if d.Kind == KindSum {
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
	_, gv := b.declare(t, Object{Kind: KindInt})
	m, mOff := b.declare(t, Object{Kind: KindMap, Keys: 1})
	s, sOff := b.declare(t, Object{Kind: KindSum, Keys: 1})
	b.refine(t, m, ValueInt, ValueInt)
	b.refine(t, s, ValueAny, ValueText)
	const threads, rounds = 8, 2000
	hammer(threads, func(int) {
		adder(a, rounds, func(i int) []Inst {
			return seq(opV(opcode.IncGV, gv), push(int64(i&3)), op(opcode.KeyInt), push(1), opV(opcode.MapAdd, mOff), opA(opcode.Drop, 1),
				push(0x1000+int64(i&3)), push(9), op(opcode.Str), opA(opcode.KeyText, uint32(ValueText)), push(int64(i)), opV(opcode.Agg, sOff), op(opcode.Exit))
		})
	})
	if d, _ := a.Handle(0).Get(); d.Int != threads*rounds {
		t.Errorf("variable: %d", d.Int)
	}
	for k := range int64(4) {
		if d, _ := a.Handle(m).Get(Int(k)); d.Int != threads*rounds/4 {
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
	m, mOff := b.declare(t, Object{Name: "m", Kind: KindMap, Keys: 1, Max: 64})
	e, eOff := b.declare(t, Object{Name: "e", Kind: KindCount, Keys: 1, Max: 16, Full: FullEvict})
	x, xOff := b.declare(t, Object{Name: "x", Kind: KindMap, Keys: 1, Max: 8})
	_, tOff := b.declare(t, Object{Kind: KindText, Text: "start"})
	b.refine(t, m, ValueInt, ValueInt)
	b.refine(t, e, ValueAny, ValueInt)
	b.refine(t, x, ValueText, ValueInt)
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
				a.Handle(m).Delete(Int(int64(i & 63)))
				a.Handle(x).Set(Text(texts[i%3]), Int(int64(i&7)))
				a.Handle(3).Set(Text(texts[i%3]))
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
		for _, s := range h.obj.storage.Load().table.state {
			if s&(statusMask|pinMask) != 0 {
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
func checkHammered(t *testing.T, a *Arena, m, x int) {
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
