package ctype

import (
	"debug/dwarf"

	"gotap/engine/image/debuginfo/entry"
)

// Kind classifies a type without its typedefs and qualifiers.
type Kind uint8

const (
	Void Kind = iota
	Int
	Bool
	Float
	Complex
	Pointer
	Reference
	Struct // or a class
	Union
	Array
	Vector // fits a vector register
	Enum
	Func
	Other // null pointers, pointers to members, strings of other languages
)

// Type is a type of the source. Types are read shallowly: the type that a pointer points to is read when it is needed.
type Type struct {
	Offset       dwarf.Offset
	Tag          dwarf.Tag
	Kind         Kind
	Name         string // as in the source; "" when it has none
	Size         int64  // in bytes; -1: unknown
	Align        int64  // as declared; 0: that of its parts
	Signed       bool
	Char         bool
	Declared     bool // only declared here, defined elsewhere
	ByRef        Passing
	Told         bool         // how it is passed follows from its entry alone
	CPlusPlus    bool         // may have constructors
	keyword      bool         // its name has struct, union or enum before it
	Elem         dwarf.Offset // the type that a pointer, array, typedef, qualifier, enumeration or function refers to
	HasElem      bool
	Dims         []int64 // of an array; -1: unknown length
	members      []Member
	others       []other // what else a class declares
	read         bool    // members have been read
	variants     *Variants
	variantsRead bool
	Entry        *dwarf.Entry
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
	// attrAlignment is DW_AT_alignment of DWARF 5. attrGNUVector marks arrays that fit a vector register.
	attrAlignment = dwarf.Attr(0x88)
	attrGNUVector = dwarf.Attr(0x2107)
)

// Passing is how a class is passed and returned. Classes that need a call to be copied or destroyed are passed by an
// invisible reference.
type Passing uint8

const (
	PassingUnknown Passing = iota // not determined yet
	ByValue
	ByReference
)

// Values of DW_AT_calling_convention of a class (DWARF 5, table 7.16). Few compilers write it.
const (
	passByReference = 0x04
	passByValue     = 0x05
)

// fill sets the fields that depend on the kind of type.
func (ts *Types) fill(t *Type, u *entry.Unit) error {
	switch t.Tag {
	case dwarf.TagBaseType:
		t.fillBase()
	case dwarf.TagPointerType:
		t.Kind = Pointer
		t.Size = ts.entries.Word()
	case dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		t.Kind = Reference
		t.Size = ts.entries.Word()
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagInterfaceType:
		t.Kind = Struct
		t.fillStruct()
	case dwarf.TagUnionType:
		t.Kind = Union
		t.fillStruct()
	case dwarf.TagArrayType:
		return ts.fillArray(t)
	case dwarf.TagEnumerationType:
		return ts.fillEnum(t)
	case dwarf.TagSubroutineType:
		t.Kind = Func
		if u != nil && u.Language() == entry.Go { // a Go function value is a pointer to the address of its code
			t.Kind, t.Size, t.Elem, t.HasElem = Pointer, ts.entries.Word(), 0, false
		}
	case dwarf.TagUnspecifiedType, dwarf.TagPtrToMemberType:
		t.Kind = Other
		return ts.sizeMember(t)
	case dwarf.TagStringType:
		t.Kind = Other
	default: // typedefs and qualifiers
		t.Kind = Void
	}
	return nil
}

// sizeMember sets the size of null pointers and pointers to members, which compilers leave out. Such a value is passed
// like the words in it (Itanium C++ ABI, 2.3). A pointer to a method has two: the function and an adjustment of this.
func (ts *Types) sizeMember(t *Type) error {
	if t.Size >= 0 || !t.CPlusPlus {
		return nil
	}
	t.Size = ts.entries.Word()
	if t.Tag != dwarf.TagPtrToMemberType {
		return nil
	}
	to, err := ts.Strip(t.Elem, t.HasElem)
	if err == nil && to.Kind == Func {
		t.Size *= 2
	}
	return err
}

// IsDecimal reports whether t is a decimal floating-point type, which no calling convention here supports.
func (t *Type) IsDecimal() bool {
	if t.Entry == nil {
		return false
	}
	encoding, _ := t.Entry.Val(dwarf.AttrEncoding).(int64)
	return t.Tag == dwarf.TagBaseType && encoding == encDecimal
}

// fillBase sets the kind from the encoding. Decimal floats and fixed-point numbers become Other and are refused later.
func (t *Type) fillBase() {
	encoding, _ := t.Entry.Val(dwarf.AttrEncoding).(int64)
	switch encoding {
	case encBoolean:
		t.Kind = Bool
	case encFloat:
		t.Kind = Float
	case encComplexFloat:
		t.Kind = Complex
	case encSigned, encSignedChar:
		t.Kind, t.Signed, t.Char = Int, true, encoding == encSignedChar
	case encUnsigned, encUnsignedChar, encUTF:
		t.Kind, t.Char = Int, encoding == encUnsignedChar
	default:
		t.Kind = Other
	}
}

// fillStruct sets how a class is passed where that is known: the compiler says so, or the language has no constructors.
func (t *Type) fillStruct() {
	t.Declared, _ = t.Entry.Val(dwarf.AttrDeclaration).(bool)
	switch cc, _ := t.Entry.Val(dwarf.AttrCalling).(int64); {
	case cc == passByReference:
		t.ByRef = ByReference
	case cc == passByValue || !t.CPlusPlus:
		t.ByRef = ByValue
	}
	t.Told = t.ByRef != PassingUnknown
}

// fillArray reads the dimensions, which are child entries, and computes the size.
func (ts *Types) fillArray(t *Type) error {
	t.Kind = Array
	if v, _ := t.Entry.Val(attrGNUVector).(bool); v {
		t.Kind = Vector
	}
	err := ts.entries.Children(t.Entry, func(c *dwarf.Entry) error {
		if c.Tag == dwarf.TagSubrangeType {
			t.Dims = append(t.Dims, arrayCount(c))
		}
		return nil
	})
	if err != nil || t.Size >= 0 {
		return err
	}
	elem, err := ts.Strip(t.Elem, t.HasElem)
	if err != nil {
		return err
	}
	t.Size = ts.Size(elem)
	for _, n := range t.Dims {
		t.Size *= max(n, 0)
	}
	return nil
}

// arrayCount returns the number of elements of one dimension, or -1 when it is not constant.
func arrayCount(e *dwarf.Entry) int64 {
	if n, ok := e.Val(dwarf.AttrCount).(int64); ok {
		return n
	}
	if upper, ok := e.Val(dwarf.AttrUpperBound).(int64); ok && upper != 0xffffffff {
		return upper + 1
	}
	return -1
}

// fillEnum sets whether an enumeration is signed: its underlying type is, or without one, any value is negative.
func (ts *Types) fillEnum(t *Type) error {
	t.Kind = Enum
	if t.HasElem {
		elem, err := ts.Strip(t.Elem, true)
		if err != nil {
			return err
		}
		t.Signed = elem.Signed
		return nil
	}
	return ts.entries.Children(t.Entry, func(c *dwarf.Entry) error {
		if v, ok := c.Val(dwarf.AttrConstValue).(int64); ok && v < 0 {
			t.Signed = true
		}
		return nil
	})
}

// isAlias reports whether t only names or qualifies another type.
func (t *Type) isAlias() bool {
	switch t.Tag {
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType,
		dwarf.TagPackedType, dwarf.TagSharedType, dwarf.TagImmutableType, dwarf.TagTemplateAlias:
		return true
	}
	return false
}
