package emit

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/tree"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// drop writes an expression for what it does.
func (e *emitter) drop(x *tree.Expr) {
	switch x.Code {
	case tree.CodeSet:
		e.value(x.Args[0])
		e.withA(opcode.PopTV, uint32(x.Slot.Index), x.At, 1, 0)
		return
	case tree.CodeStore:
		e.value(x.Args[0])
		e.store(x)
		return
	case tree.CodeAfter:
		e.drop(x.Args[1])
		return
	case tree.CodeSeq:
		e.statements(x.Body)
		if len(x.Args) > 0 {
			e.drop(x.Args[0])
		}
		return
	case tree.CodeLocal, tree.CodeConst, tree.CodeText, tree.CodeZero:
		return
	}
	e.value(x)
	if x.Pushes() {
		e.withA(opcode.Drop, 1, x.At, 1, 0)
	}
}

// value writes an expression for its value.
func (e *emitter) value(x *tree.Expr) {
	switch x.Code {
	case tree.CodeConst:
		e.op(x.Cmd, 0, 1)
	case tree.CodeText:
		e.withA(opcode.PushS, e.Text(x.Text), x.At, 0, 1)
	case tree.CodeOp:
		e.operation(x)
	case tree.CodeLocal:
		e.withA(opcode.PushTV, uint32(x.Slot.Index), x.At, 0, 1)
	case tree.CodeZero:
		e.zero(x)
	case tree.CodeSet:
		// The value is read back rather than kept on the stack: so the verifier knows that it is the variable's, and
		// bounds the loops that test it.
		e.drop(x)
		e.withA(opcode.PushTV, uint32(x.Slot.Index), x.At, 0, 1)
	case tree.CodeStore:
		e.value(x.Args[0])
		e.plain(opcode.Dup, x.At, 0, 1)
		e.store(x)
	default:
		e.compound(x)
	}
}

// compound writes the expressions that are more than a row of commands.
func (e *emitter) compound(x *tree.Expr) {
	switch x.Code {
	case tree.CodeAfter:
		e.after(x)
	case tree.CodeAnd, tree.CodeOr:
		e.logical(x)
	case tree.CodeCond:
		e.choice(x)
	case tree.CodeSeq:
		e.statements(x.Body)
		if len(x.Args) > 0 {
			e.value(x.Args[0])
		}
	case tree.CodeKeyed:
		e.keyed(x)
	case tree.CodeTextOf:
		e.textOf(x.Args[0])
	case tree.CodeSwap:
		e.value(x.Args[0])
		e.value(x.Args[1])
		e.plain(opcode.Xchg, x.At, 0, 0)
	case tree.CodeItem:
		e.item(x)
	}
}

// after writes i++ for its value. For a local it is the new value minus the step, which gives the verifier as much
// information about a loop that tests it as ++i would.
func (e *emitter) after(x *tree.Expr) {
	before, step := x.Args[0], x.Args[1]
	if before.Code != tree.CodeLocal || before.Kind == tree.KindFloat || step.Code != tree.CodeSet || step.Args[0].Code != tree.CodeOp {
		e.value(before)
		e.drop(step)
		return
	}
	sum := step.Args[0]
	e.drop(step)
	e.value(before)
	e.value(sum.Args[1])
	if sum.Cmd.Op == opcode.Add {
		e.plain(opcode.Sub, x.At, 2, 1)
	} else {
		e.plain(opcode.Add, x.At, 2, 1)
	}
}

// zero writes what an unassigned variable holds.
func (e *emitter) zero(x *tree.Expr) {
	if x.Slot.Kind == tree.KindText || x.Slot.Kind == tree.KindBytes || x.Slot.Kind == tree.KindStack {
		e.withA(opcode.PushS, e.Text(""), x.At, 0, 1)
		return
	}
	e.op(compile.Command{Op: opcode.PushD, Pos: x.At}, 0, 1)
}

// store writes the command of an assignment.
func (e *emitter) store(x *tree.Expr) {
	cmd := x.Cmd
	if cmd.Op == opcode.PopR {
		cmd.A = e.Reg(x.Text)
	}
	e.op(cmd, 1, 0)
}

