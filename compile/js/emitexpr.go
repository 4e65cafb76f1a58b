package js

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// pushes reports whether an expression leaves a value.
func (x *expr) pushes() bool { return x.kind != kindVoid && x.kind != kindNever }

// drop writes an expression for what it does.
func (e *emitter) drop(x *expr) {
	switch x.code {
	case codeSet:
		e.value(x.args[0])
		e.withA(runtime.OpPopTV, uint32(x.slot.index), x.at, 1, 0)
		return
	case codeStore:
		e.value(x.args[0])
		e.store(x)
		return
	case codeAfter:
		e.drop(x.args[1])
		return
	case codeSeq:
		e.statements(x.body)
		if len(x.args) > 0 {
			e.drop(x.args[0])
		}
		return
	case codeLocal, codeConst, codeText, codeZero:
		return
	}
	e.value(x)
	if x.pushes() {
		e.withA(runtime.OpDrop, 1, x.at, 1, 0)
	}
}

// value writes an expression for its value.
func (e *emitter) value(x *expr) {
	switch x.code {
	case codeConst:
		e.op(x.cmd, 0, 1)
	case codeText:
		e.withA(runtime.OpPushS, e.Text(x.text), x.at, 0, 1)
	case codeOp:
		e.operation(x)
	case codeLocal:
		e.withA(runtime.OpPushTV, uint32(x.slot.index), x.at, 0, 1)
	case codeZero:
		e.zero(x)
	case codeSet:
		// The value is read back rather than kept on the stack: so the verifier knows that it is the variable's, and bounds the
		// loops that test it.
		e.drop(x)
		e.withA(runtime.OpPushTV, uint32(x.slot.index), x.at, 0, 1)
	case codeStore:
		e.value(x.args[0])
		e.plain(runtime.OpDup, x.at, 0, 1)
		e.store(x)
	default:
		e.compound(x)
	}
}

// compound writes the expressions that are more than a row of commands.
func (e *emitter) compound(x *expr) {
	switch x.code {
	case codeAfter:
		e.after(x)
	case codeAnd, codeOr:
		e.logical(x)
	case codeCond:
		e.choice(x)
	case codeSeq:
		e.statements(x.body)
		if len(x.args) > 0 {
			e.value(x.args[0])
		}
	case codeKeyed:
		e.keyed(x)
	case codeTextOf:
		e.textOf(x.args[0])
	case codeSwap:
		e.value(x.args[0])
		e.value(x.args[1])
		e.plain(runtime.OpXchg, x.at, 0, 0)
	case codeItem:
		e.item(x)
	}
}

// after writes i++ for its value. For a local it is the new value without the step, which tells the verifier as much
// about a loop that tests it as ++i would.
func (e *emitter) after(x *expr) {
	before, step := x.args[0], x.args[1]
	if before.code != codeLocal || before.kind == kindFloat || step.code != codeSet || step.args[0].code != codeOp {
		e.value(before)
		e.drop(step)
		return
	}
	sum := step.args[0]
	e.drop(step)
	e.value(before)
	e.value(sum.args[1])
	if sum.cmd.Op == runtime.OpAdd {
		e.plain(runtime.OpSub, x.at, 2, 1)
	} else {
		e.plain(runtime.OpAdd, x.at, 2, 1)
	}
}

// zero writes what an unassigned variable holds.
func (e *emitter) zero(x *expr) {
	if x.slot.kind == kindText || x.slot.kind == kindBytes || x.slot.kind == kindStack {
		e.withA(runtime.OpPushS, e.Text(""), x.at, 0, 1)
		return
	}
	e.op(compile.Command{Op: runtime.OpPushD, Pos: x.at}, 0, 1)
}

// store writes the command of an assignment.
func (e *emitter) store(x *expr) {
	cmd := x.cmd
	if cmd.Op == runtime.OpPopR {
		cmd.A = e.Reg(x.text)
	}
	e.op(cmd, 1, 0)
}

