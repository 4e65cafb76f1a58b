package hook

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// named makes an exit that writes its name down.
func named(trace *[]string, name string, o Order) *Exit[int] {
	return &Exit[int]{Name: name, Order: o, Func: func(code int) Code {
		*trace = append(*trace, name)
		if name == "stops" {
			return Code(code)
		}
		return Continue
	}}
}

// TestOrder is the table of who may be registered, and who is called when.
func TestOrder(t *testing.T) {
	first, last, only := Order{Position: First}, Order{Position: Last}, Order{Position: Only}
	type step struct {
		name  string
		order Order
		want  error
	}
	for _, c := range []struct {
		title string
		steps []step
		want  string
	}{
		{"in the order of registration", []step{{"a", Order{}, nil}, {"b", Order{}, nil}, {"c", Order{}, nil}}, "a b c"},
		{"the newest first", []step{{"a", Order{Newest: true}, nil}, {"b", Order{Newest: true}, nil}, {"c", Order{}, nil}}, "b a c"},
		{"by priority", []step{{"a", Order{Priority: 5}, nil}, {"b", Order{}, nil}, {"c", Order{Priority: -5}, nil}, {"d", Order{Priority: 5}, nil}}, "c b a d"},
		{"newest of its priority", []step{{"a", Order{Priority: 1}, nil}, {"b", Order{}, nil}, {"c", Order{Priority: 1, Newest: true}, nil}}, "b c a"},
		{"first and last", []step{{"z", last, nil}, {"m", Order{Priority: -9}, nil}, {"a", first, nil}, {"n", Order{Priority: 9}, nil}}, "a m n z"},
		{"one first", []step{{"a", first, nil}, {"b", first, ErrOrder}, {"c", Order{}, nil}}, "a c"},
		{"one last", []step{{"a", last, nil}, {"b", last, ErrOrder}, {"c", Order{}, nil}}, "c a"},
		{"only is alone", []step{{"a", only, nil}, {"b", Order{}, ErrOrder}, {"c", first, ErrOrder}, {"d", only, ErrOrder}}, "a"},
		{"only comes too late", []step{{"a", Order{}, nil}, {"b", only, ErrOrder}}, "a"},
		{"the chain stops", []step{{"a", first, nil}, {"stops", Order{}, nil}, {"c", last, nil}}, "a stops"},
	} {
		var trace []string
		h := New[int]("h")
		for _, s := range c.steps {
			x := named(&trace, s.name, s.order)
			if err := h.Register(x); !errors.Is(err, s.want) || (err == nil) != (s.want == nil) {
				t.Errorf("%s: registering %s: %v", c.title, s.name, err)
			} else if err == nil {
				must(t, h.Arm(x))
			}
		}
		code := h.Dispatch(7)
		if got := strings.Join(trace, " "); got != c.want {
			t.Errorf("%s: called %s, want %s", c.title, got, c.want)
		}
		if stopped := strings.Contains(c.want, "stops"); (code == 7) != stopped {
			t.Errorf("%s: the result is %d", c.title, code)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestStates goes through the life of an exit: what may follow what.
func TestStates(t *testing.T) {
	h, other := New[int]("h"), New[int]("other")
	calls := 0
	x := &Exit[int]{Name: "x", Func: func(int) Code { calls++; return Continue }}
	dispatch := func(want int) {
		t.Helper()
		calls = 0
		if h.Dispatch(0); calls != want || h.Armed() != (want > 0) {
			t.Errorf("%d calls, want %d; armed is %v", calls, want, h.Armed())
		}
	}
	for _, op := range []func(...*Exit[int]) error{h.Arm, h.Disarm, h.Deregister} {
		if err := op(x); !errors.Is(err, ErrUnknown) {
			t.Errorf("before it is registered: %v", err)
		}
	}
	dispatch(0)
	must(t, h.Register(x))
	dispatch(0) // registered is not armed
	if err := errors.Join(other.Register(x)); !errors.Is(err, ErrRegistered) {
		t.Errorf("at a second hook: %v", err)
	}
	if err := other.Arm(x); !errors.Is(err, ErrUnknown) {
		t.Errorf("armed at another hook: %v", err)
	}
	must(t, h.Arm(x))
	must(t, h.Arm(x)) // again is as well
	dispatch(1)
	must(t, h.Disarm(x))
	dispatch(0)
	must(t, h.Arm(x))
	must(t, h.Deregister(x)) // disarms first
	dispatch(0)
	must(t, other.Register(x)) // the record is free again
	if err := h.Register(&Exit[int]{Name: "empty"}); err == nil {
		t.Error("an exit without a function was registered")
	}
	stranger := &Exit[int]{Name: "y", Func: x.Func}
	if err := other.Arm(x, stranger); !errors.Is(err, ErrUnknown) || x.Armed() {
		t.Errorf("a list with a stranger: %v", err)
	}
}

// TestSelf is what an exit may do to itself while it is called.
func TestSelf(t *testing.T) {
	h := New[int]("h")
	calls := 0
	x := &Exit[int]{Name: "x"}
	x.Func = func(int) Code {
		calls++
		if err := h.TryDeregister(x); !errors.Is(err, ErrBusy) {
			t.Errorf("from within: %v", err)
		}
		must(t, h.Disarm(x))
		return Continue
	}
	must(t, h.Register(x))
	must(t, h.Arm(x))
	h.Dispatch(0)
	h.Dispatch(0)
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
	must(t, h.TryDeregister(x))
}

// TestOneShot: a call for each arming, however many dispatch.
func TestOneShot(t *testing.T) {
	h := New[int]("h")
	var calls atomic.Int64
	x := &Exit[int]{Name: "once", OneShot: true, Func: func(int) Code { calls.Add(1); return Continue }}
	must(t, h.Register(x))
	for round := range int64(50) {
		must(t, h.Arm(x))
		together(8, func(int) { h.Dispatch(0) })
		if n := calls.Load(); n != round+1 {
			t.Fatalf("round %d: %d calls", round, n)
		}
	}
}

// together runs a function on several goroutines that start at once.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

// TestRegistry: names, types, and deletion with and without force.
func TestRegistry(t *testing.T) {
	var r Registry
	h, err := Identify[int](&r, "exit")
	must(t, err)
	if again, err := Identify[int](&r, "exit"); again != h || err != nil {
		t.Errorf("another hook: %v", err)
	}
	if _, err := Identify[string](&r, "exit"); !errors.Is(err, ErrType) {
		t.Errorf("another type: %v", err)
	}
	x := &Exit[int]{Name: "x", Func: func(int) Code { return Terminate }}
	must(t, h.Register(x))
	must(t, h.Arm(x))
	if err := r.Delete("exit", false); !errors.Is(err, ErrInUse) || h.Dispatch(0) != Terminate {
		t.Errorf("in use: %v", err)
	}
	must(t, r.Delete("exit", true))
	if err := h.Register(x); !errors.Is(err, ErrDeleted) || h.Dispatch(0) != Continue || len(r.Names()) != 0 {
		t.Errorf("after the deletion: %v", err)
	}
	if err := r.Delete("exit", true); err == nil {
		t.Error("deleted twice")
	}
	fresh, err := Identify[int](&r, "exit")
	if err != nil || fresh == h || fresh.Register(x) != nil {
		t.Errorf("identified again: %v", err)
	}
}

// TestRemovalHammer: after Deregister has returned the exit is never called, whatever dispatches were under way. The
// exit works on memory that is taken away then.
func TestRemovalHammer(t *testing.T) {
	h := New[int]("h")
	var stop atomic.Bool
	var calls atomic.Int64
	var dispatchers, removers sync.WaitGroup
	for range 4 {
		dispatchers.Go(func() {
			for !stop.Load() {
				h.Dispatch(1)
			}
		})
	}
	for i := range 4 {
		removers.Go(func() {
			for round := range 300 {
				memory := new([8]int) // the race detector reports a call after the removal
				own := new(sync.Mutex)
				x := &Exit[int]{Name: "x", Order: Order{Priority: i}, OneShot: round%3 == 0, Func: func(int) Code {
					own.Lock()
					if memory == nil {
						t.Error("called after it was removed")
					} else {
						memory[0]++
					}
					own.Unlock()
					calls.Add(1)
					return Continue
				}}
				if h.Register(x) != nil || h.Arm(x) != nil {
					t.Error("cannot arm")
				}
				if round%2 == 0 {
					h.Disarm(x)
					h.Arm(x)
				}
				if err := h.Deregister(x); err != nil {
					t.Error(err)
				}
				memory[0]++ // without the lock: nobody else may be in there
				memory = nil
			}
		})
	}
	removers.Wait()
	stop.Store(true)
	dispatchers.Wait()
	if len(h.Exits()) != 0 || h.Armed() {
		t.Errorf("left: %d", len(h.Exits()))
	}
	t.Logf("%d calls", calls.Load())
}

// TestListsAtOnce: two exits that are armed and disarmed in one call are both seen by a dispatch that begins, or none.
func TestListsAtOnce(t *testing.T) {
	h := New[*[2]int]("h")
	exit := func(i int) *Exit[*[2]int] {
		return &Exit[*[2]int]{Name: "pair", Func: func(seen *[2]int) Code { seen[i]++; return Continue }}
	}
	a, b := exit(0), exit(1)
	must(t, h.Register(a))
	must(t, h.Register(b))
	for range 200 {
		var seen [2]int
		together(2, func(i int) {
			if i == 0 {
				h.Arm(a, b)
				return
			}
			h.Dispatch(&seen)
		})
		if seen[0] != seen[1] {
			t.Fatalf("%v", seen)
		}
		must(t, h.Disarm(a, b))
	}
}

// TestDispatchAllocatesNothing: with and without exits.
func TestDispatchAllocatesNothing(t *testing.T) {
	h := New[*int]("h")
	n := new(int)
	run := func() { h.Dispatch(n) }
	if got := testing.AllocsPerRun(100, run); got != 0 {
		t.Errorf("%v allocations at a hook without exits", got)
	}
	x := &Exit[*int]{Name: "x", Func: func(p *int) Code { *p++; return Continue }}
	must(t, h.Register(x))
	must(t, h.Arm(x))
	if got := testing.AllocsPerRun(100, run); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkDispatch(b *testing.B) {
	h := New[*int]("h")
	n := new(int)
	b.Run("nobody", func(b *testing.B) {
		for b.Loop() {
			h.Dispatch(n)
		}
	})
	x := &Exit[*int]{Name: "x", Func: func(p *int) Code { *p++; return Continue }}
	if h.Register(x) != nil || h.Arm(x) != nil {
		b.Fatal("cannot arm")
	}
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			h.Dispatch(n)
		}
	})
}
