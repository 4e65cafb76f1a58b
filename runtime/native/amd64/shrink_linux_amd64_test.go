package amd64

import (
	"fmt"
	"slices"
	"strings"

	"gotap/compile"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/objdump"
	"gotap/runtime/opcode"
)

// shrink makes a case that fails smaller: fewer programs, fewer commands.
func (w *world) shrink(c *testCase, err error) (*testCase, error) {
	for smaller := true; smaller; {
		smaller = false
		for _, next := range w.smaller(c) {
			if again := w.hit(next); again != nil {
				c, err, smaller = next, again, true
				break
			}
		}
	}
	return c, err
}

// smaller returns cases that lack a hit, a program, a predicate or some commands.
func (w *world) smaller(c *testCase) (list []*testCase) {
	with := func(programs []native.Program) *testCase {
		next := *c
		next.programs = programs
		return &next
	}
	if len(c.hits) > 1 {
		next := *c
		next.hits = c.hits[:len(c.hits)-1]
		list = append(list, &next)
	}
	for i := range c.programs {
		if len(c.programs) > 1 {
			list = append(list, with(slices.Delete(slices.Clone(c.programs), i, i+1)))
		}
		for _, change := range []func(p *native.Program){func(p *native.Program) { p.When = nil }, func(p *native.Program) { p.Gate = nil }} {
			next := slices.Clone(c.programs)
			if change(&next[i]); next[i] != c.programs[i] {
				list = append(list, with(next))
			}
		}
		for _, plan := range w.shorter(c.programs[i].Run) {
			next := slices.Clone(c.programs)
			next[i].Run = plan
			list = append(list, with(next))
		}
		if c.programs[i].When != nil {
			for _, plan := range w.shorter(c.programs[i].When) {
				next := slices.Clone(c.programs)
				next[i].When = plan
				list = append(list, with(next))
			}
		}
	}
	return list
}

// shorter returns plans of a program without some of its commands.
func (w *world) shorter(plan *native.Plan) (list []*native.Plan) {
	p := w.sources[plan]
	if p == nil {
		return w.shorterCode(plan)
	}
	for n := len(p.Code) / 2; n > 0; n /= 2 {
		for at := 0; at+n <= len(p.Code); at += max(n/2, 1) {
			q := without(p, at, n)
			c, err := w.code(q)
			if c == nil || err != nil {
				continue
			}
			if plan, err := native.PlanOf(c, w.arena, Features, plan.Place); err == nil {
				w.sources[plan] = q
				list = append(list, plan)
			}
		}
	}
	return list
}

// shorterCode returns plans of instructions that nobody has verified, some of them replaced by nop.
func (w *world) shorterCode(plan *native.Plan) (list []*native.Plan) {
	n := len(plan.Code.Insts)
	for size := n / 2; size > 0; size /= 2 {
		for at := 0; at+size <= n; at += size {
			c := *plan.Code
			c.Insts = slices.Clone(c.Insts)
			clear(c.Insts[at : at+size])
			if slices.Equal(c.Insts, plan.Code.Insts) {
				continue
			}
			if plan, err := native.PlanOf(&c, w.arena, Features, plan.Place); err == nil {
				list = append(list, plan)
			}
		}
	}
	return list
}

// without returns a program that lacks n commands.
func without(p *compile.Program, at, n int) *compile.Program {
	q := *p
	q.Code = slices.Delete(slices.Clone(p.Code), at, at+n)
	for i := range q.Code {
		c := &q.Code[i]
		if opcode.RowOf(c.Op).Operand != opcode.LabelOperand || int(c.A) <= at {
			continue
		}
		c.A = uint32(max(int(c.A)-n, at))
	}
	return &q
}

// listing returns the programs of a case and their machine code.
func (w *world) listing(c *testCase) string {
	var b strings.Builder
	list := func(plan *native.Plan) {
		if plan == nil {
			return
		}
		if w.sources[plan] == nil {
			for pc, in := range plan.Code.Insts {
				fmt.Fprintf(&b, "%d %v %+v\n", pc, opcode.RowOf(in.Op), in)
			}
			fmt.Fprintf(&b, "stack %d, fuel %d\n", plan.Code.Stack, plan.Code.Fuel)
		} else {
			compile.List(&b, w.sources[plan], compile.ListOptions{})
		}
	}
	for _, p := range c.programs {
		fmt.Fprintf(&b, "gate %v\n", p.Gate)
		list(p.When)
		list(p.Run)
	}
	stub, err := Emit(c.programs, c.site)
	if err != nil {
		return b.String() + err.Error()
	}
	for _, line := range objdump.Lines(w.t, stub.Code, c.site.Addr) {
		b.WriteString(line + "\n")
	}
	return b.String()
}
