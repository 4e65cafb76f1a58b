package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gotap/compile"
	"gotap/engine/unwind"
)

// Access says how to fetch, at pc, the parameter or variable path[0], or what the rest of the path names in it: members
// of structs, of base classes and of anonymous members by name, elements of arrays and of what a pointer points to by
// number, through pointers and references without further ado. Structs and arrays in memory give their address, and so do
// pointers; references give what they refer to.
//
// At a function's entry (pc is its first address) registers and BaseFrame are those of the caller's call: the frame is the
// stack pointer plus the size of the return address; on ARM, where that is in a register, it is the stack pointer itself. Elsewhere BaseFrame does
// not occur. Floats in vector registers have Reg "xmm0" … "xmm15", "v0" … "v7" or "d0" … "d7", of which the low 8 bytes are meant, and a step that makes
// an f64 of them.
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
	if in.machine == machineARM || in.machine == machineARM64 {
		p = p.aboveSP()
	}
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
	return variable{}, &UnknownError{Name: name, In: in.funcName(fn.entry), What: "parameter", Have: have, Near: near(name, have)}
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
	for _, out := range []error{errNowhere, errEntryOnly, errPointee, errAbsent} {
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
	if err != nil {
		return p, located
	}
	return in.afterEntry(fn, pc, byConvention)
}

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
		if err != nil {
			return place{}, errNowhere
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

// aboveSP makes a place in the caller's frame at the entry of a function one relative to the stack pointer, for processors whose calls push
// nothing.
func (p place) aboveSP() place {
	if p.base == compile.BaseFrame {
		p.base, p.reg = compile.BaseRegOffset, "sp"
	}
	for i := range p.pieces {
		p.pieces[i].place = p.pieces[i].place.aboveSP()
	}
	return p
}

// walk follows a path from a variable to what is asked for.
type walk struct {
	in    *Info
	place place
	typ   dwarf.Offset
	ok    bool // false: void
	pc    uint64
	name  string  // the path so far, as a script writes it
	bits  *member // the bit-field that the walk has come to, which has no place of its own
	rest  *ctype  // the rest of an array of several dimensions, instead of typ
}

// stripped is the type of where the walk is, without names and qualifiers.
func (w *walk) stripped() (*ctype, error) {
	if w.rest != nil {
		return w.rest, nil
	}
	return w.in.strip(w.typ, w.ok)
}

// setType notes the type of where the walk has come to; ok false stands for void.
func (w *walk) setType(off dwarf.Offset, ok bool) { w.typ, w.ok, w.rest = off, ok, nil }

// along goes a path and says how to fetch what is at its end.
func (w *walk) along(path []string) (compile.Access, error) {
	for _, step := range path {
		if err := w.step(step); err != nil {
			return compile.Access{}, err
		}
	}
	return w.finish()
}

// step goes on to a member or an element.
func (w *walk) step(name string) error {
	if w.bits != nil {
		return &AccessError{Name: w.name, Reason: "a bit-field has no members"}
	}
	t, err := w.stripped()
	if err != nil {
		return err
	}
	if index, err := strconv.ParseInt(name, 10, 64); err == nil {
		err = w.index(t, index)
		w.name += "[" + name + "]"
		return err
	}
	for range maxNesting {
		if t.kind != kindPointer && t.kind != kindReference {
			break
		}
		if t, err = w.follow(t); err != nil {
			return err
		}
	}
	return w.member(t, name)
}

// follow goes to what a pointer points to.
func (w *walk) follow(t *ctype) (*ctype, error) {
	p, err := w.place.deref(int(w.in.word()))
	if err != nil {
		return nil, w.in.explain(w.name, w.pc, err)
	}
	w.place = p
	w.setType(t.elem, t.hasElem)
	return w.stripped()
}

// member goes to a member of t.
func (w *walk) member(t *ctype, name string) error {
	if t.kind != kindStruct && t.kind != kindUnion {
		return &AccessError{Name: w.name + "." + name, Reason: w.name + " is " + w.in.declare(w.typ, w.ok, "", 0) + ", which has no members"}
	}
	if t.declared {
		return &AccessError{Name: w.name + "." + name, Reason: "the debug information only declares " + w.in.typeName(t)}
	}
	m, ok, err := w.in.findMember(t, name, 0)
	if err != nil {
		return err
	}
	if !ok {
		have := w.in.memberNames(t)
		return &UnknownError{Name: name, In: w.in.nameOf(t, w), What: "member", Have: have, Near: near(name, have)}
	}
	w.name += "." + name
	if m.virtual {
		return &AccessError{Name: w.name, Reason: "it belongs to a virtual base class, whose place only the object knows"}
	}
	w.setType(m.typ, true)
	if m.bits > 0 {
		w.bits = &m
		return nil
	}
	inner, err := w.stripped()
	if err != nil {
		return err
	}
	return w.part(m.offset, w.in.sizeOf(inner))
}

// nameOf is the name of a struct for messages; of one without a name that of its typedef.
func (in *Info) nameOf(t *ctype, w *walk) string {
	if t.name == "" && w.ok {
		return in.declare(w.typ, true, "", 0)
	}
	return in.typeName(t)
}

// part narrows the place to size bytes at off.
func (w *walk) part(off, size int64) error {
	p, err := w.place.part(off, size)
	if err != nil {
		return w.in.explain(w.name, w.pc, err)
	}
	w.place = p
	return nil
}

// index goes to an element of an array, or of what a pointer points to.
func (w *walk) index(t *ctype, i int64) error {
	if t.kind == kindReference {
		inner, err := w.follow(t)
		if err != nil {
			return err
		}
		t = inner
	}
	switch t.kind {
	case kindPointer:
		if _, err := w.follow(t); err != nil {
			return err
		}
		elem, err := w.stripped()
		if err != nil {
			return err
		}
		size := w.in.sizeOf(elem)
		if size <= 0 {
			return &AccessError{Name: w.name, Reason: "it points to something of unknown size"}
		}
		w.place = w.place.add(i * size)
		return nil
	case kindArray:
		return w.element(t, i)
	}
	return &AccessError{Name: w.name, Reason: "it is " + w.in.declare(w.typ, w.ok, "", 0) + ", neither an array nor a pointer"}
}

// element goes to an element of an array. Of an array with more dimensions it is the array of the others.
func (w *walk) element(t *ctype, i int64) error {
	elem, err := w.in.strip(t.elem, t.hasElem)
	if err != nil {
		return err
	}
	size := w.in.sizeOf(elem)
	if size <= 0 {
		return &AccessError{Name: w.name, Reason: "the size of its elements is unknown"}
	}
	if len(t.dims) > 0 && t.dims[0] > 0 && (i < 0 || i >= t.dims[0]) {
		return &AccessError{Name: w.name, Reason: fmt.Sprintf("it has %d elements, none of number %d", t.dims[0], i)}
	}
	if len(t.dims) > 1 {
		for _, n := range t.dims[1:] {
			size *= max(n, 0)
		}
		return w.row(t, i*size, size)
	}
	w.setType(t.elem, t.hasElem)
	return w.part(i*size, size)
}

// row goes to an element that is itself an array: a type that the debug information has no entry for.
func (w *walk) row(t *ctype, off, size int64) error {
	row := *t
	row.dims, row.size = t.dims[1:], size
	w.rest = &row
	return w.part(off, size)
}

// finish makes the access to the value that the walk has come to.
func (w *walk) finish() (compile.Access, error) {
	ctype := w.in.declare(w.typ, w.ok, "", 0)
	t, err := w.stripped()
	if err != nil {
		return compile.Access{}, err
	}
	for n := 0; t.kind == kindReference; n++ {
		if n == maxNesting {
			return compile.Access{}, &AccessError{Name: w.name, Reason: "it is a reference to a reference without end"}
		}
		if t, err = w.follow(t); err != nil {
			return compile.Access{}, err
		}
	}
	a, err := w.value(t)
	if err != nil {
		return compile.Access{}, w.in.explain(w.name, w.pc, err)
	}
	a.Ctype = strings.TrimSpace(ctype)
	return a, nil
}

// value makes the access to a value of type t.
func (w *walk) value(t *ctype) (compile.Access, error) {
	size := w.in.sizeOf(t)
	if w.bits != nil {
		a, err := w.place.bitField(w.bits.bit, w.bits.bits, size, t.signed)
		a.Type = valueType(t)
		return a, err
	}
	switch t.kind {
	case kindStruct, kindUnion, kindArray, kindFunc:
		a, err := w.place.address()
		if err != nil && t.kind != kindFunc {
			return a, w.whole(t)
		}
		return a, err
	case kindVoid, kindComplex, kindVector, kindOther:
		return compile.Access{}, fmt.Errorf("its type is %s, which is no number", w.in.declare(w.typ, w.ok, "", 0))
	}
	if w.place.reg == floatTop && t.kind == kindFloat {
		a := w.place.access()
		a.Type = compile.TypeF64
		return a, nil
	}
	if size != 1 && size != 2 && size != 4 && size != 8 {
		return compile.Access{}, fmt.Errorf("its type has %d bytes; numbers have up to 8", size)
	}
	float := t.kind == kindFloat
	if float && size < 4 {
		return compile.Access{}, fmt.Errorf("its type is a float of %d bytes, which is not supported", size)
	}
	a, err := w.place.scalar(size, t.signed, float)
	a.Type = valueType(t)
	return a, err
}

// whole refuses a struct that is in registers.
func (w *walk) whole(t *ctype) error {
	s := "it is a whole " + w.in.declare(w.typ, w.ok, "", 0) + " in registers"
	if names := w.in.memberNames(t); len(names) > 0 {
		s += "; name a member: " + strings.Join(names, ", ")
	}
	return errors.New(s)
}

// valueType is what a compiler makes of a value of type t.
func valueType(t *ctype) compile.ValueType {
	switch t.kind {
	case kindFloat:
		return compile.TypeF64
	case kindBool:
		return compile.TypeBool
	case kindVoid:
		return compile.TypeVoid
	}
	return compile.TypeInt
}
