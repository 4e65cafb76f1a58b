package function

import (
	"debug/dwarf"
	"errors"
	"testing"

	"gotap/engine/image/debuginfo/dwarftest"
	"gotap/engine/image/debuginfo/entry"
)

func named(tag dwarf.Tag, name string, low uint64, size int64, kids ...*dwarftest.DIE) *dwarftest.DIE {
	d := &dwarftest.DIE{Tag: tag, Kids: kids, Attrs: dwarftest.Attrs{dwarf.AttrName: name}}
	if size > 0 {
		d.Attrs[dwarf.AttrLowpc], d.Attrs[dwarf.AttrHighpc] = low, size
	}
	return d
}

// index returns the functions f, with a block and an inlined call, and g, with a function inside.
func index(t *testing.T) (*Index, *entry.Reader) {
	t.Helper()
	call := named(dwarf.TagInlinedSubroutine, "inlined", 0x1014, 8, named(dwarf.TagVariable, "w", 0, 0))
	block := named(dwarf.TagLexDwarfBlock, "", 0x1010, 16, named(dwarf.TagVariable, "v", 0, 0), call)
	f := named(dwarf.TagSubprogram, "f", 0x1000, 64, named(dwarf.TagFormalParameter, "a", 0, 0),
		&dwarftest.DIE{Tag: dwarf.TagUnspecifiedParameters}, block)
	g := named(dwarf.TagSubprogram, "g", 0x1040, 64, named(dwarf.TagSubprogram, "nested", 0x1080, 16))
	rd := entry.New(dwarftest.Encode(named(dwarf.TagCompileUnit, "a.c", 0x1000, 0x100, f, g)))
	if err := rd.Load(); err != nil {
		t.Fatal(err)
	}
	return New(rd), rd
}

func TestAt(t *testing.T) {
	ix, rd := index(t)
	for pc, want := range map[uint64]string{0x1000: "f", 0x103f: "f", 0x1040: "g", 0x1084: "nested"} {
		fn, err := ix.At(pc)
		if err != nil || rd.Name(fn.DIE) != want {
			t.Errorf("%#x is in %+v, %v; want %s", pc, fn, err, want)
		}
	}
	if fn, err := ix.At(0x10f0); !errors.Is(err, entry.ErrNone) {
		t.Errorf("code without a function is in %+v, %v", fn, err)
	}
	r, err := ix.Range(0x1084)
	if err != nil || r.Lo != 0x1080 || r.Hi != 0x1090 {
		t.Errorf("the range is %+v, %v", r, err)
	}
	if pieces := ix.Pieces(r); len(pieces) != 1 || pieces[0] != r {
		t.Errorf("its pieces are %+v", pieces)
	}
}

func TestScopes(t *testing.T) {
	ix, rd := index(t)
	fn, err := ix.At(0x1000)
	if err != nil {
		t.Fatal(err)
	}
	params, variadic, err := ix.Params(fn)
	if err != nil || !variadic || len(params) != 1 || rd.Name(params[0]) != "a" {
		t.Errorf("the parameters are %v, %v, %v", params, variadic, err)
	}
	top, err := ix.Scope(fn)
	if err != nil {
		t.Fatal(err)
	}
	for pc, want := range map[uint64]int{0x1000: 1, 0x1010: 2, 0x1014: 3, 0x101c: 2, 0x1020: 1} {
		if path := top.Path(pc); len(path) != want || path[0] != top {
			t.Errorf("%#x is in %d scopes, want %d", pc, len(path), want)
		}
	}
	if again, err := ix.Scope(fn); err != nil || again != top {
		t.Errorf("the second tree is %p, %v; the first is %p", again, err, top)
	}
}
