package debuginfo_test

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"gotap/compile"
	"gotap/engine/image/debuginfo"
	"gotap/engine/image/debuginfo/dwarftest"
)

// craftedEntry is the address of the function in crafted files.
const craftedEntry = 0x1000

// taking is debug information of a function with the parameter a, and of the types around that.
func taking(language int64, a *dwarftest.DIE, types ...*dwarftest.DIE) *dwarftest.File {
	param := &dwarftest.DIE{Tag: dwarf.TagFormalParameter, Attrs: dwarftest.Attrs{dwarf.AttrName: "a", dwarf.AttrType: a}}
	f := &dwarftest.DIE{Tag: dwarf.TagSubprogram, Kids: []*dwarftest.DIE{param}, Attrs: dwarftest.Attrs{
		dwarf.AttrName: "f", dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64), dwarf.AttrExternal: true, dwarf.AttrType: a}}
	return dwarftest.Encode(&dwarftest.DIE{Tag: dwarf.TagCompileUnit, Kids: append(append([]*dwarftest.DIE{f}, types...), a), Attrs: dwarftest.Attrs{
		dwarf.AttrProducer: "GNU C17", dwarf.AttrLanguage: language, dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64)}})
}

// ask asks for a member of the parameter, and for all else that its type has a part in.
func ask(t *testing.T, c *dwarftest.File, path ...string) (compile.Access, error) {
	t.Helper()
	in, err := debuginfo.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	in.Params(craftedEntry)
	in.Signature(craftedEntry)
	in.ResultAccess(craftedEntry, 0)
	in.ReturnType(craftedEntry)
	in.GoArg(craftedEntry, 5)
	return in.Access(craftedEntry, append([]string{"a"}, path...))
}

// typ is a type that refers to another.
func typ(tag dwarf.Tag, of *dwarftest.DIE) *dwarftest.DIE {
	return &dwarftest.DIE{Tag: tag, Attrs: dwarftest.Attrs{dwarf.AttrType: of}}
}

// structure is a type of so many bytes with members of one type, at its start.
func structure(size int64, names ...string) *dwarftest.DIE {
	d := &dwarftest.DIE{Tag: dwarf.TagStructType, Attrs: dwarftest.Attrs{dwarf.AttrName: "s", dwarf.AttrByteSize: size}}
	for _, name := range names {
		m := &dwarftest.DIE{Tag: dwarf.TagMember, Attrs: dwarftest.Attrs{dwarf.AttrDataMemberLoc: int64(0)}}
		if name != "" {
			m.Attrs[dwarf.AttrName] = name
		}
		d.Kids = append(d.Kids, m)
	}
	return d
}

// of gives all members of a structure their type.
func of(d, member *dwarftest.DIE) *dwarftest.DIE {
	for _, m := range d.Kids {
		m.Attrs[dwarf.AttrType] = member
	}
	return d
}

// TestCraftedUnit is a check of the tests' own encoder.
func TestCraftedUnit(t *testing.T) {
	long := &dwarftest.DIE{Tag: dwarf.TagBaseType, Attrs: dwarftest.Attrs{dwarf.AttrName: "long int", dwarf.AttrByteSize: int64(8), dwarf.AttrEncoding: int64(5)}}
	a, err := ask(t, taking(dwarftest.C, of(structure(8, "x"), long), long), "x")
	if err != nil || a.Reg != "rdi" || a.Ctype != "long" {
		t.Errorf("the access is %+v, %v", a, err)
	}
}

