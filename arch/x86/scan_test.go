package x86

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// scanSource has a function for each way of leaving one. Names say what Exits has to find: ret returns, tail tail
// calls, and functions whose exits cannot be determined.
const scanSource = `
extern int g(int), h(int); extern int (*fp)(int); extern int (*table[8])(int);
struct ops { int (*first)(int); int (*second)(int); };
int ret1_tail0(int x) { return g(x) + 1; }
int ret0_tail1(int x) { return g(x + 1); }
int ret0_tail1_pointer(int x) { return fp(x); }
int ret0_tail1_virtual(struct ops *o, int x) { return o->second(x); }
int ret0_tail2(int x) { if (__builtin_expect(x, 1)) return g(x); return h(x * 2); }
int unclear_array(unsigned long i) { return table[i](3); }
int unclear_goto(int *p) {
	static void *labels[] = {&&a, &&b, &&c};
	int n = 0;
	goto *labels[*p];
a:	n += g(n); p++; goto *labels[*p];
b:	n -= h(n); p++; goto *labels[*p];
c:	return n;
}
int unclear_threaded(int (***pc)(int *)) {
	static void *volatile code[] = {&&a, &&b}; void **p = (void **)code;
	int n[20]; g((int)(long)n);
	goto **p++;
a:	n[0] = h(n[1]); goto **p++;
b:	n[1] = g(n[0] + n[2]); if (n[1]) return n[0]; goto **p++;
}
int ret_switch(int x) {
	switch (x) {
	case 0: return g(3) + 1; case 1: return h(4) + 2; case 2: return g(9) + 3; case 3: return h(7) + 8;
	case 4: return g(1) + 4; case 5: return h(2) + 5; case 6: return g(8) + 6; case 7: return h(6) + 9;
	}
	return g(100) + 7;
}
`

// TestExits compiles functions with all options that affect their exits.
func TestExits(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	for _, flags := range []string{"-O1 -m64 -fno-pie", "-O2 -m64 -fPIC", "-O2 -m64 -fcf-protection", "-O2 -m64 -fno-pie -no-pie -mno-red-zone",
		"-O2 -m32 -fno-pie", "-O2 -m32 -fPIC", "-Os -m64 -fPIE", "-O2 -m64 -fPIE -fcf-protection=none", "-O3 -m64 -fcf-protection=none -fno-pie"} {
		t.Run(flags, func(t *testing.T) { checkExits(t, flags) })
	}
}

