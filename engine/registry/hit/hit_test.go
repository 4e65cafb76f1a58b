package hit

import (
	"fmt"
	"slices"
	"testing"

	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/facility"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// thread is a thread that stands still, and notes what it is asked to do.
type thread struct {
	runtime.Thread
	regs  [34]uint64
	asked []string
	room  bool // calls can be remembered
	from  bool // calls come from where they are wanted from
}

func (t *thread) IDs() (pid, tid int)                     { return 7, 8 }
func (t *thread) Comm(p []byte)                           { copy(p, "still") }
func (t *thread) Push(*registry.Placement) (uint64, bool) { return 0, t.room }
func (t *thread) CalledFrom(*registry.Probe) bool         { return t.from }
func (t *thread) Disarm(pr *registry.Probe)               { t.note("disarm %s", pr.Spec.Name) }
func (t *thread) Signal(n int)                            { t.note("signal %d", n) }
func (t *thread) Hold(ticket uint32)                      { t.note("hold %d", ticket) }
func (t *thread) Stop()                                   { t.note("stop") }
func (t *thread) Dump([]uint64)                           { t.note("dump") }

func (t *thread) note(format string, args ...any) {
	t.asked = append(t.asked, fmt.Sprintf(format, args...))
}

// world is a runner with a thread, and programs for it.
type world struct {
	*testing.T
	arena  *arena.Arena
	thread *thread
	h      Hit
}

func newWorld(t *testing.T) *world {
	arena, err := arena.New(arena.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Close() })
	w := &world{T: t, arena: arena, thread: &thread{room: true}}
	w.h.Init(NewRunner(arena, facility.NewTable()), w.thread, w.thread, w.thread.regs[:], 8)
	return w
}

// code lowers a program by hand.
func (w *world) code(insts ...runtime.Inst) *runtime.Code {
	id := w.arena.Register(record.Program{Name: "test", Formats: []record.Format{
		{Kind: record.ItemLog, Fields: []record.Field{{Kind: value.KindInt}}}}})
	return &runtime.Code{ID: id, Insts: insts, Stack: 16, Temps: 4, Unsafe: true}
}

// logs is a program that logs a number.
func (w *world) logs(n uint64) *runtime.Code {
	return w.code(runtime.Inst{Op: opcode.Item}, runtime.Inst{Op: opcode.PushD, V: n}, runtime.Inst{Op: opcode.LogInt},
		runtime.Inst{Op: opcode.EndItem}, done)
}

// placement makes a probe at a place.
func (w *world) placement(name string, code registry.Handlers, change func(*registry.Spec)) *registry.Placement {
	spec := registry.Spec{ID: 1, Name: name, Specs: []place.Spec{{}}, Compile: func(registry.PlaceInfo) (registry.Handlers, error) { return code, nil }}
	if change != nil {
		change(&spec)
	}
	pr, err := registry.New(spec, nil)
	if err != nil {
		w.Fatal(err)
	}
	return &registry.Placement{Probe: pr, Code: code}
}

// records takes what was committed.
func (w *world) records() (flags []uint16) {
	for {
		rec, ok := w.arena.Next()
		if !ok {
			return flags
		}
		if comm := string(rec.Comm[:5]); rec.Pid != 7 || rec.Tid != 8 || comm != "still" {
			w.Errorf("a record of %d/%d, %q", rec.Pid, rec.Tid, comm)
		}
		flags = append(flags, rec.Flags)
	}
}

var done = runtime.Inst{Op: opcode.Exit, A: uint32(outcome.ExitPlain)}

