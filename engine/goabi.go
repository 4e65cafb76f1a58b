package engine

import "gotap/engine/registry"

// Goroutines move between threads, and their stacks move when they grow. Two things stay the same for the whole
// life of a call: the goroutine, and the distance from the end of its stack. The runtime copies the used part to
// the end of the new stack and adjusts every pointer to it (runtime.copystack).

// Goroutine implements retprobe.Target. If the stack of the goroutine that runs on this thread has moved, it
// corrects the goroutine's recorded frames.
func (w *view) Goroutine() (g, hi uint64) {
	space := w.t.proc.space
	g, hi, ok := w.t.proc.arch.Golang.Goroutine(&w.t.Regs, space, uint64(w.t.proc.arch.WordSize()), w.t.SP())
	if !ok {
		return 0, 0
	}
	for _, o := range w.t.proc.threads {
		o.calls.Moved(g, hi)
	}
	return g, hi
}

// Goroutine implements retprobe.Body.
func (b *body) Goroutine() bool { return registry.GoCompiled(b.target) != nil }