// TestTypesOfThemselves asks for types that are made of themselves: an answer without end would take the tracer with
// it.
func TestTypesOfThemselves(t *testing.T) {
	array, enum, ref := &dwarftest.DIE{Tag: dwarf.TagArrayType}, &dwarftest.DIE{Tag: dwarf.TagEnumerationType}, &dwarftest.DIE{Tag: dwarf.TagReferenceType}
	for _, d := range []*dwarftest.DIE{array, enum, ref} {
		d.Attrs = dwarftest.Attrs{dwarf.AttrType: d}
	}
	first, second := structure(8), structure(8)
	first.Attrs[dwarf.AttrSignature], second.Attrs[dwarf.AttrSignature] = second, first
	for name, c := range map[string]*dwarftest.File{
		"array":              taking(dwarftest.C, array),
		"array of arrays":    taking(dwarftest.C, typ(dwarf.TagArrayType, array), array),
		"enumeration":        taking(dwarftest.C, enum),
		"reference":          taking(dwarftest.C, ref),
		"pair of type units": taking(dwarftest.C, first, second),
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
	one := &dwarftest.DIE{Tag: dwarf.TagArrayType, Attrs: dwarftest.Attrs{dwarf.AttrByteSize: int64(8)}}
	other := &dwarftest.DIE{Tag: dwarf.TagArrayType, Attrs: dwarftest.Attrs{dwarf.AttrByteSize: int64(8), dwarf.AttrType: one}}
	one.Attrs[dwarf.AttrType] = other
	if a, err := ask(t, taking(dwarftest.CPlusPlus, of(structure(8, "x"), one), one, other), "y"); err == nil {
		t.Errorf("a member that is not there is at %+v", a)
	}
}

// TestManyWaysToOneMember has ten members without a name in each of sixteen structures: what is below the last can be
// reached in ten to the sixteenth ways.
func TestManyWaysToOneMember(t *testing.T) {
	all := []*dwarftest.DIE{of(structure(8, "x"), &dwarftest.DIE{Tag: dwarf.TagBaseType})}
	for range 15 {
		all = append(all, of(structure(8, "", "", "", "", "", "", "", "", "", ""), all[len(all)-1]))
	}
	for _, language := range []int64{dwarftest.C, dwarftest.CPlusPlus, dwarftest.Go} {
		if a, err := ask(t, taking(language, all[len(all)-1], all[:len(all)-1]...), "y"); err == nil {
			t.Errorf("a member that is not there is at %+v", a)
		}
	}
}

// TestFunctionTypesInACircle has pointers to functions that take such pointers.
func TestFunctionTypesInACircle(t *testing.T) {
	fn := &dwarftest.DIE{Tag: dwarf.TagSubroutineType}
	ptr := typ(dwarf.TagPointerType, fn)
	for range 10 {
		fn.Kids = append(fn.Kids, typ(dwarf.TagFormalParameter, ptr))
	}
	ask(t, taking(dwarftest.C, ptr, fn))
}

// TestHugeParts has parts that are larger than the whole by any measure.
func TestHugeParts(t *testing.T) {
	const huge = math.MaxInt64 / 2
	number := func(size int64) *dwarftest.DIE {
		return &dwarftest.DIE{Tag: dwarf.TagBaseType, Attrs: dwarftest.Attrs{dwarf.AttrByteSize: size, dwarf.AttrEncoding: int64(5)}}
	}
	empty := structure(1)
	array := typ(dwarf.TagArrayType, empty)
	array.Attrs[dwarf.AttrByteSize] = int64(huge)
	for name, d := range map[string]*dwarftest.DIE{"number": number(huge), "array": array} {
		for _, language := range []int64{dwarftest.C, dwarftest.Go} {
			if a, err := ask(t, taking(language, of(structure(16, "x"), d), d, empty), "y"); err == nil {
				t.Errorf("%s: a member that is not there is at %+v", name, a)
			}
			ask(t, taking(language, d, empty))
		}
	}
	field := of(structure(8, "x"), number(8))
	field.Kids[0].Attrs[dwarf.AttrBitSize] = int64(math.MaxInt64)
	if a, err := ask(t, taking(dwarftest.C, field, field.Kids[0].Attrs[dwarf.AttrType].(*dwarftest.DIE)), "x"); err == nil {
		t.Errorf("a bit-field of %d bits is at %+v", int64(math.MaxInt64), a)
	}
}

// TestFrameBaseOfItself has a frame base that is computed from the frame base.
func TestFrameBaseOfItself(t *testing.T) {
	const nop, fbreg = 0x96, 0x91
	for _, base := range [][]byte{{fbreg, 0}, {nop, fbreg, 0}} {
		local := &dwarftest.DIE{Tag: dwarf.TagVariable, Attrs: dwarftest.Attrs{dwarf.AttrName: "v", dwarf.AttrLocation: []byte{fbreg, 8}}}
		f := &dwarftest.DIE{Tag: dwarf.TagSubprogram, Kids: []*dwarftest.DIE{local}, Attrs: dwarftest.Attrs{
			dwarf.AttrName: "f", dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64), dwarf.AttrFrameBase: base}}
		c := dwarftest.Encode(&dwarftest.DIE{Tag: dwarf.TagCompileUnit, Kids: []*dwarftest.DIE{f}, Attrs: dwarftest.Attrs{
			dwarf.AttrLanguage: dwarftest.C, dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64)}})
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
	f := &dwarftest.DIE{Tag: dwarf.TagSubprogram, Attrs: dwarftest.Attrs{
		dwarf.AttrName: "f", dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64)}}
	c := dwarftest.Encode(&dwarftest.DIE{Tag: dwarf.TagCompileUnit, Kids: []*dwarftest.DIE{f}, Attrs: dwarftest.Attrs{
		dwarf.AttrLanguage: dwarftest.C, dwarf.AttrLowpc: uint64(craftedEntry), dwarf.AttrHighpc: int64(64), dwarf.AttrStmtList: dwarftest.Offset(0)}})
	// The header of DWARF 4, 6.2.4, with empty lists of directories and files, and a program of 6.2.5: an address, a
	// row, the end.
	header := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0}
	program := append(binary.LittleEndian.AppendUint64([]byte{0, 9, 2}, craftedEntry), 1, 2, 64, 0, 1, 1)
	c.Line = binary.LittleEndian.AppendUint32(nil, uint32(6+len(header)+len(program)))
	c.Line = binary.LittleEndian.AppendUint32(append(c.Line, 4, 0), uint32(len(header)))
	c.Line = append(append(c.Line, header...), program...)
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
	long := &dwarftest.DIE{Tag: dwarf.TagBaseType, Attrs: dwarftest.Attrs{dwarf.AttrName: "long int", dwarf.AttrByteSize: int64(8), dwarf.AttrEncoding: int64(5)}}
	for _, language := range []int64{dwarftest.C, dwarftest.CPlusPlus, dwarftest.Go} {
		for _, a := range []*dwarftest.DIE{of(structure(8, "x"), long), typ(dwarf.TagArrayType, long), typ(dwarf.TagPointerType, long), typ(dwarf.TagReferenceType, long)} {
			c := taking(language, a, long)
			f.Add(c.Info, c.Abbrev, c.Line)
		}
	}
	f.Fuzz(func(t *testing.T, info, abbrev, line []byte) {
		c := &dwarftest.File{Info: info, Abbrev: abbrev, Line: line}
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
