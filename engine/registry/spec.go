package registry

import (
	"slices"

	"gotap/compile"
	"gotap/engine/place"
	"gotap/runtime"
	"gotap/runtime/hook"
)

// Handlers are the programs of one probe. Any may be nil.
//
// When decides whether a hit is one: where it aborts or traps, nothing else runs and nothing is counted. It is asked once for
// each call, as the function is entered, or AtReturn: then Enter runs for all calls, and the returns are the hits.
type Handlers struct {
	Enter, Post, Leave, Fault, When *runtime.Code

	AtReturn bool
}

// CountsEntry reports whether a hit is an entry. For probes that have only a leave handler, or whose predicate is asked at
// the return, it is a return.
func (h Handlers) CountsEntry() bool {
	return !h.AtReturn && (h.Enter != nil || h.Post != nil || h.Fault != nil)
}

// Fits refuses handlers that would never run at a place which is no code of its own: a watchpoint or a system call. Handlers that
// are silently forgotten look like hits that are missing.
func (h Handlers) Fits(spec place.Spec) error {
	refuse := func(reason, help string) error {
		return &place.RefusedError{Place: spec.String(), Reason: reason, Help: help}
	}
	left := h.Leave != nil || h.AtReturn
	switch {
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

// Compile makes the handlers of a probe for one place; it is called once for each place with access to its debug
// information, and may return the same handlers every time. It runs on the caller's goroutine of Add, or on the
// tracing thread when a module appears later.
type Compile func(at PlaceInfo) (Handlers, error)

// PlaceInfo is what compiling a program may want to know of the place it will run at.
type PlaceInfo interface {
	Name() string // "libc.so.6:malloc"
	// Access resolves args.NAME.field… at this place; errors list what there is.
	Access(path []string) (compile.Access, error)
	// ReturnType is the access that cuts c.ret to its type; ok is false when the type is not known. The error tells why the register
	// does not have the result then.
	ReturnType() (a compile.Access, ok bool, err error)
	// ResultMember resolves c.ret.FIELD… at this place; errors list what there is.
	ResultMember(path []string) (compile.Access, error)
	// Arg is a typed operand of a static mark, or why it cannot be read; ok is false elsewhere.
	Arg(n int) (a compile.Access, ok bool, err error)
	// Register finds a register of the target's architecture.
	Register(name string) (index, bits, shift int, ok bool)
	// WordSize is the size of the target's pointers in bytes: 4 or 8.
	WordSize() int
}

// CodePlace is what a PlaceInfo implements besides when the place is an instruction.
type CodePlace interface {
	PlaceInfo
	// Code is the first n bytes from the instruction on, as they are in the file: breakpoints do not show.
	Code(n int) ([]byte, error)
}

// Spec is one logical probe to be registered.
type Spec struct {
	ID                                    uint32 // the number records carry; given by the caller, unique in the session
	Name                                  string
	Specs                                 []place.Spec
	Compile                               Compile
	After                                 uint64 // hits to let pass first
	Limit                                 uint64 // hits after which the probe disables itself; 0: none
	Every                                 uint64 // only each n-th hit; 0 and 1: each
	Rate                                  uint64 // at most so many hits in a second; 0: all
	MaxActive                             int    // calls of one thread that leave can tell apart; 0: 1024
	LogOnFault                            bool
	Optional                              bool
	Disabled                              bool
	Order                                 hook.Order // among the probes of one place; equal ones run in the order of declaration
	ThisBytes                             int        // storage of a call
	HasLeave, HasFault, HasPost, HasEnter bool       // which handlers Compile will return
}

// Patterns reports whether none of the places is named outright: those that cannot be probed are left out then.
func (s *Spec) Patterns() bool {
	return !slices.ContainsFunc(s.Specs, func(p place.Spec) bool { return !p.Pattern() && !p.Every })
}

// State is what a query says of a probe.
type State struct {
	ID          uint32
	Name        string
	State       string // "active", "disabled", "removed", "pending"
	Places      int    // sites armed
	Hits        uint64
	RateLimited uint64 // hits beyond Rate, which ran no program
	Missed      uint64
	TooDeep     uint64         // of Missed, what was more than MaxActive calls at once
	Refused     []string       // sites left out, with the reason
	Strategy    map[string]int // how many sites by strategy
}