func checkExits(t *testing.T, flags string) {
	dir := t.TempDir()
	src, obj := filepath.Join(dir, "s.c"), filepath.Join(dir, "s.o")
	if err := os.WriteFile(src, []byte(scanSource), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append(strings.Fields(flags), "-fno-reorder-functions", "-foptimize-sibling-calls", "-c", "-o", obj, src)
	if out, err := fixture.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a := New64()
	if strings.Contains(flags, "-m32") {
		a = New32()
	}
	for name, f := range functions(t, obj) {
		exits, err := Exits(f.code, f.start, a, arch.OnePiece)
		var scan *arch.ScanError
		if unclear := strings.HasPrefix(name, "unclear"); unclear && strings.Contains(flags, "-O1") {
			continue // without sibling calls it may have plain exits
		} else if unclear != errors.As(err, &scan) {
			t.Errorf("%s: %v %v", name, exits, err)
			continue
		}
		checkCounts(t, name, flags, exits)
	}
}

func checkCounts(t *testing.T, name, flags string, exits []arch.Exit) {
	rets, tails := 0, 0
	for _, e := range exits {
		if e.Tail {
			tails++
		} else {
			rets++
		}
	}
	switch {
	case name == "ret_switch" && (rets == 0 || tails != 0):
		t.Errorf("%s: %d returns, %d tail calls", name, rets, tails)
	case strings.HasPrefix(name, "ret1_tail0") && (rets != 1 || tails != 0),
		strings.HasPrefix(name, "ret0_tail1") && (rets != 0 || tails != 1),
		strings.HasPrefix(name, "ret0_tail2") && (rets != 0 || tails != 2):
		if strings.Contains(flags, "-m32") || strings.Contains(flags, "-O1") {
			return // arguments on the stack may prevent a tail call
		}
		t.Errorf("%s: %d returns, %d tail calls", name, rets, tails)
	}
}

// body is the code of a function.
type body struct {
	start uint64
	code  []byte
}

// functions reads the functions of a file by its symbols. Calls in object files are not relocated and would lead
// into the caller, so relocate changes them.
func functions(t *testing.T, file string) map[string]body {
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, _ := f.Symbols()
	dyn, _ := f.DynamicSymbols()
	out := map[string]body{}
	for _, s := range append(syms, dyn...) {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || int(s.Section) >= len(f.Sections) {
			continue
		}
		sec := f.Sections[s.Section]
		data, err := sec.Data()
		if off := s.Value - sec.Addr; err == nil && off+s.Size <= uint64(len(data)) {
			code := slices.Clone(data[off : off+s.Size])
			relocate(f, s.Value, code)
			out[s.Name] = body{s.Value, code}
		}
	}
	return out
}

// relocate sets every relocated field of .text of an object file to a distant target.
func relocate(f *elf.File, start uint64, code []byte) {
	if f.Type != elf.ET_REL {
		return
	}
	for _, name := range []string{".rela.text", ".rel.text"} {
		sec := f.Section(name)
		if sec == nil {
			continue
		}
		data, _ := sec.Data()
		for i := 0; i+int(sec.Entsize) <= len(data); i += int(sec.Entsize) {
			at := uint64(f.ByteOrder.Uint32(data[i:]))
			if off := at - start; off < uint64(len(code)-3) {
				f.ByteOrder.PutUint32(code[off:], 0x1000000)
			}
		}
	}
}

// TestExitsAgainstObjdump compares returns and direct jumps out of every exported function of a library.
func TestExitsAgainstObjdump(t *testing.T) {
	testenv.Require(t, testenv.Objdump)
	file := "/lib/x86_64-linux-gnu/libc.so.6"
	if _, err := os.Stat(file); err != nil {
		file, _ = os.Executable() // has functions enough
	}
	text, last := map[uint64]line{}, uint64(0)
	disassemble(t, func(l line) bool {
		text[l.addr], last = l, l.addr
		return len(text) < 3*shortListing || !testing.Short()
	}, file)
	unclear, checked := 0, 0
	for name, f := range functions(t, file) {
		if testing.Short() && f.start+uint64(len(f.code)) > last {
			continue
		}
		exits, err := Exits(f.code, f.start, New64(), arch.OnePiece)
		if errors.Is(err, arch.ErrUnsupported) {
			unclear++
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checked++
		want := exitsOf(text, f)
		var got []uint64
		for _, e := range exits {
			if e.Insn.Control != arch.IndirJump {
				got = append(got, e.Insn.Addr)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s at %#x: exits %#x, objdump %#x", name, f.start, got, want)
		}
	}
	t.Logf("%d functions agree, %d have an indirect jump that cannot be told", checked, unclear)
	if checked < 1000 && !testing.Short() || checked < 100 || unclear > checked/10 {
		t.Errorf("only %d functions checked, %d unclear", checked, unclear)
	}
}

// exitsOf finds returns and direct jumps out of a function in a listing.
func exitsOf(text map[uint64]line, f body) []uint64 {
	var out []uint64
	end := f.start + uint64(len(f.code))
	for addr := f.start; addr < end; {
		l, ok := text[addr]
		if !ok {
			return out
		}
		in, _ := decodeInst(append(slices.Clone(l.code), 0), true)
		target := addr + uint64(in.length) + uint64(in.imm)
		words := strings.Fields(l.text)
		outside := in.relLen != 0 && (target < f.start || target >= end) && !slices.Contains(words, "call") && words[0] != "xbegin"
		if slices.Contains(words, "ret") || outside {
			out = append(out, addr)
		}
		addr += uint64(len(l.code))
	}
	return out
}

func TestBoundaries(t *testing.T) {
	code := []byte("\x55\x48\x89\xe5\xc3\x06")
	got, err := Boundaries(code, 0x1000, New64())
	if want := []uint64{0x1000, 0x1001, 0x1004}; !slices.Equal(got, want) || !errors.Is(err, arch.ErrUnsupported) {
		t.Errorf("%#x, %v", got, err)
	}
	if got, err := Boundaries(code[:5], 0x1000, New64()); err != nil || len(got) != 3 {
		t.Errorf("%#x, %v", got, err)
	}
}

// TestExitsOfPieces checks that a jump to the function's own cold part is not an exit.
func TestExitsOfPieces(t *testing.T) {
	code := []byte("\x0f\x84\x00\x10\x00\x00\xc3")
	own := func(addr uint64) bool { return addr == 0x2006 }
	exits, err := Exits(code, 0x1000, New64(), own)
	if err != nil || len(exits) != 1 || exits[0].Insn.Addr != 0x1006 {
		t.Errorf("%v, %v", exits, err)
	}
	if exits, _ := Exits(code, 0x1000, New64(), arch.OnePiece); len(exits) != 2 || !exits[0].Tail {
		t.Errorf("%v", exits)
	}
}
