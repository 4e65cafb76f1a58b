package debuginfo_test

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"gotap/compile"
	"gotap/engine/debuginfo"
)

// die is an entry of debug information in the making. Values are written by their Go type: a text, an address (uint64), a number of
// eight bytes (int64), another entry, an expression ([]byte), a place in another section, a flag.
type die struct {
	tag   dwarf.Tag
	attrs map[dwarf.Attr]any
	kids  []*die

	at uint32 // offset in .debug_info, known after the first of two encodings
}

// crafted is a file that holds what no compiler writes, and whoever made a program may.
type crafted struct{ info, abbrev, line []byte }

func (c *crafted) Machine() elf.Machine { return elf.EM_X86_64 }

func (c *crafted) Section(name string) ([]byte, uint64, error) {
	return map[string][]byte{".debug_info": c.info, ".debug_abbrev": c.abbrev, ".debug_line": c.line}[name], 0, nil
}

// craft encodes a unit of DWARF 4, with an abbreviation for each entry.
func craft(root *die) *crafted {
	var c crafted
	for range 2 { // references may lead forwards
		c = crafted{info: []byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8}}
		c.add(root, new(uint64))
		c.abbrev = append(c.abbrev, 0)
		binary.LittleEndian.PutUint32(c.info, uint32(len(c.info)-4))
	}
	return &c
}

func (c *crafted) add(d *die, codes *uint64) {
	*codes++
	d.at = uint32(len(c.info))
	c.info = binary.AppendUvarint(c.info, *codes)
	c.abbrev = binary.AppendUvarint(binary.AppendUvarint(c.abbrev, *codes), uint64(d.tag))
	hasKids := byte(0)
	if len(d.kids) > 0 {
		hasKids = 1
	}
	c.abbrev = append(c.abbrev, hasKids)
	for attr, v := range d.attrs {
		c.abbrev = append(binary.AppendUvarint(c.abbrev, uint64(attr)), c.value(v))
	}
	c.abbrev = append(c.abbrev, 0, 0)
	for _, kid := range d.kids {
		c.add(kid, codes)
	}
	if len(d.kids) > 0 {
		c.info = append(c.info, 0)
	}
}

// offset is a place in another section.
type offset uint32

// value writes a value and returns its form (DWARF 4, 7.5.4).
func (c *crafted) value(v any) (form byte) {
	switch v := v.(type) {
	case string:
		c.info = append(append(c.info, v...), 0)
		return 0x08
	case offset:
		c.info = binary.LittleEndian.AppendUint32(c.info, uint32(v))
		return 0x17
	case uint64:
		c.info = binary.LittleEndian.AppendUint64(c.info, v)
		return 0x01
	case int64:
		c.info = binary.LittleEndian.AppendUint64(c.info, uint64(v))
		return 0x07
	case *die:
		c.info = binary.LittleEndian.AppendUint32(c.info, v.at)
		return 0x13
	case []byte:
		c.info = append(binary.AppendUvarint(c.info, uint64(len(v))), v...)
		return 0x18
	}
	return 0x19 // a flag that is present
}

const (
	craftedEntry = 0x1000
	languageC    = int64(0x0c)
	languageCPP  = int64(0x04)
	languageGo   = int64(0x16)
)

type attrs = map[dwarf.Attr]any

// taking is debug information of a function with the parameter a, and of the types around that.
func taking(language int64, a *die, types ...*die) *crafted {
	param := &die{tag: dwarf.TagFormalParameter, attrs: attrs{dwarf.AttrName: "a", dwarf.AttrType: a}}
	f := &die{tag: dwarf.TagSubprogram, kids: []*die{param}, attrs: attrs{
		dwarf.AttrName: "f", dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64), dwarf.AttrExternal: true, dwarf.AttrType: a}}
	return craft(&die{tag: dwarf.TagCompileUnit, kids: append(append([]*die{f}, types...), a), attrs: attrs{
		dwarf.AttrLanguage: language, dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64)}})
}

// ask asks for a member of the parameter, and for all else that its type has a part in.
func ask(t *testing.T, c *crafted, path ...string) (compile.Access, error) {
	t.Helper()
	in, err := debuginfo.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	in.Params(craftedEntry)
	in.Signature(craftedEntry)
	in.ReturnAccess(craftedEntry)
	in.ReturnType(craftedEntry)
	in.GoArg(craftedEntry, 5)
	return in.Access(craftedEntry, append([]string{"a"}, path...))
}