// operation writes the arguments, then the command. Where the stack would get deep because the right side is long, it goes first
// if that makes no difference.
func (e *emitter) operation(x *expr) {
	pops := len(x.args)
	if pops == 1 && x.args[0].code == codeSwap {
		pops = 2
	}
	if pops == 2 && e.steady(x.args[0]) && x.args[1].need > runtime.DefaultStack/2 {
		e.value(x.args[1])
		e.value(x.args[0])
		if !commutes[x.cmd.Op] {
			e.plain(runtime.OpXchg, x.at, 0, 0)
		}
	} else {
		for _, a := range x.args {
			e.value(a)
		}
	}
	cmd := x.cmd
	switch cmd.Op {
	case runtime.OpPushR:
		cmd.A = e.Reg(x.text)
	case runtime.OpBias:
		cmd.A = e.Text(x.text)
	}
	e.op(cmd, pops, result01(x))
	if x.kind == kindNever {
		e.live = false
	}
}

// result01 is how many words an operation leaves.
func result01(x *expr) int {
	if x.pushes() {
		return 1
	}
	return 0
}

// commutes are the operations whose sides may change places.
var commutes = map[runtime.Op]bool{
	runtime.OpAdd: true, runtime.OpMul: true, runtime.OpAnd: true, runtime.OpOr: true, runtime.OpXor: true,
	runtime.OpEq: true, runtime.OpNe: true, runtime.OpMin: true, runtime.OpMax: true,
	runtime.OpFadd: true, runtime.OpFmul: true, runtime.OpFeq: true, runtime.OpFne: true, runtime.OpSeq: true,
}

// logical writes a && b or a || b: a stays if it decides, else b takes its place.
func (e *emitter) logical(x *expr) {
	end := &label{}
	e.value(x.args[0])
	e.plain(runtime.OpDup, x.at, 0, 1)
	e.decide(x.args[0].kind, x.at, end, x.code == codeOr)
	e.withA(runtime.OpDrop, 1, x.at, 1, 0)
	e.value(x.args[1])
	e.place(end)
}

// choice writes test ? a : b.
func (e *emitter) choice(x *expr) {
	otherwise, end := &label{}, &label{}
	e.condition(x.args[0], otherwise, false)
	e.value(x.args[1])
	e.jump(runtime.OpJmp, end, x.at)
	e.place(otherwise)
	e.value(x.args[2])
	e.place(end)
}

// textOf writes a number as text.
func (e *emitter) textOf(x *expr) {
	switch x.kind {
	case kindFloat:
		e.value(x)
		e.plain(runtime.OpSfloat, x.at, 1, 1)
	case kindBool:
		no, end := &label{}, &label{}
		e.condition(x, no, false)
		e.withA(runtime.OpPushS, e.Text("true"), x.at, 0, 1)
		e.jump(runtime.OpJmp, end, x.at)
		e.place(no)
		e.withA(runtime.OpPushS, e.Text("false"), x.at, 0, 1)
		e.place(end)
	default:
		e.value(x)
		e.plain(runtime.OpSdec, x.at, 1, 1)
	}
}

// early computes arguments before a command that must not be interrupted by their own use of its buffer. It gives what to write
// for each argument there, and gives the scratch words back with done.
func (e *emitter) early(args []*expr, conflict effect) (now []*expr, done func()) {
	clash := false
	for i, a := range args {
		clash = clash || a.effects&conflict != 0 && (i > 0 || conflict == effLog)
	}
	if !clash {
		return args, func() {}
	}
	var temps []uint32
	for _, a := range args {
		if !a.pushes() {
			now = append(now, a)
			continue
		}
		e.value(a)
		t := e.Temp()
		temps = append(temps, t)
		e.withA(runtime.OpPopTV, t, a.at, 1, 0)
		now = append(now, local(a.at, &slot{index: int(t), kind: a.kind}))
	}
	return now, func() {
		for _, t := range temps {
			e.Release(t)
		}
	}
}

