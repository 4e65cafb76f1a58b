package debuginfo

import (
	"debug/dwarf"
	"errors"
	"slices"

	"gotap/compile"
	"gotap/engine/unwind"
)

// Access says how to fetch, at pc, the parameter or variable path[0], or what the rest of the path names in it: members
// of structs, of base classes and of anonymous members by name, elements of arrays and of what a pointer points to by
// number, through pointers and references without further ado. Structs and arrays in memory give their address, and so do
// pointers; references give what they refer to.
//
// At a function's entry (pc is its first address) registers and BaseFrame are those of the caller's call: the frame is a word above
// the stack pointer, on ARM too, where no return address is in that word. Elsewhere BaseFrame does not occur. Floats in vector registers have Reg "xmm0" … "xmm15", "v0" … "v7" or "d0" … "d7", of which the low 8
// bytes are meant, and a step that makes an f64 of them.
//
// Errors are *UnknownError, *OptimisedOutError, *AccessError, or match ErrNone, ErrSplit or ErrAlt.
func (in *Info) Access(pc uint64, path []string) (a compile.Access, err error) {
	defer in.guard(&err)()
	if len(path) == 0 {
		return a, errors.New("cannot read a value without a name")
	}
	fn, err := in.functionAt(pc)
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
	p = in.atEntry(p)
	off, ok, err := in.typeRef(v.entry)
	if err != nil {
		return a, err
	}
	w := walk{in: in, place: p, typ: off, ok: ok, pc: pc, name: path[0]}
	return w.along(path[1:])
}

// variable is a parameter or variable, and the scope it was found in.
type variable struct {
	entry *dwarf.Entry
	index int // of a parameter of the function itself; -1 of all others
}

// findVariable finds a name, innermost scope first. At the entry of a function its own parameters are meant, although the
// code of a call inlined at its very start may begin there too.
func (in *Info) findVariable(fn *function, pc uint64, name string) (variable, error) {
	params, _, err := in.paramsOf(fn)
	if err != nil {
		return variable{}, err
	}
	own := slices.IndexFunc(params, func(e *dwarf.Entry) bool { return in.name(e) == name })
	if own >= 0 && pc == fn.low {
		return variable{params[own], own}, nil
	}
	top, err := in.scopeOf(fn)
	if err != nil {
		return variable{}, err
	}
	var have []string
	for _, e := range params {
		have = append(have, in.name(e))
	}
	path := top.path(pc)
	for i := len(path) - 1; i >= 0; i-- {
		locals := path[i].vars
		if i > 0 {
			locals = append(slices.Clone(locals), path[i].params...)
		}
		for _, e := range locals {
			if n := in.name(e); n == name {
				return variable{e, -1}, nil
			} else if pc != fn.low { // nothing is in a local variable yet at the entry
				have = append(have, n)
			}
		}
	}
	if own >= 0 {
		return variable{params[own], own}, nil
	}
	have = named(have)
	what := "parameter"
	if pc != fn.low {
		what = "parameter or local variable"
	}
	return variable{}, &UnknownError{Name: name, In: in.funcName(fn.entry), What: what, Have: have, Near: near(name, have)}
}

