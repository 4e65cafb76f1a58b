package debuginfo

import (
	"debug/dwarf"
	"strings"

	"gotap/compile"
	"gotap/engine/image/debuginfo/ctype"
)

// Param is one parameter of a function.
type Param struct {
	Name  string // "" when the source has none
	Ctype string // as the source has it: "struct point *"
	Type  compile.ValueType
}

// Params returns the parameters of the function at the address vaddr, in their order, including this of C++.
func (in *Info) Params(vaddr uint64) (params []Param, err error) {
	defer in.guard(&err)()
	fn, err := in.functions.At(vaddr)
	if err != nil {
		return nil, err
	}
	entries, _, err := in.functions.Params(fn)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		off, ok, err := in.entries.TypeRef(e)
		if err != nil {
			return nil, err
		}
		t, err := in.types.Strip(off, ok)
		if err != nil {
			return nil, err
		}
		params = append(params, Param{Name: in.entries.Name(e), Ctype: in.types.Declare(off, ok, "", 0), Type: valueType(t)})
	}
	return params, nil
}

// Signature returns the declaration of the function at the address vaddr, such as "mix(double a, float b, int n)
// double".
func (in *Info) Signature(vaddr uint64) (s string, err error) {
	defer in.guard(&err)()
	fn, err := in.functions.At(vaddr)
	if err != nil {
		return "", err
	}
	entries, variadic, err := in.functions.Params(fn)
	if err != nil {
		return "", err
	}
	var list []string
	for _, e := range entries {
		if artificial, _, _ := in.entries.Attr(e, dwarf.AttrArtificial); artificial != nil && in.entries.Name(e) == "this" {
			continue
		}
		off, ok, err := in.entries.TypeRef(e)
		if err != nil {
			return "", err
		}
		list = append(list, in.types.Declare(off, ok, in.entries.Name(e), 0))
	}
	if variadic {
		list = append(list, "...")
	}
	results, err := in.rules.Results(fn)
	if err != nil {
		return "", err
	}
	var types []string
	for _, off := range results {
		types = append(types, in.types.Declare(off, true, "", 0))
	}
	result := strings.Join(types, ", ")
	switch len(types) {
	case 0:
		result = "void"
	case 1:
	default:
		result = "(" + result + ")"
	}
	return in.entries.QualifiedName(fn.DIE) + "(" + strings.Join(list, ", ") + ") " + result, nil
}

// Results returns how many results the function at the address vaddr has; 0 if that is not known.
func (in *Info) Results(vaddr uint64) int {
	var err error
	defer in.guard(&err)()
	fn, err := in.functions.At(vaddr)
	if err != nil || in.isUntyped(fn) {
		return 0
	}
	results, err := in.rules.Results(fn)
	if err != nil {
		return 0
	}
	return len(results)
}

// ResultAccess returns the access to the result of the function at the address vaddr when it has just returned, or to
// the part of it that path names, as Access does. Structs in memory yield their address. index counts the results from
// 0; only Go's functions have more than one. For a function without a result, the access to the first has the type
// TypeVoid. An index without a result is a *NoResultError.
func (in *Info) ResultAccess(vaddr uint64, index int, path ...string) (a compile.Access, err error) {
	defer in.guard(&err)()
	fn, err := in.functions.At(vaddr)
	if err != nil {
		return a, err
	}
	if in.isUntyped(fn) {
		return a, ErrNone
	}
	results, err := in.rules.Results(fn)
	if err != nil {
		return a, err
	}
	if index == 0 && len(results) == 0 && len(path) == 0 {
		return compile.Access{Type: compile.TypeVoid, Ctype: "void"}, nil
	}
	if index >= len(results) {
		return a, &NoResultError{Function: in.entries.QualifiedName(fn.DIE), Index: index, Count: len(results)}
	}
	off := results[index]
	t, err := in.types.Strip(off, true)
	if err != nil {
		return a, err
	}
	text := in.types.Declare(off, true, "", 0)
	p, err := in.rules.Result(fn, index, t)
	if err != nil {
		return a, in.explain("the result", vaddr, err)
	}
	w := walk{in: in, place: p, typ: off, ok: true, pc: vaddr, name: "the result"}
	if len(path) > 0 {
		w.name = "ret"
		return w.along(path)
	}
	if t.Kind == ctype.Reference { // the address, as for a pointer, because the object may be unfinished
		w.typ, t = off, &ctypeAddress
	}
	if a, err = w.value(t); err != nil {
		return compile.Access{Shape: w.shape(t), Ctype: text}, in.explain("the result", vaddr, err)
	}
	a.Shape, a.Enum = w.shape(t), in.enumerators(t)
	a.Ctype, a.Ref = text, w.ref(t)
	return a, nil
}

// ctypeAddress is the type of a reference that is read as an address. Registers of 32 bits are extended to its 64 bits.
var ctypeAddress = ctype.Type{Kind: ctype.Pointer, Size: 8}

// ReturnType returns the type of the result of the function at the address vaddr, its size in bytes, or 0 without a
// result, and whether it is signed and a floating-point number.
func (in *Info) ReturnType(vaddr uint64) (typ compile.ValueType, size int, signed, float bool, err error) {
	defer in.guard(&err)()
	fn, err := in.functions.At(vaddr)
	if err != nil {
		return 0, 0, false, false, err
	}
	t, err := in.rules.ReturnType(fn)
	if err != nil {
		return 0, 0, false, false, err
	}
	return valueType(t), int(max(0, in.types.Size(t))), t.Signed, t.Kind == ctype.Float, nil
}

// Function returns the name and the bounds of the function that contains vaddr. For a function in several pieces they
// are those of the piece.
func (in *Info) Function(vaddr uint64) (name string, lo, hi uint64, err error) {
	defer in.guard(&err)()
	fn, err := in.functions.At(vaddr)
	if err != nil {
		return "", 0, 0, err
	}
	r, err := in.functions.Range(vaddr)
	if err != nil {
		return "", 0, 0, err
	}
	return in.entries.QualifiedName(fn.DIE), r.Lo, r.Hi, nil
}
