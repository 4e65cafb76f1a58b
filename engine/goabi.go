package engine

import "gotap/engine/registry"

// Goroutines move between threads, and their stacks move when they grow. What is the same for a call all its life is
// the goroutine and the distance from the end of its stack: the runtime copies what is in use to the end of the new stack,
// and adjusts every pointer to it (runtime.copystack).

// Goroutine implements call.Target: it makes the frames right again of the goroutine that runs on this thread if its stack has
// moved.
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

// Goroutine implements call.Body.
func (b *body) Goroutine() bool { return registry.GoCompiled(b.target) != nil }
