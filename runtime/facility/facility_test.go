package facility

import (
	"testing"

	"gotap/runtime/hook"
	"gotap/runtime/outcome"
)

func TestOwnFacilities(t *testing.T) {
	table := NewTable()
	for n, want := range map[uint32]Request{
		Log: {}, Stop: {Stop: true}, Hold: {Hold: true}, Dump: {Dump: true}, FirstFree: {}, Count - 1: {}, Count: {}, 1<<32 - 1: {},
	} {
		got := Request{Number: n}
		want.Number = n
		if table.Hit(&got); got != want {
			t.Errorf("%d asks for %+v", n, got)
		}
		if served := table.Served(n); served != (n < FirstFree) {
			t.Errorf("%d is served: %v", n, served)
		}
		if table.Deliver(&Delivery{Number: n}) {
			t.Errorf("%d: nobody can have taken it", n)
		}
	}
}

// An exit's life: registered and not called, armed and called, disarmed, gone.
func TestRegistration(t *testing.T) {
	table, calls := NewTable(), 0
	x := &hook.Exit[*Delivery]{Name: "seven", Func: func(*Delivery) hook.Code { calls++; return hook.Terminate }}
	h := table.Records(7)
	deliver := func() bool { return table.Deliver(&Delivery{Number: 7}) }
	for i, step := range []struct {
		do            func() error
		taken, served bool
	}{
		{func() error { return h.Register(x) }, false, true},
		{func() error { return h.Arm(x) }, true, true},
		{func() error { return h.Disarm(x) }, false, true},
		{func() error { return h.Arm(x) }, true, true},
		{func() error { return h.Deregister(x) }, false, false},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if taken, served := deliver(), table.Served(7); taken != step.taken || served != step.served {
			t.Errorf("step %d: taken %v, served %v", i, taken, served)
		}
	}
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

func TestOf(t *testing.T) {
	for want, out := range map[uint32]outcome.Outcome{
		Log: {}, Stop: {Kind: outcome.ExitStop}, Hold: {Kind: outcome.ExitHold}, Dump: {Kind: outcome.ExitDump},
		9: {Kind: outcome.ExitFacility, Facility: 9},
	} {
		if got := Of(&out); got != want {
			t.Errorf("%+v leads to %d", out, got)
		}
	}
	if Of(&outcome.Outcome{Kind: outcome.ExitEvent}) != Log {
		t.Error("an event leads somewhere")
	}
}

func TestNames(t *testing.T) {
	for n, want := range map[uint32]string{0: "log", 1: "stop", 2: "hold", 3: "dump", 4: "4", 255: "255"} {
		if Name(n) != want {
			t.Errorf("%d is %s", n, Name(n))
		}
	}
}

// A hit asks on the tracing thread, for every exit: it allocates nothing.
func TestHitDoesNotAllocate(t *testing.T) {
	table, q := NewTable(), &Request{Number: Dump}
	if n := testing.AllocsPerRun(100, func() { table.Hit(q) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