// named leaves out empty names.
func named(names []string) []string {
	var out []string
	for _, n := range names {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}

// explain makes an error about a place one about a name.
func (in *Info) explain(name string, pc uint64, err error) error {
	for _, out := range []error{errNowhere, errEntryOnly, errPointee, errAbsent, errRewritten} {
		if errors.Is(err, out) {
			reason := err.Error()
			if out == errNowhere || out == errAbsent {
				reason = ""
			}
			return &OptimisedOutError{Name: name, PC: pc, Reason: reason}
		}
	}
	if errors.Is(err, ErrAlt) || errors.Is(err, ErrSplit) {
		return err
	}
	return &AccessError{Name: name, Reason: err.Error()}
}

// placeOf finds where a variable is at pc.
//
// While a function has not got past its prologue, expressions that name a place in its frame are early: the parameter
// is stored there by the prologue. Then the calling convention tells where it came in. Location lists are exact, and so are registers
// in optimised code: they are right even for functions whose parameters an optimiser has moved.
//
// Go's compiler writes down where a parameter is used from. At the entry its convention, which has no exceptions, knows the
// parts that are not used as well.
func (in *Info) placeOf(fn *function, pc uint64, v variable) (place, error) {
	if v.index >= 0 && pc == fn.low && fn.unit.language() == langGo {
		params, _, err := in.paramsOf(fn)
		if err != nil {
			return place{}, err
		}
		return in.goParam(fn, params, v.index)
	}
	loc, ok, err := in.locationOf(fn.unit, v.entry, pc)
	if err == nil && !ok {
		return in.withoutLocation(fn, pc, v)
	}
	if v.index < 0 || !in.inPrologue(fn, pc) {
		if err != nil {
			return place{}, err
		}
		return in.locate(fn, pc, loc.expr)
	}
	p, located := place{}, err
	if err == nil {
		if p, located = in.locate(fn, pc, loc.expr); located == nil && (loc.list || len(p.pieces) == 0 && !in.usesFrame(loc.expr) && !fn.unit.isUnoptimised()) {
			return p, nil
		}
	}
	params, _, err := in.paramsOf(fn)
	if err != nil {
		return place{}, err
	}
	byConvention, err := in.conventional(fn, params, v.index)
	switch {
	case err == nil:
	case located == nil && fn.unit.language() == langRust && in.usesFrame(loc.expr):
		return place{}, errEarly // what lies there yet is anything
	case located == nil && !loc.list && (fn.unit.isUnoptimised() || in.usesFrame(loc.expr)):
		return place{}, err
	default:
		return p, located
	}
	return in.afterEntry(fn, pc, byConvention)
}

// errEarly is a parameter of which only the place is known where the prologue puts it.
var errEarly = errors.New("the first instructions of the function put it where it is found; probe a line of the function, @FILE:LINE")

// usesFrame reports whether an expression starts from the function's frame: by fbreg, or, as clang has it, from a register
// that points there.
func (in *Info) usesFrame(expr []byte) bool {
	const fbreg, breg0 = 0x91, 0x70
	if len(expr) == 0 {
		return false
	}
	if arm := in.machine == machineARM || in.machine == machineARM64; arm && expr[0] >= breg0 && expr[0] < fbreg {
		return true // also the address of what the caller passed by reference is kept in a register that the prologue sets
	}
	name, _ := unwind.RegisterName(in.machine, uint64(expr[0])-breg0)
	switch name {
	case "rbp", "rsp", "ebp", "esp", "x29", "sp":
		return true
	}
	return expr[0] == fbreg
}

// withoutLocation finds a value that has no location: a constant the optimiser put in its place, or a parameter that is
// not used but still passed.
func (in *Info) withoutLocation(fn *function, pc uint64, v variable) (place, error) {
	f, _, err := in.attr(v.entry, dwarf.AttrConstValue)
	if err != nil {
		return place{}, err
	}
	if f != nil {
		switch c := f.Val.(type) {
		case int64:
			return constant(c), nil
		case []byte:
			l := &locator{}
			err := l.implicit(c)
			return append(l.stack, place{})[0], err
		}
	}
	if external, _, _ := in.attr(fn.entry, dwarf.AttrExternal); v.index >= 0 && external != nil && in.inPrologue(fn, pc) {
		params, _, err := in.paramsOf(fn)
		if err != nil {
			return place{}, err
		}
		p, err := in.conventional(fn, params, v.index)
		switch {
		case errors.Is(err, errConvention):
			return place{}, errNowhere
		case err != nil:
			return place{}, err
		}
		return in.afterEntry(fn, pc, p)
	}
	return place{}, errNowhere
}

// afterEntry makes a place found by the calling convention one for pc: the stack pointer may have moved since the entry.
func (in *Info) afterEntry(fn *function, pc uint64, p place) (place, error) {
	if p.base != compile.BaseFrame || pc == fn.low || len(p.pieces) > 0 {
		return p, nil
	}
	frame, err := in.frameAddress(fn, pc)
	if err != nil {
		return place{}, err
	}
	base := frame.add(p.value)
	if p.value == 0 && base.base == compile.BaseReg {
		base.base = compile.BaseRegOffset
	}
	p.base, p.reg, p.value = base.base, base.reg, base.value
	return p, nil
}

// atEntry makes a place at the entry of a function one that BaseFrame is right for.
func (in *Info) atEntry(p place) place {
	if in.machine == machineARM || in.machine == machineARM64 {
		return p.aboveSP(in.word())
	}
	return p
}

// aboveSP makes a place in the caller's frame one whose frame is a word above the stack pointer at the entry, for processors whose calls
// push nothing.
func (p place) aboveSP(word int64) place {
	if p.base == compile.BaseFrame {
		p.value -= word
	}
	p.pieces = slices.Clone(p.pieces)
	for i := range p.pieces {
		p.pieces[i].place = p.pieces[i].place.aboveSP(word)
	}
	return p
}
