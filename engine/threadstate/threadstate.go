package threadstate

import "fmt"

// State is the state of a traced thread.
type State uint8

// The states.
const (
	Fresh      State = iota // its first stop has not been reported
	Running                 // resumed; a stop that it reports now has not been handled
	Stopped                 // in a stop that was reported, and from which it has not been resumed
	JobStopped              // in a group stop of job control: still stopped, but woken by SIGCONT
	Parked                  // stopped until the session starts
	Held                    // stopped until the session's user releases it
	Settled                 // the session ends: stopped, not at a breakpoint, ready to be detached
	LeftAsleep              // the session ends: asleep in a system call, not to be disturbed
	Gone                    // ended or detached
	count
)

var names = [count]string{"fresh", "running", "stopped", "job-stopped", "parked", "held", "settled", "left asleep", "gone"}

// String implements fmt.Stringer.
func (s State) String() string {
	if s < count {
		return names[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// set is a set of states.
type set uint16

func of(states ...State) (all set) {
	for _, s := range states {
		all |= 1 << s
	}
	return all
}

func (a set) has(s State) bool { return a>>s&1 == 1 }

// next are the legal changes: the table of the package page.
var next = [count]set{
	Fresh:      of(Stopped, Gone),
	Running:    of(Stopped, LeftAsleep, Gone),
	Stopped:    of(Running, JobStopped, Parked, Held, Settled, Gone),
	JobStopped: of(Stopped, Gone),
	Parked:     of(Stopped, Gone),
	Held:       of(Stopped, Gone),
	Settled:    of(Gone),
	LeftAsleep: of(Stopped, Gone),
}

// Legal reports whether a thread may go from one state to another.
func Legal(from, to State) bool { return from < count && to < count && next[from].has(to) }

// Illegal is called for every illegal change, which is a bug in the caller. The change is still made, because the
// kernel has already changed the thread. Tests set Illegal to a function that fails.
var Illegal = func(from, to State) {}

// Thread is the state of one thread. The zero value is Fresh.
type Thread struct{ now State }

// New returns a thread in the state in which it is found: Fresh, Running or Parked.
func New(in State) Thread { return Thread{in} }

// Now returns the state.
func (t *Thread) Now() State { return t.now }

// To changes the state. To the present one, it does nothing.
func (t *Thread) To(to State) {
	if to == t.now {
		return
	}
	if !Legal(t.now, to) {
		Illegal(t.now, to)
	}
	t.now = to
}

// Is reports whether the thread is in one of some states.
func (t *Thread) Is(states ...State) bool { return of(states...).has(t.now) }

// InStop reports whether the thread is in a stop in which the kernel accepts requests about it. It does not in a group
// stop of job control, which may end at any moment.
func (t *Thread) InStop() bool { return inStop.has(t.now) }

var inStop = of(Stopped, Parked, Held, Settled)

// MayRun reports whether the thread may run code at this moment.
func (t *Thread) MayRun() bool { return t.now == Running || t.now == LeftAsleep }
