package unwind_test

import (
	"bufio"
	"debug/elf"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/image/mapped"
	"gotap/engine/image/unwind"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// mapping is one mapped piece of a recorded process.
type mapping struct {
	Lo, Hi, Off uint64
	Path        string
	Data        []byte // of the vDSO, which is in no file
}

// stop is one recorded instruction: registers, stack and gdb's backtrace.
type stop struct {
	Regs  map[string]uint64
	Pages map[uint64][]byte
	Chain []uint64
}

// process is a recorded process, which answers as a live one would.
type process struct {
	maps   []mapping
	images map[string]*mapped.Image
	tables map[string]*unwind.Table
	stack  stop
	reads  int
}

var registers = map[elf.Machine][]string{
	elf.EM_X86_64: {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"},
	elf.EM_386:    {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"},
}

// layout puts the registers in the order of the list above.
func layout(t testing.TB, m elf.Machine) *unwind.Layout {
	t.Helper()
	l, err := unwind.NewLayout(m, func(name string) (int, bool) {
		i := slices.Index(registers[m], name)
		return i, i >= 0
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (p *process) at(addr uint64) *mapping {
	for i := range p.maps {
		if m := &p.maps[i]; m.Lo <= addr && addr < m.Hi {
			return m
		}
	}
	return nil
}

func (p *process) image(path string) *mapped.Image {
	if m, ok := p.images[path]; ok {
		return m
	}
	m, _ := mapped.Open(path)
	p.images[path] = m
	return m
}

// addVDSO makes the image of the module that the kernel maps.
func (p *process) addVDSO() {
	for _, m := range p.maps {
		if len(m.Data) > 0 {
			p.images[m.Path], _ = mapped.New(m.Path, m.Data)
		}
	}
}

// ReadMemory reads the recorded stack, or the file that is mapped.
func (p *process) ReadMemory(addr uint64, b []byte) error {
	p.reads++
	if page := p.stack.Pages[addr]; page != nil {
		copy(b, page)
		return nil
	}
	m := p.at(addr)
	if m != nil && len(m.Data) > 0 {
		copy(b, m.Data[addr-m.Lo:])
		return nil
	}
	if m == nil || m.Path == "" {
		return errors.New("nothing recorded there")
	}
	f, err := os.Open(m.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	f.ReadAt(b, int64(addr-m.Lo+m.Off)) // short at the end of the file: zeros, as in a mapping
	return nil
}

// find is the module at pc. The bias comes from the segment that the mapping shows.
func (p *process) find(pc uint64) (*unwind.Table, uint64, bool) {
	m := p.at(pc)
	if m == nil || p.image(m.Path) == nil {
		return nil, 0, false
	}
	img := p.image(m.Path)
	if p.tables[m.Path] == nil {
		p.tables[m.Path], _ = unwind.New(img)
	}
	for _, ph := range img.ELF().Progs {
		if ph.Type == elf.PT_LOAD && ph.Off&^4095 <= m.Off && m.Off < ph.Off+ph.Filesz {
			return p.tables[m.Path], m.Lo - m.Off - (ph.Vaddr - ph.Off), true
		}
	}
	return nil, 0, false
}

// build compiles a program from testdata.
func build(t testing.TB, source string, flags ...string) string {
	t.Helper()
	compiler := "gcc"
	if strings.HasSuffix(source, ".cc") {
		compiler = "g++"
	}
	out := filepath.Join(t.TempDir(), "program")
	args := append([]string{"-g", "-w", "-o", out, filepath.Join("testdata", source)}, flags...)
	if text, err := fixture.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("cannot build %s: %v\n%s", source, err, text)
	}
	return out
}

// record runs a program under gdb and returns what it recorded at the places named.
func record(t testing.TB, program string, m elf.Machine, steps int, places string) (*process, []stop) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "record")
	word := map[elf.Machine]string{elf.EM_X86_64: "8", elf.EM_386: "4"}[m]
	cmd := exec.Command("gdb", "-batch", "-nx", "-x", "testdata/record.py", program)
	cmd.Env = append(os.Environ(), "RECORD="+to, "WORD="+word, "STOP="+places, "STEPS="+strconv.Itoa(steps),
		"REGS="+strings.Join(registers[m], " "), "DEBUGINFOD_URLS=")
	text, err := cmd.CombinedOutput()
	f, openErr := os.Open(to)
	if openErr != nil {
		t.Fatalf("gdb recorded nothing: %v\n%s", err, text)
	}
	defer f.Close()
	p := &process{images: map[string]*mapped.Image{}, tables: map[string]*unwind.Table{}}
	var stops []stop
	lines := bufio.NewReader(f)
	dec := json.NewDecoder(lines)
	if err := dec.Decode(&p.maps); err != nil {
		t.Fatalf("cannot read the record: %v\n%s", err, text)
	}
	p.addVDSO()
	last := map[uint64][]byte{} // of pages
	for dec.More() {
		var s stop
		if err := dec.Decode(&s); err != nil {
			t.Fatal(err)
		}
		for addr, page := range s.Pages {
			if len(page) == 0 {
				s.Pages[addr] = last[addr]
			}
			last[addr] = s.Pages[addr]
		}
		stops = append(stops, s)
	}
	return p, stops
}

func (s *stop) regs(m elf.Machine) *arch.Regs {
	var r arch.Regs
	for i, name := range registers[m] {
		r[i] = s.Regs[name]
	}
	return &r
}

// TestBacktracesAgreeWithGDB walks the stack at every one of some thousands of single-stepped instructions, through
// prologues, epilogues, PLT stubs, libc and signal frames, and wants gdb's chain each time.
func TestBacktracesAgreeWithGDB(t *testing.T) {
	testenv.Require(t, testenv.GDB, testenv.GCC, testenv.GXX, testenv.AMD64, testenv.Ptrace)
	cases := []struct {
		name, source string
		machine      elf.Machine
		steps        int
		flags        string
	}{
		{"optimised", "frames.c", elf.EM_X86_64, 40, "-O2 -fomit-frame-pointer"},
		{"unoptimised", "frames.c", elf.EM_X86_64, 40, "-O0"},
		{"static", "frames.c", elf.EM_X86_64, 40, "-O2 -static"},
		{"no search table", "frames.c", elf.EM_X86_64, 40, "-O2 -Wl,--no-eh-frame-hdr"},
		{"lazy PLT", "frames.c", elf.EM_X86_64, 40, "-O2 -Wl,-z,lazy -fcf-protection=full"},
		{"exception", "throw.cc", elf.EM_X86_64, 150, "-O2"},
		{"32 bits", "frames.c", elf.EM_386, 40, "-O2 -m32 -fomit-frame-pointer"},
		{"32 bits unoptimised", "frames.c", elf.EM_386, 40, "-O0 -m32"},
	}
	for i, c := range cases {
		if testing.Short() && i%3 != 0 { // one of each machine, and the unusual table
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			flags := strings.Fields(c.flags)
			if c.machine == elf.EM_386 {
				testenv.Require(t, testenv.M32, testenv.IA32)
				flags = append(flags, "-idirafter", "/usr/include/x86_64-linux-gnu")
			}
			p, stops := record(t, build(t, c.source, flags...), c.machine, c.steps, "mark")
			compare(t, p, stops, c.machine)
		})
	}
}

// compare walks every recorded stop.
func compare(t *testing.T, p *process, stops []stop, m elf.Machine) {
	t.Helper()
	if len(stops) < 100 {
		t.Fatalf("only %d instructions recorded", len(stops))
	}
	w := unwind.NewWalker(layout(t, m))
	out := make([]uint64, 60)
	wrong, deepest := 0, 0
	for i := range stops {
		s := &stops[i]
		p.stack = *s
		n := w.Walk(s.regs(m), p, p.find, out)
		deepest = max(deepest, n)
		want := p.sane(s.Chain)
		if n < len(want) || len(want) == len(s.Chain) && n != len(want) || !slices.Equal(out[:len(want)], want) {
			if wrong++; wrong <= 3 {
				t.Errorf("instruction %d at %#x: chain\n%x, gdb has\n%x", i, s.Chain[0], out[:n], s.Chain)
			}
		}
	}
	t.Logf("%d instructions, %d wrong, deepest chain %d, %d page reads", len(stops), wrong, deepest, p.reads)
}

// sane is a chain of gdb's up to the first entry outside all modules: the hand-written tables of some libc functions
// are wrong for an instruction or two, and what gdb makes of it is a guess.
func (p *process) sane(chain []uint64) []uint64 {
	for i, pc := range chain {
		if p.at(pc) == nil {
			return chain[:i]
		}
	}
	return chain
}
