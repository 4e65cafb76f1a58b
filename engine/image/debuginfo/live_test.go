package debuginfo_test

import (
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotap/compile"
	"gotap/engine/image/debuginfo"
	"gotap/engine/image/mapped"
	"gotap/engine/testenv/fixture"
)

// stop is a recorded moment of a process: what an access is evaluated on.
type stop struct {
	Function string
	Regs     map[string]string
	Pages    map[uint64][]byte
	Values   map[string]*string
	bias     uint64
	word     int
	entry    *stop // of a moment after the return: the entry of the call
}

// program is a built test program and its debug information.
type program struct {
	path string
	info *debuginfo.Info
	elf  *elf.File
	word int
}

// build compiles source with the flags.
func build(t testing.TB, source string, flags ...string) *program {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	compiler := "gcc"
	if strings.HasSuffix(source, ".cc") {
		compiler = "g++"
	}
	if cross := len(flags) > 0 && strings.HasSuffix(flags[0], "-gcc"); cross {
		compiler, flags = flags[0], append([]string{"-static"}, flags[1:]...)
	}
	if len(flags) > 0 && flags[0] == "clang" {
		compiler, flags = flags[0], flags[1:]
	}
	args := append([]string{"-g", "-w", "-o", out, source}, flags...)
	for _, f := range flags {
		if f == "-m32" {
			args = append(args, "-idirafter", "/usr/include/x86_64-linux-gnu")
		}
	}
	if text, err := fixture.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("cannot build %s: %v\n%s", source, err, text)
	}
	return open(t, out)
}

func open(t testing.TB, path string) *program {
	t.Helper()
	return openBy(t, path, nil)
}

// openBy opens a program, and with other the files that its debug information refers to.
func openBy(t testing.TB, path string, other debuginfo.Opener) *program {
	t.Helper()
	img, err := mapped.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	info, err := debuginfo.OpenWith(other, img)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{path: path, info: info, elf: img.ELF(), word: 8}
	if m := img.Machine(); m == elf.EM_386 || m == elf.EM_ARM {
		p.word = 4
	}
	return p
}

// some is a list, or in a short run every nth of its elements.
func some[T any](n int, list []T) (out []T) {
	for i, v := range list {
		if i%n == 0 || !testing.Short() {
			out = append(out, v)
		}
	}
	return out
}

// isRelocated reports whether the program runs at other addresses than those in its file.
func (p *program) isRelocated() bool { return p.elf.Type == elf.ET_DYN }

// address is that of a function's symbol.
func (p *program) address(t testing.TB, name string) uint64 {
	t.Helper()
	symbols, err := p.elf.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == name && elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 {
			return s.Value
		}
	}
	t.Fatalf("no symbol %s in %s", name, p.path)
	return 0
}

