package debuginfo

import (
	"debug/dwarf"
	"errors"
	"gotap/compile/spelling"
	"slices"

	"gotap/compile"
	"gotap/engine/image/debuginfo/callconv"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/location"
)

// Access returns the access, at pc, to the parameter or variable path[0], or to a part of it that the rest of the path
// names: members of structs, of base classes and of anonymous members by name, elements of arrays and of pointers by
// number. Pointers and references on the way are followed. Structs and arrays in memory and pointers yield their
// address; references yield the value they refer to.
//
// At a function's entry (pc is its first address), registers and BaseFrame are those of the call: the frame is a word
// above the stack pointer, on ARM, too, where that word is not a return address. Elsewhere BaseFrame does not occur.
// Floating-point numbers in vector registers have Reg "xmm0" to "xmm15", "v0" to "v7" or "d0" to "d7", of which the low
// 8 bytes count, and a step that converts them to f64.
//
// Errors are *UnknownError, *OptimisedOutError, *AccessError, or match ErrNone, ErrSplit or ErrAlt.
func (in *Info) Access(pc uint64, path []string) (a compile.Access, err error) {
	defer in.guard(&err)()
	if len(path) == 0 {
		return a, errors.New("cannot read a value without a name")
	}
	fn, err := in.functions.At(pc)
	if err != nil {
		return a, err
	}
	v, err := in.findVariable(fn, pc, path[0])
	if err != nil {
		return a, err
	}
	p, err := in.placeOf(fn, pc, v)
	if err != nil {
		return a, in.explain(path[0], pc, err)
	}
	p = in.rules.AtEntry(p)
	off, ok, err := in.entries.TypeRef(v.entry)
	if err != nil {
		return a, err
	}
	w := walk{in: in, place: p, typ: off, ok: ok, pc: pc, name: path[0], before: 1}
	return w.along(path[1:])
}

// variable is a parameter or variable.
type variable struct {
	entry *dwarf.Entry
	index int // of a parameter of the function itself; otherwise -1
}

// findVariable finds a name, innermost scope first. At the entry of a function its own parameters come first, although
// an inlined call may start at the same address.
func (in *Info) findVariable(fn *function.Function, pc uint64, name string) (variable, error) {
	params, _, err := in.functions.Params(fn)
	if err != nil {
		return variable{}, err
	}
	own := slices.IndexFunc(params, func(e *dwarf.Entry) bool { return in.entries.Name(e) == name })
	if own >= 0 && pc == fn.Low {
		return variable{params[own], own}, nil
	}
	top, err := in.functions.Scope(fn)
	if err != nil {
		return variable{}, err
	}
	var have []string
	for _, e := range params {
		have = append(have, in.entries.Name(e))
	}
	path := top.Path(pc)
	for i := len(path) - 1; i >= 0; i-- {
		locals := path[i].Vars
		if i > 0 {
			locals = append(slices.Clone(locals), path[i].Params...)
		}
		for _, e := range locals {
			if n := in.entries.Name(e); n == name {
				return variable{e, -1}, nil
			} else if pc != fn.Low { // local variables have no value yet at the entry
				have = append(have, n)
			}
		}
	}
	if own >= 0 {
		return variable{params[own], own}, nil
	}
	if err := in.rules.Incomplete(fn, params); err != nil && pc == fn.Low {
		return variable{}, &AccessError{Name: name, Reason: err.Error()}
	}
	if err := in.entries.Supplemented(); err != nil {
		return variable{}, err // the names may be there
	}
	have = named(have)
	what := "parameter"
	if pc != fn.Low {
		what = "parameter or local variable"
	}
	return variable{}, &UnknownError{Name: name, In: in.entries.QualifiedName(fn.DIE), What: what, Have: have, Near: spelling.Near(name, have)}
}

// explain converts an error about a place to one about a name.
func (in *Info) explain(name string, pc uint64, err error) error {
	for _, out := range []error{location.ErrNowhere, location.ErrEntryOnly, location.ErrPointee, location.ErrAbsent, callconv.ErrRewritten, errUnused} {
		if errors.Is(err, out) {
			reason := err.Error()
			if out == location.ErrNowhere || out == location.ErrAbsent {
				reason = ""
			}
			return &OptimisedOutError{Name: name, PC: pc, Reason: reason}
		}
	}
	if errors.Is(err, entry.ErrAlt) || errors.Is(err, entry.ErrSplit) {
		return err
	}
	return &AccessError{Name: name, Reason: err.Error()}
}

