package stepping

import (
	"gotap/engine/backend"
	"gotap/engine/crashsafe"
	"gotap/engine/emulation"
	"gotap/engine/inject"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/hit"
	"gotap/engine/sigqueue"
	"gotap/engine/space"
	"gotap/engine/threadstate"
	"gotap/engine/tracee"
	"gotap/engine/view"
)

// Host is what a Thread asks of the session.
type Host interface {
	Warn(text string)
	Resume(sig int)
	// FinishWith ends the present hit, with a signal to deliver that the thread is stopped with; 0: the signal that was
	// kept meanwhile.
	FinishWith(sig int)
	// HoldOthers stops the other threads that share the memory. release resumes them, and reports whether there were
	// any.
	HoldOthers() (release func() bool)
	// PeekAny waits for the next stop of the thread, or its end. A stop for a signal is not consumed, and Peeked is
	// set. ok is false if the thread has ended without a report.
	PeekAny() (st ptrace.Status, ok bool)
	// Checkpoint tells tests that the session is at a moment.
	Checkpoint(tracee.Moment)
	// Later keeps a stop to be handled when the present one has been.
	Later(st ptrace.Status)
	// Watching reports whether data is watched in any process.
	Watching() bool
	// WatchesMet returns the watchpoints that the thread has hit; bit i is watch i.
	WatchesMet() uint64
	// RunWatches runs the programs of the watchpoints in such a set.
	RunWatches(met uint64) bool
}

// Parts are those of the thread and the session that take part.
type Parts struct {
	State     *threadstate.Thread
	Hit       *hit.Hit
	View      *view.View
	Emulation *emulation.Thread
	Queue     *sigqueue.Queue
	Guard     *crashsafe.Thread
	Inject    *inject.Caller
	Patcher   *space.Patcher
	Stats     *backend.Stats // where it counts
}

// Init makes it ready for a thread.
func (x *Thread) Init(t *tracee.Thread, on Host, parts Parts) { x.Thread, x.on, x.parts = t, on, parts }

// IsActive reports whether the thread is in a step.
func (x *Thread) IsActive() bool { return x.step.active }

// ToCall reports whether its step ends at the entry of a system call.
func (x *Thread) ToCall() bool { return x.step.toCall }

// Origin returns the address at which the program would see the thread that is in a step and whose program counter is
// pc.
func (x *Thread) Origin(pc uint64) uint64 {
	if off := pc - x.step.slot; x.step.active && off <= uint64(x.step.p.Length) {
		return x.step.p.Addr + off
	}
	return pc
}

// Again reports whether the hit of a point is not another one, because an instruction runs again. The next is.
func (x *Thread) Again(p *space.Point) bool {
	again := x.redo.addr == p.Addr && x.redo.sp == x.SP() && p.Addr != 0
	x.redo = redo{}
	return again
}

// Reset discards what the thread was doing in its former image.
func (x *Thread) Reset() { x.step, x.redo, x.postCall, x.seeExit = step{}, redo{}, false, nil }

// AwaitsEnd reports whether the end of the thread's system call has to be seen.
func (x *Thread) AwaitsEnd() bool { return x.postCall || x.seeExit != nil }

// HasPosts reports whether programs wait for the end of its system call.
func (x *Thread) HasPosts() bool { return x.postCall }

// EntersSequence reports whether a hit of a point is in a restartable sequence. It looks at some of the hits only.
func (x *Thread) EntersSequence(p *space.Point) bool {
	x.seqDue = p.LooksForSequence()
	return x.seqDue && x.inSequence()
}

// HitOver is called when the instruction of a hit has been completed, before the thread is resumed.
func (x *Thread) HitOver() {
	if x.seqDue {
		x.ledIntoSequence()
	}
}
