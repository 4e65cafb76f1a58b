package probes

import (
	"errors"
	"slices"
	"testing"

	"gotap/engine/image/module"
)

// TestNonBreakpoints: system calls, watchpoints and semaphores follow the state of their probes as breakpoints do.
func TestNonBreakpoints(t *testing.T) {
	m, s := newMachine()
	m.data[8] = 5 // other tracers have raised it
	add(t, s, spec(1, "getpid", "cell", "mark"))
	for _, c := range []struct {
		do        func(uint32) error
		armed     int
		semaphore byte
	}{{nil, 1, 6}, {s.Disable, 0, 5}, {s.Enable, 1, 6}, {s.Remove, 0, 5}} {
		if c.do != nil {
			if err := c.do(1); err != nil {
				t.Error(err)
			}
		}
		if m.calls.Armed() != c.armed || m.set != c.armed || m.data[8] != c.semaphore {
			t.Errorf("%d calls and %d watchpoints are armed, the semaphore is %d; not %d and %d", m.calls.Armed(), m.set, m.data[8], c.armed, c.semaphore)
		}
		if got := s.Query()[0].Places; got != 3 {
			t.Errorf("%d places", got)
		}
	}
	s.Drop(s.All()[0])
	if len(m.watches) != 0 || m.data[8] != 5 {
		t.Errorf("after it was dropped: %d watchpoints, semaphore %d", len(m.watches), m.data[8])
	}
}

// TestWatchedLater: data of a module that is mapped later is watched from then on, once.
func TestWatchedLater(t *testing.T) {
	m, s := newMachine()
	add(t, s, spec(1, "later"))
	if len(m.watches) != 0 {
		t.Fatalf("%d watchpoints before there is anything to watch", len(m.watches))
	}
	m.mods = append(slices.Clone(mapped), module.Loaded{Path: "/b", File: library, Bias: 0x2000, Mappings: []module.Mapping{{Start: 0x2000, End: 0x3000}}})
	for range 2 {
		if s.Appeared(m, m.mods[1:]); len(m.watches) != 1 || m.set != 1 || m.watches[0].Addr != 0x2034 {
			t.Fatalf("watchpoints %v, %d set", m.watches, m.set)
		}
	}
	if len(m.warned) != 0 {
		t.Errorf("warned: %q", m.warned)
	}
}

// TestNonBreakpointsAllOrNothing: nothing stays of a probe one of whose parts cannot be armed.
func TestNonBreakpointsAllOrNothing(t *testing.T) {
	m, s := newMachine()
	m.refuseCalls = errors.New("no calls")
	if err := s.Add(spec(1, "f", "cell", "mark", "getpid")); !errors.Is(err, m.refuseCalls) {
		t.Errorf("%v", err)
	}
	if m.planted(0x10) || len(m.watches) != 0 || m.calls.Armed() != 0 || m.data[8] != 0 || len(s.All()) != 0 {
		t.Errorf("something stays: %v, %d watchpoints, %d calls, semaphore %d", m.planted(0x10), len(m.watches), m.calls.Armed(), m.data[8])
	}
}

// TestClearMarks: what is added to semaphores is taken back, also in a memory that is given up while its probes stay
// armed.
func TestClearMarks(t *testing.T) {
	m, s := newMachine()
	add(t, s, spec(1, "mark"))
	if err := s.ClearAllMarks(); err != nil || m.data[8] != 0 {
		t.Errorf("%v; semaphore %d", err, m.data[8])
	}
}
