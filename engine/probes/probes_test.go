package probes

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"gotap/engine/backend"
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/registry"
	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// TestLife: a probe is armed where it is added, follows its state, and is reported to the end.
func TestLife(t *testing.T) {
	m, s := newMachine()
	add(t, s, spec(1, "f", "getpid"))
	if !m.planted(0x10) || m.calls.Armed() != 1 {
		t.Fatalf("planted %v, calls %v", m.planted(0x10), m.calls.Armed())
	}
	if got := s.Query()[0]; got.State != "active" || got.Places != 2 || !maps.Equal(got.Strategy, map[string]int{"by hand": 1}) {
		t.Errorf("active: %+v", got)
	}
	for _, c := range []struct {
		do      func(uint32) error
		state   string
		planted bool
	}{{s.Disable, "disabled", false}, {s.Enable, "active", true}, {s.Remove, "removed", false}, {s.Enable, "removed", false}} {
		if err := c.do(1); err != nil {
			t.Error(err)
		}
		if got := s.Query()[0].State; got != c.state || m.planted(0x10) != c.planted {
			t.Errorf("%s, planted %v; not %s, %v", got, m.planted(0x10), c.state, c.planted)
		}
	}
	m.over = true
	if got := s.Query(); len(got) != 1 || got[0].State != "removed" {
		t.Errorf("after the session: %+v", got)
	}
	if err := s.Disable(1); err != errOver {
		t.Errorf("after the session: %v", err)
	}
	m.over = false
	if err := s.Disable(2); !errors.Is(err, registry.ErrNoProbe) {
		t.Errorf("a number that no probe has: %v", err)
	}
}

// TestAllOrNothing: nothing stays of a probe one of whose places cannot be planted.
func TestAllOrNothing(t *testing.T) {
	m, s := newMachine()
	m.refuse[0x20] = errors.New("no room")
	if err := s.Add(spec(1, "f", "g")); !errors.Is(err, m.refuse[0x20]) {
		t.Errorf("%v", err)
	}
	if m.planted(0x10) || len(s.All()) != 0 {
		t.Errorf("planted %v, probes %d", m.planted(0x10), len(s.All()))
	}
	add(t, s, spec(1, "*"))
	if !m.planted(0x10) || !slices.Equal(s.All()[0].Refused, []string{"g: no room"}) {
		t.Errorf("a pattern: planted %v, left out %q", m.planted(0x10), s.All()[0].Refused)
	}
	m.refuse[0x20] = backend.ErrGone
	if err := s.Add(spec(2, "g")); err != nil {
		t.Errorf("memory that no longer exists: %v", err)
	}
}

// TestEnableFails: a probe that cannot be armed everywhere is armed nowhere.
func TestEnableFails(t *testing.T) {
	m, s := newMachine()
	p := spec(1, "f", "g")
	p.Disabled = true
	add(t, s, p)
	m.refuse[0x20] = errors.New("no room")
	for range 2 {
		err := s.Enable(1)
		if q := s.Query()[0]; !errors.Is(err, m.refuse[0x20]) || m.planted(0x10) || q.State != "disabled" || !slices.Equal(q.Refused, []string{"cannot enable it: no room"}) {
			t.Errorf("%v; planted %v, %+v", err, m.planted(0x10), q)
		}
	}
	m.refuse[0x20] = nil
	err := s.Enable(1)
	if q := s.Query()[0]; err != nil || !m.planted(0x20) || q.State != "active" || len(q.Refused) > 0 {
		t.Errorf("%v; planted %v, %+v", err, m.planted(0x20), q)
	}
}

// TestOthersStay: a new probe that fails at a place leaves the disabled probes there as they were, those of patterns as
// well.
func TestOthersStay(t *testing.T) {
	m, s := newMachine()
	named, matched := spec(1, "f"), spec(2, "*f")
	named.Disabled, matched.Disabled = true, true
	add(t, s, named)
	add(t, s, matched)
	m.refuse[0x10] = errors.New("no room")
	if err := s.Add(spec(3, "f")); !errors.Is(err, m.refuse[0x10]) {
		t.Fatal(err)
	}
	m.refuse[0x10] = nil
	for id := range uint32(2) {
		err := s.Enable(id + 1)
		if q := s.Query()[id]; err != nil || q.State != "active" || q.Places != 1 || len(q.Refused) > 0 {
			t.Errorf("%v; %+v", err, q)
		}
	}
}

// TestReplacedProgram: what meets a process that replaces its program is done again when it has.
func TestReplacedProgram(t *testing.T) {
	m, s := newMachine()
	m.replacing = 1
	add(t, s, spec(1, "f"))
	x, err := s.Prepare([]registry.Spec{spec(2, "g")}, []uint32{1})
	if err != nil {
		t.Fatal(err)
	}
	m.replacing = 1
	if err := x.CommitEach(); err != nil || m.awaited != 2 || m.planted(0x10) || !m.planted(0x20) {
		t.Errorf("%v; awaited %d times, planted %v and %v", err, m.awaited, m.planted(0x10), m.planted(0x20))
	}
}

