package fetch

import (
	"errors"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// ResultIsInteger reports whether c.ret is an integer or a pointer, by the type of the function. It is one as well
// where the type is not known: then it is the register.
func (f *Fetcher) ResultIsInteger() bool {
	f.State.Result.UsesRet = true
	if f.State.Unit.Place == nil {
		return true
	}
	a, ok, err := f.State.Unit.Place.ReturnType()
	switch {
	case err != nil:
		return false
	case ok:
		return a.Type == compile.TypeInt || a.Type == compile.TypeBool
	}
	return a.Shape == nil // a shape without a value is a struct, an array or the like
}

func (Result) Noun() string { return "the result" }

// Result is c.ret, of the function's type where it is known.
func (f *Fetcher) Result(at diag.Span) (r Result, ok bool) {
	if !f.Returning() {
		f.Errorf(at, "use it in leave(c) { … }", "the result is known only when the function returns")
		return Result{}, false
	}
	a, ok, unknown := f.ResultAccess(at)
	switch {
	case unknown != nil:
		return Result{e: tree.ApplyA(at, tree.KindInt, opcode.ArgF, runtime.NoNumber), Unknown: unknown}, true
	case ok:
		return Result{e: f.Access(a, at), high: highHalf(a), at: f.OnStack(a, at), wide: a.Wide != nil}, true
	case a.Type == compile.TypeVoid:
		return Result{}, false
	}
	e := tree.Apply(at, tree.KindInt, opcode.Retval)
	if f.State.Unit.Place == nil {
		e.Ref = &compile.TypeRef{}
	}
	return Result{e: e}, true
}

// ResultAccess asks the place for its result; ok is false when nothing is known of it, and then the access has no type
// when that has been reported as an error. unknown says why a result of known type is not a number.
func (f *Fetcher) ResultAccess(at diag.Span) (a compile.Access, ok bool, unknown *compile.NoNumberError) {
	f.State.Result.UsesRet = true
	if f.State.Unit.Place == nil {
		return a, false, nil
	}
	a, ok, err := f.State.Unit.Place.ReturnType()
	switch {
	case errors.As(err, &unknown):
		return compile.Access{}, false, unknown
	case err != nil:
		f.Errorf(at, report.HintOf(err), "%v", err)
		return compile.Access{Type: compile.TypeVoid}, false, nil
	}
	return a, ok, nil
}

// Result is c.ret where it can be assigned to.
type Result struct {
	e    *tree.Expr
	high string   // the register with its upper half; "": it is in one
	at   *onStack // on the stack, where Go has it on some processors; nil: in registers
	wide bool     // it has more than 8 bytes

	Index   int                    // which of several results
	Unknown *compile.NoNumberError // why it is not a number
}

// onStack is where a result on the stack is.
type onStack struct {
	addr  *tree.Expr
	size  int
	float bool
	Whole bool // a number; otherwise more than one, of which nothing is written
}

// OnStack is the place of a result on the stack; nil when it is in registers.
func (f *Fetcher) OnStack(a compile.Access, at diag.Span) *onStack {
	if a.Base != compile.BaseFrame {
		return nil
	}
	n := len(a.Steps)
	if n == 0 || a.Steps[n-1].Op != compile.OpLoad {
		return &onStack{}
	}
	last := a.Steps[n-1]
	a.Steps, a.Type = a.Steps[:n-1], compile.TypeInt
	return &onStack{f.Access(a, at), last.Size, last.Float, true}
}

// Store writes a number there.
func (s *onStack) Store(v *tree.Expr, at diag.Span) *tree.Expr {
	op := map[int]opcode.Op{1: opcode.Store8, 2: opcode.Store16, 4: opcode.Store32, 8: opcode.Store64}[s.size]
	if s.float {
		if v = tree.ToFloat(v); s.size == 4 {
			v = tree.Apply(at, tree.KindInt, opcode.ToF32, v)
		}
	}
	return tree.Apply(at, tree.KindVoid, op, s.addr, v).With(tree.Writes)
}

func (r Result) Kind() tree.Kind { return r.e.Kind }

// Get returns the result as a number. A result that is not a number traps, because a pattern may match functions of
// that kind; log(c.ret) shows a question mark.
func (r Result) Get(f *Fetcher, at diag.Span) *tree.Expr {
	if r.Unknown != nil {
		f.Warnf(at, r.Unknown.Error()+"; log(c.ret) shows what is known of it", "the result is not a number: computing with it ends in a trap")
	}
	return r.e
}

func (r Result) Set(f *Fetcher, at diag.Span, v *tree.Expr) *tree.Expr {
	f.State.NeedUnsafe(at, "changing the result")
	switch {
	case r.Index > 0:
		f.Errorf(at, "c.ret is the first one", "only the first result can be changed")
		return tree.Poison(at)
	case r.Unknown != nil:
		f.Errorf(at, "change the values that it is computed from", "%v", r.Unknown)
		return tree.Poison(at)
	case r.wide:
		f.Errorf(at, "change the values that it is computed from", "a result of more than 8 bytes cannot be changed")
		return tree.Poison(at)
	case r.at != nil && !r.at.Whole:
		f.Errorf(at, "write.u32(c.ret, …) and the like change what it is made of", "the result is more than one number")
		return tree.Poison(at)
	case r.at == nil && r.e.Kind == tree.KindFloat:
		f.Errorf(at, "change the values that it is computed from", "a floating result is not in a register that can be changed")
		return tree.Poison(at)
	case r.at == nil && r.high == "":
		return tree.Store(at, opcode.SetRet, 0, v)
	}
	x := f.Ops.Slots.Fresh(v.Kind)
	defer f.Ops.Slots.Free(x)
	body := []tree.Stmt{tree.Eval(tree.Set(at, x, v))}
	if r.at != nil {
		return tree.Sequence(at, append(body, tree.Eval(r.at.Store(tree.Local(at, x), at))), tree.Local(at, x))
	}
	high := tree.Apply(at, tree.KindInt, opcode.Shr, tree.Local(at, x), tree.Integer(at, 32))
	body = append(body, tree.Eval(Register{r.high}.Set(f, at, high)))
	return tree.Sequence(at, body, tree.Store(at, opcode.SetRet, 0, tree.Local(at, x)))
}

// highHalf returns the register with the upper half of a value that takes two registers, or "".
func highHalf(a compile.Access) string {
	for _, s := range a.Steps {
		if s.Op == compile.OpJoin {
			return s.Reg
		}
	}
	return ""
}