// TestChangesAreTold: what a program does to its target is told where it is done, but for what a trap keeps from being
// done.
func TestChangesAreTold(t *testing.T) {
	register := runtime.Change{PC: 1, Op: opcode.PopR, Value: 5}
	push := func(v uint64) runtime.Inst { return runtime.Inst{Op: opcode.PushD, V: v} }
	for _, c := range []struct {
		end  runtime.Inst
		want []runtime.Change
	}{
		{done, []runtime.Change{register, {PC: 3, Op: opcode.Skip, Value: 7}, {PC: 5, Op: opcode.Signal, Value: 10}}},
		{runtime.Inst{Op: opcode.Load8}, []runtime.Change{register}}, // of an empty stack
	} {
		w := newWorld(t)
		var got []runtime.Change
		r := NewRunner(w.arena, facility.NewTable())
		r.Tell(func(c Change) {
			if c.Tid != 8 {
				t.Errorf("a change by thread %d", c.Tid)
			}
			c.Program = 0
			got = append(got, c.Change)
		})
		w.h.Init(r, w.thread, w.thread, w.thread.regs[:], 8)
		pl := w.placement("p", registry.Handlers{Enter: w.code(push(5), runtime.Inst{Op: opcode.PopR, V: 1 << 16},
			push(7), runtime.Inst{Op: opcode.Skip}, push(10), runtime.Inst{Op: opcode.Signal}, c.end)}, nil)
		w.h.Begin(8)
		w.h.Enter(pl, false)
		w.h.Commit()
		ended := c.end == done
		if !slices.Equal(got, c.want) || w.h.Skip != ended || slices.Contains(w.thread.asked, "signal 10") != ended {
			t.Errorf("told %v, not %v; skips %v, asked %v", got, c.want, w.h.Skip, w.thread.asked)
		}
	}
}

// TestCommitComesLast: nothing is visible before the instruction has completed, and all of it is afterwards, in order.
func TestCommitComesLast(t *testing.T) {
	w := newWorld(t)
	pl := w.placement("p", registry.Handlers{Enter: w.logs(1), Post: w.logs(2)}, nil)
	w.h.Begin(8)
	w.h.Enter(pl, false)
	if n := len(w.records()); n != 0 || !w.h.HasPosts() || w.h.Len() != 1 {
		t.Fatalf("%d records before the instruction, %d runs", n, w.h.Len())
	}
	w.h.Posts()
	w.h.Commit()
	if got := w.records(); !slices.Equal(got, []uint16{0, 0}) || w.h.Len() != 0 {
		t.Errorf("records %v, %d runs left", got, w.h.Len())
	}
}

// TestFault: a fault throws logs away, but for probes that want them, and runs the fault handler.
func TestFault(t *testing.T) {
	for _, keep := range []bool{false, true} {
		w := newWorld(t)
		pl := w.placement("p", registry.Handlers{Enter: w.logs(1), Fault: w.logs(2)}, func(s *registry.Spec) { s.LogOnFault = keep })
		w.h.Begin(8)
		w.h.Enter(pl, false)
		w.h.Faulted()
		want := []uint16{record.FlagFault}
		if keep {
			want = append(want, record.FlagFault)
		}
		if got := w.records(); !slices.Equal(got, want) || w.h.Len() != 0 {
			t.Errorf("kept %v: records %v, not %v", keep, got, want)
		}
	}
}

// TestAdmission: after, limit and predicates decide what runs, and a probe with its last hit is disarmed.
func TestAdmission(t *testing.T) {
	w := newWorld(t)
	pl := w.placement("p", registry.Handlers{Enter: w.logs(1)}, func(s *registry.Spec) { s.After, s.Limit = 1, 2 })
	for range 5 {
		w.h.Begin(8)
		w.h.Enter(pl, false)
		w.h.Commit()
	}
	if got := w.records(); len(got) != 2 || !slices.Equal(w.thread.asked, []string{"disarm p"}) {
		t.Errorf("%d records; asked %v", len(got), w.thread.asked)
	}
	no := w.placement("no", registry.Handlers{Enter: w.logs(1), When: w.code(runtime.Inst{Op: opcode.Abort})}, nil)
	w.h.Begin(8)
	w.h.Enter(no, false)
	if w.h.Len() != 0 || no.Probe.Rejected() != 1 || no.Probe.Seen() != 0 {
		t.Errorf("a hit that the predicate turned down ran %d programs, %+v", w.h.Len(), no.Probe)
	}
	leave := w.placement("leave", registry.Handlers{Leave: w.logs(1)}, nil)
	w.thread.room = false
	w.h.Enter(leave, true)
	if leave.Probe.Missed() != 1 || leave.Probe.Hits() != 0 {
		t.Errorf("a call for which there is no room: %+v", leave.Probe)
	}
	w.h.Leave(leave, Call{Elapsed: 5, SP: 64})
	if leave.Probe.Hits() != 1 || w.h.Now.Elapsed != 5 || !w.h.Now.Leave {
		t.Errorf("the end of a call: %+v, %+v", leave.Probe, w.h.Now)
	}
	w.h.Drop()
	if leave.Probe.Retire(); leave.Probe.Armed() {
		t.Error("a probe that is retired is armed")
	}
	w.h.Leave(leave, Call{Elapsed: 5, SP: 64})
	if w.h.Len() != 0 {
		t.Error("the leave of a removed probe ran")
	}
	w.h.Leave(leave, Call{Elapsed: 5, Due: true})
	if w.h.Len() != 1 || leave.Probe.Hits() != 2 { // it outlasts its probe, and counts as a return of it
		t.Errorf("the leave that was due ran %d programs, %+v", w.h.Len(), leave.Probe)
	}
}

