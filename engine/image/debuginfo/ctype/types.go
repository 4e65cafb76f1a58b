package ctype

import (
	"debug/dwarf"
	"errors"
	"fmt"

	"gotap/engine/image/debuginfo/entry"
)

// OfEntry returns the stripped type of a parameter, variable or member.
func (ts *Types) OfEntry(e *dwarf.Entry) (*Type, error) {
	off, ok, err := ts.entries.TypeRef(e)
	if err != nil {
		return nil, err
	}
	return ts.Strip(off, ok)
}

// Types reads the types of one module and caches them. It is not safe for concurrent use.
type Types struct {
	entries *entry.Reader
	types   map[dwarf.Offset]*Type
	defs    map[string]definition // definitions by name, for types that a unit only declares

	// Of the current question; Begin resets them.
	asked   int                   // types looked up
	reading map[dwarf.Offset]bool // types being read, each because of the one before it
}

// New returns the types that entries describes. It reads none of them.
func New(entries *entry.Reader) *Types {
	return &Types{entries: entries, types: map[dwarf.Offset]*Type{}, reading: map[dwarf.Offset]bool{}}
}

// Begin starts a question, for which at most maxTypes types are looked up.
func (ts *Types) Begin() {
	ts.asked = 0
	clear(ts.reading)
}

// maxTypes bounds how many types are looked up for one question. Real questions need some hundreds. A malicious file
// can make the number of ways through its types exponential: ten members in each of sixteen nested structs.
const maxTypes = 1 << 18

// errTangled reports that a question needs more than maxTypes types.
var errTangled = errors.New("cannot read the debug information: its types are too entangled")

// At returns the type at off, and reads it on the first call. Every step from one type to another calls At, so cycles
// in damaged files are detected here. A cycle would overflow the stack, and Go cannot recover from that.
func (ts *Types) At(off dwarf.Offset) (*Type, error) {
	if ts.asked++; ts.asked > maxTypes {
		return nil, errTangled
	}
	if t := ts.types[off]; t != nil {
		return t, nil
	}
	if ts.reading[off] || len(ts.reading) == maxAliases {
		return nil, fmt.Errorf("cannot read the debug information: type at %#x is made of itself", off)
	}
	ts.reading[off] = true
	defer delete(ts.reading, off)
	return ts.readType(off)
}

// readType reads the type at off.
func (ts *Types) readType(off dwarf.Offset) (*Type, error) {
	e, err := ts.entries.At(off)
	if err != nil {
		return nil, err
	}
	if to, ok, err := ts.entries.Ref(e, dwarf.AttrSignature); err != nil || ok && to != off {
		if err != nil {
			return nil, err
		}
		return ts.At(to) // a declaration of a type that a type unit defines
	}
	t := &Type{Offset: off, Tag: e.Tag, Entry: e, Size: -1}
	t.Name, _ = e.Val(dwarf.AttrName).(string)
	if v, ok := e.Val(dwarf.AttrByteSize).(int64); ok {
		t.Size = v
	}
	t.Align, _ = e.Val(attrAlignment).(int64)
	if t.Elem, t.HasElem, err = ts.entries.Ref(e, dwarf.AttrType); err != nil {
		return nil, err
	}
	u := ts.entries.UnitOf(off)
	t.CPlusPlus = u == nil || u.IsCPlusPlus()
	t.keyword = u == nil || u.IsC()
	if err := ts.fill(t, u); err != nil {
		return nil, err
	}
	ts.types[off] = t
	return t, nil
}

// None is the type of a function without a result, and the target of a void pointer.
var None = &Type{Kind: Void, Name: "void", Size: 0}

// maxAliases bounds chains of typedefs and qualifiers, and of types that are read because of one another.
const maxAliases = 64

// Strip returns the type at off without typedefs and qualifiers; ok false stands for void. A type that is only declared
// is replaced by its definition when some unit has one.
func (ts *Types) Strip(off dwarf.Offset, ok bool) (*Type, error) {
	for range maxAliases {
		if !ok {
			return None, nil
		}
		t, err := ts.At(off)
		if err != nil {
			return nil, err
		}
		if !t.isAlias() {
			return ts.define(t)
		}
		off, ok = t.Elem, t.HasElem
	}
	return nil, fmt.Errorf("cannot read the debug information: type at %#x refers to itself", off)
}

// Size returns the size of a stripped type in bytes, or -1 when it is unknown.
func (ts *Types) Size(t *Type) int64 {
	if t.Kind == Enum && t.Size < 0 && t.HasElem {
		if elem, err := ts.Strip(t.Elem, true); err == nil {
			return elem.Size
		}
	}
	return t.Size
}
