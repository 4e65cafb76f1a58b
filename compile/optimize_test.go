package compile

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/snapshot"
)

func TestConstantsFoldAsTheMachineComputes(t *testing.T) {
	b := newBench(t)
	r := rand.New(rand.NewPCG(11, 12))
	folded := 0
	for range 4000 {
		row := &opcode.Table[r.IntN(len(opcode.Table))]
		if row.Out != "w" || row.Operand != opcode.NoOperand && row.Operand != opcode.CountOperand || row.In != "w" && row.In != "ww" {
			continue
		}
		v, w, n := randomWord(r), randomWord(r), uint32(1+r.IntN(63))
		if row.Operand == opcode.NoOperand {
			n = 0
		}
		want, ok := foldOne(row.Op(), n, w)
		if row.In == "ww" {
			want, ok = foldTwo(row.Op(), v, w)
		}
		if !ok {
			continue
		}
		folded++
		p := program(t, func(b *Builder) {
			b.Push(v)
			b.Push(w)
			b.A(row.Op(), n)
			b.Push(want)
			b.Op(opcode.Eq)
			right := b.NewLabel()
			b.Jump(opcode.Jnz, right)
			b.Op(opcode.Abort)
			b.Place(right)
			b.Exit(outcome.ExitPlain)
		})
		if err := Verify(p).Err(); err != nil {
			t.Fatal(err)
		}
		c, err := b.lower(p)
		if err != nil {
			t.Fatal(err)
		}
		if out := b.run(c, 1); out.Abort || out.Trap != 0 {
			t.Errorf("%s of %#x, %#x is not %#x: %+v", row.Name, v, w, want, out)
		}
	}
	if folded < 500 {
		t.Errorf("only %d were folded", folded)
	}
}

// trace is what a run did that anyone can see.
type trace struct {
	out    outcome.Outcome
	logged int
	number snapshot.Data
	keys   int
}

// observe runs a program and gives what can be seen of it, from a fresh state.
func (b *bench) observe(t *testing.T, p *Program, seed uint64) trace {
	t.Helper()
	if err := Verify(p).Err(); err != nil {
		t.Fatalf("%v\n%s", err, listed(t, p))
	}
	c, err := b.lower(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range b.objects {
		b.arena.Handle(id).Clear()
	}
	out := b.run(c, seed)
	out.Steps, out.PC, out.SkipPC, out.SignalPC = 0, 0, 0, 0
	number, _ := b.arena.Handle(b.objects[0]).Get()
	return trace{out, b.hit.Len(), number, b.arena.Handle(b.objects[1]).Len()}
}

func TestOptimizedProgramsDoTheSame(t *testing.T) {
	b := newBench(t)
	shorter, compared := 0, 0
	rounds := 3000
	if testing.Short() {
		rounds = 1000
	}
	for seed := range uint64(rounds) {
		if seed%1000 == 999 {
			b = newBench(t)
		}
		r := rand.New(rand.NewPCG(seed, 2))
		p := generate(r, b.objects)
		if Verify(p).HasErrors() || !p.Bound.Proved {
			continue
		}
		q := Optimize(p)
		compared++
		if len(q.Code) < len(p.Code) {
			shorter++
		}
		before, after := b.observe(t, p, seed), b.observe(t, q, seed)
		same := before.out == after.out && before.logged == after.logged && before.number.Int == after.number.Int && before.keys == after.keys
		if !same || q.Bound.Steps > p.Bound.Steps || !q.Bound.Proved {
			t.Fatalf("%+v %v\n%+v %v\n%s\n%s", before, p.Bound, after, q.Bound, listed(t, p), listed(t, q))
		}
	}
	t.Logf("%d compared, %d of them shorter", compared, shorter)
	if shorter < compared/4 || compared < rounds/5 {
		t.Errorf("too few to show anything: %d compared, %d shorter", compared, shorter)
	}
}

func TestOptimize(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"push d,2\npush d,3\nadd\npush d,4\nmul\nros,1\nexit", "exit"},
		{"push c,pid\njz A\njmp B\nA: jmp C\nB: jmp C\nC: exit", "push c,pid\njz L\nexit\nL: exit"},
		{"push d,1\njz L\npush arg,0\nros,1\nL: exit", "push arg,0\nros,1\nexit"},
		{"push arg,0\nlnot\njz L\nabort\nL: exit", "push arg,0\njnz L\nabort\nL: exit"},
		{"L: jmp L", "L: jmp L"},
		{"push d,1\npush d,0\nquo\nros,1\nexit", "push d,1\npush d,0\nquo\nros,1\nexit"},
		{"push d,3\nL: nop\nloop L\nexit", "push d,3\nL: loop L\nexit"},
		{"call R\nexit\nR: nop\nnop\nret\nnop", "call R\nexit\nR: ret"},
	} {
		got, want := Optimize(assembled(t, c.text)), assembled(t, c.want)
		if !bytes.Equal(encoded(t, got), encoded(t, want)) {
			t.Errorf("%q became\n%s\nnot\n%s", c.text, listed(t, got), listed(t, want))
		}
	}
}
