package sampling

import (
	"iter"
	"time"

	"gotap/arch"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
	"gotap/engine/syscallprobe"
	"gotap/engine/tracee"
	"gotap/engine/trampoline"
	"gotap/engine/view"
)

// Host is what a Sampler asks of the session.
type Host interface {
	// Conventions returns those of the processes that can be traced.
	Conventions() []syscallprobe.Convention
	// Info answers what compiling a program asks about a place that is not code.
	Info(name string, regs arch.Arch) registry.PlaceInfo
	// Samples reports whether the session has begun and does not end.
	Samples() bool
	// Resting reports whether probes rest for the sake of the budget.
	Resting() bool
	// After calls fn on the tracing thread after some time.
	After(d time.Duration, fn func())
	Threads() iter.Seq[*Thread]
}

// Thread is a thread that is sampled.
type Thread struct {
	*tracee.Thread
	on     Sampled
	hit    *hit.Hit
	view   *view.View
	native *trampoline.Thread
}

// Sampled is what is asked about a thread.
type Sampled interface {
	// MayLook reports whether programs run for the thread, and it has been resumed and is not in a step.
	MayLook() bool
	// HasPosts reports whether programs wait for the end of its system call.
	HasPosts() bool
}

// Init makes it ready for a thread.
func (t *Thread) Init(th *tracee.Thread, on Sampled, h *hit.Hit, w *view.View, native *trampoline.Thread) {
	t.Thread, t.on, t.hit, t.view, t.native = th, on, h, w, native
}

// Init makes the sampler ready. It has no samples yet.
func (x *Sampler) Init(on Host) { x.on = on }
