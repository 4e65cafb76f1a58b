package sigqueue

import (
	"testing"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// TestSpots: a place counts its signals until the thread moves on from it, and the oldest place is dropped for a new
// one.
func TestSpots(t *testing.T) {
	var s starvation
	for range 3 {
		s.note(0x1000, 0x7000)
	}
	s.note(0x1000, 0x6000) // the same code, in another call
	if got := s.at(0x1000, 0x7000); got != 3 {
		t.Errorf("%d signals, want 3", got)
	}
	s.leave(0x1000, 0x7000)
	if a, b := s.at(0x1000, 0x7000), s.at(0x1000, 0x6000); a != 0 || b != 1 {
		t.Errorf("%d and %d signals after the thread has left one place, want 0 and 1", a, b)
	}
	for i := range uint64(len(s.spots)) {
		s.note(0x2000+i, 0)
	}
	if s.at(0x1000, 0x6000) != 0 || s.at(0x2000, 0) != 1 || s.used != len(s.spots) {
		t.Errorf("the oldest place is not the one that was dropped; %d in use", s.used)
	}
}

// TestWays: how a thread is resumed depends on what became of its kept signals, and only once.
func TestWays(t *testing.T) {
	var info ptrace.SigInfo
	info.Make(14, 0, 0)
	var q Queue
	q.Defer(info)
	q.starvation.keep, q.starvation.run = true, true
	if got := q.BeforeResume(false); got != ToCall || q.Len() != 1 {
		t.Errorf("a free run: %v with %d kept, want %v with 1", got, q.Len(), ToCall)
	}
	q.starvation.off = true
	if got := q.BeforeResume(true); got != Freely {
		t.Errorf("from a postponed call: %v, want %v", got, Freely)
	}
	q.Reset()
	q.starvation.run = false
	if got := q.BeforeResume(false); got != AnyWay || q.Len() != 0 {
		t.Errorf("with nothing kept: %v, %d kept", got, q.Len())
	}
}

// bare is a process without a fallback.
type bare struct{ tracee.Process }

func (bare) Region() *fallback.Region { return &fallback.Region{} }

// TestMask: while signals are kept, changes of the thread's own mask are due later.
func TestMask(t *testing.T) {
	q := Queue{t: &tracee.Thread{Of: bare{}}, masked: true, mask: 1 << 9}
	q.Block(ptrace.TrapBit)
	if got, ok := q.Mask(); !ok || got != 1<<9|ptrace.TrapBit {
		t.Errorf("%#x, %v", got, ok)
	}
	if got, differs := q.KeptMask(); !differs || got != 1<<9|ptrace.TrapBit {
		t.Errorf("kept: %#x, %v", got, differs)
	}
}
