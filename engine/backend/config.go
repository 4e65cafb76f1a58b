package backend

import (
	"errors"
	"fmt"
	"math"
	"os"

	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/registry/hit"
	"gotap/runtime/arena"
	"gotap/runtime/facility"
)

// Follow says which processes besides the first ones a session traces.
type Follow uint8

// What a session follows.
const (
	FollowNone     Follow = iota // only the threads that exist at the start
	FollowThreads                // all threads, no children
	FollowChildren               // children too, through fork, vfork and exec
)

// Strategy says how the instructions under breakpoints are completed (`--engine`).
type Strategy uint8

// The strategies.
const (
	Auto    Strategy = iota // the best one for each site
	Emulate                 // emulation where it is possible, otherwise a step
	Step                    // the trap-flag step where it works
	Inline                  // native code in the target, which stops nothing; places that need stops are refused
	Mixed                   // native code where programs run to their ends without a stop, elsewhere what Auto does
)

// Affinity says whether a session may share a CPU with its target (`--affinity`).
type Affinity uint8

// The choices.
const (
	AffinityAuto Affinity = iota // where the target cannot notice it
	AffinityOff                  // never: no affinity is changed
)

// Config is how a session works.
type Config struct {
	Follow    Follow
	Engine    Strategy
	Affinity  Affinity
	MaxProbes int // physical probe points at most; 0: 1000, and any number with Inline
	Unsafe    bool
	Arena     *arena.Arena
	// Own are the processes that wait for this one, and this one itself. They are not attached to: gotap would wait for
	// a process that waits for gotap.
	Own []int
	// Notify is called for every lifecycle event; it must not block.
	Notify func(Event)
	// SignalStacks reports whether events of signals are to have PC and Stack, which cost registers and unwinding; nil:
	// no. It must not block.
	SignalStacks func() bool
	// Warn reports, once each, what the user should know (skipped sites, refused places); it must not block.
	Warn func(string)
	// LateFallback puts the fallback (package fallback) into a launched program with its first hit, or some time after
	// its start, instead of before its first instruction: until then a program that reads its signal actions finds them
	// as they are without probes. It is for sessions that another process protects from being killed alone.
	LateFallback bool
	// Explain makes queries say of every place whether Mixed would run its programs natively, and why not. That takes a
	// while for thousands of places. Without it a place is what it is so far: it has a breakpoint until it has been hit
	// often.
	Explain bool
	// Fetch fetches debug files that are not on this machine; nil: nothing is fetched.
	Fetch module.Fetcher
	// Facilities are the targets of exits; nil: gotap's own alone.
	Facilities *facility.Table
	CoreDir    string // directory for cores; "": the working directory
	// Dumped reports every core that a program asked for: its path, or why there is none. It must not block.
	Dumped func(pid int, path string, size int64, err error)
	// Changed reports every change that programs make to targets (Unsafe). It must not block.
	Changed func(hit.Change)
	// Quit ends the placing of probes when it is closed: Add and the other calls that place probes return
	// ErrInterrupted then, and nothing of what they placed stays. nil: nothing ends it.
	Quit   <-chan struct{}
	Budget float64 // share of the time for which targets may be stopped: above 0, to 1; 0: no limit
	// Overloaded reports every step to stay within the budget. It must not block.
	Overloaded func(Overload)
}

// defaultMaxProbes is the limit on probe points that Config's zero value means.
const defaultMaxProbes = 1000

// Defaults fills in what the zero value of a field stands for.
func (c *Config) Defaults() {
	switch {
	case c.MaxProbes != 0:
	case c.Engine == Inline: // places that stop nothing cost little
		c.MaxProbes = math.MaxInt
	default:
		c.MaxProbes = defaultMaxProbes
	}
	if c.Facilities == nil {
		c.Facilities = facility.NewTable()
	}
}

// ErrInterrupted is the error of calls that place probes when Config.Quit is closed.
var ErrInterrupted = errors.New("interrupted while probes were placed")

// ErrSettled is for programs that have left, or never were in, the state between Spawn and Settle.
var ErrSettled = errors.New("the program has no loader that has yet to map anything")

// Interrupted returns ErrInterrupted once placing probes is to end. It is asked for each place.
func (c *Config) Interrupted() error {
	select {
	case <-c.Quit:
		return ErrInterrupted
	default:
		return nil
	}
}

// Boundaries is isa.Boundaries until placing probes is to end.
func (c *Config) Boundaries(f *module.File, code []byte, vaddr uint64) ([]uint64, error) {
	if err := c.Interrupted(); err != nil {
		return nil, err
	}
	return isa.Boundaries(f, code, vaddr)
}

// Command is a program to be launched.
type Command struct {
	Path  string   // file name, looked up in PATH when it has no slash
	Args  []string // with the program's name as the first; nil: Path alone
	Env   []string // nil: ours
	Dir   string   // "": ours
	Stdin *os.File // nil: ours
	Stdout,
	Stderr *os.File
}

// ErrGone says that the memory of a process no longer exists.
var ErrGone = errors.New("the memory is gone")

// TooManyError says that the limit on probe points was reached.
type TooManyError struct{ Limit, Wanted int }

func (e TooManyError) Error() string {
	return fmt.Sprintf("cannot place more than %d probe points: at least %d are asked for (--max-probes raises the limit)", e.Limit, e.Wanted)
}
