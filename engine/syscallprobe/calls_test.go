package syscallprobe

import (
	"debug/elf"
	"errors"
	"slices"
	"testing"

	"gotap/arch/x86"
	"gotap/engine/linux/syscallnames"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/facility"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// cpu is a thread whose registers the test sets.
type cpu struct {
	hit.Target // not asked
	h          hit.Hit
	pc, sp     uint64
	result     int64
	commits    int
}

func (c *cpu) IDs() (pid, tid int)    { return 1, 1 }
func (c *cpu) Disarm(*registry.Probe) {}
func (c *cpu) Machine() elf.Machine   { return elf.EM_X86_64 }
func (c *cpu) Begin()                 { c.h.Begin(8) }
func (c *cpu) PC() uint64             { return c.pc }
func (c *cpu) SP() uint64             { return c.sp }
func (c *cpu) Result() uint64         { return uint64(c.result) }
func (c *cpu) SetResult(v uint64)     { c.result = int64(v) }
func (c *cpu) Restarts() bool         { return syscallnames.Restarts(uint64(c.result)) }
func (c *cpu) Skip() bool             { return true }

func (c *cpu) Commit(from int) {
	c.commits++
	c.h.CommitFrom(from)
}

// session is the probes of a session with one thread.
type session struct {
	*testing.T
	probes Probes
	cpu    cpu
	calls  Calls
}

func newSession(t *testing.T) *session {
	arena, err := arena.New(arena.Options{Size: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Close() })
	regs := make([]uint64, 34)
	s := &session{T: t, probes: Probes{Conventions: []Convention{{elf.EM_X86_64, x86.New64(), 8}, {elf.EM_386, x86.New64(), 8}}}}
	s.cpu.h.Init(hit.NewRunner(arena, facility.NewTable()), &s.cpu, nil, regs, 1)
	s.calls.Init(&s.cpu, &s.cpu.h, &s.probes)
	return s
}

// probe puts a probe whose hits are ends of calls on the calls of a name.
func (s *session) probe(name string) *registry.Probe {
	s.Helper()
	code := registry.Handlers{Leave: &runtime.Code{Insts: []runtime.Inst{{Op: opcode.Exit, A: uint32(outcome.ExitPlain)}}, Stack: 4}}
	pr := s.make(name, func(registry.PlaceInfo) (registry.Handlers, error) { return code, nil })
	if err := s.probes.Add(pr, pr.Spec.Specs[0]); err != nil {
		s.Fatal(err)
	}
	return pr
}

func (s *session) make(name string, compile registry.Compile) *registry.Probe {
	s.Helper()
	spec := place.Spec{Kind: place.Syscall, Name: name}
	pr, err := registry.New(registry.Spec{ID: 1, Name: name, Specs: []place.Spec{spec}, Compile: compile}, nil)
	if err != nil {
		s.Fatal(err)
	}
	return pr
}

// Numbers of calls on x86-64.
const (
	read, rtSigreturn, nanosleep, getpid, execve, restartSyscall = 0, 15, 35, 39, 59, 219
)

// step is a stop at a call: its entry, or its end with the registers that the kernel shows there.
type step struct {
	enter  bool
	number uint64
	pc, sp uint64
	result int64
}

func enter(number, pc, sp uint64) step       { return step{true, number, pc, sp, -38} } // the kernel shows -ENOSYS there
func leave(pc, sp uint64, result int64) step { return step{false, 0, pc, sp, result} }
func (s *session) run(steps ...step)         { s.runAll(steps) }
func sequence(parts ...[]step) []step        { return slices.Concat(parts...) }
func whole(number, pc, sp uint64, r int64) []step {
	return []step{enter(number, pc, sp), leave(pc, sp, r)}
}

func (s *session) runAll(steps []step) {
	for _, one := range steps {
		s.cpu.pc, s.cpu.sp, s.cpu.result = one.pc, one.sp, one.result
		if one.enter {
			s.calls.Entered(one.number)
		} else {
			s.calls.Left()
		}
	}
}

// TestCalls: each call of a program is one hit, whatever signals do with it meanwhile.
func TestCalls(t *testing.T) {
	interrupted := []step{enter(read, 100, 50), leave(100, 50, -512)}
	handler := sequence(whole(getpid, 300, 20, 7), []step{enter(rtSigreturn, 400, 20)})
	for name, c := range map[string]struct {
		steps        []step
		hits, missed uint64
	}{
		"plain":                    {sequence(whole(read, 100, 50, 1), whole(getpid, 120, 50, 7), whole(read, 100, 50, 0)), 2, 0},
		"made again":               {sequence(interrupted, whole(read, 100, 50, 1)), 1, 0},
		"with the rest of a time":  {sequence([]step{enter(read, 100, 50), leave(100, 50, -516)}, whole(restartSyscall, 100, 50, 0)), 1, 0},
		"a handler, and again":     {sequence(interrupted, handler, []step{leave(98, 50, 0)}, whole(read, 100, 50, 1)), 1, 0},
		"a handler, and EINTR":     {sequence(interrupted, handler, []step{leave(100, 50, -4)}), 1, 0},
		"a handler that leaves":    {sequence(interrupted, handler, []step{leave(777, 50, 0)}), 0, 1},
		"a longjmp":                {sequence(interrupted, whole(getpid, 300, 20, 7), interrupted, handler, []step{leave(100, 50, -4)}), 1, 1},
		"handlers in handlers":     {sequence(interrupted, []step{enter(read, 300, 30), leave(300, 30, -512)}, handler, []step{leave(300, 30, -4)}, []step{enter(rtSigreturn, 410, 30), leave(100, 50, -4)}), 2, 0},
		"an end that is not seen":  {sequence([]step{enter(read, 100, 50)}, whole(read, 100, 50, 1)), 1, 1},
		"a result like a restart":  {sequence(whole(read, 100, 50, 1<<32-512)), 1, 0},
		"another call interrupted": {sequence([]step{enter(getpid, 100, 50), leave(100, 50, -512)}, whole(read, 300, 20, 1)), 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			pr := s.probe("read")
			s.runAll(c.steps)
			if st := pr.State(nil, 0); st.Hits != c.hits || st.Missed != c.missed {
				t.Errorf("%d hits and %d missed, not %d and %d", st.Hits, st.Missed, c.hits, c.missed)
			}
			if s.calls.Interrupted() || s.calls.Awaited() || s.calls.InPrograms() {
				t.Errorf("something is left: %+v", s.calls)
			}
		})
	}
}

