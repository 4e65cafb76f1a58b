package amd64

import (
	"testing"
	"time"
)

// TestRandomPrograms compares native code with the interpreter: random programs, registers and contents of the arena.
func TestRandomPrograms(t *testing.T) {
	w := newWorld(t)
	n := uint64(4000)
	if testing.Short() {
		n = 500
	}
	start := time.Now()
	for seed := range n {
		w.anyCase(seed)
	}
	t.Logf("%+v; %.0f cases a minute", w.counts, float64(n)/time.Since(start).Minutes())
}

func FuzzNative(f *testing.F) {
	f.Add(uint64(1))
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		w.t = t
		w.anyCase(seed)
	})
}
