package registry

import (
	"slices"
	"time"

	"gotap/compile"
	"gotap/engine/place"
	"gotap/runtime"
	"gotap/runtime/hook"
)

// Handlers are the programs of one probe. Any may be nil.
//
// When decides whether a hit counts: if it aborts or traps, nothing else runs and nothing is counted. It runs once
// for each call: when the function is entered, or, if AtReturn is set, at the return; then Enter runs for all
// calls, and the returns are the hits.
type Handlers struct {
	Enter, Post, Leave, Fault, When *runtime.Code

	AtReturn bool
}

// CountsEntry reports whether a hit is an entry. For probes that have only a leave handler, or whose predicate runs
// at the return, a hit is a return.
func (h Handlers) CountsEntry() bool {
	return !h.AtReturn && (h.Enter != nil || h.Post != nil || h.Fault != nil)
}

// Fits returns an error for handlers that would never run at a place that is not code: a watchpoint or a system
// call. If such handlers were silently ignored, it would look as if hits were missing.
func (h Handlers) Fits(spec place.Spec) error {
	refuse := func(reason, help string) error {
		return &place.RefusedError{Place: spec.String(), Reason: reason, Help: help}
	}
	left := h.Leave != nil || h.AtReturn
	switch {
	case spec.Kind == place.Sample && (left || h.Post != nil || h.Fault != nil):
		return refuse("a sample is a moment, not a call or an instruction", "enter(c) runs at each sample")
	case spec.Kind == place.Watch && left:
		return refuse("a watchpoint has no return", "enter(c) runs at each access")
	case spec.Kind == place.Watch && h.Fault != nil:
		return refuse("a watchpoint reports completed accesses, which do not fault", "fault(c) goes with an instruction or a function")
	case spec.Kind == place.Syscall && h.Post != nil:
		return refuse("a system call has no instruction to run after", "leave(c) runs when the call returns")
	case spec.Kind == place.Syscall && h.Fault != nil:
		return refuse("a system call does not fault", "leave(c) runs when it returns: with c.ret -14 for a bad address")
	}
	return nil
}

// Compile returns the handlers of a probe for one place. It is called once for each place, with access to the
// place's debug information, and may return the same handlers every time. It runs on the goroutine that calls Add,
// or on the tracing thread if a module appears later.
type Compile func(at PlaceInfo) (Handlers, error)

// WantingError is an error of Compile which may be over when programs of other probes have been compiled: these store
// values in what the programs read, and the type of those values is known then.
type WantingError struct{ Err error }

func (e *WantingError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *WantingError) Unwrap() error { return e.Err }

// PlaceInfo answers what compiling a program may ask about the place where it will run.
type PlaceInfo interface {
	Name() string // "libc.so.6:malloc"
	// Access resolves args.NAME.field… at this place; errors list the names that exist.
	Access(path []string) (compile.Access, error)
	// ReturnType returns the access that cuts c.ret to its type; ok is false if the type is not known. The error
	// then says why the register does not hold the result.
	ReturnType() (a compile.Access, ok bool, err error)
	// ResultMember resolves c.ret.FIELD… at this place; errors list the names that exist.
	ResultMember(path []string) (compile.Access, error)
	// Arg returns a typed operand of a static mark, or the reason why it cannot be read; ok is false for other
	// places.
	Arg(n int) (a compile.Access, ok bool, err error)
	// Register returns a register of the target's architecture.
	Register(name string) (index, bits, shift int, ok bool)
	// WordSize returns the size of the target's pointers in bytes: 4 or 8.
	WordSize() int
}

// CodePlace is implemented in addition by a PlaceInfo whose place is an instruction.
type CodePlace interface {
	PlaceInfo
	// Code returns the first n bytes from the instruction on, as they are in the file, so without breakpoints.
	Code(n int) ([]byte, error)
}

// Spec is one logical probe to be registered.
type Spec struct {
	ID                                    uint32 // the number in records; chosen by the caller, unique in the session
	Name                                  string
	Specs                                 []place.Spec
	Not                                   []place.Spec // what of Specs is left out
	From                                  []string     // module parts of places: only calls that these modules make count; none: all
	Effects                               *Effects     // of Not and From; may be nil
	Compile                               Compile
	After                                 uint64 // number of first hits to ignore
	Limit                                 uint64 // hits after which the probe disables itself; 0: none
	Every                                 uint64 // only each n-th hit counts; 0 and 1: each
	Rate                                  uint64 // at most this many hits per second; 0: all
	MaxActive                             int    // simultaneous calls of one thread that leave can distinguish; 0: 1024
	LogOnFault                            bool
	Optional                              bool
	Copies                                bool // places that are functions stand for their inlined copies, too, where Enter, Post and Fault fit
	Disabled                              bool
	Order                                 hook.Order // order among the probes of one place; equal ones run in the order of declaration
	ThisBytes                             int        // bytes of storage for a call
	HasLeave, HasFault, HasPost, HasEnter bool       // which handlers Compile will return
}

// Patterns reports whether no place is named outright: places that cannot be probed are then left out.
func (s *Spec) Patterns() bool {
	return !slices.ContainsFunc(s.Specs, func(p place.Spec) bool { return !p.Pattern() && !p.Every })
}

// LeavesOut reports whether the probe leaves out a system call, one of those that it means.
func (s *Spec) LeavesOut(call string) (left bool) {
	for _, p := range s.Not {
		if s.Effects.Open(LeftOut(p)); p.Kind == place.Syscall && p.Matches(call) {
			s.Effects.Had(LeftOut(p))
			left = true
		}
	}
	return left
}

// State is what a query reports about a probe. Skipped and Spent are those of samples.
type State struct {
	ID          uint32
	Name        string
	State       string // "active", "disabled", "removed", "pending"
	Places      int    // number of armed sites
	Hits        uint64
	RateLimited uint64 // hits beyond Rate, which ran no program
	Missed      uint64
	TooDeep     uint64         // the part of Missed due to more than MaxActive simultaneous calls
	Skipped     uint64         // periods in which nothing was sampled, so that samples stay cheap
	Spent       time.Duration  // processor time that samples took, the switches to the session and back estimated
	Runs        uint64         // programs that the interpreter ran, wholly or in part
	Ran         time.Duration  // how long that took; stopping threads and native code are not in it
	Exhausted   bool           // it was disabled because its programs ran out of fuel too often
	Refused     []string       // sites left out, with the reason
	Strategy    map[string]int // number of sites by strategy
	Stops       map[string]int // number of sites that stop threads although native code was preferred, by reason
	Kind        string         // of its places, as place.Kind has it
	Sites       []Site         // places of code that it was compiled for, by address; at most MaxSites
}

// MaxSites is how many sites of a probe a query names: a pattern may have thousands.
const MaxSites = 10

// A Site is a place in a file.
type Site struct {
	Place   string // for display: "libc.so.6:malloc"
	Address uint64 // in the file
}
