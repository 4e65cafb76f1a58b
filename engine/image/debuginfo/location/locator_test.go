package location

import (
	"debug/dwarf"
	"errors"
	"reflect"
	"testing"

	"gotap/compile"
	"gotap/engine/image/debuginfo/dwarftest"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
)

// finder returns the values of a function f, whose frame base is rbp + 16.
func finder(t *testing.T) (*Finder, *function.Function) {
	t.Helper()
	rd := entry.New(dwarftest.Encode(&dwarftest.DIE{Tag: dwarf.TagCompileUnit,
		Attrs: dwarftest.Attrs{dwarf.AttrLanguage: dwarftest.C, dwarf.AttrLowpc: uint64(0x1000), dwarf.AttrHighpc: int64(64)},
		Kids: []*dwarftest.DIE{{Tag: dwarf.TagSubprogram, Attrs: dwarftest.Attrs{
			dwarf.AttrName: "f", dwarf.AttrLowpc: uint64(0x1000), dwarf.AttrHighpc: int64(64), dwarf.AttrFrameBase: []byte{0x76, 16}}}}}))
	fn, err := function.New(rd).At(0x1000)
	if err != nil {
		t.Fatal(err)
	}
	return New(rd), fn
}

func TestLocate(t *testing.T) {
	fd, fn := finder(t)
	for name, c := range map[string]struct {
		expr []byte
		want Place
	}{
		"register":         {[]byte{0x55}, InRegister("rdi")},
		"frame base":       {[]byte{0x91, 8}, Place{Base: compile.BaseRegOffset, Reg: "rbp", Value: 24, Memory: true}},
		"frame address":    {[]byte{0x9c, 0x23, 4}, Place{Base: compile.BaseFrame, Value: 4, Memory: true}},
		"static":           {[]byte{0x03, 0, 0x20, 0, 0, 0, 0, 0, 0}, Place{Base: compile.BaseAddr, Value: 0x2000, Memory: true}},
		"value":            {[]byte{0x09, 0xfb, 0x9f}, Constant(-5)},
		"implicit":         {[]byte{0x9e, 2, 1, 2}, Constant(0x201)},
		"loaded":           {[]byte{0x75, 0, 0x06, 0x23, 8}, InRegister("rdi").Load(8, false, false).Add(8).memory()},
		"entry value":      {[]byte{0xa3, 1, 0x54, 0x9f}, InRegister("rsi")},
		"minus a constant": {[]byte{0x75, 0, 0x38, 0x1c}, InRegister("rdi").Add(-8).memory()},
		"pieces":           {[]byte{0x55, 0x93, 8, 0x93, 4}, Place{Pieces: []Piece{{Size: 8, Place: InRegister("rdi")}, {Size: 4, Absent: true}}}},
	} {
		if got, err := fd.Locate(fn, fn.Low, c.expr); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: the place is %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

// memory marks a place as an address.
func (p Place) memory() Place {
	p.Memory = true
	return p
}

func TestRefusedExpressions(t *testing.T) {
	fd, fn := finder(t)
	for name, c := range map[string]struct {
		pc   uint64
		expr []byte
		want error
	}{
		"empty":                      {fn.Low, nil, ErrNowhere},
		"two registers":              {fn.Low, []byte{0x75, 0, 0x74, 0, 0x22}, errComplex},
		"more pops than pushes":      {fn.Low, []byte{0x22}, errComplex},
		"entry value after entry":    {fn.Low + 8, []byte{0xa3, 1, 0x54, 0x9f}, ErrEntryOnly},
		"optimised-out pointer":      {fn.Low, []byte{0xf2, 0, 0, 0, 0, 0}, ErrPointee},
		"longer than any compiler's": {fn.Low, make([]byte, maxExpr+1), errComplex},
	} {
		if got, err := fd.Locate(fn, c.pc, c.expr); !errors.Is(err, c.want) {
			t.Errorf("%s: the place is %+v, %v; want %v", name, got, err, c.want)
		}
	}
}

// TestOldLists searches a list of .debug_loc with a base, two ranges and an end.
func TestOldLists(t *testing.T) {
	u := &entry.Unit{Version: 4, Addr: 4, Low: 0x1000}
	list := []byte{
		0, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0x55, // up to 0x1008
		0xff, 0xff, 0xff, 0xff, 0, 0x20, 0, 0, // base 0x2000
		4, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0x54,
		0, 0, 0, 0, 0, 0, 0, 0,
	}
	for pc, want := range map[uint64][]byte{0x1000: {0x55}, 0x1007: {0x55}, 0x2004: {0x54}, 0x1008: nil, 0x2000: nil} {
		expr, err := findInOldList(u, &entry.Cursor{Data: list}, pc)
		if !reflect.DeepEqual(expr, want) || (want == nil) != errors.Is(err, ErrNowhere) {
			t.Errorf("%#x: the expression is % x, %v; want % x", pc, expr, err, want)
		}
	}
}
