package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// typeKind is what a type is once its names and qualifiers are taken off.
type typeKind uint8

const (
	kindVoid typeKind = iota
	kindInt
	kindBool
	kindFloat
	kindComplex
	kindPointer
	kindReference
	kindStruct // class, too
	kindUnion
	kindArray
	kindVector // of a vector register
	kindEnum
	kindFunc
	kindOther // the compiler's own: null pointers, members' pointers, strings of other languages
)

// ctype is one type of the source. Types are read shallowly: what a pointer points to, only when asked.
type ctype struct {
	off      dwarf.Offset
	tag      dwarf.Tag
	kind     typeKind
	name     string // as in the source; "" if it has none
	size     int64  // bytes; -1: not known
	align    int64  // as declared; 0: by its parts
	signed   bool
	char     bool
	declared bool // only declared here, defined elsewhere
	byRef    byRef
	cplus    bool         // may have constructors
	keyword  bool         // its name has struct, union or enum before it
	elem     dwarf.Offset // of a pointer, array, typedef, qualifier, enumeration, function: what it is of
	hasElem  bool
	dims     []int64 // of an array; -1: open
	members  []member
	read     bool // members have been read
	entry    *dwarf.Entry
}

// member is a field of a struct, or a base class.
type member struct {
	name    string
	typ     dwarf.Offset
	offset  int64 // bytes from the start
	bit     int64 // of a bit-field: lowest bit, from the start of the struct
	bits    int64 // of a bit-field: width; 0: no bit-field
	base    bool
	virtual bool // a virtual base: its offset is known only to the object
}

// DWARF's encodings of base types (DWARF 5, table 7.11).
const (
	encBoolean      = 0x02
	encComplexFloat = 0x03
	encFloat        = 0x04
	encSigned       = 0x05
	encSignedChar   = 0x06
	encUnsigned     = 0x07
	encUnsignedChar = 0x08
	encDecimal      = 0x0f
	encUTF          = 0x10
)

// attrAlignment is DW_AT_alignment of DWARF 5, attrGNUVector marks arrays that live in vector registers.
const (
	attrAlignment = dwarf.Attr(0x88)
	attrGNUVector = dwarf.Attr(0x2107)
)

// byRef says how a class is passed and returned: by an invisible reference, when copying or destroying it takes a call.
type byRef uint8

const (
	byRefUnknown byRef = iota // not found out yet
	byRefNo
	byRefYes
)

// The values of DW_AT_calling_convention on a class (DWARF 5, table 7.16), which few compilers write.
const (
	passByReference = 0x04
	passByValue     = 0x05
)

// maxTypes bounds how many types are looked at for one question. A type takes a member, and that a type again, by many ways where whoever
// made the file wanted so: sixteen levels of ten members are more than can ever be gone through. Real questions take some hundreds.
const maxTypes = 1 << 18

// errTangled is a type that takes too long to find out about.
var errTangled = errors.New("cannot read the debug information: its types are too entangled")

// typeAt finds the type at off, and reads it when it is asked for the first time. Everything that goes from type to type comes by here,
// so that here is where damaged information is kept from leading around in a circle, which would end in an overflow of the
// stack that nothing recovers from.
func (in *Info) typeAt(off dwarf.Offset) (*ctype, error) {
	if in.asked++; in.asked > maxTypes {
		return nil, errTangled
	}
	if t := in.types[off]; t != nil {
		return t, nil
	}
	if in.reading[off] || len(in.reading) == maxAliases {
		return nil, fmt.Errorf("cannot read the debug information: type at %#x is made of itself", off)
	}
	in.reading[off] = true
	defer delete(in.reading, off)
	return in.readType(off)
}

// readType reads the type at off.
func (in *Info) readType(off dwarf.Offset) (*ctype, error) {
	e, err := in.die(off)
	if err != nil {
		return nil, err
	}
	if to, ok, err := in.ref(e, dwarf.AttrSignature); err != nil || ok && to != off {
		if err != nil {
			return nil, err
		}
		return in.typeAt(to) // a declaration of what a type unit defines
	}
	t := &ctype{off: off, tag: e.Tag, entry: e, size: -1}
	t.name, _ = e.Val(dwarf.AttrName).(string)
	if v, ok := e.Val(dwarf.AttrByteSize).(int64); ok {
		t.size = v
	}
	t.align, _ = e.Val(attrAlignment).(int64)
	if t.elem, t.hasElem, err = in.ref(e, dwarf.AttrType); err != nil {
		return nil, err
	}
	u := in.unitOf(off)
	t.cplus = u == nil || u.isCPlusPlus()
	t.keyword = u == nil || u.isC()
	if err := in.fill(t, u); err != nil {
		return nil, err
	}
	in.types[off] = t
	return t, nil
}

