package fetch

import (
	"errors"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// Types of values. What is put in a variable, in a field of this or in a map keeps the type that debug information
// gives it, and cast names one.

// errNoTypes is a place where nothing is known of types.
var errNoTypes = errors.New("types need debug information, which this place has not")

// typedAccess asks for what lies below a value of a known type.
func (f *Fetcher) typedAccess(a Path) (compile.Access, error) {
	p, ok := f.State.Unit.Place.(js.Typed)
	if !ok {
		return compile.Access{}, errNoTypes
	}
	return p.Typed(a.Of.Ref, a.Names)
}

// laterResult asks for one of several results, or what lies below it.
func (f *Fetcher) laterResult(a Path) (compile.Access, error) {
	p, ok := f.State.Unit.Place.(js.Typed)
	if !ok {
		return compile.Access{}, errNoTypes
	}
	return p.ResultAccess(a.Result, a.Names)
}

// TypeOf is the type of what a path names, and whether it is worth keeping: a pointer, a struct or an array. Without a
// place every path may have one.
func (f *Fetcher) TypeOf(a Path) (ref compile.TypeRef, ok bool) {
	if a.IsAll() {
		return ref, false
	}
	if f.State.Unit.Place == nil {
		return ref, true
	}
	access, err := f.Resolve(a)
	return access.Ref, err == nil && access.Ref.Known()
}

// TypeNamed finds a type by its name; ok is false when an error was reported.
func (f *Fetcher) TypeNamed(name string, at diag.Span) (ref compile.TypeRef, ok bool) {
	f.State.Result.UsesPlace = true
	if f.State.Unit.Place == nil {
		return ref, true
	}
	err := errNoTypes
	if p, isTyped := f.State.Unit.Place.(js.Typed); isTyped {
		if ref, err = p.TypeNamed(name); err == nil {
			return ref, true
		}
	}
	f.Errorf(at, report.HintOf(err), "%v", err)
	return ref, false
}

// SizeOf is the size of a type in bytes.
func (f *Fetcher) SizeOf(name string, at diag.Span) *tree.Expr {
	ref, ok := f.TypeNamed(name, at)
	switch {
	case !ok:
		return tree.Poison(at)
	case f.State.Unit.Place == nil:
		return tree.Apply(at, tree.KindInt, opcode.Arg) // compiled again at the place
	}
	n, err := f.State.Unit.Place.(js.Typed).SizeOf(ref)
	if err != nil {
		f.Errorf(at, report.HintOf(err), "%v", err)
		return tree.Poison(at)
	}
	return tree.Integer(at, n)
}

// Enumerator is the value of an enumeration's constant; ok is false when there is none, or when an error was reported,
// which is the value then.
func (f *Fetcher) Enumerator(name string, at diag.Span) (e *tree.Expr, ok bool) {
	p, isTyped := f.State.Unit.Place.(js.Typed)
	if !isTyped {
		return nil, false
	}
	f.State.Result.UsesPlace = true
	v, ok, err := p.Enumerator(name)
	if err != nil {
		f.Errorf(at, report.HintOf(err), "%v", err)
		return tree.Poison(at), true
	}
	return tree.Integer(at, v), ok
}

// IsDefined reports whether debug information knows where something is.
func (f *Fetcher) IsDefined(a Path) bool {
	f.State.Result.UsesPlace = true
	if f.State.Unit.Place == nil || a.IsAll() {
		return true
	}
	access, err := f.Resolve(a)
	return err == nil || access.Shape != nil
}

// LaterResult is c.rets[n].
func (f *Fetcher) LaterResult(n int, at diag.Span) (r Result, ok bool) {
	if n == 0 {
		return f.Result(at)
	}
	f.State.Result.UsesPlace = true
	if f.State.Unit.Place == nil {
		e := tree.Apply(at, tree.KindInt, opcode.Retval)
		e.Ref = &compile.TypeRef{}
		return Result{e: e, Index: n}, true
	}
	a, err := f.laterResult(Path{OfResult: true, Result: n})
	if err != nil {
		unknown := &compile.NoNumberError{Err: err}
		return Result{e: tree.ApplyA(at, tree.KindInt, opcode.ArgF, runtime.NoNumber), Unknown: unknown, Index: n}, true
	}
	return Result{e: f.Access(a, at), high: highHalf(a), at: f.OnStack(a, at), wide: a.Wide != nil, Index: n}, true
}

// once computes what a path starts from, and its indexes, for an expression that uses the path several times.
func (f *Fetcher) once(a Path, at diag.Span, use func(Path) *tree.Expr) *tree.Expr {
	values := a.Indexes
	if a.Of != nil {
		values = append([]*tree.Expr{a.Of.Value}, values...)
	}
	if len(values) == 0 {
		return use(a)
	}
	return f.Ops.Keep(at, values, func(kept []*tree.Expr) *tree.Expr {
		if a.Of != nil {
			of := *a.Of
			of.Value, kept = kept[0], kept[1:]
			a.Of = &of
		}
		a.Indexes = kept
		return use(a)
	})
}
