package crashsafe

import (
	"iter"

	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/inject"
	"gotap/engine/linux/ptrace"
	"gotap/engine/sigqueue"
	"gotap/engine/tracee"
)

// Session is the session as this package sees it.
type Session interface {
	// Warn warns the user, once for each text.
	Warn(text string)
	// Closing reports whether the session is ending: it installs nothing any more.
	Closing() bool
	// TracesCalls reports whether all system calls stop, so that the kernel has to make them.
	TracesCalls() bool
	// Processes yields all processes.
	Processes() iter.Seq[*Process]
	// Thread returns a thread, or nil if the session does not know it.
	Thread(tid int) *Thread
	// HoldRunning stops the threads of the selected address spaces that run code, until release is called.
	HoldRunning(in func(*Space) bool) (release func())
}

// Hook is called when a thread has hit a breakpoint of the session's own. over means that it is not needed any more.
type Hook func(x *Thread, at *Point) (over bool)

// Memory is an address space with the breakpoints in it, as this package sees it.
type Memory interface {
	Memory() *ptrace.Memory
	ABI() *abi.ABI
	// Users returns the number of processes that share it.
	Users() int
	// Modules returns what it maps, the program first.
	Modules() []module.Loaded
	// IsLinked reports whether the program has a dynamic loader.
	IsLinked() bool
	// PointAt returns the point at an address, or nil.
	PointAt(addr uint64) *Point
	// Prepare returns the breakpoint that may be planted at an address.
	Prepare(m *module.Loaded, addr uint64) (d fallback.Displaced, ok bool)
	// Planted yields all breakpoints that are in the code.
	Planted() iter.Seq[fallback.Displaced]
	// Hook plants a breakpoint of the session's own, unless the address has one already.
	Hook(m *module.Loaded, vaddr uint64, do Hook)
	// StoppedTid returns the ID of a stopped thread, or 0 if there is none.
	StoppedTid() int
}

// Program is a process as this package sees it.
type Program interface {
	Pid() int
	ABI() *abi.ABI
	Space() *Space
	Threads() iter.Seq[*Thread]
	// IsChild reports whether another process of the session created it.
	IsChild() bool
}

// Target is a thread as this package sees it, beyond its tracee.Thread.
type Target interface {
	Process() *Process
	// Point returns the point that the thread has hit, or nil.
	Point() *Point
	Resume(sig int)
	// Checkpoint tells tests that the session is at a moment.
	Checkpoint(tracee.Moment)
	// Stopped reports whether the thread is in a stop.
	Stopped() bool
	// Runs reports whether the thread may run code at this moment, and does not wait for a child of vfork.
	Runs() bool
	// Interrupt stops the thread briefly and calls fn, if the thread does not notice being stopped.
	Interrupt(fn func())
	// Watched reports whether the thread has armed debug registers, or the session watches data anywhere.
	Watched() bool
	// LeftWatched notes that debug registers may be armed that an earlier session wrote.
	LeftWatched()
	// Arg returns an argument of the function that has just been entered.
	Arg(n int) (v uint64, ok bool)
	// Skip makes the function that has just been entered return at once.
	Skip(result uint64)
	// ActionSet is called when the program is about to set its action for a signal other than SIGTRAP.
	ActionSet(sig int)
	// AtReturn calls fn with the process that the function which has just been entered returns in.
	AtReturn(fn func(*Process))
}

// Guards keeps the fallback installed in the processes of a session, and SIGTRAP deliverable to them.
type Guards struct {
	on          Session
	signalCalls map[*module.File]signalSites
	held        *Space // whose threads hold has stopped
}

// Init sets the session.
func (g *Guards) Init(on Session) { g.on = on }

// Space is the fallback of an address space.
type Space struct {
	fallback.Region
	on        Memory
	tried     bool // installing it has been tried
	seesMasks bool // the session sees the calls that set signal masks: see mask.go
}

// Init sets the address space.
func (sp *Space) Init(on Memory) { sp.on = on }

// Copy makes sp the fallback of a forked child, whose memory is a copy of another's. It makes the region agree with
// that of from, which may have changed since the fork, or finds that the child has no region.
func (sp *Space) Copy(from *Space) {
	*sp = Space{Region: from.Clone(), on: sp.on, tried: from.tried, seesMasks: from.seesMasks}
	if sp.Base != 0 && !sp.Table.Check(sp.on.Memory(), sp.Base, sp.on.ABI().WordSize()) {
		sp.Region, sp.tried = fallback.Region{}, false
	}
	if sp.Base != 0 {
		sp.forgetInherited()
	}
}

// Record makes sure that a breakpoint is in the table. Call it before the breakpoint is planted.
func (sp *Space) Record(addr uint64, orig, trap []byte, stopped int) {
	if sp.Base != 0 {
		sp.Table.Record(sp.on.Memory(), sp.Base, addr, orig, trap, stopped)
	}
}

// RecordAll is Record for many breakpoints.
func (sp *Space) RecordAll(list []fallback.Displaced, stopped int) {
	if sp.Base != 0 {
		sp.Table.RecordAll(sp.on.Memory(), sp.Base, list, stopped)
	}
}

// Unrecord removes a breakpoint whose memory is unmapped from the table.
func (sp *Space) Unrecord(addr uint64) { sp.Table.Forget(sp.on.Memory(), sp.Base, addr) }

// Contains reports whether an address is in the region.
func (sp *Space) Contains(addr uint64) bool { return sp.Base != 0 && addr-sp.Base < fallback.Size }