// fill sets what depends on the kind of type.
func (in *Info) fill(t *ctype, u *unit) error {
	switch t.tag {
	case dwarf.TagBaseType:
		t.fillBase()
	case dwarf.TagPointerType:
		t.kind = kindPointer
		t.size = in.word()
	case dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		t.kind = kindReference
		t.size = in.word()
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagInterfaceType:
		t.kind = kindStruct
		t.fillStruct()
	case dwarf.TagUnionType:
		t.kind = kindUnion
		t.fillStruct()
	case dwarf.TagArrayType:
		return in.fillArray(t)
	case dwarf.TagEnumerationType:
		return in.fillEnum(t)
	case dwarf.TagSubroutineType:
		t.kind = kindFunc
		if u != nil && u.language() == langGo { // a value of Go's function types is a pointer to its code's address
			t.kind, t.size, t.elem, t.hasElem = kindPointer, in.word(), 0, false
		}
	case dwarf.TagUnspecifiedType, dwarf.TagPtrToMemberType:
		t.kind = kindOther
		return in.sizeMember(t)
	case dwarf.TagStringType:
		t.kind = kindOther
	default: // typedefs and qualifiers have no kind of their own
		t.kind = kindVoid
	}
	return nil
}

// sizeMember sizes null pointers and pointers to members, of which compilers do not say it: they are passed like the words that
// they are made of (Itanium C++ ABI, 2.3). A pointer to a method is two words, where to find it and what to add to this.
func (in *Info) sizeMember(t *ctype) error {
	if t.size >= 0 || !t.cplus {
		return nil
	}
	t.size = in.word()
	if t.tag != dwarf.TagPtrToMemberType {
		return nil
	}
	to, err := in.strip(t.elem, t.hasElem)
	if err == nil && to.kind == kindFunc {
		t.size *= 2
	}
	return err
}

// isDecimal reports a decimal floating number, which no calling convention here knows.
func (t *ctype) isDecimal() bool {
	if t.entry == nil {
		return false
	}
	encoding, _ := t.entry.Val(dwarf.AttrEncoding).(int64)
	return t.tag == dwarf.TagBaseType && encoding == encDecimal
}

// fillBase takes the kind from the encoding. What C has no like of, decimal floats and fixed-point numbers, is refused later.
func (t *ctype) fillBase() {
	encoding, _ := t.entry.Val(dwarf.AttrEncoding).(int64)
	switch encoding {
	case encBoolean:
		t.kind = kindBool
	case encFloat:
		t.kind = kindFloat
	case encComplexFloat:
		t.kind = kindComplex
	case encSigned, encSignedChar:
		t.kind, t.signed, t.char = kindInt, true, encoding == encSignedChar
	case encUnsigned, encUnsignedChar, encUTF:
		t.kind, t.char = kindInt, encoding == encUnsignedChar
	default:
		t.kind = kindOther
	}
}

// fillStruct notes how a class is passed where the compiler says so; C has no constructors that could change that.
func (t *ctype) fillStruct() {
	t.declared, _ = t.entry.Val(dwarf.AttrDeclaration).(bool)
	switch cc, _ := t.entry.Val(dwarf.AttrCalling).(int64); {
	case cc == passByReference:
		t.byRef = byRefYes
	case cc == passByValue || !t.cplus:
		t.byRef = byRefNo
	}
}

// fillArray reads the dimensions, which are children.
func (in *Info) fillArray(t *ctype) error {
	t.kind = kindArray
	if v, _ := t.entry.Val(attrGNUVector).(bool); v {
		t.kind = kindVector
	}
	err := in.children(t.entry, func(c *dwarf.Entry) error {
		if c.Tag == dwarf.TagSubrangeType {
			t.dims = append(t.dims, arrayCount(c))
		}
		return nil
	})
	if err != nil || t.size >= 0 {
		return err
	}
	elem, err := in.strip(t.elem, t.hasElem)
	if err != nil {
		return err
	}
	t.size = in.sizeOf(elem)
	for _, n := range t.dims {
		t.size *= max(n, 0)
	}
	return nil
}

// arrayCount is the number of elements of one dimension, -1 when only the program knows.
func arrayCount(e *dwarf.Entry) int64 {
	if n, ok := e.Val(dwarf.AttrCount).(int64); ok {
		return n
	}
	if upper, ok := e.Val(dwarf.AttrUpperBound).(int64); ok && upper != 0xffffffff {
		return upper + 1
	}
	return -1
}