// operation writes the arguments, then the command. Where the stack would get deep because the right side is long, it
// goes first if that makes no difference.
func (e *emitter) operation(x *tree.Expr) {
	pops := len(x.Args)
	if pops == 1 && x.Args[0].Code == tree.CodeSwap {
		pops = 2
	}
	if pops == 2 && e.repeatable(x.Args[0]) && x.Args[1].StackNeed > runtime.DefaultStack/2 {
		e.value(x.Args[1])
		e.value(x.Args[0])
		if !commutes[x.Cmd.Op] {
			e.plain(opcode.Xchg, x.At, 0, 0)
		}
	} else {
		for _, a := range x.Args {
			e.value(a)
		}
	}
	cmd := x.Cmd
	switch cmd.Op {
	case opcode.PushR:
		cmd.A = e.Reg(x.Text)
	case opcode.Bias, opcode.Element, opcode.Sflags:
		cmd.A = e.Text(x.Text)
	}
	e.op(cmd, pops, result01(x))
	if x.Kind == tree.KindNever {
		e.live = false
	}
}

// result01 is how many words an operation leaves.
func result01(x *tree.Expr) int {
	if x.Pushes() {
		return 1
	}
	return 0
}

// commutes are the operations whose sides may change places.
var commutes = map[opcode.Op]bool{
	opcode.Add: true, opcode.Mul: true, opcode.And: true, opcode.Or: true, opcode.Xor: true,
	opcode.Eq: true, opcode.Ne: true, opcode.Min: true, opcode.Max: true,
	opcode.Fadd: true, opcode.Fmul: true, opcode.Feq: true, opcode.Fne: true, opcode.Seq: true,
}

// logical writes a && b or a || b: a stays if it decides, else b takes its place.
func (e *emitter) logical(x *tree.Expr) {
	end := &tree.Label{}
	e.value(x.Args[0])
	e.plain(opcode.Dup, x.At, 0, 1)
	e.decide(x.Args[0].Kind, x.At, end, x.Code == tree.CodeOr)
	e.withA(opcode.Drop, 1, x.At, 1, 0)
	e.value(x.Args[1])
	e.place(end)
}

// choice writes test ? a : b.
func (e *emitter) choice(x *tree.Expr) {
	otherwise, end := &tree.Label{}, &tree.Label{}
	e.condition(x.Args[0], otherwise, false)
	e.value(x.Args[1])
	e.jump(opcode.Jmp, end, x.At)
	e.place(otherwise)
	e.value(x.Args[2])
	e.place(end)
}

// textOf writes a number as text.
func (e *emitter) textOf(x *tree.Expr) {
	switch x.Kind {
	case tree.KindFloat:
		e.value(x)
		e.plain(opcode.Sfloat, x.At, 1, 1)
	case tree.KindBool:
		no, end := &tree.Label{}, &tree.Label{}
		e.condition(x, no, false)
		e.withA(opcode.PushS, e.Text("true"), x.At, 0, 1)
		e.jump(opcode.Jmp, end, x.At)
		e.place(no)
		e.withA(opcode.PushS, e.Text("false"), x.At, 0, 1)
		e.place(end)
	case tree.KindUint:
		e.value(x)
		e.plain(opcode.Sudec, x.At, 1, 1)
	default:
		e.value(x)
		e.plain(opcode.Sdec, x.At, 1, 1)
	}
}

// early computes arguments before a command that must not be interrupted by their own use of its buffer, nor, while a
// key is built, by jumps and assignments: native code forgets what it has done since the first part of a key that is
// not there. It gives what to write for each argument there, and gives the scratch words back with done.
func (e *emitter) early(args []*tree.Expr, conflict tree.Effect) (now []*tree.Expr, done func()) {
	last, writes := -1, false
	for i, a := range args {
		key := conflict == tree.UsesKey
		if a.Effects&conflict != 0 && (i > 0 || !key) || key && i > 0 && !a.Straight() {
			last = i
		}
		writes = writes || a.Effects&tree.Writes != 0
	}
	if last < 0 {
		return args, func() {}
	}
	var temps []uint32
	for i, a := range args {
		if !a.Pushes() || i > last || a.IsLeaf() && (!writes || a.Code != tree.CodeOp) || a.IsPlaceText() {
			now = append(now, a)
			continue
		}
		e.value(a)
		t := e.Temp()
		temps = append(temps, t)
		e.withA(opcode.PopTV, t, a.At, 1, 0)
		now = append(now, tree.Local(a.At, &tree.Slot{Index: int(t), Kind: a.Kind}))
	}
	return now, func() {
		for _, t := range temps {
			e.Release(t)
		}
	}
}