// record runs the program under gdb.
func (p *program) record(t testing.TB, places, expressions string, steps int) []*stop {
	t.Helper()
	regs, qemu := registersOf(p.elf.Machine)
	to := filepath.Join(t.TempDir(), "record")
	gdb := "gdb"
	if qemu != "" {
		gdb = "gdb-multiarch"
	}
	cmd := exec.Command(gdb, "-batch", "-nx", "-iex", "set auto-solib-add off", "-x", "testdata/record.py", p.path)
	cmd.Env = append(os.Environ(), "RECORD="+to, "WORD="+strconv.Itoa(p.word), "REGS="+regs, "PLACES="+places,
		"EXPRESSIONS="+expressions, "STEPS="+strconv.Itoa(steps), "DEBUGINFOD_URLS=")
	if qemu != "" {
		cmd.Env = append(cmd.Env, "QEMU="+qemu, "DATA="+p.dataPages())
	}
	text, _ := cmd.CombinedOutput()
	f, err := os.Open(to)
	if err != nil {
		t.Fatalf("gdb recorded nothing: %v\n%s", err, text)
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	var first struct{ Start uint64 }
	if err := dec.Decode(&first); err != nil {
		t.Fatalf("cannot read the record: %v\n%s", err, text)
	}
	var stops []*stop
	last := map[uint64][]byte{} // of pages
	for dec.More() {
		s := &stop{word: p.word}
		if err := dec.Decode(s); err != nil {
			t.Fatal(err)
		}
		for addr, page := range s.Pages {
			if len(page) == 0 {
				s.Pages[addr] = last[addr]
			}
			last[addr] = s.Pages[addr]
		}
		if p.isRelocated() {
			s.bias = first.Start
		}
		stops = append(stops, s)
	}
	if len(stops) == 0 {
		t.Fatalf("gdb never stopped\n%s", text)
	}
	return stops
}

// registersOf are the registers that are recorded, and the emulator that programs of other machines run under.
func registersOf(m elf.Machine) (names, qemu string) {
	switch m {
	case elf.EM_386:
		return "eax ebx ecx edx esi edi ebp esp eip", ""
	case elf.EM_ARM:
		return "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 sp lr pc", "qemu-arm"
	case elf.EM_AARCH64:
		names = "sp pc"
		for i := range 31 {
			names += " x" + strconv.Itoa(i)
		}
		return names, "qemu-aarch64"
	}
	return "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip", ""
}

// dataPages lists the pages of a program's data.
func (p *program) dataPages() string {
	var list []string
	for _, s := range p.elf.Progs {
		for at := s.Vaddr &^ 4095; s.Type == elf.PT_LOAD && s.Flags&elf.PF_W != 0 && at < s.Vaddr+s.Memsz; at += 4096 {
			list = append(list, strconv.FormatUint(at, 10))
		}
	}
	return strings.Join(list, " ")
}

func (s *stop) reg(name string) uint64 {
	v, err := strconv.ParseUint(s.Regs[name], 10, 64)
	if err != nil {
		panic("no register " + name)
	}
	return v
}

func (s *stop) pc() uint64 {
	for _, name := range []string{"rip", "eip", "pc"} {
		if s.Regs[name] != "" {
			return s.reg(name) - s.bias
		}
	}
	panic("no program counter")
}

// load reads recorded memory.
func (s *stop) load(addr uint64, size int) (uint64, error) {
	var b [8]byte
	for i := range size {
		at := addr + uint64(i)
		page := s.Pages[at&^4095]
		if page == nil {
			return 0, fmt.Errorf("nothing recorded at %#x", at)
		}
		b[i] = page[at&4095]
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

var stackPointers = []string{"esp", "rsp", "sp"}

// eval carries out an access as an engine would, and writes the value as Go does.
func (s *stop) eval(a compile.Access) (string, error) {
	var v uint64
	switch a.Base {
	case compile.BaseConst:
		v = uint64(a.Value)
	case compile.BaseReg:
		if a.Reg == "st0" {
			return s.Regs["st0"], nil
		}
		v = s.reg(a.Reg)
	case compile.BaseRegOffset:
		v = s.reg(a.Reg) + uint64(a.Value)
	case compile.BaseAddr:
		v = uint64(a.Value) + s.bias
	case compile.BaseFrame:
		if s.entry != nil { // of the call that has returned
			v = s.entry.reg("rsp") + uint64(s.word) + uint64(a.Value)
			break
		}
		sp := slices.IndexFunc(stackPointers, func(name string) bool { return s.Regs[name] != "" })
		v = s.reg(stackPointers[sp]) + uint64(s.word) + uint64(a.Value)
	}
	for _, step := range a.Steps {
		if s.word == 4 && step.Op == compile.OpLoad {
			v = uint64(uint32(v))
		}
		var err error
		if v, err = s.step(v, step); err != nil {
			return "", err
		}
	}
	if a.Type == compile.TypeF64 {
		return strconv.FormatFloat(math.Float64frombits(v), 'g', -1, 64), nil
	}
	return strconv.FormatInt(int64(v), 10), nil
}

func (s *stop) step(v uint64, step compile.AccessStep) (uint64, error) {
	bits := uint(8 * step.Size)
	switch step.Op {
	case compile.OpOffset:
		return v + uint64(step.Offset), nil
	case compile.OpLoad:
		var err error
		if v, err = s.load(v, step.Size); err != nil {
			return 0, err
		}
	case compile.OpBits:
		v, bits = v>>step.Offset, uint(step.Size)
	case compile.OpTruncate:
	case compile.OpJoin:
		return v | s.reg(step.Reg)<<step.Offset, nil
	default:
		return 0, errors.New("odd step")
	}
	if step.Float {
		if bits == 32 {
			return math.Float64bits(float64(math.Float32frombits(uint32(v)))), nil
		}
		return v, nil
	}
	if step.Signed {
		return uint64(int64(v<<(64-bits)) >> (64 - bits)), nil
	}
	return v << (64 - bits) >> (64 - bits), nil
}
