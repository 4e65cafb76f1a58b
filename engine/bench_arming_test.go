package engine

import (
	"fmt"
	"os/exec"
	"testing"

	"gotap/engine/testenv"
)

// BenchmarkArming places and takes out ten thousand probe points of a program that has just been launched.
func BenchmarkArming(b *testing.B) {
	testenv.Require(b, testenv.AMD64, testenv.Ptrace, "objdump", "bc")
	path, err := exec.LookPath("bc")
	if err != nil {
		b.Fatal(err)
	}
	places := everyAddress(b, path)[:10000]
	w := newWorld(b, Config{Follow: FollowThreads})
	w.launch(path, "-q")
	n := w.counter()
	for b.Loop() {
		id := w.probe("main", Handlers{Enter: w.counts(n)}, func(p *ProbeSpec) {
			p.Specs, p.Optional = nil, true
			for _, addr := range places {
				p.Specs = append(p.Specs, mustParse(b, fmt.Sprintf("%s:%#x", path, addr)))
			}
		})
		if points := w.Stats().Points; points < 9000 {
			b.Fatalf("%d points", points)
		}
		if err := w.Remove(id); err != nil {
			b.Fatal(err)
		}
	}
}
