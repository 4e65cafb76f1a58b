package emit

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// maxCommands is how long a program may be: functions are copied to where they are called, so a short text can make a
// long one.
const maxCommands = 1 << 16

// emitter writes a checked tree as commands. It follows the depth of the operand stack and whether control
// can come to where it is: what cannot be reached is not written.
type emitter struct {
	*compile.Builder
	live  bool
	depth int
	most  int
	deep  diag.Span // where the stack is deepest

	repeatable func(*tree.Expr) bool // what may be computed later than the text has it
}

// Program writes one handler; nil when it does not fit the machine.
func Program(st *state.State, name string, t tree.Handler) *compile.Program {
	e := &emitter{Builder: compile.NewBuilder(name), live: true, repeatable: st.Repeatable}
	for range min(t.Temps, runtime.MaxTemps) {
		e.Temp()
	}
	e.statements(t.Body)
	e.UseThis(st.Storage.Size())
	e.SetUnsafe(st.Unit.Unsafe)
	stack := 0
	if e.most > runtime.DefaultStack {
		stack = min(e.most, runtime.MaxStack)
	}
	e.Limits(stack, uint32(st.Unit.Fuel), st.Unit.LogMax)
	p, err := e.Program()
	switch {
	case err != nil:
		st.Errorf(t.At, "", "%v", err)
	case t.Temps > runtime.MaxTemps:
		st.Errorf(t.At, "use fewer", "more than %d local variables at one time", runtime.MaxTemps)
	case e.most > runtime.MaxStack:
		st.Errorf(e.deep, "compute parts of it into variables", "expression nested too deeply")
	case len(p.Code) > maxCommands:
		st.Errorf(t.At, "call fewer functions from functions: each call is copied into the program", "the program is too long: %d commands", len(p.Code))
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
	if row := opcode.RowOf(c.Op); row != nil && row.Operand.IsObject() {
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
func (e *emitter) plain(op opcode.Op, at diag.Span, pops, pushes int) {
	e.op(compile.Command{Op: op, Pos: at}, pops, pushes)
}

// withA writes a command with operand A.
func (e *emitter) withA(op opcode.Op, a uint32, at diag.Span, pops, pushes int) {
	e.op(compile.Command{Op: op, A: a, Pos: at}, pops, pushes)
}

// target is the label of the Builder.
func (e *emitter) target(l *tree.Label) compile.Label {
	if !l.Made {
		l.Target, l.Made = e.NewLabel(), true
	}
	return l.Target
}

// jump writes a jump, which pops a word when it is conditional.
func (e *emitter) jump(op opcode.Op, l *tree.Label, at diag.Span) {
	if !e.live {
		return
	}
	if op != opcode.Jmp {
		e.moved(-1, at)
	}
	e.At(at)
	e.Jump(op, e.target(l))
	l.Live, l.Depth = true, e.depth
	e.live = op != opcode.Jmp
}

// place puts a label here. Control comes here if it came to the end of what is above, or if a jump was written.
func (e *emitter) place(l *tree.Label) {
	e.Builder.Place(e.target(l))
	if !e.live && l.Live {
		e.live, e.depth = true, l.Depth
	}
}

// again puts a label that is jumped to from below.
func (e *emitter) again() *tree.Label {
	l := &tree.Label{}
	e.Builder.Place(e.target(l))
	return l
}

func (e *emitter) statements(list []tree.Stmt) {
	for i := range list {
		e.statement(&list[i])
	}
}

func (e *emitter) statement(s *tree.Stmt) {
	switch s.Code {
	case tree.StmtEval:
		e.drop(s.Expr)
	case tree.StmtIf:
		e.branch(s)
	case tree.StmtLoop:
		e.loop(s.Loop, s.At)
	case tree.StmtJump:
		e.jump(opcode.Jmp, s.Label, s.At)
	case tree.StmtLabel:
		e.place(s.Label)
	case tree.StmtEnd:
		e.withA(opcode.Exit, uint32(outcome.ExitPlain), s.At, 0, 0)
		e.live = false
	}
}

// branch writes if. A body that is a jump alone becomes a conditional jump.
func (e *emitter) branch(s *tree.Stmt) {
	if len(s.Alt) == 0 && len(s.Body) == 1 && s.Body[0].Code == tree.StmtJump {
		e.condition(s.Expr, s.Body[0].Label, true)
		return
	}
	otherwise, end := &tree.Label{}, &tree.Label{}
	e.condition(s.Expr, otherwise, false)
	e.statements(s.Body)
	if len(s.Alt) > 0 {
		e.jump(opcode.Jmp, end, s.At)
	}
	e.place(otherwise)
	e.statements(s.Alt)
	e.place(end)
}

// loop writes a loop with its test first, as the verifier knows it: test, body, step, jump back.
func (e *emitter) loop(lp *tree.Loop, at diag.Span) {
	top := e.again()
	if lp.Test != nil && !lp.TestLast {
		e.condition(lp.Test, lp.Done, false)
	}
	e.statements(lp.Body)
	e.place(lp.Next)
	e.statements(lp.Post)
	if lp.Test != nil && lp.TestLast {
		e.condition(lp.Test, top, true)
	} else {
		e.jump(opcode.Jmp, top, at)
	}
	e.place(lp.Done)
}
