package js

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// emitter writes a checked tree as commands. It follows the depth of the operand stack and whether control
// can come to where it is: what cannot be reached is not written.
type emitter struct {
	*compile.Builder
	live  bool
	depth int
	most  int
	deep  diag.Span // where the stack is deepest

	steady func(*expr) bool // what may be computed later than the text has it
}

// emit writes one handler; nil when it does not fit the machine.
func (c *compiler) emit(t tree) *compile.Program {
	e := &emitter{Builder: compile.NewBuilder(c.unit.Name + " " + t.kind.String()), live: true, steady: c.steady}
	for range min(t.temps, runtime.MaxTemps) {
		e.Temp()
	}
	e.statements(t.body)
	e.UseThis(c.storage.size())
	e.SetUnsafe(c.unit.Unsafe)
	stack := 0
	if e.most > runtime.DefaultStack {
		stack = min(e.most, runtime.MaxStack)
	}
	e.Limits(stack, uint32(c.unit.Fuel), c.unit.LogMax)
	p, err := e.Program()
	switch {
	case err != nil:
		c.errorf(t.at, "", "%v", err)
	case t.temps > runtime.MaxTemps:
		c.errorf(t.at, "use fewer", "more than %d local variables at one time", runtime.MaxTemps)
	case e.most > runtime.MaxStack:
		c.errorf(e.deep, "compute parts of it into variables", "expression nested too deeply")
	case len(p.Code) > maxCommands:
		c.errorf(t.at, "call fewer functions from functions: each call is copied into the program", "the program is too long: %d commands", len(p.Code))
	default:
		return p
	}
	return nil
}

// op writes a command that pops and pushes so many words.
func (e *emitter) op(c compile.Command, pops, pushes int) {
	if !e.live {
		return
	}
	e.At(c.Pos)
	e.Builder.Emit(c.Op, e.operand(c), c.V, c.Pos)
	e.moved(pushes-pops, c.Pos)
}

// operand is A as the program numbers things: objects come with their number in the arena.
func (e *emitter) operand(c compile.Command) uint32 {
	if row := compile.RowOf(c.Op); row != nil && row.Operand == compile.ObjectOperand {
		return e.ObjectRef(int(c.A))
	}
	return c.A
}

// moved notes a change of the stack's depth.
func (e *emitter) moved(by int, at diag.Span) {
	e.depth += by
	if e.depth > e.most {
		e.most, e.deep = e.depth, at
	}
}

// plain writes a command without operand.
func (e *emitter) plain(op runtime.Op, at diag.Span, pops, pushes int) {
	e.op(compile.Command{Op: op, Pos: at}, pops, pushes)
}

// withA writes a command with operand A.
func (e *emitter) withA(op runtime.Op, a uint32, at diag.Span, pops, pushes int) {
	e.op(compile.Command{Op: op, A: a, Pos: at}, pops, pushes)
}

// target is the label of the Builder.
func (e *emitter) target(l *label) compile.Label {
	if !l.made {
		l.target, l.made = e.NewLabel(), true
	}
	return l.target
}

// jump writes a jump, which pops a word when it is conditional.
func (e *emitter) jump(op runtime.Op, l *label, at diag.Span) {
	if !e.live {
		return
	}
	if op != runtime.OpJmp {
		e.moved(-1, at)
	}
	e.At(at)
	e.Jump(op, e.target(l))
	l.live, l.depth = true, e.depth
	e.live = op != runtime.OpJmp
}

// place puts a label here. Control comes here if it came to the end of what is above, or if a jump was written.
func (e *emitter) place(l *label) {
	e.Builder.Place(e.target(l))
	if !e.live && l.live {
		e.live, e.depth = true, l.depth
	}
}

// again puts a label that is jumped to from below.
func (e *emitter) again() *label {
	l := &label{}
	e.Builder.Place(e.target(l))
	return l
}

func (e *emitter) statements(list []stmt) {
	for i := range list {
		e.statement(&list[i])
	}
}

func (e *emitter) statement(s *stmt) {
	switch s.code {
	case stmtEval:
		e.drop(s.e)
	case stmtIf:
		e.branch(s)
	case stmtLoop:
		e.loop(s.loop, s.at)
	case stmtJump:
		e.jump(runtime.OpJmp, s.label, s.at)
	case stmtLabel:
		e.place(s.label)
	case stmtEnd:
		e.withA(runtime.OpExit, uint32(runtime.ExitPlain), s.at, 0, 0)
		e.live = false
	}
}

// branch writes if. A body that is a jump alone becomes a conditional jump.
func (e *emitter) branch(s *stmt) {
	if len(s.alt) == 0 && len(s.body) == 1 && s.body[0].code == stmtJump {
		e.condition(s.e, s.body[0].label, true)
		return
	}
	otherwise, end := &label{}, &label{}
	e.condition(s.e, otherwise, false)
	e.statements(s.body)
	if len(s.alt) > 0 {
		e.jump(runtime.OpJmp, end, s.at)
	}
	e.place(otherwise)
	e.statements(s.alt)
	e.place(end)
}

// loop writes a loop with its test first, as the verifier knows it: test, body, step, jump back.
func (e *emitter) loop(lp *loop, at diag.Span) {
	top := e.again()
	if lp.test != nil && !lp.testLast {
		e.condition(lp.test, lp.done, false)
	}
	e.statements(lp.body)
	e.place(lp.next)
	e.statements(lp.post)
	if lp.test != nil && lp.testLast {
		e.condition(lp.test, top, true)
	} else {
		e.jump(runtime.OpJmp, top, at)
	}
	e.place(lp.done)
}
