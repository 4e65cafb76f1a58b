package ctype

import (
	"debug/dwarf"
	"slices"
	"testing"

	"gotap/engine/image/debuginfo/dwarftest"
	"gotap/engine/image/debuginfo/entry"
)

func number(name string, size, encoding int64) *dwarftest.DIE {
	return &dwarftest.DIE{Tag: dwarf.TagBaseType, Attrs: dwarftest.Attrs{
		dwarf.AttrName: name, dwarf.AttrByteSize: size, dwarf.AttrEncoding: encoding}}
}

func member(name string, typ *dwarftest.DIE, offset int64) *dwarftest.DIE {
	d := &dwarftest.DIE{Tag: dwarf.TagMember, Attrs: dwarftest.Attrs{dwarf.AttrType: typ, dwarf.AttrDataMemberLoc: offset}}
	if name != "" {
		d.Attrs[dwarf.AttrName] = name
	}
	return d
}

func structure(name string, size int64, members ...*dwarftest.DIE) *dwarftest.DIE {
	d := &dwarftest.DIE{Tag: dwarf.TagStructType, Attrs: dwarftest.Attrs{dwarf.AttrByteSize: size}, Kids: members}
	if name != "" {
		d.Attrs[dwarf.AttrName] = name
	}
	return d
}

func ref(tag dwarf.Tag, to *dwarftest.DIE) *dwarftest.DIE {
	return &dwarftest.DIE{Tag: tag, Attrs: dwarftest.Attrs{dwarf.AttrType: to}}
}

// read encodes a unit of C with the types and returns them.
func read(t *testing.T, types ...*dwarftest.DIE) *Types {
	t.Helper()
	rd := entry.New(dwarftest.Encode(&dwarftest.DIE{Tag: dwarf.TagCompileUnit, Kids: types, Attrs: dwarftest.Attrs{
		dwarf.AttrLanguage: dwarftest.C, dwarf.AttrLowpc: uint64(0x1000), dwarf.AttrHighpc: int64(64)}}))
	if err := rd.Load(); err != nil {
		t.Fatal(err)
	}
	ts := New(rd)
	ts.Begin()
	return ts
}

func at(d *dwarftest.DIE) dwarf.Offset { return dwarf.Offset(d.Offset()) }

func TestStripAndDeclare(t *testing.T) {
	char := number("char", 1, encSignedChar)
	constant := ref(dwarf.TagConstType, char)
	pointer := ref(dwarf.TagPointerType, constant)
	text := ref(dwarf.TagTypedef, pointer)
	text.Attrs[dwarf.AttrName] = "text"
	ts := read(t, char, constant, pointer, text)
	p, err := ts.Strip(at(text), true)
	if err != nil || p.Kind != Pointer || ts.Size(p) != 8 {
		t.Fatalf("the typedef is %+v, %v", p, err)
	}
	c, err := ts.Strip(p.Elem, p.HasElem)
	if err != nil || c.Kind != Int || !c.Signed || ts.TextUnit(p.Elem, p.HasElem) != 1 {
		t.Errorf("its target is %+v, %v", c, err)
	}
	for d, want := range map[*dwarftest.DIE]string{text: "text s", pointer: "const char *s", char: "char s"} {
		if got := ts.Declare(at(d), true, "s", 0); got != want {
			t.Errorf("the declaration is %q, want %q", got, want)
		}
	}
	if none, err := ts.Strip(0, false); err != nil || none != None {
		t.Errorf("void is %+v, %v", none, err)
	}
}

