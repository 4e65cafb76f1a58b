package backend

import "time"

// EventKind is a kind of lifecycle event.
type EventKind string

// The lifecycle events, as on(…) names them.
const (
	EventExec   EventKind = "exec"
	EventExit   EventKind = "exit"
	EventFork   EventKind = "fork" // fork, vfork and clone of a process
	EventThread EventKind = "thread"
	// EventThreadEnd is the end of a thread other than the first of its process, whose end is that of the process.
	EventThreadEnd EventKind = "threadend"
	EventSignal    EventKind = "signal"
	EventModule    EventKind = "module"
	EventDone      EventKind = "done" // no process is left
)

// Event is something that happened to a traced process.
type Event struct {
	Kind   EventKind
	Pid    int
	Tid    int
	Child  int    // fork: the new process; thread: the new thread
	Path   string // exec: the program; module: the file
	Signal int    // signal; exit and threadend by a signal
	Status int    // exit, threadend: the status
	Dumped bool   // exit and threadend by a signal: the kernel wrote a core
	Time   uint64
	PC     uint64   // signal: where the thread was; 0: not known
	Origin []Member // signal: its siginfo_t, if Config.SignalStacks asks for it
	Stack  []uint64 // signal: its call stack, innermost first, if Config.SignalStacks asks for it
}

// Member is a member of a siginfo_t, as SigInfo.Members of package ptrace names them. Besides there is "restart", with
// which the kernel has ended a system call that the signal interrupts (-ERESTARTSYS and related codes).
type Member struct {
	Name  string
	Value int64
}

// SignalFrames is the number of frames that the stack of a signal may have.
const SignalFrames = 64

// Stats are counters of a session.
type Stats struct {
	Hits     uint64 // breakpoints that were hit
	Stops    uint64 // stops of threads, for whatever reason
	Steps    uint64 // instructions that were stepped
	Held     uint64 // times the other threads were held for a step in place
	Attached int    // threads traced now
	Points   int    // probe points armed now
	Inline   int    // places that have been made to run their programs without a stop, in all processes
	// InlineStop is the longest time for which threads were stopped while jumps were written.
	InlineStop time.Duration
	ReadFaults uint64 // reads of native code that faulted, because the memory was not readable any more
	Kept       uint64 // nanoseconds for which threads were held, estimated
	Rests      uint64 // windows in which probes were throttled, to stay within the budget
	Unseen     uint64 // hits that ran no program because their point was throttled; further ones were not even noticed
	Disabled   uint64 // probes that were disabled to stay within the budget
	// Unwatched are watchpoints taken off a thread that met one with an instruction which cannot be emulated (ARM).
	Unwatched uint64
	Together  uint64 // stops that were handled while the target and the tracing thread shared a CPU
	Apart     string // why they do not share a CPU, or did not; "" if they do, or did until the target ended
}

// OverloadStep is what a session does to stay within its budget.
type OverloadStep string

// The steps, in the order in which they are taken.
const (
	OverloadSlow     OverloadStep = "slow"     // none: there is no budget, and targets are stopped for more than half of the time
	OverloadSampling OverloadStep = "sampling" // probes are throttled for a part of each window; reported once
	OverloadDisabled OverloadStep = "disabled" // a probe was disabled
	OverloadDetached OverloadStep = "detached" // the session has detached from its targets, and is over
)

// Overload reports a step. Share is that of the window before: 0 to 1.
type Overload struct {
	Step  OverloadStep
	Probe string // the probe that was disabled
	Share float64
}
