package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"gotap/compile/spelling"
	"strconv"
	"strings"

	"gotap/compile"
	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/location"
	"gotap/runtime/value"
)

// walk follows a path from a variable to the value it names.
type walk struct {
	in        *Info
	place     location.Place
	typ       dwarf.Offset
	ok        bool // false: void
	pc        uint64
	name      string        // the path so far, as a script writes it
	bits      *ctype.Member // the bit-field that the walk has reached, which has no place of its own
	bitChosen bool          // which bit the program chooses: bits has the number of its index
	pointers  int           // how many pointers are around the type that the walk has reached
	indexes   int           // chosen by the program so far
	before    int           // names of the path that are not stepped along: that of a parameter, a variable
	depth     int           // names of the path before the one that the walk is at
	checks    []compile.Check
	rest      *ctype.Type // a row of an array of several dimensions, instead of typ
}

// stripped returns the type that the walk has reached, without typedefs and qualifiers.
func (w *walk) stripped() (*ctype.Type, error) {
	if w.pointers > 0 {
		return &ctype.Type{Tag: dwarf.TagPointerType, Kind: ctype.Pointer, Size: w.in.entries.Word(), Elem: w.typ, HasElem: w.ok}, nil
	}
	if w.rest != nil {
		return w.rest, nil
	}
	return w.in.types.Strip(w.typ, w.ok)
}

// setType sets the type that the walk has reached; ok false stands for void.
func (w *walk) setType(off dwarf.Offset, ok bool) { w.typ, w.ok, w.rest = off, ok, nil }

// along follows a path and returns the access to the value at its end.
func (w *walk) along(path []string) (compile.Access, error) {
	for i, step := range path {
		w.depth = i + w.before
		if err := w.step(step); err != nil {
			return compile.Access{}, err
		}
	}
	return w.finish()
}

// step moves to a member or an element.
func (w *walk) step(name string) error {
	if w.bits != nil {
		return &AccessError{Name: w.name, Reason: "a bit-field has no members"}
	}
	t, err := w.stripped()
	if err != nil {
		return err
	}
	if name == compile.AnyElement {
		err = w.chosen(t)
		w.name += "[…]"
		return err
	}
	if index, err := strconv.ParseInt(name, 10, 64); err == nil {
		err = w.index(t, index)
		w.name += "[" + name + "]"
		return err
	}
	for range ctype.MaxNesting {
		if t.Kind != ctype.Pointer && t.Kind != ctype.Reference {
			break
		}
		if t, err = w.follow(t); err != nil {
			return err
		}
	}
	if ok, err := w.pseudo(t, name); ok {
		return err
	}
	if ok, err := w.halves(t, name); ok {
		return err
	}
	return w.member(t, name)
}

// follow moves to the target of a pointer.
func (w *walk) follow(t *ctype.Type) (*ctype.Type, error) {
	p, err := w.place.Deref(int(w.in.entries.Word()))
	if err != nil {
		return nil, w.in.explain(w.name, w.pc, err)
	}
	w.place = p
	if w.pointers > 0 {
		w.pointers--
	} else {
		w.setType(t.Elem, t.HasElem)
	}
	return w.stripped()
}

// member moves to a member of t.
func (w *walk) member(t *ctype.Type, name string) error {
	if have := partNames(t); have != nil {
		return &UnknownError{Name: name, In: w.declared(), What: "part", Have: have, Near: spelling.Near(name, have)}
	}
	if t.Kind != ctype.Struct && t.Kind != ctype.Union {
		return &AccessError{Name: w.name + "." + name, Reason: w.name + " is " + w.in.types.Declare(w.typ, w.ok, "", 0) + ", which has no members"}
	}
	if t.Declared {
		return &AccessError{Name: w.name + "." + name, Reason: "the debug information only declares " + w.in.types.Name(t)}
	}
	m, ok, err := memberOf(w.in, t, name)
	if err != nil {
		return err
	}
	if !ok {
		if found, err := w.alternative(t, name); found {
			return err
		}
		if l := w.in.layoutOf(t); l != nil && l.inner != "" && l.array(w.in.types, t) == nil {
			return w.memberBehind(l, name)
		}
		have := w.in.types.MemberNames(t)
		if v := w.in.types.Variants(t); v != nil {
			have = append(have, v.CaseNames()...)
		}
		return &UnknownError{Name: name, In: w.in.nameOf(t, w), What: "member", Have: have, Near: spelling.Near(name, have)}
	}
	w.name += "." + name
	if m.Virtual {
		return &AccessError{Name: w.name, Reason: "it belongs to a virtual base class, whose offset depends on the object"}
	}
	w.setType(m.Type, true)
	if m.Bits > 0 {
		w.bits = &m
		return nil
	}
	inner, err := w.stripped()
	if err != nil {
		return err
	}
	return w.part(m.Offset, w.in.types.Size(inner))
}

