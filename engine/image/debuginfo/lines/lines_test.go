package lines

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"gotap/engine/image/debuginfo/dwarftest"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
)

// program is a line table of version 4 for src/a.c: line 1 at 0x1000, line 3 at 0x1004 and 0x100c, line 4 at 0x1008,
// and the end at 0x1010.
func program() []byte {
	header := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 's', 'r', 'c', 0, 0, 'a', '.', 'c', 0, 1, 0, 0, 0}
	code := binary.LittleEndian.AppendUint64([]byte{0, 9, 2}, 0x1000)
	code = append(code, 1, 2, 4, 3, 2, 1, 2, 4, 3, 1, 1, 2, 4, 3, 0x7f, 1, 2, 4, 0, 1, 1)
	table := binary.LittleEndian.AppendUint32(nil, uint32(6+len(header)+len(code)))
	table = binary.LittleEndian.AppendUint32(append(table, 4, 0), uint32(len(header)))
	return append(append(table, header...), code...)
}

func open(t *testing.T) (*Tables, *function.Index) {
	t.Helper()
	f := dwarftest.Encode(&dwarftest.DIE{Tag: dwarf.TagCompileUnit,
		Attrs: dwarftest.Attrs{dwarf.AttrLanguage: dwarftest.C, dwarf.AttrLowpc: uint64(0x1000), dwarf.AttrHighpc: int64(16),
			dwarf.AttrStmtList: dwarftest.Offset(0), dwarf.AttrCompDir: "/home"},
		Kids: []*dwarftest.DIE{{Tag: dwarf.TagSubprogram, Attrs: dwarftest.Attrs{
			dwarf.AttrName: "f", dwarf.AttrLowpc: uint64(0x1000), dwarf.AttrHighpc: int64(16)}}}})
	f.Line = program()
	rd := entry.New(f)
	if err := rd.Load(); err != nil {
		t.Fatal(err)
	}
	functions := function.New(rd)
	return New(rd, functions), functions
}

func TestAddrs(t *testing.T) {
	lt, _ := open(t)
	for _, c := range []struct {
		file string
		line int
		want []uint64
	}{
		{"a.c", 1, []uint64{0x1000}}, {"src/a.c", 4, []uint64{0x1008}}, {"/home/src/a.c", 3, []uint64{0x1004, 0x100c}},
	} {
		if got, err := lt.Addrs(c.file, c.line); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s:%d is at %#x, %v; want %#x", c.file, c.line, got, err, c.want)
		}
	}
}

func TestLinesWithoutCode(t *testing.T) {
	lt, _ := open(t)
	var without *Error
	if _, err := lt.Addrs("a.c", 2); !errors.As(err, &without) || !slices.Equal(without.Nearest, []int{1, 3, 4}) {
		t.Errorf("a line without code gives %v", err)
	}
	if _, err := lt.Addrs("b.c", 1); !errors.As(err, &without) || !slices.Equal(without.Files, []string{"a.c"}) {
		t.Errorf("an unknown file gives %v", err)
	}
}

func TestInPrologue(t *testing.T) {
	lt, functions := open(t)
	fn, err := functions.At(0x1000)
	if err != nil {
		t.Fatal(err)
	}
	for pc, want := range map[uint64]bool{0x1000: true, 0x1003: true, 0x1004: false, 0x100c: false} {
		if got := lt.InPrologue(fn, pc); got != want {
			t.Errorf("%#x in the prologue: %v", pc, got)
		}
	}
	table, err := lt.Of(fn.Unit)
	if err != nil {
		t.Fatal(err)
	}
	if row, ok := table.At(0x1009); !ok || row.Line != 4 || table.File(int64(row.File)) != "/home/src/a.c" {
		t.Errorf("0x1009 is at %+v, %v", row, ok)
	}
}

// TestSteps drops runs by the two rules, in code that is written by hand.
func TestSteps(t *testing.T) {
	f := flow{}
	code := []byte{
		0x90, 0x90, // 0: nop; nop
		0x74, 0x02, // 2: je 6
		0x90, 0x90, // 4: nop; nop
		0xeb, 0xf8, // 6: jmp 0
		0xc3, // 8: ret
	}
	if !f.decode(code, 0, 64) {
		t.Fatal("cannot decode the code")
	}
	if !f.fallsInto(1, 5) {
		t.Error("5 is not only reached through 1")
	}
	if f.fallsInto(4, 6) {
		t.Error("6 is a branch target, but only reached through 4")
	}
	runs := []run{{lo: 0, hi: 2, stop: 0}, {lo: 6, hi: 8, stop: 6}}
	if !f.jumpsTo(&runs[1], runs) || f.jumpsTo(&runs[0], runs) {
		t.Error("the second run jumps to the first, not the reverse")
	}
	if (&flow{}).decode([]byte{0xff, 0xe0}, 0, 64) { // jmp rax
		t.Error("an indirect jump is accepted")
	}
}
