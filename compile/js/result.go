package js

import (
	"errors"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// result is c.ret, of the function's type where it is known.
func (l *lowering) result(at diag.Span) operand {
	if !l.returning() {
		l.errorf(at, "use it in leave(c) { … }", "the result is known only when the function returns")
		return bad{}
	}
	a, ok, unknown := l.resultAccess(at)
	switch {
	case unknown != nil:
		return result{e: applyA(at, kindInt, runtime.OpArgF, runtime.NoNumber), unknown: unknown}
	case ok:
		return result{e: l.access(a, at), high: highHalf(a), at: l.onStack(a, at)}
	case a.Type == compile.TypeVoid:
		return bad{}
	}
	return result{e: apply(at, kindInt, runtime.OpRetval)}
}

// resultAccess asks the place for its result; ok is false when nothing is known of it, and then the access has no type when that has been
// reported as an error. unknown is why a result of known type is no number.
func (l *lowering) resultAccess(at diag.Span) (a compile.Access, ok bool, unknown *compile.NoNumberError) {
	l.compiler.result.UsesPlace = true
	if l.unit.Place == nil {
		return a, false, nil
	}
	a, ok, err := l.unit.Place.ReturnType()
	switch {
	case errors.As(err, &unknown):
		return compile.Access{}, false, unknown
	case err != nil:
		l.errorf(at, hintOf(err), "%v", err)
		return compile.Access{Type: compile.TypeVoid}, false, nil
	}
	return a, ok, nil
}

// onStack is where a result on the stack is.
type onStack struct {
	addr  *expr
	size  int
	float bool
	whole bool // a number; otherwise more than one, of which nothing is written
}

// onStack is the place of a result on the stack; nil when it is in registers.
func (l *lowering) onStack(a compile.Access, at diag.Span) *onStack {
	if a.Base != compile.BaseFrame {
		return nil
	}
	n := len(a.Steps)
	if n == 0 || a.Steps[n-1].Op != compile.OpLoad {
		return &onStack{}
	}
	last := a.Steps[n-1]
	a.Steps, a.Type = a.Steps[:n-1], compile.TypeInt
	return &onStack{l.access(a, at), last.Size, last.Float, true}
}

// store writes a number there.
func (s *onStack) store(v *expr, at diag.Span) *expr {
	op := map[int]runtime.Op{1: runtime.OpStore8, 2: runtime.OpStore16, 4: runtime.OpStore32, 8: runtime.OpStore64}[s.size]
	if s.float {
		if v = toFloat(v); s.size == 4 {
			v = apply(at, kindInt, runtime.OpToF32, v)
		}
	}
	return apply(at, kindVoid, op, s.addr, v).with(effWrite)
}

func (r result) kind() kind { return r.e.kind }

// get is the result as a number. One that is none traps, since a pattern of many functions may well have some of that kind; log(c.ret)
// shows a question mark.
func (r result) get(l *lowering, at diag.Span) *expr {
	if r.unknown != nil {
		l.warnf(at, r.unknown.Error()+"; log(c.ret) shows what is known of it", "the result is no number: what computes with it ends with a trap")
	}
	return r.e
}

func (r result) set(l *lowering, at diag.Span, v *expr) *expr {
	l.needUnsafe(at, "changing the result")
	switch {
	case r.unknown != nil:
		l.errorf(at, "change what it is made of, before it is", "%v", r.unknown)
		return poison(at)
	case r.at != nil && !r.at.whole:
		l.errorf(at, "write.u32(c.ret, …) and the like change what it is made of", "the result is more than one number")
		return poison(at)
	case r.at == nil && r.e.kind == kindFloat:
		l.errorf(at, "change what it is made of, before it is", "a floating result is not in a register that can be changed")
		return poison(at)
	case r.at == nil && r.high == "":
		return store(at, runtime.OpSetRet, 0, v)
	}
	x := l.slots.fresh(v.kind)
	defer l.slots.free(x)
	body := []stmt{eval(set(at, x, v))}
	if r.at != nil {
		return sequence(at, append(body, eval(r.at.store(local(at, x), at))), local(at, x))
	}
	high := apply(at, kindInt, runtime.OpShr, local(at, x), integer(at, 32))
	body = append(body, eval(register{r.high}.set(l, at, high)))
	return sequence(at, body, store(at, runtime.OpSetRet, 0, local(at, x)))
}

// highHalf is the register that has the upper half of a value in two of them, "" when there is none.
func highHalf(a compile.Access) string {
	for _, s := range a.Steps {
		if s.Op == compile.OpJoin {
			return s.Reg
		}
	}
	return ""
}

// skip is skip(result).
func skip(s *site) *expr {
	if s.l.handler != Enter {
		s.l.errorf(s.at, "use it in enter(c) { … }", "a function can be skipped only before it runs")
		return poison(s.at)
	}
	v := s.optional(0, 0)
	a, ok, unknown := s.l.resultAccess(s.at)
	if unknown != nil {
		s.l.errorf(s.at, "let it run, and change what it computes with", "%v", unknown)
		return poison(s.at)
	}
	if !ok && a.Type == compile.TypeVoid {
		return poison(s.at)
	}
	to := s.l.onStack(a, s.at)
	switch {
	case to == nil && a.Type == compile.TypeF64:
		s.l.errorf(s.at, "let it run, and change what it computes with", "a floating result is not in a register that can be changed")
		return poison(s.at)
	case to == nil:
		return apply(s.at, kindVoid, runtime.OpSkip, v).with(effWrite)
	case !to.whole:
		s.l.errorf(s.at, "let it run, and change the result in leave", "the function that is skipped gives more than one number")
		return poison(s.at)
	}
	end := apply(s.at, kindVoid, runtime.OpSkip, integer(s.at, 0)).with(effWrite)
	return sequence(s.at, []stmt{eval(to.store(v, s.at)), eval(end)}, nil)
}
