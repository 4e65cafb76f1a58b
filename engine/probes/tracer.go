package probes

import (
	"errors"
	"iter"

	"gotap/engine/arming"
	"gotap/engine/image/module"
	"gotap/engine/locate"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
	"gotap/engine/semaphore"
	"gotap/engine/syscallprobe"
	"gotap/engine/watchpoint"
)

// Do runs a function where a tracer may change its processes, and returns its error.
type Do func(fn func() error) error

// Tracer is what a back end does for the probes of a session. Except for Do, Read, Prepare, AwaitReplaced and
// AwaitPrograms its methods are called within functions that Do or Read run.
type Tracer interface {
	// Do runs fn where processes may be changed, between two hits.
	Do(fn func() error) error
	// Read runs fn where the state of probes may be read. The error says that the session is over.
	Read(fn func()) error
	// Prepare runs fn with the processes that exist. fn may take long: it changes processes only through do.
	Prepare(fn func(procs []locate.Process, do Do) error) error
	// Processes are those in which probes are armed.
	Processes() []Process
	// Spaces are the address spaces that have points.
	Spaces() []Space
	// Together runs fn and plants afterwards, in one stop, the breakpoints that fn wanted. The result has those that
	// failed.
	Together(fn func()) map[*retprobe.Point]error

	// Replacing reports whether a process replaces its program just now, so that nothing can be armed in it.
	Replacing() bool
	// AwaitReplaced waits until no process replaces its program.
	AwaitReplaced() error
	// AwaitPrograms waits until the programs of probes that have been disarmed run nowhere any more, as they may where
	// they run without a stop.
	AwaitPrograms()

	// Calls are the probes on system calls.
	Calls() *syscallprobe.Probes
	// AddCalls adds those of a specification, unless they are breakpoints here.
	AddCalls(pr *registry.Probe, spec place.Spec) error
	// SyncCalls makes threads stop at the system calls that have armed probes.
	SyncCalls() error
	// SyncWatches sets the watchpoints of all processes that have armed probes, and no others.
	SyncWatches() error
	// AddSample adds samples, at the moments that a specification names. The probe need not be armed yet.
	AddSample(pr *registry.Probe, spec place.Spec) error
	// SyncSamples lets all samples of armed probes be taken.
	SyncSamples()
	// DropSamples removes the samples of a probe.
	DropSamples(pr *registry.Probe)
	// Samples counts the samples that have been added for a probe.
	Samples(pr *registry.Probe) int
	// Closing reports whether the session ends, so that nothing is to be armed any more.
	Closing() bool

	// KeepCalls makes the leave handlers due of all calls that are under way for a probe.
	KeepCalls(pr *registry.Probe)
	// Warn reports a text to the user, once.
	Warn(text string)
}

// Process is a process in which probes are armed.
type Process interface {
	arming.Process
	AddressSpace() Space
	// Watches are the watchpoints of the process.
	Watches() *watchpoint.List
	// Watchable returns what adding one of a specification takes; ok is false where such a specification means a
	// breakpoint.
	Watchable(spec place.Spec) (in watchpoint.Process, ok bool)
}

// Space is an address space.
type Space interface {
	Points() iter.Seq[*retprobe.Point]
	// Semaphores returns how far semaphores of static marks have been raised, and the memory in which they are.
	Semaphores() (*semaphore.Counts, semaphore.Memory)
	// Gone reports whether its memory no longer exists.
	Gone() bool
}

// Launcher is implemented by tracers that launch programs, in which probes may be begun before the loader has mapped
// their libraries.
type Launcher interface {
	// Unsettled reports whether a program is in that state.
	Unsettled() bool
	// IsLoader reports whether a module is a dynamic loader.
	IsLoader(m *module.Loaded) bool
	// Begun is called when a probe has been begun.
	Begun(pr *registry.Probe)
}

// ErrReplacing says that a process replaces its program, so that nothing can be armed in it just now.
var ErrReplacing = errors.New("a process replaces its program just now")