// keyed writes the parts of a key, then the value, then the command.
func (e *emitter) keyed(x *expr) {
	args, done := e.early(x.args, effKey)
	for _, a := range args[:x.keys] {
		e.value(a)
		switch a.kind {
		case kindText, kindBytes, kindStack:
			e.withA(runtime.OpKeyText, uint32(a.kind.valueKind()), a.at, 1, 0)
		default:
			e.plain(runtime.OpKeyInt, a.at, 1, 0)
		}
	}
	for _, a := range args[x.keys:] {
		e.value(a)
	}
	e.op(x.cmd, len(args)-x.keys, result01(x))
	done()
}

// item writes an item of the log, and the command after it when the item is the record of an exit.
func (e *emitter) item(x *expr) {
	args, done := e.early(x.args, effLog)
	e.withA(runtime.OpItem, e.Format(*x.format), x.at, 0, 0)
	for _, a := range args {
		e.value(a)
		e.logField(a.kind, a.at)
	}
	if x.aside != nil {
		e.op(*x.aside, 0, 0)
	} else {
		e.plain(runtime.OpEndItem, x.at, 0, 0)
	}
	done()
	if x.cmd.Op == runtime.OpExit {
		e.op(x.cmd, 0, 0)
		e.live = false
	}
}

func (e *emitter) logField(k kind, at diag.Span) {
	op := runtime.OpLogInt
	switch k {
	case kindFloat:
		op = runtime.OpLogFloat
	case kindText, kindBytes, kindStack:
		op = runtime.OpLogText
	}
	e.plain(op, at, 1, 0)
}

// condition jumps to l when x counts as true, or as false when sense is false.
func (e *emitter) condition(x *expr, l *label, sense bool) {
	switch {
	case x.isConst() && x.kind.integer():
		if (x.cmd.V != 0) == sense {
			e.jump(runtime.OpJmp, l, x.at)
		}
	case x.code == codeAnd || x.code == codeOr:
		e.conditions(x, l, sense)
	case x.code == codeSeq && len(x.args) > 0:
		e.statements(x.body)
		e.condition(x.args[0], l, sense)
	case x.code == codeOp && x.cmd.Op == runtime.OpLnot:
		e.condition(x.args[0], l, !sense)
	case x.code == codeOp && len(x.args) == 2 && againstZero[x.cmd.Op] != 0 && x.args[1].isConst() && x.args[1].cmd.V == 0:
		e.value(x.args[0])
		e.jump(jumpFor(x.cmd.Op, sense), l, x.at)
	default:
		e.value(x)
		e.decide(x.kind, x.at, l, sense)
	}
}

// conditions is condition for && and ||.
func (e *emitter) conditions(x *expr, l *label, sense bool) {
	if (x.code == codeAnd) != sense { // either side alone decides
		e.condition(x.args[0], l, sense)
		e.condition(x.args[1], l, sense)
		return
	}
	skip := &label{}
	e.condition(x.args[0], skip, !sense)
	e.condition(x.args[1], l, sense)
	e.place(skip)
}

// decide jumps on the value on the stack.
func (e *emitter) decide(k kind, at diag.Span, l *label, sense bool) {
	switch k {
	case kindFloat:
		e.plain(runtime.OpFbool, at, 1, 1)
	case kindText, kindBytes, kindStack:
		e.plain(runtime.OpSlen, at, 1, 1)
	}
	if sense {
		e.jump(runtime.OpJnz, l, at)
	} else {
		e.jump(runtime.OpJz, l, at)
	}
}

// againstZero are the comparisons that a jump makes by itself when the right side is 0.
var againstZero = map[runtime.Op]runtime.Op{
	runtime.OpEq: runtime.OpJz, runtime.OpNe: runtime.OpJnz, runtime.OpLt: runtime.OpJlt,
	runtime.OpLe: runtime.OpJle, runtime.OpGt: runtime.OpJgt, runtime.OpGe: runtime.OpJge,
}

// jumpFor is the jump that is taken when a comparison with 0 holds, or does not hold.
func jumpFor(op runtime.Op, sense bool) runtime.Op {
	if !sense {
		op = opposite[op]
	}
	return againstZero[op]
}