// MarkWatching informs the handler that debug registers are armed in the address space. Call it before they are. The
// mark is never cleared: a thread may have hit a debug register without its stop having been seen. A program cannot arm
// debug registers itself.
func (sp *Space) MarkWatching() {
	if sp.Base != 0 && !sp.Watching {
		at, p := fallback.Watching(sp.Base, true)
		sp.Watching = sp.on.Memory().Poke(at, p, sp.on.StoppedTid()) == nil
	}
}

// Process is the state of a process's action for SIGTRAP.
type Process struct {
	on       Program
	own      fallback.Action // the program's action
	found    fallback.Action // the program's action when the fallback was installed
	asked    bool            // installing the fallback has been tried
	ours     bool            // the fallback's handler is installed over it
	due      bool            // it may have changed and must be queried
	set      bool            // the program has called a function to set it
	lost     bool            // the process was created without our handler, though its parent had it
	blockers bool            // the kernel has reset it: a thread blocks SIGTRAP
	once     bool            // the program's handler in the region has run and must not run again
	seen     bool            // a thread may have seen the fallback's handler as its process's action
}

// Init sets the process, or forgets all about it, for a new image.
func (p *Process) Init(on Program) { *p = Process{on: on} }

// Unguarded reports whether the process still lacks the fallback. Its memory may have a region already, installed by a
// process that shares the memory, as with a child of vfork. The action for SIGTRAP belongs to each process.
func (p *Process) Unguarded() bool {
	if p.asked || p.on.ABI().Native == nil {
		return false
	}
	sp := p.on.Space()
	return sp.Base != 0 || !sp.tried
}

// Handled reports whether the fallback's handler receives the SIGTRAPs of the process.
func (p *Process) Handled() bool { return p.ours }

// Lost reports whether the process was created without the handler that its creator has.
func (p *Process) Lost() bool { return p.lost }

// Due reports whether the action may have changed, so that Restore has to query it.
func (p *Process) Due() bool { return p.due }

// KeepsRegion reports whether the region has to stay mapped at the end: the program has a handler for SIGTRAP of its
// own, which may still return through it, or a thread may have seen the fallback's handler, so that the program may set
// that.
func (p *Process) KeepsRegion() bool { return p.own.Caught() || p.seen }

// Point is what this package knows of a breakpoint.
type Point struct {
	Call   CallKind // of the C library's rt_sigprocmask or rt_sigaction call here (see mask.go)
	insn   callInsn // with which it is made
	passed uint32   // hits in processes whose SIGTRAP action is watched
	blocks bool     // it was hit with SIGTRAP blocked
}

// Thread is what is known of SIGTRAP in one thread: whether it is blocked, whether the program believes that it is
// (mask.go), and the program's own SIGTRAPs that a hit displaced (action.go).
type Thread struct {
	signalActions
	on    Target
	in    *Guards
	queue *sigqueue.Queue

	Waits    bool             // it is listening, and the SIGTRAP of a breakpoint waits for it
	lost     bool             // it hit a breakpoint with SIGTRAP blocked: the kernel has reset the action
	merged   []ptrace.SigInfo // a SIGTRAP sent to the program that was pending and blocked, and whose stop reported a hit
	open     bool             // it blocks all signals but SIGTRAP, which the program believes blocked too: see mask.go
	clear    bool             // SIGTRAP was not blocked after the latest rt_sigprocmask call that the engine made for the thread
	meant    bool             // the program waits for a SIGTRAP, which stays blocked until the program no longer blocks all signals
	openDue  bool             // SIGTRAP must be unblocked at its next stop, if it blocks all signals
	seeMask  bool             // SIGTRAP must be unblocked again after the current system call
	asleep   string           // what sleep returned when the handler was about to be installed or left alone: see asleep.go
	leftStep bool             // it may be in a step that an earlier session began: see takeover.go
}

// Init sets the thread, how it is made to call the kernel, and the queue of the signals that are withheld from it.
func (x *Thread) Init(t *tracee.Thread, on Target, in *Guards, calls *inject.Caller, queue *sigqueue.Queue) {
	x.signalActions = signalActions{t, calls}
	x.on, x.in, x.queue = on, in, queue
}

// process returns the thread's process.
func (x *Thread) process() *Process { return x.on.Process() }

// space returns the thread's address space.
func (x *Thread) space() *Space { return x.process().on.Space() }

// Inherit gives a new thread what it has of its creator.
func (x *Thread) Inherit(creator *Thread) { x.open = creator.open }

// NewImage forgets what belonged to the former image. SIGTRAP is blocked again if the program believes that it is: the
// mask outlives the image, which has no breakpoint yet.
func (x *Thread) NewImage() {
	x.Close()
	x.meant, x.seeMask = false, false
}

// IsOpen reports whether the thread blocks all signals but SIGTRAP, which the program believes blocked too.
func (x *Thread) IsOpen() bool { return x.open }

// AwaitsCall reports whether CallOver has to be called at the end of the thread's current system call.
func (x *Thread) AwaitsCall() bool { return x.seeMask }

// CallOver is called at the end of a system call.
func (x *Thread) CallOver() {
	if x.seeMask {
		x.seeMask = false
		x.Unblock()
	}
}

// KeepsBlocked reports whether SIGTRAP has to stay blocked in the thread, although the kernel has unblocked it.
func (x *Thread) KeepsBlocked() bool { return x.lost }
