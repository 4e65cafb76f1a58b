package engine

import (
	"iter"
	"maps"
	"time"

	"gotap/engine/linux/procfs"
	"gotap/engine/space"
	"gotap/engine/trampoline"
)

// nativeHost is the session as package trampoline sees it: it implements trampoline.Host.
type nativeHost struct{ s *Session }

func (h nativeHost) Warn(text string)                 { h.s.warn(text) }
func (h nativeHost) Closing() bool                    { return h.s.life.closing }
func (h nativeHost) Resting() bool                    { return h.s.throttle.Resting() }
func (h nativeHost) Watching() bool                   { return h.s.others.before }
func (h nativeHost) ShadowStacks() bool               { return h.s.shadows.Exist() }
func (h nativeHost) After(d time.Duration, fn func()) { h.s.loop.After(d, fn) }
func (h nativeHost) Do(fn func() error) error         { return h.s.do(fn) }
func (h nativeHost) HandleStops()                     { h.s.stops.handleCome() }
func (h nativeHost) StoppedTid(sp *space.Space) int   { return h.s.world.stoppedTid(sp) }
func (h nativeHost) Spaces() iter.Seq[*space.Space]   { return maps.Keys(h.s.spaces()) }

// Threads implements trampoline.Host.
func (h nativeHost) Threads() iter.Seq[*trampoline.Thread] {
	return func(yield func(*trampoline.Thread) bool) {
		for _, t := range h.s.threads {
			if !yield(&t.native) {
				return
			}
		}
	}
}

// Processes implements trampoline.Host.
func (h nativeHost) Processes() iter.Seq[*trampoline.Process] {
	return func(yield func(*trampoline.Process) bool) {
		for _, p := range h.s.procs {
			if !yield(&p.native) {
				return
			}
		}
	}
}

// HoldAll implements trampoline.Host.
func (h nativeHost) HoldAll() (release func()) {
	held := h.s.world.holdAll()
	return func() { h.s.world.releaseWorld(held) }
}

// Hold implements trampoline.Host.
func (h nativeHost) Hold(which func(*trampoline.Thread) bool) (held []*trampoline.Thread) {
	for _, t := range h.s.world.hold(func(t *thread) bool { return which(&t.native) && !t.still() && !procfs.Asleep(t.Tid) }) {
		held = append(held, &t.native)
	}
	return held
}

// Release implements trampoline.Host.
func (h nativeHost) Release(held []*trampoline.Thread) {
	for _, n := range held {
		if t := h.s.threads[n.Tid]; t != nil {
			t.resume(0)
		}
	}
}

// Tids yields the IDs of the process's threads, for package trampoline.
func (p *process) Tids() iter.Seq[int] { return maps.Keys(p.threads) }

// Finish implements trampoline.Runner.
func (h threadHost) Finish() { h.t.finish() }