// nameOf returns the name of a struct for messages, or without one the name of its typedef.
func (in *Info) nameOf(t *ctype.Type, w *walk) string {
	if t.Name == "" && w.ok {
		return in.types.Declare(w.typ, true, "", 0)
	}
	return in.types.Name(t)
}

// part narrows the place to size bytes at off.
func (w *walk) part(off, size int64) error {
	p, err := w.place.Part(off, size)
	if err != nil {
		return w.in.explain(w.name, w.pc, err)
	}
	w.place = p
	return nil
}

// index moves to an element of an array or of a pointer.
func (w *walk) index(t *ctype.Type, i int64) error {
	if t.Kind == ctype.Reference {
		inner, err := w.follow(t)
		if err != nil {
			return err
		}
		t = inner
	}
	t, err := w.referred(t)
	if err != nil {
		return err
	}
	if t.Kind == ctype.Struct {
		if ok, err := w.linked(t, i); ok {
			return err
		}
		if ok, err := w.searched(t, i, false); ok {
			return err
		}
		elems, err := w.numbered(t, i)
		switch {
		case err == nil && elems.Kind != ctype.Pointer && elems.Kind != ctype.Array: // what a smart pointer has inside
			return nil
		case err == nil:
			t = elems
		case err != errNoElements:
			return err
		}
	}
	switch t.Kind {
	case ctype.Pointer:
		if _, err := w.follow(t); err != nil {
			return err
		}
		elem, err := w.stripped()
		if err != nil {
			return err
		}
		size := w.in.types.Size(elem)
		if size <= 0 {
			return &AccessError{Name: w.name, Reason: "the size of its target is unknown"}
		}
		w.place = w.place.Add(i * size)
		return nil
	case ctype.Array:
		return w.element(t, i)
	}
	return &AccessError{Name: w.name, Reason: "it is " + w.in.types.Declare(w.typ, w.ok, "", 0) + ", neither an array nor a pointer"}
}

// chosen moves to the element of an array or of a pointer that the program chooses.
func (w *walk) chosen(t *ctype.Type) error {
	number := w.indexes
	w.indexes++
	count := int64(0)
	t, err := w.referred(t)
	if err != nil {
		return err
	}
	if t.Kind == ctype.Struct {
		if ok, err := w.searched(t, int64(number), true); ok {
			return err
		}
		n, known := w.in.layoutOf(t).count(w.in.types, t)
		if known && n == 0 {
			return &AccessError{Name: w.name, Reason: "it has no elements"}
		}
		count = n
		if elems, err := w.several(t); err == nil {
			t = elems
		}
	}
	switch t.Kind {
	case ctype.Array:
		if len(t.Dims) > 1 {
			return &AccessError{Name: w.name, Reason: "an index that is computed can be used with arrays of one dimension only"}
		}
		if len(t.Dims) > 0 {
			count = max(t.Dims[0], 0)
		}
		w.setType(t.Elem, t.HasElem)
	case ctype.Pointer, ctype.Reference:
		inner, err := w.follow(t)
		if err != nil {
			return err
		}
		if inner.Kind == ctype.Array && t.Kind == ctype.Reference {
			w.indexes--
			return w.chosen(inner)
		}
	default:
		return &AccessError{Name: w.name, Reason: "it is " + w.in.types.Declare(w.typ, w.ok, "", 0) + ", neither an array nor a pointer"}
	}
	elem, err := w.stripped()
	if err != nil {
		return err
	}
	size := w.in.types.Size(elem)
	switch {
	case size <= 0:
		return &AccessError{Name: w.name, Reason: "the size of its elements is unknown"}
	case !w.place.Memory || len(w.place.Pieces) > 0:
		return &AccessError{Name: w.name, Reason: "it is in registers, where an index has to be known beforehand"}
	}
	w.place = w.place.Element(number, size, count)
	return nil
}

// element moves to an element of an array. An element of an array of several dimensions is an array.
func (w *walk) element(t *ctype.Type, i int64) error {
	elem, err := w.in.types.Strip(t.Elem, t.HasElem)
	if err != nil {
		return err
	}
	size := w.in.types.Size(elem)
	if size <= 0 {
		return &AccessError{Name: w.name, Reason: "the size of its elements is unknown"}
	}
	if len(t.Dims) > 0 && t.Dims[0] > 0 && (i < 0 || i >= t.Dims[0]) {
		return &AccessError{Name: w.name, Reason: fmt.Sprintf("it has %d elements; %d is out of range", t.Dims[0], i)}
	}
	if len(t.Dims) > 1 {
		for _, n := range t.Dims[1:] {
			size *= max(n, 0)
		}
		return w.row(t, i*size, size)
	}
	w.setType(t.Elem, t.HasElem)
	return w.part(i*size, size)
}

// row moves to an element that is itself an array, for which the debug information has no type.
func (w *walk) row(t *ctype.Type, off, size int64) error {
	row := *t
	row.Dims, row.Size = t.Dims[1:], size
	w.rest = &row
	return w.part(off, size)
}

