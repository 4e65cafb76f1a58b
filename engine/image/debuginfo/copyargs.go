package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gotap/compile"
	"gotap/compile/spelling"
	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/function"
)

// Arguments of inlined copies, at the first instruction of a copy.

// errStoredLater reports an argument of an inlined copy whose place in memory is described for the whole copy, so that
// it may not be stored there yet.
var errStoredLater = errors.New("it is stored after the first instruction of an inlined copy")

// copyScope returns the function around an inlined copy, the copy, and the parameters of the function that was inlined.
func (in *Info) copyScope(c Copy) (fn *function.Function, copied *function.Scope, declared []*dwarf.Entry, err error) {
	if fn, err = in.functions.At(c.PC); err != nil {
		return nil, nil, nil, err
	}
	top, err := in.functions.Scope(fn)
	if err != nil {
		return nil, nil, nil, err
	}
	if copied = top.Find(c.Off); copied == nil {
		return nil, nil, nil, fmt.Errorf("%w for the inlined copy at %#x", ErrNone, c.PC)
	}
	origin, err := in.entries.Origin(copied.DIE)
	if err != nil || origin == nil {
		return nil, nil, nil, errors.Join(ErrNone, err)
	}
	err = in.entries.Children(origin, func(e *dwarf.Entry) error {
		if result, _ := e.Val(dwarf.AttrVarParam).(bool); e.Tag == dwarf.TagFormalParameter && !result { // Go lists results as parameters
			declared = append(declared, e)
		}
		return nil
	})
	return fn, copied, declared, err
}

// CopyParameters returns the names of the parameters of an inlined copy, in their order.
func (in *Info) CopyParameters(c Copy) (names []string, err error) {
	defer in.guard(&err)()
	_, _, declared, err := in.copyScope(c)
	for _, e := range declared {
		names = append(names, in.entries.Name(e))
	}
	return named(names), err
}

// CopySignature returns the declaration of the function that was inlined, as Signature does, without its result.
func (in *Info) CopySignature(c Copy) (s string, err error) {
	defer in.guard(&err)()
	_, copied, declared, err := in.copyScope(c)
	if err != nil {
		return "", err
	}
	var list []string
	for _, e := range declared {
		off, ok, err := in.entries.TypeRef(e)
		if err != nil {
			return "", err
		}
		list = append(list, in.types.Declare(off, ok, in.entries.Name(e), 0))
	}
	return in.entries.QualifiedName(copied.DIE) + "(" + strings.Join(list, ", ") + ")", nil
}

// CopyAccess is Access for the parameters of an inlined copy, at its first instruction.
func (in *Info) CopyAccess(c Copy, path []string) (a compile.Access, err error) {
	defer in.guard(&err)()
	if len(path) == 0 {
		return a, errors.New("cannot read a value without a name")
	}
	return in.copyAccess(c, path)
}

func (in *Info) copyAccess(c Copy, path []string) (a compile.Access, err error) {
	fn, copied, declared, err := in.copyScope(c)
	if err != nil {
		return a, err
	}
	is := func(e *dwarf.Entry) bool { return in.entries.Name(e) == path[0] }
	i := slices.IndexFunc(copied.Params, is)
	if i < 0 {
		return a, in.noCopyParameter(c, copied, declared, path[0])
	}
	e := copied.Params[i]
	loc, ok, err := in.locations.Of(fn.Unit, e, c.PC)
	p, err2 := in.placeOf(fn, c.PC, variable{e, -1})
	if err == nil && ok && err2 == nil && p.Memory && !loc.List {
		err2 = errStoredLater
	}
	if err2 != nil {
		return a, in.explain(path[0], c.PC, err2)
	}
	off, ok, err := in.entries.TypeRef(e)
	if err != nil {
		return a, err
	}
	w := walk{in: in, place: in.rules.AtEntry(p), typ: off, ok: ok, pc: c.PC, name: path[0], before: 1}
	return w.along(path[1:])
}

// noCopyParameter returns the error for a parameter that an inlined copy does not have.
func (in *Info) noCopyParameter(c Copy, copied *function.Scope, declared []*dwarf.Entry, name string) error {
	var have []string
	for _, e := range declared {
		have = append(have, in.entries.Name(e))
	}
	if slices.Contains(have, name) {
		return &OptimisedOutError{Name: name, PC: c.PC}
	}
	have = named(have)
	return &UnknownError{Name: name, In: in.entries.QualifiedName(copied.DIE), What: "parameter", Have: have, Near: spelling.Near(name, have)}
}

// CopyArgument returns the access to argument n, from 0, of an inlined copy. Only arguments before which there are only
// integers and pointers have the number that the calling convention gives them.
func (in *Info) CopyArgument(c Copy, n int) (a compile.Access, err error) {
	defer in.guard(&err)()
	_, copied, declared, err := in.copyScope(c)
	if err != nil {
		return a, err
	}
	if n < 0 || n >= len(declared) {
		return a, fmt.Errorf("%s has %d parameters", in.entries.QualifiedName(copied.DIE), len(declared))
	}
	for _, e := range declared[:n+1] {
		off, ok, err := in.entries.TypeRef(e)
		if err != nil {
			return a, err
		}
		t, err := in.types.Strip(off, ok)
		if err != nil {
			return a, err
		}
		switch t.Kind {
		case ctype.Int, ctype.Bool, ctype.Enum, ctype.Pointer:
		default:
			return a, fmt.Errorf("arguments of an inlined copy that are no integers have no numbers; c.args.%s is read by name", in.entries.Name(declared[n]))
		}
	}
	return in.copyAccess(c, []string{in.entries.Name(declared[n])})
}