// fillEnum finds the sign of an enumeration: that of its underlying type, or else whether any value is negative.
func (in *Info) fillEnum(t *ctype) error {
	t.kind = kindEnum
	if t.hasElem {
		elem, err := in.strip(t.elem, true)
		if err != nil {
			return err
		}
		t.signed = elem.signed
		return nil
	}
	return in.children(t.entry, func(c *dwarf.Entry) error {
		if v, ok := c.Val(dwarf.AttrConstValue).(int64); ok && v < 0 {
			t.signed = true
		}
		return nil
	})
}

// word is the size of an address.
func (in *Info) word() int64 {
	if in.machine == machine386 || in.machine == machineARM {
		return 4
	}
	return 8
}

// isAlias reports whether t only names or qualifies another type.
func (t *ctype) isAlias() bool {
	switch t.tag {
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType,
		dwarf.TagPackedType, dwarf.TagSharedType, dwarf.TagImmutableType, dwarf.TagTemplateAlias:
		return true
	}
	return false
}

// void is the type of what has none.
var void = &ctype{kind: kindVoid, name: "void", size: 0}

// maxAliases bounds chains of typedefs and qualifiers, and of types that have to be read for another.
const maxAliases = 64

// strip reads the type at off without typedefs and qualifiers; ok false stands for void. A type that is only
// declared is replaced by its definition, when any unit has one.
func (in *Info) strip(off dwarf.Offset, ok bool) (*ctype, error) {
	for range maxAliases {
		if !ok {
			return void, nil
		}
		t, err := in.typeAt(off)
		if err != nil {
			return nil, err
		}
		if !t.isAlias() {
			return in.define(t)
		}
		off, ok = t.elem, t.hasElem
	}
	return nil, fmt.Errorf("cannot read the debug information: type at %#x refers to itself", off)
}

// define finds the definition of a declared type.
func (in *Info) define(t *ctype) (*ctype, error) {
	if !t.declared || t.name == "" {
		return t, nil
	}
	if err := in.indexDefinitions(); err != nil {
		return nil, err
	}
	if d, ok := in.defs[in.qualified(t.off, t.name)]; ok && !d.ambiguous {
		return in.typeAt(d.off)
	}
	return t, nil
}

// definition is a struct that a unit defines.
type definition struct {
	off       dwarf.Offset
	size      int64
	line      int64 // of its declaration
	ambiguous bool  // another unit defines another struct of that name, as C lets it
}

// qualified is the name of a type with the namespaces and classes around it. Namespaces without a name belong to their unit alone.
func (in *Info) qualified(off dwarf.Offset, name string) string {
	u := in.unitOf(off)
	if u == nil || !u.hasScopes() {
		return name
	}
	around := in.scopeNames(u, off)
	if slices.Contains(around, noName) {
		name += fmt.Sprintf(" in unit %#x", u.root)
	}
	return strings.Join(append(around, name), "::")
}

// indexDefinitions lists the structs that units define, by name. It reads the top level of every unit, so it happens
// only when a script follows a pointer to a type that its own unit does not know.
func (in *Info) indexDefinitions() error {
	if in.defs != nil {
		return nil
	}
	defs := map[string]definition{}
	for _, u := range in.units {
		if err := in.addDefinitions(u, defs); err != nil {
			return err
		}
	}
	in.defs = defs
	return nil
}

func (in *Info) addDefinitions(u *unit, defs map[string]definition) error {
	in.qualified(u.root, "") // lists the unit's scopes, for which it moves the reader
	return in.topLevel(u, func(e *dwarf.Entry) bool {
		switch e.Tag {
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
			name, _ := e.Val(dwarf.AttrName).(string)
			if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); !declared && name != "" {
				size, _ := e.Val(dwarf.AttrByteSize).(int64)
				line, _ := e.Val(dwarf.AttrDeclLine).(int64)
				full := in.qualified(e.Offset, name)
				before, known := defs[full]
				defs[full] = definition{e.Offset, size, line, known && (before.ambiguous || before.size != size || before.line != line)}
			}
		}
		return e.Tag == dwarf.TagNamespace
	})
}

// sizeOf is the size of a stripped type in bytes, -1 when it is not known.
func (in *Info) sizeOf(t *ctype) int64 {
	if t.kind == kindEnum && t.size < 0 && t.hasElem {
		if elem, err := in.strip(t.elem, true); err == nil {
			return elem.size
		}
	}
	return t.size
}
