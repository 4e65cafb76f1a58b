package engine

import (
	"iter"
	"time"

	"gotap/arch"
	"gotap/engine/registry"
	"gotap/engine/sampling"
	"gotap/engine/syscallprobe"
	"gotap/engine/threadstate"
)

// sampleHost is the session as package sampling sees it: it implements sampling.Host.
type sampleHost struct{ s *Session }

func (h sampleHost) Conventions() []syscallprobe.Convention { return h.s.others.calls.Conventions }
func (h sampleHost) Samples() bool                          { return h.s.life.started && !h.s.life.closing }
func (h sampleHost) Resting() bool                          { return h.s.throttle.Resting() }
func (h sampleHost) After(d time.Duration, fn func())       { h.s.loop.After(d, fn) }

// Info implements sampling.Host.
func (h sampleHost) Info(name string, regs arch.Arch) registry.PlaceInfo {
	return h.s.otherInfo(name, regs)
}

// Threads implements sampling.Host.
func (h sampleHost) Threads() iter.Seq[*sampling.Thread] {
	return func(yield func(*sampling.Thread) bool) {
		for _, t := range h.s.threads {
			if !yield(&t.sample) {
				return
			}
		}
	}
}

// MayLook implements sampling.Sampled.
func (h threadHost) MayLook() bool {
	t := h.t
	return !t.unprobed && !t.proc.unprobed && t.state.Now() == threadstate.Running && t.mayRun() && !t.exec.IsActive()
}

// HasPosts implements sampling.Sampled.
func (h threadHost) HasPosts() bool { return h.t.exec.HasPosts() }
