package arm

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	command "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/testenv"
)

// compile builds a program with the cross compiler and returns its path.
func compile(t *testing.T, source string, options ...string) string {
	t.Helper()
	testenv.Require(t, testenv.GCCARM)
	exe := filepath.Join(t.TempDir(), "program")
	cmd := command.Command("arm-linux-gnueabihf-gcc", append(options, "-o", exe, "-x", "c", "-")...)
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot compile: %v\n%s", err, out)
	}
	return exe
}

// function is one function of a program as its symbols give it.
type function struct {
	name  string
	start uint64
	code  []byte
	a     arch.Arch
}

// image is the code of a program, with the places of data in it.
type image struct {
	functions []function
	data      func(addr uint64) bool
}

// readImage reads the functions and mapping symbols of a program's symbol table.
func readImage(t *testing.T, path string) image {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	text := f.Section(".text")
	content, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	type mark struct {
		addr uint64
		data bool
	}
	var marks []mark
	var out image
	for _, s := range symbols {
		base, _, _ := strings.Cut(s.Name, ".")
		addr := s.Value &^ 1
		switch {
		case base == "$a" || base == "$t" || base == "$d":
			marks = append(marks, mark{s.Value, base == "$d"})
		case elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 && addr >= text.Addr && addr+s.Size <= text.Addr+text.Size:
			a := A32
			if s.Value&1 == 1 {
				a = Thumb
			}
			out.functions = append(out.functions, function{s.Name, addr, content[addr-text.Addr:][:s.Size], a})
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return int(int64(a.addr) - int64(b.addr)) })
	out.data = func(addr uint64) bool {
		i, _ := slices.BinarySearchFunc(marks, addr+1, func(m mark, at uint64) int { return int(int64(m.addr) - int64(at)) })
		return i > 0 && marks[i-1].data
	}
	return out
}

// libc returns a statically linked program that contains most of the C library, in Thumb.
const libc = `#include <stdio.h>
#include <stdlib.h>
#include <locale.h>
#include <time.h>
#include <regex.h>
#include <pthread.h>
static void *run(void *p) { return p; }
int main(int argc, char **argv) {
	regex_t r; pthread_t t; double d = atof(argv[0]); char b[99]; time_t now = time(0);
	setlocale(LC_ALL, ""); regcomp(&r, argv[0], 0); pthread_create(&t, 0, run, 0);
	strftime(b, 99, "%c", localtime(&now)); qsort(b, 1, 1, (int (*)(const void *, const void *))run);
	return printf("%s %f %Lf\n", b, d, strtold(b, 0)) + scanf("%d", &argc);
}`

var libcBuilt = buildOnce("libc", libc, "-O2", "-pthread", "-w", "-include", "string.h")

// libcProgram is the path of that program.
func libcProgram(t *testing.T) string {
	t.Helper()
	testenv.Require(t, testenv.GCCARM)
	exe, err := libcBuilt()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// sweep returns the starts of all instructions of code. Mapping symbols ($d) mark the literals and tables inside
// functions as data.
func sweep(code []byte, start uint64, a arch.Arch, data func(addr uint64) bool) (all []uint64, err error) {
	for off := 0; off < len(code); {
		addr := start + uint64(off)
		if data(addr) {
			off += 2
			continue
		}
		in, err := a.Decode(code[off:], addr)
		if err != nil {
			return nil, err
		}
		all = append(all, addr)
		off += in.Len
	}
	return all, nil
}

// TestBoundariesOfLibc compares the flow of every function with its mapping symbols: if it can be followed, it
// never takes data for code, and finds only starts of instructions.
func TestBoundariesOfLibc(t *testing.T) {
	img := readImage(t, libcProgram(t))
	var functions, whole, failed, instructions int
	reasons := map[string]int{}
	for _, f := range img.functions {
		all, err := sweep(f.code, f.start, f.a, img.data)
		if err != nil {
			continue
		}
		is := map[uint64]bool{}
		for _, addr := range all {
			is[addr] = true
		}
		functions++
		got, err := Boundaries(f.code, f.start, f.a)
		for _, addr := range got {
			if err == nil && !is[addr] {
				t.Errorf("%s: %#x is no start of an instruction", f.name, addr)
				break
			}
		}
		instructions += len(got)
		if len(got) == len(all) {
			whole++
		}
		if _, err2 := Exits(f.code, f.start, f.a, arch.OnePiece); err != nil || err2 != nil {
			failed++
			reasons[reasonOf(err)]++
		}
	}
	t.Logf("%d functions, %d instructions; every instruction reached in %d, exits unknown in %d: %v", functions, instructions, whole, failed, reasons)
	if functions < 1000 || failed*50 > functions {
		t.Errorf("exits unknown in %d of %d functions", failed, functions)
	}
}

func reasonOf(err error) string {
	if e, ok := err.(*arch.ScanError); ok {
		return e.Reason
	}
	return fmt.Sprint(err)
}

// assemble returns the code of one function in assembly language.
func assemble(t *testing.T, text string) ([]byte, arch.Arch) {
	t.Helper()
	testenv.Require(t, testenv.GCCARM)
	dir := t.TempDir()
	object := filepath.Join(dir, "a.o")
	cmd := command.Command("arm-linux-gnueabihf-gcc", "-march=armv8-a", "-c", "-o", object, "-x", "assembler", "-")
	cmd.Stdin = strings.NewReader(".syntax unified\n" + text + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot assemble: %v\n%s", err, out)
	}
	b, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	code, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, ".thumb") {
		return code, Thumb
	}
	return code, A32
}