// finish returns the access to the value that the walk has reached.
func (w *walk) finish() (compile.Access, error) {
	text := w.declared()
	t, err := w.stripped()
	if err != nil {
		return compile.Access{}, err
	}
	for n := 0; t.Kind == ctype.Reference; n++ {
		if n == ctype.MaxNesting {
			return compile.Access{}, &AccessError{Name: w.name, Reason: "its type is an endless chain of references"}
		}
		if t, err = w.follow(t); err != nil {
			return compile.Access{}, err
		}
	}
	a, err := w.value(t)
	if err != nil { // its members may still be readable
		return compile.Access{Shape: w.shape(t), Checks: w.checks}, w.in.explain(w.name, w.pc, err)
	}
	a.Shape, a.Enum = w.shape(t), w.in.enumerators(t)
	a.Ctype = strings.TrimSpace(text)
	a.Ref, a.Checks = w.ref(t), w.checks
	return a, nil
}

// declared returns the type that the walk has reached, as the source has it.
func (w *walk) declared() string {
	if w.rest != nil && w.rest.Kind != ctype.Array {
		return w.rest.Name
	}
	return w.in.types.Declare(w.typ, w.ok, strings.Repeat("*", w.pointers), 0)
}

// ref returns the reference to the type t of the value that the walk has reached; zero for numbers, whose names say
// nothing about what lies below them.
func (w *walk) ref(t *ctype.Type) compile.TypeRef {
	var r compile.TypeRef
	switch t.Kind {
	case ctype.Struct, ctype.Union, ctype.Array:
		if w.rest != nil || t.Entry == nil {
			return r
		}
		r = compile.TypeRef{Offset: uint64(t.Offset), Address: true, Name: w.in.types.Canonical(t, 0)}
	case ctype.Pointer:
		if w.pointers > 0 {
			inner, err := w.in.types.Strip(w.typ, w.ok)
			if err != nil || !w.ok {
				return r
			}
			return compile.TypeRef{Offset: uint64(w.typ), Stars: w.pointers, Name: w.in.types.Canonical(inner, 0) + strings.Repeat("*", w.pointers)}
		}
		if t.Entry == nil {
			return r
		}
		r = compile.TypeRef{Offset: uint64(t.Offset), Name: w.in.types.Canonical(t, 0)}
	}
	return r
}

// value returns the access to a value of type t.
func (w *walk) value(t *ctype.Type) (compile.Access, error) {
	size := w.in.types.Size(t)
	if w.bits != nil && w.bitChosen {
		a := w.place.ChosenBit(int(w.bits.Bit))
		a.Type = valueType(t)
		return a, nil
	}
	if w.bits != nil {
		a, err := w.place.BitField(w.bits.Bit, w.bits.Bits, size, t.Signed)
		a.Type = valueType(t)
		return a, err
	}
	switch t.Kind {
	case ctype.Struct, ctype.Union, ctype.Array, ctype.Func:
		a, err := w.place.Address()
		if err != nil && t.Kind != ctype.Func {
			return a, w.whole(t)
		}
		return a, err
	case ctype.Complex:
		return compile.Access{}, fmt.Errorf("its type is %s, which is not one number; its parts are .%s and .%s",
			w.declared(), value.RealPart, value.ImaginaryPart)
	case ctype.Void, ctype.Vector, ctype.Other:
		return compile.Access{}, fmt.Errorf("its type is %s, which is not a number", w.in.types.Declare(w.typ, w.ok, "", 0))
	}
	if w.place.Reg == location.FloatTop && t.Kind == ctype.Float {
		a := w.place.Access()
		a.Type = compile.TypeF64
		return a, nil
	}
	if isWide(t) {
		return w.wide(t)
	}
	if size != 1 && size != 2 && size != 4 && size != 8 {
		return compile.Access{}, fmt.Errorf("its type has %d bytes; at most 8 can be read", size)
	}
	float := t.Kind == ctype.Float
	if float && size < 4 {
		return compile.Access{}, fmt.Errorf("floating-point numbers of %d bytes are not supported", size)
	}
	a, err := w.place.Scalar(size, t.Signed, float)
	a.Type = valueType(t)
	return a, err
}

// whole returns the error for a struct in registers.
func (w *walk) whole(t *ctype.Type) error {
	s := "it is a whole " + w.in.types.Declare(w.typ, w.ok, "", 0) + " in registers"
	if names := w.in.types.MemberNames(t); len(names) > 0 {
		s += "; name a member: " + strings.Join(names, ", ")
	}
	return errors.New(s)
}

// valueType returns the type that the compiler uses for a value of type t.
func valueType(t *ctype.Type) compile.ValueType {
	switch t.Kind {
	case ctype.Float:
		return compile.TypeF64
	case ctype.Bool:
		return compile.TypeBool
	case ctype.Void:
		return compile.TypeVoid
	}
	return compile.TypeInt
}