// TestRestartIsSeen: the call by which the kernel sleeps the rest of a time is one to ask for until it ends.
func TestRestartIsSeen(t *testing.T) {
	s := newSession(t)
	s.probe("nanosleep")
	for i, one := range []step{enter(nanosleep, 100, 50), leave(100, 50, -516), enter(restartSyscall, 100, 50), leave(100, 50, 0)} {
		s.run(one)
		if want := i == 1 || i == 2; s.calls.Interrupted() != want {
			t.Errorf("interrupted after step %d: %v", i, !want)
		}
	}
}

// TestInterruptedCallsAreBounded: handlers that never return are forgotten, and their calls counted as missed.
func TestInterruptedCallsAreBounded(t *testing.T) {
	s := newSession(t)
	pr := s.probe("read")
	const deep = mostInterrupted + 5
	for i := range uint64(deep) {
		s.run(enter(read, 100, 5000-i), leave(100, 5000-i, -512))
	}
	if st := pr.State(nil, 0); st.Missed != deep-mostInterrupted-1 || len(s.calls.interrupted) != mostInterrupted {
		t.Errorf("%d missed, %d wait", st.Missed, len(s.calls.interrupted))
	}
	s.calls.Drop()
	if s.calls.Interrupted() {
		t.Error("calls of a thread that no longer exists wait")
	}
}

// TestKept: the end of a call is seen although its probe was removed meanwhile, also when a signal has interrupted the
// call.
func TestKept(t *testing.T) {
	s := newSession(t)
	pr := s.probe("read")
	s.run(enter(read, 100, 50), leave(100, 50, -512))
	s.run(whole(getpid, 300, 20, 7)...)
	if !s.calls.Interrupted() || s.calls.Awaited() {
		t.Error("before it is kept")
	}
	s.calls.Keep(pr)
	s.probes.Drop(pr)
	pr.Enabled = false
	if !s.calls.Awaited() {
		t.Error("the end is not awaited")
	}
	before := s.calls.Returning()
	s.run(enter(rtSigreturn, 400, 20))
	if before || !s.calls.Returning() {
		t.Error("the end of the handler is not known")
	}
	s.run(leave(100, 50, -4))
	if st := pr.State(nil, 0); st.Hits != 1 || s.calls.Awaited() {
		t.Errorf("%d hits", st.Hits)
	}
}