// typ is a type that refers to another.
func typ(tag dwarf.Tag, of *die) *die {
	return &die{tag: tag, attrs: attrs{dwarf.AttrType: of}}
}

// structure is a type of so many bytes with members of one type, at its start.
func structure(size int64, names ...string) *die {
	d := &die{tag: dwarf.TagStructType, attrs: attrs{dwarf.AttrName: "s", dwarf.AttrByteSize: size}}
	for _, name := range names {
		m := &die{tag: dwarf.TagMember, attrs: attrs{dwarf.AttrDataMemberLoc: int64(0)}}
		if name != "" {
			m.attrs[dwarf.AttrName] = name
		}
		d.kids = append(d.kids, m)
	}
	return d
}

// of gives all members of a structure their type.
func (d *die) of(member *die) *die {
	for _, m := range d.kids {
		m.attrs[dwarf.AttrType] = member
	}
	return d
}

// TestCraftedUnit is a check of the tests' own encoder.
func TestCraftedUnit(t *testing.T) {
	long := &die{tag: dwarf.TagBaseType, attrs: attrs{dwarf.AttrName: "long int", dwarf.AttrByteSize: int64(8), dwarf.AttrEncoding: int64(5)}}
	a, err := ask(t, taking(languageC, structure(8, "x").of(long), long), "x")
	if err != nil || a.Reg != "rdi" || a.Ctype != "long" {
		t.Errorf("the access is %+v, %v", a, err)
	}
}

// TestTypesOfThemselves asks for types that are made of themselves: an answer without end would take the tracer with it.
func TestTypesOfThemselves(t *testing.T) {
	array, enum, ref := &die{tag: dwarf.TagArrayType}, &die{tag: dwarf.TagEnumerationType}, &die{tag: dwarf.TagReferenceType}
	for _, d := range []*die{array, enum, ref} {
		d.attrs = attrs{dwarf.AttrType: d}
	}
	first, second := structure(8), structure(8)
	first.attrs[dwarf.AttrSignature], second.attrs[dwarf.AttrSignature] = second, first
	for name, c := range map[string]*crafted{
		"array":              taking(languageC, array),
		"array of arrays":    taking(languageC, typ(dwarf.TagArrayType, array), array),
		"enumeration":        taking(languageC, enum),
		"reference":          taking(languageC, ref),
		"pair of type units": taking(languageC, first, second),
	} {
		for _, path := range []string{"x", "0"} {
			if a, err := ask(t, c, path); err == nil {
				t.Errorf("%s: %s of it is %+v", name, path, a)
			}
		}
	}
}

// TestArraysInACircle has arrays of known size, so that finding it does not show that they are made of each other.
func TestArraysInACircle(t *testing.T) {
	one := &die{tag: dwarf.TagArrayType, attrs: attrs{dwarf.AttrByteSize: int64(8)}}
	other := &die{tag: dwarf.TagArrayType, attrs: attrs{dwarf.AttrByteSize: int64(8), dwarf.AttrType: one}}
	one.attrs[dwarf.AttrType] = other
	if a, err := ask(t, taking(languageCPP, structure(8, "x").of(one), one, other), "y"); err == nil {
		t.Errorf("a member that is not there is at %+v", a)
	}
}

// TestManyWaysToOneMember has ten members without a name in each of sixteen structures: what is below the last can be reached in
// ten to the sixteenth ways.
func TestManyWaysToOneMember(t *testing.T) {
	all := []*die{structure(8, "x").of(&die{tag: dwarf.TagBaseType})}
	for range 15 {
		all = append(all, structure(8, "", "", "", "", "", "", "", "", "", "").of(all[len(all)-1]))
	}
	for _, language := range []int64{languageC, languageCPP, languageGo} {
		if a, err := ask(t, taking(language, all[len(all)-1], all[:len(all)-1]...), "y"); err == nil {
			t.Errorf("a member that is not there is at %+v", a)
		}
	}
}

// TestFunctionTypesInACircle has pointers to functions that take such pointers.
func TestFunctionTypesInACircle(t *testing.T) {
	fn := &die{tag: dwarf.TagSubroutineType}
	ptr := typ(dwarf.TagPointerType, fn)
	for range 10 {
		fn.kids = append(fn.kids, typ(dwarf.TagFormalParameter, ptr))
	}
	ask(t, taking(languageC, ptr, fn))
}

