package engine

import (
	"errors"

	"gotap/engine/hit"
	"gotap/engine/isa"
	"gotap/engine/module"
	"gotap/engine/registry"
	"gotap/runtime"
	"gotap/runtime/facility"
)

// Follow says which processes besides the first ones a session traces.
type Follow uint8

// What a session follows.
const (
	FollowNone     Follow = iota // only the threads there are at the start
	FollowThreads                // all threads, no children
	FollowChildren               // children too, through fork, vfork and exec
)

// Engine chooses among strategies (`--engine`).
type Engine uint8

// The engines.
const (
	Auto    Engine = iota // the best strategy for each site
	Emulate               // emulation wherever there is one, else a step
	Step                  // the trap-flag step wherever it works
)

// Config is how a session works.
type Config struct {
	Follow    Follow
	Engine    Engine
	MaxProbes int // physical probe points at most; 0: 1000
	Unsafe    bool
	Arena     *runtime.Arena
	// Own are the processes that wait for this one, besides itself: a stop of one would be waited for by the other. They are not attached to.
	Own []int
	// Notify is called on the tracing thread for every lifecycle event; it must not block.
	Notify func(Event)
	// Warn is told, once each, what the user should know (skipped sites, refused places); it must not block.
	Warn func(string)
	// LateFallback has the fallback (package fallback) put into a launched program with its first hit, or some time after its start,
	// instead of before its first instruction: until then a program that looks at its signal actions finds them as they are without
	// probes. It is for sessions that something else keeps from being killed alone.
	LateFallback bool
	// Facilities are where exits lead; nil: gotap's own alone.
	Facilities *facility.Table
	CoreDir    string // where cores are written; "": the working directory
	// Dumped is told of every core that a program asked for: where it is, or why there is none. Tracing thread; it must not
	// block.
	Dumped func(pid int, path string, size int64, err error)
	// Changed is told of every change that programs make to targets (Unsafe). Tracing thread; it must not block.
	Changed func(Change)
	// Quit ends the placing of probes when it is closed: Add and its kin return ErrInterrupted then, and nothing stays of what they
	// were to place. nil: nothing ends it.
	Quit   <-chan struct{}
	Budget float64 // share of the time for which targets may be stopped: above 0, to 1; 0: no limit
	// Overloaded is told of every step to stay within the budget. Tracing thread; it must not block.
	Overloaded func(Overload)
}

// ErrInterrupted is what placing probes ends with when Config.Quit is closed.
var ErrInterrupted = errors.New("interrupted while probes were placed")

// Interrupted is ErrInterrupted when placing probes is to end. It is asked for each place.
func (c *Config) Interrupted() error {
	select {
	case <-c.Quit:
		return ErrInterrupted
	default:
		return nil
	}
}

// Boundaries is isa.Boundaries, until placing probes is to end.
func (c *Config) Boundaries(f *module.File, code []byte, vaddr uint64) ([]uint64, error) {
	if err := c.Interrupted(); err != nil {
		return nil, err
	}
	return isa.Boundaries(f, code, vaddr)
}

// The probes that sessions are given, and what is told of them: see package registry.
type (
	Change      = hit.Change
	Handlers    = registry.Handlers
	Compile     = registry.Compile
	PlaceInfo   = registry.PlaceInfo
	CodePlace   = registry.CodePlace
	CopiedPlace = registry.CopiedPlace
	Copies      = registry.Copies
	ProbeSpec   = registry.Spec
	ProbeState  = registry.State
)

// EventKind is a kind of lifecycle event.
type EventKind string

// The lifecycle events, as on(…) names them.
const (
	EventExec   EventKind = "exec"
	EventExit   EventKind = "exit"
	EventFork   EventKind = "fork" // fork, vfork and clone of a process
	EventThread EventKind = "thread"
	EventSignal EventKind = "signal"
	EventModule EventKind = "module"
	EventDone   EventKind = "done" // no process is left
)

// Event is something that happened to a traced process.
type Event struct {
	Kind   EventKind
	Pid    int
	Tid    int
	Child  int    // fork: the new process; thread: the new thread
	Path   string // exec: the program; module: the file
	Signal int    // signal; exit by a signal
	Status int    // exit: the status
	Dumped bool   // exit by a signal: the kernel wrote a core
	Time   uint64
}
