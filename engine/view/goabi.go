package view

// Goroutines move between threads, and their stacks move when they grow. Two things stay the same for the whole
// life of a call: the goroutine, and the distance from the end of its stack. The runtime copies the used part to
// the end of the new stack and adjusts every pointer to it (runtime.copystack).

// Goroutine implements retprobe.Target. If the stack of the goroutine that runs on this thread has moved, it
// corrects the goroutine's recorded frames.
func (w *View) Goroutine() (g, hi uint64) {
	space := w.Space
	g, hi, ok := w.Space.ABI.Golang.Goroutine(&w.Regs, space, uint64(w.Space.ABI.WordSize()), w.Thread.SP())
	if !ok {
		return 0, 0
	}
	for o := range w.On.Siblings() {
		o.calls.Moved(g, hi)
	}
	return g, hi
}