// TestTextUnits: of integers, those are text that the source calls so.
func TestTextUnits(t *testing.T) {
	char, bytes := number("char", 1, encSignedChar), number("unsigned char", 1, encUnsignedChar)
	word, wide, rust := number("int", 4, encSigned), number("wchar_t", 4, encSigned), number("char", 4, encUTF)
	alias := ref(dwarf.TagTypedef, word)
	alias.Attrs[dwarf.AttrName] = "wchar_t"
	short := ref(dwarf.TagTypedef, number("unsigned short", 2, encUnsigned))
	short.Attrs[dwarf.AttrName] = "char16_t"
	constant := ref(dwarf.TagConstType, alias)
	odd := ref(dwarf.TagTypedef, char)
	odd.Attrs[dwarf.AttrName] = "uint8_t"
	none := ref(dwarf.TagTypedef, ref(dwarf.TagPointerType, char))
	none.Attrs[dwarf.AttrName] = "wchar_t"
	utf8 := number("char8_t", 1, encUTF)
	ts := read(t, char, bytes, word, wide, rust, alias, short.Attrs[dwarf.AttrType].(*dwarftest.DIE), short, constant, odd,
		none.Attrs[dwarf.AttrType].(*dwarftest.DIE), none, utf8)
	for d, want := range map[*dwarftest.DIE]int{char: 1, bytes: 0, word: 0, wide: 4, rust: 0, alias: 4, short: 2, constant: 4, odd: 1, none: 0, utf8: 1} {
		if got := ts.TextUnit(at(d), true); got != want {
			t.Errorf("units of %v have %d bytes, not %d", d.Attrs[dwarf.AttrName], got, want)
		}
	}
	if got := ts.TextUnit(0, false); got != 0 {
		t.Errorf("units of void have %d bytes", got)
	}
}

func TestMembers(t *testing.T) {
	long := number("long", 8, encSigned)
	inner := structure("", 16, member("x", long, 0), member("y", long, 8))
	bits := member("flags", long, 24)
	bits.Attrs[dwarf.AttrBitSize], bits.Attrs[dwarf.AttrDataBitOffset] = int64(3), int64(5)
	outer := structure("outer", 32, member("id", long, 0), member("", inner, 8), bits)
	ts := read(t, long, inner, outer)
	o, err := ts.At(at(outer))
	if err != nil {
		t.Fatal(err)
	}
	if names := ts.MemberNames(o); !slices.Equal(names, []string{"id", "x", "y", "flags"}) {
		t.Errorf("the members are %q", names)
	}
	if m, ok, err := ts.FindMember(o, "y"); !ok || err != nil || m.Offset != 16 {
		t.Errorf("y is %+v, %v, %v", m, ok, err)
	}
	if m, ok, err := ts.FindMember(o, "flags"); !ok || err != nil || m.Bits != 3 || m.Bit != 24*8+5 {
		t.Errorf("flags is %+v, %v, %v", m, ok, err)
	}
	if m, ok, err := ts.FindMember(o, "z"); ok || err != nil {
		t.Errorf("z is %+v, %v", m, err)
	}
	if name := ts.Name(o); name != "struct outer" {
		t.Errorf("the struct is named %q", name)
	}
}

// TestDeclaredTypesAreDefined strips a declaration whose definition is elsewhere in the file.
func TestDeclaredTypesAreDefined(t *testing.T) {
	declared := &dwarftest.DIE{Tag: dwarf.TagStructType, Attrs: dwarftest.Attrs{dwarf.AttrName: "node", dwarf.AttrDeclaration: true}}
	unknown := &dwarftest.DIE{Tag: dwarf.TagStructType, Attrs: dwarftest.Attrs{dwarf.AttrName: "other", dwarf.AttrDeclaration: true}}
	long := number("long", 8, encSigned)
	defined := structure("node", 8, member("next", long, 0))
	ts := read(t, declared, unknown, long, defined)
	if node, err := ts.Strip(at(declared), true); err != nil || node.Declared || node.Size != 8 {
		t.Errorf("the definition is %+v, %v", node, err)
	}
	if other, err := ts.Strip(at(unknown), true); err != nil || !other.Declared {
		t.Errorf("the type without a definition is %+v, %v", other, err)
	}
}

func TestCyclesAreErrors(t *testing.T) {
	one := &dwarftest.DIE{Tag: dwarf.TagTypedef}
	other := ref(dwarf.TagTypedef, one)
	one.Attrs = dwarftest.Attrs{dwarf.AttrType: other}
	array := &dwarftest.DIE{Tag: dwarf.TagArrayType}
	array.Attrs = dwarftest.Attrs{dwarf.AttrType: array}
	ts := read(t, one, other, array)
	for _, d := range []*dwarftest.DIE{one, array} {
		if got, err := ts.Strip(at(d), true); err == nil {
			t.Errorf("a type that refers to itself is %+v", got)
		}
	}
}
