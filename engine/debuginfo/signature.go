package debuginfo

import (
	"debug/dwarf"
	"strings"

	"gotap/compile"
)

// Param is one parameter of a function.
type Param struct {
	Name  string // "" when the source has none
	Ctype string // as the source has it: "struct point *"
	Type  compile.ValueType
}

// Params returns the parameters of the function at the address vaddr, in their order; `this` of C++ is one of them.
func (in *Info) Params(vaddr uint64) (params []Param, err error) {
	defer in.guard(&err)()
	fn, err := in.functionAt(vaddr)
	if err != nil {
		return nil, err
	}
	entries, _, err := in.paramsOf(fn)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		off, ok, err := in.typeRef(e)
		if err != nil {
			return nil, err
		}
		t, err := in.strip(off, ok)
		if err != nil {
			return nil, err
		}
		params = append(params, Param{Name: in.name(e), Ctype: in.declare(off, ok, "", 0), Type: valueType(t)})
	}
	return params, nil
}

// Signature returns the declaration of the function at the address vaddr, as "mix(double a, float b, int n) double".
func (in *Info) Signature(vaddr uint64) (s string, err error) {
	defer in.guard(&err)()
	fn, err := in.functionAt(vaddr)
	if err != nil {
		return "", err
	}
	entries, variadic, err := in.paramsOf(fn)
	if err != nil {
		return "", err
	}
	var list []string
	for _, e := range entries {
		if artificial, _, _ := in.attr(e, dwarf.AttrArtificial); artificial != nil && in.name(e) == "this" {
			continue
		}
		off, ok, err := in.typeRef(e)
		if err != nil {
			return "", err
		}
		list = append(list, in.declare(off, ok, in.name(e), 0))
	}
	if variadic {
		list = append(list, "...")
	}
	off, ok, err := in.resultRef(fn)
	if err != nil {
		return "", err
	}
	return in.funcName(fn.entry) + "(" + strings.Join(list, ", ") + ") " + in.declare(off, ok, "", 0), nil
}

// ReturnAccess says how to fetch the result of the function at the address vaddr when it has just returned, or what path names in
// it, as Access has it. Structs that come back in memory give their address. Of several results, which Go has, the first one is
// meant. A function without result gives an access of type TypeVoid.
func (in *Info) ReturnAccess(vaddr uint64, path ...string) (a compile.Access, err error) {
	defer in.guard(&err)()
	fn, err := in.functionAt(vaddr)
	if err != nil {
		return a, err
	}
	off, ok, err := in.resultRef(fn)
	if err != nil {
		return a, err
	}
	t, err := in.strip(off, ok)
	if err != nil {
		return a, err
	}
	ctype := in.declare(off, ok, "", 0)
	if t.kind == kindVoid && len(path) == 0 {
		return compile.Access{Type: compile.TypeVoid, Ctype: ctype}, nil
	}
	p, err := in.resultOf(fn, t)
	if err != nil {
		return a, in.explain("the result", vaddr, err)
	}
	w := walk{in: in, place: p, typ: off, ok: ok, pc: vaddr, name: "the result"}
	if len(path) > 0 {
		w.name = "ret"
		return w.along(path)
	}
	if t.kind == kindReference { // the address, as for a pointer: what it refers to may be an unfinished object
		w.typ, t = off, &ctypeAddress
	}
	if a, err = w.value(t); err != nil {
		return compile.Access{Shape: w.shape(t)}, in.explain("the result", vaddr, err)
	}
	a.Shape, a.Enum = w.shape(t), in.enumerators(t)
	a.Ctype = ctype
	return a, nil
}

// ctypeAddress is the type of a reference taken as an address; its size is that of a 64-bit word, to which 32-bit
// registers are extended.
var ctypeAddress = ctype{kind: kindPointer, size: 8}

// resultRef is the type of a function's result, of the first one in Go; ok is false when it has none.
func (in *Info) resultRef(fn *function) (off dwarf.Offset, ok bool, err error) {
	if fn.unit.language() != langGo {
		return in.typeRef(fn.entry)
	}
	values, err := in.goValues(fn, true)
	if err != nil || len(values) == 0 {
		return 0, false, err
	}
	return in.typeRef(values[0].entry)
}

// resultOf finds where a result is.
func (in *Info) resultOf(fn *function, t *ctype) (place, error) {
	if fn.unit.language() == langGo {
		v, err := in.goResult(fn)
		return in.atEntry(v.place), err
	}
	if _, changed := in.rewritten(fn); changed {
		return place{}, errRewritten
	}
	if err := in.knowsPassing(t); err != nil {
		return place{}, err
	}
	switch lang := fn.unit.language(); {
	case lang == langRust && !in.scalars([]*ctype{t}):
		return in.rustReturn(fn, t)
	case in.machine == machineAMD64:
		return in.amd64Return(t)
	case in.machine == machine386:
		return in.i386Return(t)
	case in.machine == machineARM64:
		return in.arm64Return(t)
	case in.machine == machineARM:
		_, variadic, err := in.paramsOf(fn)
		if err != nil {
			return place{}, err
		}
		return in.armReturn(t, variadic)
	}
	return place{}, errConvention
}

// ReturnType tells the width and sign of what the function at the address vaddr returns: size in bytes, 0 for
// nothing.
func (in *Info) ReturnType(vaddr uint64) (typ compile.ValueType, size int, signed, float bool, err error) {
	defer in.guard(&err)()
	fn, err := in.functionAt(vaddr)
	if err != nil {
		return 0, 0, false, false, err
	}
	t, err := in.returnType(fn)
	if err != nil {
		return 0, 0, false, false, err
	}
	return valueType(t), int(max(0, in.sizeOf(t))), t.signed, t.kind == kindFloat, nil
}

// Function returns the name and the bounds of the function whose code vaddr is. Of a function in several pieces they are
// those of the piece.
func (in *Info) Function(vaddr uint64) (name string, lo, hi uint64, err error) {
	defer in.guard(&err)()
	fn, err := in.functionAt(vaddr)
	if err != nil {
		return "", 0, 0, err
	}
	r, _ := findRange(fn.unit.functions, vaddr)
	return in.funcName(fn.entry), r.lo, r.hi, nil
}