// TestHugeParts has parts that are larger than the whole by any measure.
func TestHugeParts(t *testing.T) {
	const huge = math.MaxInt64 / 2
	number := func(size int64) *die {
		return &die{tag: dwarf.TagBaseType, attrs: attrs{dwarf.AttrByteSize: size, dwarf.AttrEncoding: int64(5)}}
	}
	empty := structure(1)
	array := typ(dwarf.TagArrayType, empty)
	array.attrs[dwarf.AttrByteSize] = int64(huge)
	for name, d := range map[string]*die{"number": number(huge), "array": array} {
		for _, language := range []int64{languageC, languageGo} {
			if a, err := ask(t, taking(language, structure(16, "x").of(d), d, empty), "y"); err == nil {
				t.Errorf("%s: a member that is not there is at %+v", name, a)
			}
			ask(t, taking(language, d, empty))
		}
	}
	field := structure(8, "x").of(number(8))
	field.kids[0].attrs[dwarf.AttrBitSize] = int64(math.MaxInt64)
	if a, err := ask(t, taking(languageC, field, field.kids[0].attrs[dwarf.AttrType].(*die)), "x"); err == nil {
		t.Errorf("a bit-field of %d bits is at %+v", int64(math.MaxInt64), a)
	}
}

// TestFrameBaseOfItself has a frame base that is computed from the frame base.
func TestFrameBaseOfItself(t *testing.T) {
	const nop, fbreg = 0x96, 0x91
	for _, base := range [][]byte{{fbreg, 0}, {nop, fbreg, 0}} {
		local := &die{tag: dwarf.TagVariable, attrs: attrs{dwarf.AttrName: "v", dwarf.AttrLocation: []byte{fbreg, 8}}}
		f := &die{tag: dwarf.TagSubprogram, kids: []*die{local}, attrs: attrs{
			dwarf.AttrName: "f", dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64), dwarf.AttrFrameBase: base}}
		c := craft(&die{tag: dwarf.TagCompileUnit, kids: []*die{f}, attrs: attrs{
			dwarf.AttrLanguage: languageC, dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64)}})
		in, err := debuginfo.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		var refused *debuginfo.AccessError
		if _, err := in.Access(craftedEntry+8, []string{"v"}); !errors.As(err, &refused) {
			t.Errorf("frame base % x: the error is %v", base, err)
		}
	}
}

// TestLinesOfNoFile has a line table without files: the lines are still known, and so is the function.
func TestLinesOfNoFile(t *testing.T) {
	f := &die{tag: dwarf.TagSubprogram, attrs: attrs{
		dwarf.AttrName: "f", dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64)}}
	c := craft(&die{tag: dwarf.TagCompileUnit, kids: []*die{f}, attrs: attrs{
		dwarf.AttrLanguage: languageC, dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64), dwarf.AttrStmtList: offset(0)}})
	// The header of DWARF 4, 6.2.4, with empty lists of directories and files, and a program of 6.2.5: an address, a row, the end.
	header := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0}
	program := append(binary.LittleEndian.AppendUint64([]byte{0, 9, 2}, craftedEntry), 1, 2, 64, 0, 1, 1)
	c.line = binary.LittleEndian.AppendUint32(nil, uint32(6+len(header)+len(program)))
	c.line = binary.LittleEndian.AppendUint32(append(c.line, 4, 0), uint32(len(header)))
	c.line = append(append(c.line, header...), program...)
	in, err := debuginfo.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := in.FramesAt(craftedEntry + 4)
	if err != nil || len(frames) != 1 || frames[0] != (debuginfo.Frame{Func: "f", Line: 1}) {
		t.Errorf("the frames are %+v, %v", frames, err)
	}
}

// FuzzInfo asks everything of what may be in the sections: any answer will do, if there is one.
func FuzzInfo(f *testing.F) {
	long := &die{tag: dwarf.TagBaseType, attrs: attrs{dwarf.AttrName: "long int", dwarf.AttrByteSize: int64(8), dwarf.AttrEncoding: int64(5)}}
	for _, language := range []int64{languageC, languageCPP, languageGo} {
		for _, a := range []*die{structure(8, "x").of(long), typ(dwarf.TagArrayType, long), typ(dwarf.TagPointerType, long), typ(dwarf.TagReferenceType, long)} {
			c := taking(language, a, long)
			f.Add(c.info, c.abbrev, c.line)
		}
	}
	f.Fuzz(func(t *testing.T, info, abbrev, line []byte) {
		c := &crafted{info, abbrev, line}
		for _, step := range []string{"x", "0"} {
			ask(t, c, step)
		}
		in, err := debuginfo.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		in.FramesAt(craftedEntry + 1)
		in.AddrsOf("a.c", 1)
	})
}
