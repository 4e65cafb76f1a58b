package isa

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/engine/image/module"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// build compiles a program for a processor.
func build(t *testing.T, compiler string, flags ...string) *module.File {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	args := append(flags, "-static", "-O1", "-o", out, "testdata/calls.c")
	if text, err := fixture.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, text)
	}
	f, err := module.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestBoundariesLikeObjdump: the instructions of functions are those that binutils find, literals between them left
// out.
func TestBoundariesLikeObjdump(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.AMD64, testenv.Objdump, testenv.GCCARM, testenv.ObjdumpARM, testenv.GCCARM64, testenv.ObjdumpARM64)
	for _, c := range []struct {
		name, compiler, objdump string
		flags                   []string
		set                     arch.Arch
	}{
		{"amd64", "gcc", "objdump", nil, AMD64.Arch},
		{"arm64", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", nil, ARM64.Arch},
		{"a32", "arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf-objdump", []string{"-marm"}, arm.A32},
		{"thumb", "arm-linux-gnueabihf-gcc", "arm-linux-gnueabihf-objdump", []string{"-mthumb"}, arm.Thumb},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := build(t, c.compiler, c.flags...)
			m := &module.Loaded{Path: f.Path, File: f}
			for _, name := range []string{"main", "pick", "constant"} {
				fn := f.Lookup(name)[0].Func
				code, err := f.Code(fn.Addr, int(fn.Size))
				if err != nil {
					t.Fatal(err)
				}
				got, err := Boundaries(f, code, fn.Addr)
				if want := listed(t, c.objdump, f.Path, fn.Addr, fn.Size); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: %x, not %x: %v", name, got, want, err)
				}
				if set := Of(f.Machine).SetAt(m, fn.Addr); set != c.set {
					t.Errorf("%s is code of %v", name, set)
				}
				if exits, err := Of(f.Machine).Exits(code, fn.Addr, c.set, arch.OnePiece); err != nil || len(exits) == 0 {
					t.Errorf("%s has %d exits: %v", name, len(exits), err)
				}
			}
		})
	}
	if Of(elf.EM_MIPS) != nil {
		t.Error("a processor that nothing is known of has an instruction set")
	}
}

// listed are the addresses of instructions that objdump prints.
func listed(t *testing.T, objdump, path string, start, size uint64) (all []uint64) {
	out, err := exec.Command(objdump, "-d", "--start-address="+strconv.FormatUint(start, 10), "--stop-address="+strconv.FormatUint(start+size, 10), path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^ *([0-9a-f]+):\t([0-9a-f ]+)(?:\t([^\t\n]+))?`).FindAllStringSubmatch(string(out), -1) {
		addr, _ := strconv.ParseUint(m[1], 16, 64)
		if m[3] != "" && m[3][0] != '.' { // not the rest of a long one, nor .word
			all = append(all, addr)
		}
	}
	return all
}

// TestJump: a pointer to code chooses the instruction set of 32-bit ARM, and ends an IT block.
func TestJump(t *testing.T) {
	var regs arch.Regs
	regs[CPSR] = 0x60000010 | BlockState
	if ARM.Jump(&regs, 0x8001); regs[ARM.PC()] != 0x8000 || regs[CPSR] != 0x60000010|Thumb {
		t.Errorf("to Thumb code: pc %#x, cpsr %#x", regs[ARM.PC()], regs[CPSR])
	}
	if ARM.Jump(&regs, 0x8004); regs[ARM.PC()] != 0x8004 || regs[CPSR] != 0x60000010 {
		t.Errorf("to A32 code: pc %#x, cpsr %#x", regs[ARM.PC()], regs[CPSR])
	}
	regs[PState] = 0x60000000 | 2<<10
	if ARM64.Jump(&regs, 0x8000); regs[ARM64.PC()] != 0x8000 || regs[PState] != 0x60000000 {
		t.Errorf("to A64 code: pc %#x, pstate %#x: it looks like an indirect branch", regs[ARM64.PC()], regs[PState])
	}
	if AMD64.Jump(&regs, 0x8001); regs[AMD64.PC()] != 0x8001 {
		t.Error("x86 has no such bit")
	}
}

// TestWords: what is signed and what is an address, in words of 32 bits.
func TestWords(t *testing.T) {
	if v := ARM.Word(0xfffffff0); v != 0xfffffffffffffff0 || ARM.Address(v) != 0xfffffff0 || ARM.Address(0x8000) != 0x8000 {
		t.Errorf("0xfffffff0 is %#x, and back %#x", v, ARM.Address(v))
	}
	if v := AMD64.Word(0xfffffff0); v != 0xfffffff0 || AMD64.Address(1<<63) != 1<<63 {
		t.Errorf("64-bit words changed: %#x", v)
	}
	for n, want := range map[int]int{-1: -1, 0: 0, 7: 7, 8: -1} {
		if got := ARM64.ArgFloat(n); got != want {
			t.Errorf("floating-point argument %d is in register %d, not %d", n, got, want)
		}
	}
	if I386.ArgFloat(0) != -1 {
		t.Error("IA-32 passes floating-point arguments on the stack")
	}
}

// TestTraps: breakpoints are recognised, also those that the program has set itself.
func TestTraps(t *testing.T) {
	for _, c := range []struct {
		a    *ISA
		code []byte
		want bool
	}{
		{AMD64, []byte{0xcc, 0x90}, true}, {AMD64, []byte{0x90}, false}, {AMD64, nil, false},
		{ARM64, []byte{0, 0, 0x20, 0xd4}, true}, {ARM64, []byte{0, 0, 0x3e, 0xd4}, true}, {ARM64, []byte{1, 0, 0, 0xd4}, false},
		{ARM, []byte{0xf0, 0x01, 0xf0, 0xe7}, true}, {ARM, []byte{0xf0, 0x01, 0xf0, 0x07}, true},
		{ARM, []byte{0x01, 0xde}, true}, {ARM, []byte{0xf0, 0xf7, 0, 0xa0}, true}, {ARM, []byte{0, 0xf7}, false},
	} {
		if got := c.a.IsTrap(c.code); got != c.want {
			t.Errorf("%s: %x is a breakpoint: %v", c.a.Title, c.code, got)
		}
	}
}

// TestExclusivesAreFoundOnce: the instructions of one function share an answer.
func TestExclusivesAreFoundOnce(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.AMD64)
	var e Exclusives
	file := build(t, "gcc")
	m := &module.Loaded{File: file}
	fn := file.Lookup("main")[0].Func
	asked := 0
	for at := fn.Addr; at < fn.Addr+fn.Size; at++ {
		have := e.Have(at, m, func(start uint64, size int) []uint64 {
			asked++
			if start != fn.Addr || uint64(size) != fn.Size {
				t.Errorf("asked about %d bytes at %#x, not about %s", size, start, fn.Name)
			}
			return []uint64{fn.Addr + 4}
		})
		if have != (at == fn.Addr+4) {
			t.Errorf("%s+%d: %v", fn.Name, at-fn.Addr, have)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times about one function", asked)
	}
}
