package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gotap/compile"
)

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
	if err != nil { // what it is made of may be in reach all the same
		return compile.Access{Shape: w.shape(t)}, w.in.explain(w.name, w.pc, err)
	}
	a.Shape, a.Enum = w.shape(t), w.in.enumerators(t)
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
