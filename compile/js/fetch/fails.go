package fetch

import (
	"github.com/dop251/goja/token"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/tree"
	"gotap/compile/shape"
	"gotap/runtime/opcode"
)

// Failed calls. What a function returns says so by convention: C and system calls return a negative number or NULL, Go
// an error.

// goError is the type of Go's errors.
const goError = "error"

// mostErrno is the largest number of an error that a pointer can be instead, negated: MAP_FAILED, and the kernel's
// results.
const mostErrno = 4095

// Fails is whether the call that returns has failed: in Go, where the last result is an error, whether that is not nil;
// otherwise whether the result is a negative number of 32 or 64 bits, NULL, or an error's number in a pointer. Results
// of other types never fail. Where the type is not known, the register is taken for a number.
func (f *Fetcher) Fails(at diag.Span) *tree.Expr {
	r, ok := f.Result(at)
	if !ok && !f.Returning() {
		return tree.Poison(at) // which has been reported
	}
	f.State.Result.UsesPlace = true
	if f.State.Unit.Place == nil {
		return f.negative(r.e, at)
	}
	if failed, ok := f.goFails(at); ok {
		return failed
	}
	access, known, err := f.State.Unit.Place.ReturnType()
	switch {
	case err != nil || access.Type == compile.TypeVoid || !ok || !r.e.Kind.Integer() || r.wide:
		return tree.Boolean(at, false)
	case known && access.Shape != nil && (access.Shape.Kind == shape.Pointer || access.Shape.Kind == shape.Text):
		return f.Ops.Keep(at, []*tree.Expr{r.e}, func(kept []*tree.Expr) *tree.Expr {
			isNull := f.Ops.Compare(token.STRICT_EQUAL, at, kept[0], tree.Integer(at, 0))
			return f.Ops.Choose(at, isNull, tree.Boolean(at, true), f.isErrno(kept[0], at))
		})
	case !known && access.Shape != nil: // a struct, an array or the like
		return tree.Boolean(at, false)
	}
	return f.negative(r.e, at)
}

// goFails is whether the last result is an error that is not nil; ok is false if it has another type.
func (f *Fetcher) goFails(at diag.Span) (failed *tree.Expr, ok bool) {
	last := Path{OfResult: true, Result: max(f.results()-1, 0)}
	access, _ := f.Resolve(last)
	if access.Ctype != goError || access.Shape == nil || access.Shape.Dynamic == nil {
		return nil, false
	}
	first, err := f.valueBelow(last, access.Shape.Dynamic.First, at)
	if err != nil {
		return nil, false
	}
	return f.Ops.Truth(first), true
}

// isErrno is whether a pointer is the negative number of an error.
func (f *Fetcher) isErrno(v *tree.Expr, at diag.Span) *tree.Expr {
	if f.State.Unit.WordSize == 4 {
		v = signed(v, at)
	}
	above := tree.Apply(at, tree.KindInt, opcode.Add, v, tree.Integer(at, mostErrno))
	return f.Ops.Keep(at, []*tree.Expr{above}, func(kept []*tree.Expr) *tree.Expr {
		atMost := f.Ops.Compare(token.LESS, at, kept[0], tree.Integer(at, mostErrno))
		return f.Ops.Choose(at, f.Ops.Compare(token.LESS_OR_EQUAL, at, tree.Integer(at, 0), kept[0]), atMost, tree.Boolean(at, false))
	})
}

// negative is whether a number is negative in 32 bits, and its upper half holds nothing but the sign.
func (f *Fetcher) negative(v *tree.Expr, at diag.Span) *tree.Expr {
	return f.Ops.Keep(at, []*tree.Expr{v}, func(kept []*tree.Expr) *tree.Expr {
		low := f.Ops.Compare(token.LESS, at, signed(kept[0], at), tree.Integer(at, 0))
		upper := tree.Apply(at, tree.KindInt, opcode.Sar, kept[0], tree.Integer(at, 32))
		isSign := f.Ops.Choose(at, f.Ops.Compare(token.STRICT_EQUAL, at, upper, tree.Integer(at, 0)), tree.Boolean(at, true),
			f.Ops.Compare(token.STRICT_EQUAL, at, upper, tree.Integer(at, -1)))
		return f.Ops.Choose(at, low, isSign, tree.Boolean(at, false))
	})
}

// signed is the lower half of a number with its sign.
func signed(v *tree.Expr, at diag.Span) *tree.Expr {
	high := tree.Apply(at, tree.KindInt, opcode.Shl, v, tree.Integer(at, 32))
	return tree.Apply(at, tree.KindInt, opcode.Sar, high, tree.Integer(at, 32))
}
