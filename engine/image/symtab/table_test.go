package symtab

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// madeImage returns an image with one section of code, from 0x1000 to 0x2000, one of data, from 0x3000 to 0x4000, and a
// symbol table of a type with some symbols, whose sections are these.
func madeImage(typ elf.SectionType, syms ...madeSymbol) *Image {
	names, table := []byte{0}, make([]byte, symSize64)
	for _, s := range syms {
		table, _ = binary.Append(table, binary.LittleEndian, elf.Sym64{Name: uint32(len(names)), Info: s.info, Shndx: s.section, Value: s.addr, Size: s.size})
		names = append(append(names, s.name...), 0)
	}
	contents := map[string][]byte{"names": names, "symbols": table}
	section := func(name string, typ elf.SectionType, flags elf.SectionFlag, addr, size uint64, link uint32) *elf.Section {
		return &elf.Section{SectionHeader: elf.SectionHeader{Name: name, Type: typ, Flags: flags, Addr: addr, Size: size, Link: link}}
	}
	return &Image{Machine: elf.EM_X86_64, Bits: 64, Order: binary.LittleEndian, Sections: []*elf.Section{
		section("", elf.SHT_NULL, 0, 0, 0, 0),
		section("code", elf.SHT_PROGBITS, elf.SHF_ALLOC|elf.SHF_EXECINSTR, 0x1000, 0x1000, 0),
		section("data", elf.SHT_PROGBITS, elf.SHF_ALLOC|elf.SHF_WRITE, 0x3000, 0x1000, 0),
		section("names", elf.SHT_STRTAB, 0, 0, uint64(len(names)), 0),
		section("symbols", typ, 0, 0, uint64(len(table)), 3),
	}, Read: func(s *elf.Section) ([]byte, error) { return bytes.Clone(contents[s.Name]), nil }}
}

// madeSymbol is a symbol of a made image. Sections: 1 is code, 2 data, 0 undefined.
type madeSymbol struct {
	name       string
	addr, size uint64
	section    uint16
	info       byte
}

func function(name string, addr, size uint64) madeSymbol {
	return madeSymbol{name, addr, size, 1, elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC)}
}

// madeOrigin is a file of up to three images.
type madeOrigin struct {
	own, debug, mini *Image
	goFuncs          []Symbol
}

func (o madeOrigin) Own() *Image   { return o.own }
func (o madeOrigin) Debug() *Image { return o.debug }
func (o madeOrigin) Mini() *Image  { return o.mini }
func (o madeOrigin) GoMain() (uint64, bool) {
	if len(o.goFuncs) == 0 {
		return 0, false
	}
	return o.goFuncs[0].Addr, true
}
func (o madeOrigin) GoFuncs() []Symbol                        { return o.goFuncs }
func (o madeOrigin) TextEnd(uint64) uint64                    { return 0x2000 }
func (o madeOrigin) InPLT(uint64) bool                        { return false }
func (o madeOrigin) FrameAt(uint64) (_, _ uint64, ok bool)    { return 0, 0, false }
func (o madeOrigin) FrameAfter(uint64) (start uint64, _ bool) { return 0, false }

// addrs lists where a name or pattern leads.
func addrs(t *Table, pattern string) (found []uint64) {
	for _, m := range t.Lookup(pattern) {
		found = append(found, m.Func.Addr)
	}
	return found
}