// placeOf finds where a variable is at pc.
//
// In the prologue, location expressions that refer to the frame are not valid yet, because the prologue stores the
// parameters there. The calling convention determines their places instead. Location lists are exact, and so are
// registers in optimised code, even when an optimiser has moved parameters. Memory at the address in a register is
// where clang without optimisation has put the address later.
//
// Go's compiler describes a parameter only from where it is used. At the entry its convention, which has no exceptions,
// determines unused parts, too.
func (in *Info) placeOf(fn *function.Function, pc uint64, v variable) (location.Place, error) {
	if v.index >= 0 && pc == fn.Low && fn.Unit.Language() == entry.Go {
		params, _, err := in.functions.Params(fn)
		if err != nil {
			return location.Place{}, err
		}
		return in.rules.Param(fn, params, v.index)
	}
	loc, ok, err := in.locations.Of(fn.Unit, v.entry, pc)
	if err == nil && !ok {
		return in.withoutLocation(fn, pc, v)
	}
	if v.index < 0 || !in.lines.InPrologue(fn, pc) {
		if err != nil {
			return location.Place{}, err
		}
		return in.locations.Locate(fn, pc, loc.Expr)
	}
	p, located := location.Place{}, err
	if err == nil {
		if p, located = in.locations.Locate(fn, pc, loc.Expr); located == nil && (loc.List || len(p.Pieces) == 0 && !in.locations.UsesFrame(loc.Expr) && !fn.Unit.IsUnoptimised() && !p.Memory) {
			return p, nil
		}
	}
	params, _, err := in.functions.Params(fn)
	if err != nil {
		return location.Place{}, err
	}
	byConvention, err := in.rules.Param(fn, params, v.index)
	switch {
	case err == nil:
	case located == nil && fn.Unit.Language() == entry.Rust && in.locations.UsesFrame(loc.Expr):
		return location.Place{}, errEarly // nothing is stored there yet
	case located == nil && !loc.List && (fn.Unit.IsUnoptimised() || in.locations.UsesFrame(loc.Expr) || p.Memory):
		return location.Place{}, err
	default:
		return p, located
	}
	return in.afterEntry(fn, pc, byConvention)
}

// errEarly reports that a parameter's place is known only after the prologue.
var errEarly = errors.New("its place is known only after the first instructions of the function; probe a line of the function, @FILE:LINE")

// errUnused reports an unused parameter of a function that a compiler with LLVM has compiled. Callers in the same unit
// do not set it (its pass deadargelim).
var errUnused = errors.New("the function does not use it, and some callers do not pass it")

// withoutLocation finds a value that has no location: a constant that an optimiser put in its place, or an unused
// parameter, which is still passed in code of GCC and Go.
func (in *Info) withoutLocation(fn *function.Function, pc uint64, v variable) (location.Place, error) {
	f, _, err := in.entries.Attr(v.entry, dwarf.AttrConstValue)
	if err != nil {
		return location.Place{}, err
	}
	if f != nil {
		switch c := f.Val.(type) {
		case int64:
			return location.Constant(c), nil
		case []byte:
			return location.Implicit(c)
		}
	}
	if external, _, _ := in.entries.Attr(fn.DIE, dwarf.AttrExternal); v.index >= 0 && external != nil && in.lines.InPrologue(fn, pc) {
		if !fn.Unit.PassesUnused() {
			return location.Place{}, errUnused
		}
		params, _, err := in.functions.Params(fn)
		if err != nil {
			return location.Place{}, err
		}
		p, err := in.rules.Param(fn, params, v.index)
		switch {
		case errors.Is(err, callconv.ErrUnknown):
			return location.Place{}, location.ErrNowhere
		case err != nil:
			return location.Place{}, err
		}
		return in.afterEntry(fn, pc, p)
	}
	return location.Place{}, location.ErrNowhere
}

// afterEntry converts a place by the calling convention to one at pc, where the stack pointer may have moved since the
// entry.
func (in *Info) afterEntry(fn *function.Function, pc uint64, p location.Place) (location.Place, error) {
	if p.Base != compile.BaseFrame || pc == fn.Low || len(p.Pieces) > 0 {
		return p, nil
	}
	frame, err := in.locations.FrameAddress(fn, pc)
	if err != nil {
		return location.Place{}, err
	}
	base := frame.Add(p.Value)
	if p.Value == 0 && base.Base == compile.BaseReg {
		base.Base = compile.BaseRegOffset
	}
	p.Base, p.Reg, p.Value = base.Base, base.Reg, base.Value
	return p, nil
}