// TestExclusiveRuns checks the instructions in the run of an exclusive pair.
func TestExclusiveRuns(t *testing.T) {
	for _, mode := range []string{".arm", ".thumb"} {
		code, a := assemble(t, mode+`
			mov r0, r0
		1:	ldrex r1, [r0]
			cmp r1, r2
			bne 2f
			strex r3, r4, [r0]
			cmp r3, #0
			bne 1b
		2:	dmb ish
			bx lr`)
		starts, err := Boundaries(code, 0x1000, a)
		if err != nil {
			t.Fatal(err)
		}
		runs := ExclusiveRuns(code, 0x1000, a)
		var got []bool
		for _, at := range starts {
			got = append(got, slices.Contains(runs, at))
		}
		if want := []bool{false, true, true, true, true, false, false, false, false}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", mode, got, want)
		}
	}
}

// TestExclusiveRunsOfAnyFlow compares the runs in random code with the result of a walk from each instruction.
func TestExclusiveRunsOfAnyFlow(t *testing.T) {
	const length = 24
	random := rand.New(rand.NewPCG(1, 2))
	between := 0
	for range 2000 {
		code := make([]byte, 4*length)
		for i := range length {
			word := []uint32{0xe1a00000, 0xe1a00000, 0xe1901f9f, 0xe1803f94, 0xf57ff01f, 0x0a000000, 0xea000000}[random.IntN(7)] // nop, ldrex, strex, clrex, beq, b
			if word>>24&15 == 0xa {
				word |= uint32(random.IntN(length)-i-2) & 0xffffff
			}
			binary.LittleEndian.PutUint32(code[4*i:], word)
		}
		f := follow(code, 0x1000, A32, func(uint64) bool { return false })
		f.strayExclusives()
		before := f.predecessors()
		var want []uint64
		for _, addr := range slices.Sorted(maps.Keys(f.nodes)) {
			open := leads(f, addr, func(at uint64) []uint64 { return before[at] }, (*node).monitors)
			closed := leads(f, addr, func(at uint64) []uint64 { return f.nodes[at].next }, (*node).stores)
			if f.nodes[addr].op.row.class == Exclusive || open && closed {
				want = append(want, addr)
			}
			if f.nodes[addr].op.row.class != Exclusive && open && closed {
				between++
			}
		}
		if got := ExclusiveRuns(code, 0x1000, A32); !slices.Equal(got, want) {
			t.Fatalf("%x: %x, want %x", code, got, want)
		}
	}
	if between == 0 {
		t.Error("no code was between two exclusives")
	}
}

