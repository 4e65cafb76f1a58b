package engine

import (
	"math"
	"testing"

	"gotap/runtime"
	"gotap/runtime/opcode"
)

// TestScalableVectors: a program that works with scalable vectors is attached to, probed at every instruction, and let
// go, and finds all their bits right. The registers themselves are what it compares.
func TestScalableVectors(t *testing.T) {
	p := start(t, program(t, "scalable.c"), "until told")
	if line, err := p.out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the program says %q, %v", line, err)
	}
	for _, c := range []Config{{}, {}, {Engine: Inline}, {Engine: Inline}} {
		c.Follow = FollowThreads
		w := newWorld(t, c)
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		w.probe("spin+*", Handlers{Enter: w.halves(n)}, func(s *ProbeSpec) { s.Optional = true })
		w.Start()
		eventually(t, "hits", func() bool { return n.get() > 300 })
		if c.Engine == Inline {
			eventually(t, "jumps", func() bool { return w.Stats().Inline > 5 })
		}
		if err := w.Close(false); err != nil {
			t.Error(err)
		}
	}
	want(t, "target", p.end(), "victim bad=0")
}

// halves is a program that calculates with floats, and counts.
func (w *world) halves(n *counter) *runtime.Code {
	return w.code(runtime.Inst{Op: opcode.PushD, V: 3}, runtime.Inst{Op: opcode.Itof}, runtime.Inst{Op: opcode.PushD, V: math.Float64bits(7)},
		runtime.Inst{Op: opcode.Fdiv}, runtime.Inst{Op: opcode.Fbool}, runtime.Inst{Op: opcode.AddGV, V: n.offset()})
}