// TestExecve: the end of the call that replaces an image comes in the new image; all other calls are gone.
func TestExecve(t *testing.T) {
	s := newSession(t)
	pr := s.probe("execve")
	s.run(enter(execve, 100, 50))
	s.calls.Replaced()
	s.run(leave(9000, 8000, 0))
	other := s.probe("read")
	s.run(enter(read, 100, 50))
	s.calls.Replaced()
	s.run(leave(9000, 8000, 0))
	if pr.State(nil, 0).Hits != 1 || other.State(nil, 0).Hits != 0 {
		t.Errorf("%d and %d hits", pr.State(nil, 0).Hits, other.State(nil, 0).Hits)
	}
}

// TestSkip: a program that skips a call decides its result.
func TestSkip(t *testing.T) {
	s := newSession(t)
	code := registry.Handlers{Enter: &runtime.Code{Insts: []runtime.Inst{{Op: opcode.PushD, V: 1234}, {Op: opcode.Skip},
		{Op: opcode.Exit, A: uint32(outcome.ExitPlain)}}, Stack: 4, Unsafe: true}}
	pr := s.make("getpid", func(registry.PlaceInfo) (registry.Handlers, error) { return code, nil })
	if err := s.probes.Add(pr, pr.Spec.Specs[0]); err != nil {
		t.Fatal(err)
	}
	s.run(enter(getpid, 100, 50))
	if !s.calls.Awaited() {
		t.Error("the end is not awaited")
	}
	s.run(leave(100, 50, -38))
	if s.cpu.result != 1234 || s.cpu.h.Skip || s.calls.Awaited() {
		t.Errorf("result %d", s.cpu.result)
	}
}

// TestProbes: a probe is on all calls that its specification names, in all conventions; where these name the same
// registers it is compiled once.
func TestProbes(t *testing.T) {
	s := newSession(t)
	pr := s.probe("*nanosleep")
	// nanosleep and clock_nanosleep: 35 and 230 on x86-64, 162 and 267 on IA-32
	if n := s.probes.Count(pr); n != 2 || s.probes.Armed() != 2 {
		t.Errorf("%d calls, %d armed", n, s.probes.Armed())
	}
	all := func(*registry.Placement) bool { return true }
	if got := s.probes.Numbers(elf.EM_X86_64, false, all); !slices.Equal(got, []int{35, 230}) {
		t.Errorf("numbers %v", got)
	}
	if got := s.probes.Numbers(elf.EM_X86_64, true, all); !slices.Equal(got, []int{rtSigreturn, nanosleep, restartSyscall, 230}) {
		t.Errorf("numbers with those by which calls continue: %v", got)
	}
	if got := s.probes.Numbers(elf.EM_386, false, all); !slices.Equal(got, []int{162, 267}) {
		t.Errorf("numbers on IA-32: %v", got)
	}
	s.probes.Drop(pr)
	if s.probes.Count(pr) != 0 || s.probes.Armed() != 0 || len(s.probes.byCall) != 0 {
		t.Errorf("after it was dropped: %+v", s.probes)
	}
}

// TestLeftOut: a probe is not on the calls that it leaves out.
func TestLeftOut(t *testing.T) {
	s := newSession(t)
	pr := s.make("*nanosleep", func(registry.PlaceInfo) (h registry.Handlers, err error) { return h, err })
	pr.Spec.Not = []place.Spec{{Kind: place.Syscall, Name: "clock_*"}}
	if err := s.probes.Add(pr, pr.Spec.Specs[0]); err != nil || s.probes.Count(pr) != 1 {
		t.Errorf("%v; %d calls", err, s.probes.Count(pr))
	}
}

// TestRefused: a name that no call has, and a program that does not compile, are errors that leave nothing.
func TestRefused(t *testing.T) {
	s := newSession(t)
	compile := func(registry.PlaceInfo) (h registry.Handlers, err error) { return h, err }
	unknown := s.make("nosuch", compile)
	var missing *place.NotFoundError
	if err := s.probes.Add(unknown, unknown.Spec.Specs[0]); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
	unknown.Spec.Optional = true
	if err := s.probes.Add(unknown, unknown.Spec.Specs[0]); err != nil {
		t.Errorf("an optional one: %v", err)
	}
	refusal, compiled := errors.New("refused"), 0
	pr := s.make("*", func(registry.PlaceInfo) (h registry.Handlers, err error) {
		if compiled++; compiled > 10 {
			err = refusal
		}
		return h, err
	})
	if err := s.probes.Add(pr, place.Spec{Kind: place.Syscall, Name: "*"}); !errors.Is(err, refusal) || s.probes.Count(pr) != 0 || len(s.probes.byCall) != 0 {
		t.Errorf("%v; %d calls", err, s.probes.Count(pr))
	}
}