func TestNamesOfOneAddress(t *testing.T) {
	weak := madeSymbol{"weak", 0x1100, 8, 1, elf.ST_INFO(elf.STB_WEAK, elf.STT_FUNC)}
	table := New(madeOrigin{own: madeImage(elf.SHT_SYMTAB, function("__f", 0x1100, 8), weak, function("f@@V2", 0x1100, 8),
		madeSymbol{"label", 0x1100, 0, 1, elf.ST_INFO(elf.STB_GLOBAL, elf.STT_NOTYPE)}, madeSymbol{"undefined", 0, 0, 0, elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC)},
		madeSymbol{"v", 0x3000, 4, 2, elf.ST_INFO(elf.STB_GLOBAL, elf.STT_OBJECT)})})
	funcs := table.Funcs()
	if len(funcs) != 1 || funcs[0].Name != "f" || !slices.Equal(funcs[0].Aliases, []string{"weak", "__f", "label"}) || funcs[0].Size != 8 {
		t.Errorf("functions: %+v", funcs)
	}
	for _, name := range []string{"f", "weak", "__f", "label", "w[a-z]ak"} {
		if got := addrs(table, name); !slices.Equal(got, []uint64{0x1100}) {
			t.Errorf("%s is at %x", name, got)
		}
	}
	if fn, ok := table.FuncAt(0x1107); !ok || fn != &funcs[0] {
		t.Errorf("the last byte belongs to %v", fn)
	}
	if v, ok := table.VarAt(0x3003); !ok || v.Name != "v" {
		t.Errorf("0x3003 belongs to %v", v)
	}
	if got := table.Suggest("weka"); !slices.Contains(got, "weak") {
		t.Errorf("suggested %q", got)
	}
}

// TestWhereSymbolsComeFrom: the file's own table counts, then that of the debug file, then that in .gnu_debugdata.
// Exported names and Go's own come in addition.
func TestWhereSymbolsComeFrom(t *testing.T) {
	of := func(typ elf.SectionType, name string) *Image { return madeImage(typ, function(name, 0x1000, 4)) }
	empty := madeImage(elf.SHT_SYMTAB)
	goFunc := []Symbol{{Name: "runtime.main", Addr: 0x1000}}
	for _, c := range []struct {
		origin madeOrigin
		want   string
	}{
		{madeOrigin{own: of(elf.SHT_SYMTAB, "own"), debug: of(elf.SHT_SYMTAB, "debug"), goFuncs: goFunc}, "own"},
		{madeOrigin{own: of(elf.SHT_DYNSYM, "exported"), debug: of(elf.SHT_SYMTAB, "debug")}, "debug exported"},
		{madeOrigin{own: empty, mini: of(elf.SHT_SYMTAB, "mini")}, "mini"},
		{madeOrigin{own: empty, debug: empty, mini: of(elf.SHT_SYMTAB, "mini")}, "mini"},
		{madeOrigin{own: empty, goFuncs: goFunc}, "runtime.main"},
		{madeOrigin{own: empty}, ""},
	} {
		var names []string
		for _, fn := range New(c.origin).Funcs() {
			names = append(append(names, fn.Name), fn.Aliases...)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("found %q, want %q", got, c.want)
		}
	}
	table := New(madeOrigin{own: of(elf.SHT_DYNSYM, "exported"), debug: of(elf.SHT_SYMTAB, "debug")})
	if e := table.Exports(); len(e.Lookup("debug")) > 0 || len(e.Of("exported")) != 1 || len(e.Names("*")) != 1 {
		t.Error("not exactly the function in .dynsym is exported")
	}
}

// TestSizesThatSymbolsLack: a function without a size ends where the next one starts, or the section ends.
func TestSizesThatSymbolsLack(t *testing.T) {
	table := New(madeOrigin{own: madeImage(elf.SHT_SYMTAB, function("a", 0x1000, 0), function("b", 0x1010, 0), function("a.cold", 0x1800, 16))})
	var sizes []uint64
	for _, fn := range table.Funcs() {
		sizes = append(sizes, fn.Size)
	}
	if want := []uint64{0x10, 0x7f0, 16}; !reflect.DeepEqual(sizes, want) {
		t.Errorf("sizes %#x, want %#x", sizes, want)
	}
	if got := table.WithPieces(table.Lookup("a")); len(got) != 2 || got[1].Name != "a.cold" {
		t.Errorf("a and its pieces: %v", got)
	}
	if fns := table.Funcs(); fns[0].IsEntry() || fns[2].IsEntry() {
		t.Error("an estimate or a piece is an entry")
	}
}