// TestHold: a hold is asked for when the log is visible, by a ticket that the record carries.
func TestHold(t *testing.T) {
	w := newWorld(t)
	r := w.h.newRun(w.placement("p", registry.Handlers{}, nil), w.code(done), 0, 0, false)
	r.log = w.h.r.takeLog()
	r.kind = outcome.ExitFacility
	r.ask = facility.Request{Hold: true, Stop: true, Dump: true}
	w.h.Commit()
	rec, ok := w.arena.Next()
	if !ok || rec.Hold != 1 || !slices.Equal(w.thread.asked, []string{"hold 1", "stop", "dump"}) {
		t.Errorf("%v, ticket %d; asked %v", ok, rec.Hold, w.thread.asked)
	}
	w.h.r.ticket = ^uint32(0)
	if n := w.h.r.newTicket(); n != 1 {
		t.Errorf("after all numbers comes %d, not 1", n)
	}
}

// TestFrom: a probe that wants calls of certain modules neither counts nor runs for others.
func TestFrom(t *testing.T) {
	for _, from := range []bool{false, true} {
		w := newWorld(t)
		w.thread.from = from
		pl := w.placement("p", registry.Handlers{Enter: w.logs(1)}, func(s *registry.Spec) { s.From = []string{"libm"} })
		w.h.Begin(8)
		w.h.Enter(pl, false)
		w.h.Commit()
		if got := len(w.records()) == 1; got != from || (pl.Probe.Hits() == 1) != from {
			t.Errorf("called from there %v: ran %v, %d hits", from, got, pl.Probe.Hits())
		}
	}
}

// A probe whose programs run out of fuel is disabled and told of at the hundredth time within a second, and not
// earlier.
func TestOutOfFuel(t *testing.T) {
	w := newWorld(t)
	var told []string
	w.h.r.Warn(func(text string) { told = append(told, text) })
	pl := w.placement("p", registry.Handlers{Enter: w.code(runtime.Inst{Op: opcode.Jmp})}, nil)
	for range registry.MostExhausted - 1 {
		w.h.Begin(8)
		w.h.Enter(pl, false)
		w.h.Commit()
	}
	if !pl.Probe.Enabled || len(told) > 0 || pl.Probe.Work.Runs != registry.MostExhausted-1 || pl.Probe.Work.Spent <= 0 {
		t.Fatalf("enabled %v, %q, %+v", pl.Probe.Enabled, told, pl.Probe.Work)
	}
	for range 5 {
		w.h.Begin(8)
		w.h.Enter(pl, false)
		w.h.Commit()
	}
	if pl.Probe.Enabled || len(told) != 1 || !pl.Probe.State(nil, 0).Exhausted || !slices.Equal(w.thread.asked, []string{"disarm " + pl.Probe.Spec.Name}) {
		t.Errorf("enabled %v, %q, asked %q", pl.Probe.Enabled, told, w.thread.asked)
	}
	if n := w.arena.TrapTotal(outcome.TrapFuel); n != registry.MostExhausted {
		t.Errorf("%d programs ran", n)
	}
}
