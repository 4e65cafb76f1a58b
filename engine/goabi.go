package engine

import "gotap/engine/registry"

// Goroutines move between threads, and their stacks move when they grow. Two things stay the same for the whole
// life of a call: the goroutine, and the distance from the end of its stack. The runtime copies the used part to
// the end of the new stack and adjusts every pointer to it (runtime.copystack).

// Goroutine implements retprobe.Target. If the stack of the goroutine that runs on this thread has moved, it
// corrects the goroutine's recorded frames.
func (t *thread) Goroutine() (g, hi uint64) {
	space := t.proc.space
	g, hi, ok := t.proc.arch.Golang.Goroutine(&t.regs, space, uint64(t.proc.arch.WordSize()), t.sp())
	if !ok {
		return 0, 0
	}
	for _, o := range t.proc.threads {
		o.calls.Moved(g, hi)
	}
	return g, hi
}

// Goroutine implements retprobe.Body.
func (b *body) Goroutine() bool { return registry.GoCompiled(b.target) != nil }
