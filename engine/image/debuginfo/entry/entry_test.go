package entry

import (
	"debug/dwarf"
	"errors"
	"math"
	"slices"
	"testing"

	"gotap/engine/image/debuginfo/dwarftest"
)

// example has a function in a class in a namespace, which is declared in the class and defined outside.
func example(t *testing.T) (rd *Reader, definition *dwarf.Entry) {
	t.Helper()
	area := &dwarftest.DIE{Tag: dwarf.TagSubprogram, Attrs: dwarftest.Attrs{dwarf.AttrName: "area"}}
	square := &dwarftest.DIE{Tag: dwarf.TagClassType, Attrs: dwarftest.Attrs{dwarf.AttrName: "Square"}, Kids: []*dwarftest.DIE{area}}
	geo := &dwarftest.DIE{Tag: dwarf.TagNamespace, Attrs: dwarftest.Attrs{dwarf.AttrName: "geo"}, Kids: []*dwarftest.DIE{square}}
	body := &dwarftest.DIE{Tag: dwarf.TagSubprogram, Attrs: dwarftest.Attrs{
		dwarf.AttrSpecification: area, dwarf.AttrLowpc: uint64(0x1000), dwarf.AttrHighpc: int64(16)}}
	rd = New(dwarftest.Encode(&dwarftest.DIE{Tag: dwarf.TagCompileUnit, Kids: []*dwarftest.DIE{geo, body}, Attrs: dwarftest.Attrs{
		dwarf.AttrLanguage: dwarftest.CPlusPlus, dwarf.AttrLowpc: uint64(0x1000), dwarf.AttrHighpc: int64(64)}}))
	if err := rd.Load(); err != nil {
		t.Fatal(err)
	}
	u, err := rd.UnitAt(0x1004)
	if err != nil {
		t.Fatal(err)
	}
	if err := rd.TopLevel(u, func(e *dwarf.Entry) bool {
		if e.Tag == dwarf.TagSubprogram {
			definition = e
		}
		return false
	}); err != nil {
		t.Fatal(err)
	}
	if definition == nil {
		t.Fatal("the function is not at the top level")
	}
	return rd, definition
}

func TestNamesAreQualified(t *testing.T) {
	rd, e := example(t)
	if got := rd.QualifiedName(e); got != "geo::Square::area" {
		t.Errorf("the name is %q", got)
	}
	if got := rd.Name(e); got != "area" {
		t.Errorf("the name without scopes is %q", got)
	}
	if u := rd.UnitOf(e.Offset); u == nil || u.Language() != dwarftest.CPlusPlus {
		t.Errorf("the unit of the entry is %+v", u)
	}
}

func TestUnitAt(t *testing.T) {
	rd, _ := example(t)
	for _, pc := range []uint64{0, 0xfff, 0x1040, math.MaxUint64} {
		if u, err := rd.UnitAt(pc); !errors.Is(err, ErrNone) {
			t.Errorf("%#x is in unit %+v, %v", pc, u, err)
		}
	}
}

func TestChildren(t *testing.T) {
	rd, _ := example(t)
	var tags []dwarf.Tag
	visit := func(e *dwarf.Entry) error {
		tags = append(tags, e.Tag)
		_, err := rd.At(0x0b) // moves the reader
		return err
	}
	if err := rd.Children(rd.Units()[0].Entry, visit); err != nil || !slices.Equal(tags, []dwarf.Tag{dwarf.TagNamespace, dwarf.TagSubprogram}) {
		t.Errorf("the children are %v, %v", tags, err)
	}
}

// TestCyclesEnd looks for an attribute along references that form a cycle.
func TestCyclesEnd(t *testing.T) {
	one := &dwarftest.DIE{Tag: dwarf.TagSubprogram}
	other := &dwarftest.DIE{Tag: dwarf.TagSubprogram, Attrs: dwarftest.Attrs{dwarf.AttrSpecification: one}}
	one.Attrs = dwarftest.Attrs{dwarf.AttrAbstractOrigin: other}
	rd := New(dwarftest.Encode(&dwarftest.DIE{Tag: dwarf.TagCompileUnit, Kids: []*dwarftest.DIE{one, other}, Attrs: dwarftest.Attrs{
		dwarf.AttrLanguage: dwarftest.C, dwarf.AttrLowpc: uint64(0x1000), dwarf.AttrHighpc: int64(64)}}))
	if err := rd.Load(); err != nil {
		t.Fatal(err)
	}
	e, err := rd.At(dwarf.Offset(one.Offset()))
	if err != nil {
		t.Fatal(err)
	}
	if f, _, err := rd.Attr(e, dwarf.AttrName); f != nil || err != nil {
		t.Errorf("the name is %v, %v", f, err)
	}
}

func TestWithoutSections(t *testing.T) {
	rd := New(&dwarftest.File{})
	if rd.Has() || !errors.Is(rd.Load(), ErrNone) {
		t.Errorf("an empty file has debug information: %v", rd.Load())
	}
}