// leads reports whether a path along edges from an instruction reaches one of a kind before another exclusive or
// CLREX.
func leads(f *flow, from uint64, edges func(uint64) []uint64, kind func(*node) bool) bool {
	seen := map[uint64]bool{from: true}
	for work := slices.Clone(edges(from)); len(work) > 0; {
		n, addr := f.nodes[work[len(work)-1]], work[len(work)-1]
		work = work[:len(work)-1]
		if n == nil || seen[addr] {
			continue
		}
		seen[addr] = true
		if kind(n) {
			return true
		}
		if !n.clears() {
			work = append(work, edges(addr)...)
		}
	}
	return false
}

// TestExits checks returns, tail calls and jumps that are neither.
func TestExits(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{".arm\n push {r4, lr}\n cmp r0, #0\n popeq {r4, pc}\n bl .+400\n pop {r4, lr}\n b .+400", "1008:return 1014:tail"},
		{".arm\n bx lr", "1000:return"},
		{".arm\n mov pc, lr", "1000:return"},
		{".arm\n add pc, lr, #0", "1000:return"}, // as Go has it
		{".arm\n add pc, r7, #0", "1000:tail"},
		{".arm\n push {r4}\n add pc, r3, #0", "an indirect jump at 0x1004"},
		{".arm\n add pc, lr, #4", "an indirect jump at 0x1000"},
		{".arm\n ldr pc, [sp], #4", "1000:return"},
		{".arm\n bx r3", "1000:tail"},
		{".arm\n cmp r0, #1\n addls pc, pc, r0, lsl #2\n b 1f\n b 2f\n b 1f\n1: bx lr\n2: b 1b", "1014:return"},
		{".arm\n cmp r0, #1\n ldrls pc, [pc, r0, lsl #2]\n bx lr\n .word 0x1008, 0x1014\n bx lr", "1008:return 1014:return"},
		{".arm\n ldr r0, 1f\n bx lr\n1: .word 0xe12fff1e", "1004:return"},
		{".arm\n push {r4}\n bx r3", "an indirect jump at 0x1004"},
		{".thumb\n push {r4, lr}\n cbz r0, 1f\n pop {r4, pc}\n1: pop {r4, lr}\n b.w .+400", "1004:return 100a:tail"},
		{".thumb\n cmp r0, #0\n it eq\n bxeq lr\n b .+400", "1004:return 1006:tail"},
		{".thumb\n cmp r0, #2\n bhi 1f\n tbb [pc, r0]\n0: .byte (2f-0b)/2, (1f-0b)/2, (2f-0b)/2, 0\n1: bx lr\n2: pop {pc}", "100c:return 100e:return"},
		{".thumb\n mov pc, r3", "an indirect jump at 0x1000"},
	} {
		code, a := assemble(t, c.text)
		exits, err := Exits(code, 0x1000, a, arch.OnePiece)
		var got []string
		for _, e := range exits {
			kind := "return"
			if e.Tail {
				kind = "tail"
			}
			got = append(got, fmt.Sprintf("%x:%s", e.Insn.Addr, kind))
		}
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if !strings.HasSuffix(text, c.want) {
			t.Errorf("%s:\n\t%s, want %s", strings.ReplaceAll(c.text, "\n", ";"), text, c.want)
		}
	}
}

// TestBreakpoint checks that breakpoints are as long as the instructions that they displace, and have their
// condition.
func TestBreakpoint(t *testing.T) {
	for _, c := range []struct {
		thumb bool
		word  uint32
		bits  int
		want  uint32
	}{
		{false, 0xe0810002, 32, 0xe7f001f0}, {false, 0x00810002, 32, 0x07f001f0}, {false, 0xf57ff05b, 32, 0xe7f001f0},
		{true, 0x1888, 16, 0xde01}, {true, 0xf3bf8f5b, 32, 0xa000f7f0},
	} {
		s := newState(c.thumb, encode(c.word, c.thumb, c.bits))
		in, err := s.isa().Decode(s.code, 0x1000)
		if err != nil {
			t.Fatal(err)
		}
		got := append(s.isa().Breakpoint(in), 0, 0)
		if len(got)-2 != in.Len || binary.LittleEndian.Uint32(got)&(1<<c.bits-1) != c.want {
			t.Errorf("breakpoint of %#x is % x", c.word, got)
		}
	}
}
