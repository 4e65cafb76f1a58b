package compile

import (
	"fmt"
	"math"
	"testing"

	"gotap/compile/diag"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// program builds a program for a test.
func program(t testing.TB, write func(b *Builder)) *Program {
	t.Helper()
	b := NewBuilder("test")
	write(b)
	p, err := b.Program()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// countingLoop writes "for (t = from; t op to; t += by) body" as front ends do.
func countingLoop(b *Builder, from int64, op opcode.Op, to, by int64, body func(temp uint32)) {
	t := b.Temp()
	b.Push(uint64(from))
	b.A(opcode.PopTV, t)
	again, done := b.NewLabel(), b.NewLabel()
	b.Place(again)
	b.A(opcode.PushTV, t)
	b.Push(uint64(to))
	b.Op(op)
	b.Jump(opcode.Jz, done)
	body(t)
	b.A(opcode.PushTV, t)
	b.Push(uint64(by))
	b.Op(opcode.Add)
	b.A(opcode.PopTV, t)
	b.Jump(opcode.Jmp, again)
	b.Place(done)
	b.Release(t)
}

func TestNoBoundForStepsThatWrap(t *testing.T) {
	for _, step := range []int64{math.MinInt64, math.MinInt64 + 1, -1 << 62, 1 << 62, math.MaxInt64} {
		for _, test := range []string{"gt", "lt", "ge", "le", "ne"} {
			text := fmt.Sprintf(".temps 1\npush d,6\npop tv,0\nL: push tv,0\npush d,3\n%s\njz E\npush tv,0\npush d,%d\nadd\npop tv,0\njmp L\nE: exit\n", test, step)
			p, diags := Assemble(diag.NewSource("t", text))
			if diags.HasErrors() || Verify(p).HasErrors() {
				t.Fatalf("%s%v", text, diags)
			}
			newBench(t).check(t, p, 1)
		}
	}
}

func TestLoopBounds(t *testing.T) {
	p := program(t, func(b *Builder) {
		countingLoop(b, 0, opcode.Lt, 10, 1, func(i uint32) {
			b.A(opcode.PushTV, i)
			b.A(opcode.Drop, 1)
		})
		b.Exit(outcome.ExitPlain)
	})
	if err := Verify(p).Err(); err != nil {
		t.Fatal(err)
	}
	t.Log(p.Bound)
	if !p.Bound.Proved || p.Bound.Steps < 10*11+6 || p.Bound.Steps > 11*11+6 {
		t.Errorf("bound %+v", p.Bound)
	}
}
