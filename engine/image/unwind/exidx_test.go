package unwind

import (
	"cmp"
	"debug/elf"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// plainFile is an ELF file whose sections are not compressed.
type plainFile struct{ *elf.File }

func (f plainFile) Machine() elf.Machine { return f.File.Machine }

func (f plainFile) Section(name string) ([]byte, uint64, error) {
	s := f.File.Section(name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, 0, nil
	}
	data, err := s.Data()
	return data, s.Addr, err
}

// TestExidx compares, behind every call of a program, what .ARM.exidx says with what the compiler wrote into
// .debug_frame.
func TestExidx(t *testing.T) {
	testenv.Require(t, testenv.GCCARM)
	for _, mode := range []string{"-marm -O2", "-mthumb -O2", "-mthumb -O0", "-marm -O0", "-mthumb -O2 -fno-omit-frame-pointer"} {
		t.Run(mode, func(t *testing.T) {
			exe := filepath.Join(t.TempDir(), "program")
			cmd := fixture.Command("arm-linux-gnueabihf-gcc", slices.Concat([]string{"-g", "-funwind-tables", "-pthread"}, strings.Fields(mode), []string{"-o", exe, "../../testdata/real.c", "-ldl", "-lm"})...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("cannot build: %v\n%s", err, out)
			}
			f, err := elf.Open(exe)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			compareExidx(t, f)
		})
	}
}

func compareExidx(t *testing.T, f *elf.File) {
	table, err := New(plainFile{f})
	if err != nil {
		t.Fatal(err)
	}
	table.once.Do(table.load)
	table.debugOnce.Do(table.loadDebug)
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	checked, others := 0, 0
	sets := mapping(t, f)
	for _, s := range table.debugSpans {
		for pc := s.lo &^ 1; pc+4 < s.hi; pc += 2 {
			if pc < text.Addr || pc+4 > text.Addr+uint64(len(code)) || !isCall(sets(pc), pc, code[pc-text.Addr:]) {
				continue
			}
			e, err := table.find(pc + 3)
			if err != nil {
				continue
			}
			want, err := e.row(pc+3, table.names)
			if err != nil {
				t.Fatal(err)
			}
			got, err := table.armRow(pc + 3)
			if err != nil {
				t.Errorf("%#x: %v", pc, err)
				continue
			}
			if want.cfa.reg != got.cfa.reg {
				others++ // the same frame, told from another register
				continue
			}
			if checked++; want.cfa.off != got.cfa.off {
				t.Errorf("%#x: the frame is at %+v, want %+v", pc, got.cfa, want.cfa)
			}
			compareRules(t, pc, want.rules, got.rules)
		}
	}
	t.Logf("%d calls compared, %d with another register", checked, others)
	if checked < 20 {
		t.Errorf("only %d calls were compared", checked)
	}
}

// mapping tells what lies at an address, by the symbols that assemblers write: 'a', 't', or 'd' for data.
func mapping(t *testing.T, f *elf.File) func(pc uint64) byte {
	t.Helper()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	symbols = slices.DeleteFunc(symbols, func(s elf.Symbol) bool { return len(s.Name) < 2 || s.Name[0] != '$' })
	slices.SortStableFunc(symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return func(pc uint64) byte {
		i := sort.Search(len(symbols), func(i int) bool { return symbols[i].Value > pc }) - 1
		if i < 0 {
			return 'd'
		}
		return symbols[i].Name[1]
	}
}

// isCall reports bl and blx of either set.
func isCall(set byte, pc uint64, code []byte) bool {
	switch set {
	case 'a':
		return pc%4 == 0 && code[3] == 0xeb
	case 't':
		return code[1]&0xf8 == 0xf0 && code[3]&0xc0 == 0xc0
	}
	return false
}

// compareRules compares where registers lie that the compiler says are saved: r4 to r11 and the return address.
func compareRules(t *testing.T, pc uint64, want, got []rule) {
	t.Helper()
	at := map[uint8]int64{}
	for _, r := range got {
		at[r.target] = r.off
	}
	for _, r := range want {
		if off, ok := at[r.target]; r.target >= 4 && r.target <= armLR && (!ok || off != r.off) {
			t.Errorf("%#x: register %d is at %d, want %d", pc, r.target, off, r.off)
		}
	}
}

// stacked is a program in memory, with a stack whose words tell where they lie.
type stacked struct {
	at    uint64
	text  []byte
	words map[uint64]uint32
}

const stackTop = 0x7f000000

func (m *stacked) ReadMemory(addr uint64, p []byte) error {
	for i := range p {
		a := addr + uint64(i)
		switch {
		case a-m.at < uint64(len(m.text)):
			p[i] = m.text[a-m.at]
		case a < stackTop && a >= stackTop-1<<20:
			w, ok := m.words[a&^3]
			if !ok {
				w = uint32(a&^3) ^ 0x55550000
			}
			p[i] = byte(w >> (8 * (a & 3)))
		}
	}
	return nil
}

// TestPartialFrames stops at every instruction of a program, prologues and epilogues above all, with the stack that
// .debug_frame says there is then, and unwinds by .ARM.exidx alone.
func TestPartialFrames(t *testing.T) {
	testenv.Require(t, testenv.GCCARM)
	for _, mode := range []string{"-marm -O2", "-mthumb -O2", "-mthumb -Os", "-marm -O1"} {
		t.Run(mode, func(t *testing.T) {
			exe := filepath.Join(t.TempDir(), "program")
			cmd := fixture.Command("arm-linux-gnueabihf-gcc", slices.Concat([]string{"-g", "-funwind-tables", "-no-pie", "-pthread"}, strings.Fields(mode), []string{"-o", exe, "../../testdata/real.c", "-ldl", "-lm"})...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("cannot build: %v\n%s", err, out)
			}
			f, err := elf.Open(exe)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			everyInstruction(t, f)
		})
	}
}

// withoutDebug hides .debug_frame.
type withoutDebug struct{ plainFile }

func (f withoutDebug) Section(name string) ([]byte, uint64, error) {
	if name == ".debug_frame" {
		return nil, 0, nil
	}
	return f.plainFile.Section(name)
}

func everyInstruction(t *testing.T, f *elf.File) {
	truth, err := New(plainFile{f})
	if err != nil {
		t.Fatal(err)
	}
	truth.once.Do(truth.load)
	truth.debugOnce.Do(truth.loadDebug)
	table, err := New(withoutDebug{plainFile{f}})
	if err != nil {
		t.Fatal(err)
	}
	layout, err := NewLayout(elf.EM_ARM, func(name string) (int, bool) { return slices.Index(armNames.list, name), true })
	if err != nil {
		t.Fatal(err)
	}
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	sets := mapping(t, f)
	w := NewWalker(layout)
	find := func(pc uint64) (*Table, uint64, bool) { return table, 0, pc-text.Addr < text.Size }
	home := uint64(0) // where a call returns to
	for pc := text.Addr; home == 0; pc += 2 {
		if s := sets(pc); isCall(s, pc, code[pc-text.Addr:]) {
			home = pc + 4
			if s == 't' {
				home |= 1
			}
		}
	}
	right, wrong := 0, 0
	for _, s := range truth.debugSpans {
		for pc := s.lo &^ 1; pc < s.hi && pc-text.Addr < text.Size-4; {
			set := sets(pc)
			size := uint64(4)
			if set != 'a' && code[pc-text.Addr+1] < 0xe8 || set == 'd' {
				size = 2
			}
			e, err := truth.find(pc)
			if err == nil && set != 'd' {
				r, err := e.row(pc, truth.names)
				if err == nil && r.cfa.reg == armSP {
					if stepFrom(w, pc, set == 't', r, home, find, &stacked{text.Addr, code, map[uint64]uint32{}}) {
						right++
					} else if wrong++; wrong < 4 {
						t.Logf("%#x (function at %#x): not right", pc, s.lo)
					}
				}
			}
			pc += size
		}
	}
	t.Logf("%d right, %d wrong", right, wrong)
	if wrong*100 > right {
		t.Errorf("%d of %d frames were told wrong", wrong, right+wrong)
	}
}

// stepFrom unwinds one frame of which r is the truth.
func stepFrom(w *Walker, pc uint64, thumb bool, r *row, home uint64, find Find, m *stacked) bool {
	var regs arch.Regs
	const cfa = stackTop - 0x10000
	for i := range 15 {
		regs[i] = uint64(0x1000 + i)
	}
	regs[armSP], regs[armPC], regs[armLR] = cfa-uint64(r.cfa.off), pc, home
	if thumb {
		regs[cpsrIndex] = 1 << 5
	}
	want := regs
	for _, one := range r.rules {
		if one.kind != ruleOffset || one.target > armLR {
			continue
		}
		want[one.target] = uint64(uint32(cfa+uint64(one.off)) ^ 0x55550000)
		if one.target == armLR {
			m.words[cfa+uint64(one.off)] = uint32(home)
			regs[armLR] = 0x2000
		}
	}
	got, err := w.Step(&regs, m, find)
	if err != nil || got != cfa || regs[armPC] != home&^1 {
		return false
	}
	return slices.Equal(regs[4:12], want[4:12])
}