// TestExchange: new probes come when the old ones go; calls under way of the old ones are kept. When one fails the old
// ones stay, or it alone is left out.
func TestExchange(t *testing.T) {
	m, s := newMachine()
	add(t, s, spec(1, "f"))
	m.refuse[0x20] = errors.New("no room")
	prepare := func() *Exchange {
		x, err := s.Prepare([]registry.Spec{spec(2, "g"), spec(3, "f")}, []uint32{1})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var of *registry.ProbeError
	if err := prepare().Commit(); !errors.As(err, &of) || of.ID != 2 || len(s.All()) != 1 || s.All()[0].Spec.ID != 1 || !m.planted(0x10) {
		t.Errorf("all: %v, %d probes", err, len(s.All()))
	}
	if err := prepare().CommitEach(); !errors.As(err, &of) || of.ID != 2 || len(s.All()) != 1 || s.All()[0].Spec.ID != 3 || !m.planted(0x10) {
		t.Errorf("each: %v, %d probes", err, len(s.All()))
	}
	if !slices.Equal(m.kept, []string{"f"}) {
		t.Errorf("calls kept of %q", m.kept)
	}
	if _, err := s.Prepare([]registry.Spec{spec(4, "h")}, nil); !errors.As(err, &of) || of.ID != 4 {
		t.Errorf("a place that is not there: %v", err)
	}
}

// TestBegin: of a begun probe the system calls are armed at once, and the rest when it is added; the positions of
// errors are those of the whole list.
func TestBegin(t *testing.T) {
	m, s := newMachine()
	if _, err := s.Begin(spec(1, "getpid")); !errors.Is(err, backend.ErrSettled) {
		t.Errorf("a program without a loader: %v", err)
	}
	m.loader = true
	if n, err := s.Begin(spec(1, "f", "getpid")); n != 1 || err != nil || m.calls.Armed() != 1 || m.planted(0x10) {
		t.Fatalf("%d begun, %v; calls %v, planted %v", n, err, m.calls.Armed(), m.planted(0x10))
	}
	add(t, s, spec(1, "f", "getpid"))
	if len(s.All()) != 1 || !m.planted(0x10) {
		t.Errorf("completed: %d probes, planted %v", len(s.All()), m.planted(0x10))
	}
	stopping := spec(2, "getpid")
	if _, err := s.Begin(stopping); err != nil {
		t.Error(err)
	}
	if s.DropBegun(); len(s.All()) != 1 {
		t.Errorf("%d probes when one was never added", len(s.All()))
	}
}

// TestStopping: programs that may leave the process stopped are not begun.
func TestStopping(t *testing.T) {
	for kind, stops := range map[outcome.ExitKind]bool{outcome.ExitPlain: false, outcome.ExitStop: true, outcome.ExitFacility: true} {
		compile := unlessStopping(func(registry.PlaceInfo) (registry.Handlers, error) {
			return registry.Handlers{Leave: &runtime.Code{Insts: []runtime.Inst{{Op: opcode.Exit, A: uint32(kind)}}}}, nil
		})
		if _, err := compile(nil); errors.Is(err, ErrStops) != stops {
			t.Errorf("exit %d: %v", kind, err)
		}
	}
}

// TestAppeared: a probe is armed in modules that appear, and what fails there is noted and reported.
func TestAppeared(t *testing.T) {
	m, s := newMachine()
	p := spec(1, "f")
	m.functions = map[string]uint64{}
	p.Optional = true
	add(t, s, p)
	m.functions = map[string]uint64{"f": 0x10}
	m.refuse[0x10] = errors.New("no room")
	loaded := mapped[0]
	loaded.File = &module.File{Segments: file.Segments}
	s.Appeared(other{m, []module.Loaded{loaded}}, []module.Loaded{loaded})
	if len(m.warned) != 0 {
		t.Errorf("a module whose file has nothing: %q", m.warned)
	}
	s.Appeared(other{m, []module.Loaded{loaded, mapped[0]}}, mapped)
	want := "probe f in process 7: cannot probe f: no room"
	if !slices.Equal(m.warned, []string{want}) || len(s.All()[0].Refused) != 1 {
		t.Errorf("reported %q, noted %q", m.warned, s.All()[0].Refused)
	}
}

// other is the machine's process with other modules.
type other struct {
	*machine
	mods []module.Loaded
}

func (o other) Modules() []module.Loaded { return o.mods }

var _ locate.Host = (*machine)(nil)