// keyed writes the parts of a key, then the value, then the command.
func (e *emitter) keyed(x *tree.Expr) {
	args, done := e.early(x.Args, tree.UsesKey)
	for _, a := range args[:x.Keys] {
		e.value(a)
		switch a.Kind {
		case tree.KindText, tree.KindBytes, tree.KindStack:
			e.withA(opcode.KeyText, uint32(a.Kind.ValueKind()), a.At, 1, 0)
		default:
			e.plain(opcode.KeyInt, a.At, 1, 0)
		}
	}
	for _, a := range args[x.Keys:] {
		e.value(a)
	}
	e.op(x.Cmd, len(args)-x.Keys, result01(x))
	done()
}

// item writes an item of the log, and the command after it when the item is the record of an exit.
func (e *emitter) item(x *tree.Expr) {
	args, done := e.early(x.Args, tree.UsesLog)
	e.withA(opcode.Item, e.Format(*x.Format), x.At, 0, 0)
	for _, a := range args {
		e.value(a)
		e.logField(a.Kind, a.At)
	}
	if x.DeferredEnd != nil {
		e.op(*x.DeferredEnd, 0, 0)
	} else {
		e.plain(opcode.EndItem, x.At, 0, 0)
	}
	done()
	if x.Cmd.Op == opcode.Exit {
		e.op(x.Cmd, 0, 0)
		e.live = false
	}
}

func (e *emitter) logField(k tree.Kind, at diag.Span) {
	op := opcode.LogInt
	switch k {
	case tree.KindFloat:
		op = opcode.LogFloat
	case tree.KindText, tree.KindBytes, tree.KindStack:
		op = opcode.LogText
	}
	e.plain(op, at, 1, 0)
}

// condition jumps to l when x counts as true, or as false when sense is false.
func (e *emitter) condition(x *tree.Expr, l *tree.Label, sense bool) {
	switch {
	case x.IsConst() && x.Kind.Integer():
		if (x.Cmd.V != 0) == sense {
			e.jump(opcode.Jmp, l, x.At)
		}
	case x.Code == tree.CodeAnd || x.Code == tree.CodeOr:
		e.conditions(x, l, sense)
	case x.Code == tree.CodeSeq && len(x.Args) > 0:
		e.statements(x.Body)
		e.condition(x.Args[0], l, sense)
	case x.Code == tree.CodeOp && x.Cmd.Op == opcode.Lnot:
		e.condition(x.Args[0], l, !sense)
	case x.Code == tree.CodeOp && len(x.Args) == 2 && againstZero[x.Cmd.Op] != 0 && x.Args[1].IsConst() && x.Args[1].Cmd.V == 0:
		e.value(x.Args[0])
		e.jump(jumpFor(x.Cmd.Op, sense), l, x.At)
	default:
		e.value(x)
		e.decide(x.Kind, x.At, l, sense)
	}
}

// conditions is condition for && and ||.
func (e *emitter) conditions(x *tree.Expr, l *tree.Label, sense bool) {
	if (x.Code == tree.CodeAnd) != sense { // either side alone decides
		e.condition(x.Args[0], l, sense)
		e.condition(x.Args[1], l, sense)
		return
	}
	skip := &tree.Label{}
	e.condition(x.Args[0], skip, !sense)
	e.condition(x.Args[1], l, sense)
	e.place(skip)
}

// decide jumps on the value on the stack.
func (e *emitter) decide(k tree.Kind, at diag.Span, l *tree.Label, sense bool) {
	switch k {
	case tree.KindFloat:
		e.plain(opcode.Fbool, at, 1, 1)
	case tree.KindText, tree.KindBytes, tree.KindStack:
		e.plain(opcode.Slen, at, 1, 1)
	}
	if sense {
		e.jump(opcode.Jnz, l, at)
	} else {
		e.jump(opcode.Jz, l, at)
	}
}

// againstZero are the comparisons that a jump makes by itself when the right side is 0.
var againstZero = map[opcode.Op]opcode.Op{
	opcode.Eq: opcode.Jz, opcode.Ne: opcode.Jnz, opcode.Lt: opcode.Jlt,
	opcode.Le: opcode.Jle, opcode.Gt: opcode.Jgt, opcode.Ge: opcode.Jge,
}

// jumpFor is the jump that is taken when a comparison with 0 holds, or does not hold.
func jumpFor(op opcode.Op, sense bool) opcode.Op {
	if !sense {
		op = tree.Opposite[op]
	}
	return againstZero[op]
}
