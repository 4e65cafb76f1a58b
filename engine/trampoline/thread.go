package trampoline

import (
	"iter"
	"time"

	"gotap/engine/backend"
	"gotap/engine/crashsafe"
	"gotap/engine/inject"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/sigqueue"
	"gotap/engine/space"
	"gotap/engine/threadstate"
	"gotap/engine/tracee"
	"gotap/engine/view"
	"gotap/runtime/arena"
)

// Settings are what an Executor is told once.
type Settings struct {
	Strategy backend.Strategy
	Arena    *arena.Arena // nil: no program runs
	Budget   float64
	Explain  bool           // users ask why threads are stopped
	Stats    *backend.Stats // where it counts
}

// Host is what an Executor asks of the session.
type Host interface {
	Warn(text string)
	// Closing reports whether the session ends.
	Closing() bool
	// Resting reports whether probes rest for the sake of the budget.
	Resting() bool
	// Watching reports whether debug registers stop threads before an instruction: no copy of that may run instead.
	Watching() bool
	// ShadowStacks reports whether threads may have shadow stacks.
	ShadowStacks() bool
	// After calls fn on the tracing thread after some time.
	After(d time.Duration, fn func())
	// Do calls fn on the tracing thread, for another goroutine.
	Do(fn func() error) error
	// HandleStops handles the stops that have come.
	HandleStops()
	Threads() iter.Seq[*Thread]
	Processes() iter.Seq[*Process]
	Spaces() iter.Seq[*space.Space]
	// StoppedTid returns the ID of a stopped thread that uses an address space, or 0.
	StoppedTid(sp *space.Space) int
	// HoldAll stops all threads, until release.
	HoldAll() (release func())
	// Hold stops those of the selected threads that run code, and returns them. Threads that sleep in a system call are
	// left alone.
	Hold(which func(*Thread) bool) []*Thread
	// Release resumes threads that Hold has stopped.
	Release(held []*Thread)
}

// Process is a process whose programs may run in it.
type Process struct {
	Pid   int
	Space *space.Space // at present
	On    interface {
		// Tids yields the IDs of its threads.
		Tids() iter.Seq[int]
	}
	actions faultActions
}

// Thread is a thread that may run native code.
type Thread struct {
	*tracee.Thread
	proc  *Process
	by    *Executor
	on    Runner
	parts Parts
	stack callStack // the calls that native code follows
}

// Runner resumes a thread.
type Runner interface {
	// Finish ends the present hit, with the registers as they are.
	Finish()
	Resume(sig int)
}

// Parts are those of the thread that native code has to do with.
type Parts struct {
	State  *threadstate.Thread
	Hit    *hit.Hit
	Calls  *retprobe.Thread
	View   *view.View
	Inject *inject.Caller
	Queue  *sigqueue.Queue
	Guard  *crashsafe.Thread
}

// Init makes it ready for a thread of a process.
func (t *Thread) Init(th *tracee.Thread, p *Process, by *Executor, on Runner, parts Parts) {
	t.Thread, t.proc, t.by, t.on, t.parts = th, p, by, on, parts
}

// Init makes the executor ready.
func (c *Executor) Init(on Host, patcher *space.Patcher, set Settings) {
	c.on, c.patcher, c.set = on, patcher, set
}

// Used reports whether programs were planned for native code.
func (c *Executor) Used() bool { return c.calls.tried }

// InStub reports whether the thread, whose registers have been read, is in native code.
func (t *Thread) InStub() bool { return stubAt(t.proc.Space, *t.PC()) != nil }

// HasStubs reports whether native code has been written for the process.
func (p *Process) HasStubs() bool { return len(codeIn(p.Space).jumps.stubs) > 0 }

// Counts reports whether the thread may run native code, so that it matters which data its threads and children have.
func (t *Thread) Counts() bool { return t.by.Inlines() }

// HitOver is called at the end of a hit, or for a new stack: native code has to know whether calls are followed
// elsewhere.
func (t *Thread) HitOver() {
	if t.stack.of != nil {
		t.stack.of.SetLowest(t.parts.Calls.Lowest())
	}
}

// DropSpace takes what belongs to an address space that no longer exists.
func (c *Executor) DropSpace(sp *space.Space) {
	c.calls.dropOwners(sp)
	c.dropRanges(sp)
}
