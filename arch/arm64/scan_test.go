package arm64

import (
	"os"
	command "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap/arch"
	"gotap/engine/testenv"
)

// compiled returns the functions of a C program, by name: code and address.
func compiled(t *testing.T, source string, flags ...string) (code []byte, addr uint64, listing string) {
	t.Helper()
	testenv.Require(t, testenv.GCCARM64, testenv.ObjdumpARM64)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.so")
	if err := os.WriteFile(in, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-O2", "-shared", "-fPIC", "-nostdlib", "-o", out, in}, flags...)
	if msg, err := command.Command(string(testenv.GCCARM64), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	code, addr = section(t, out, ".text")
	text, err := command.Command(string(testenv.ObjdumpARM64), "-d", "-j", ".text", "--no-show-raw-insn", out).Output()
	if err != nil {
		t.Fatal(err)
	}
	return code, addr, string(text)
}

// TestExclusiveRuns compiles atomics into loops, and compares with objdump's listing between the two exclusives of
// each.
func TestExclusiveRuns(t *testing.T) {
	const source = `
int add(int *p, int v) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }
int cas(long *p, long *e, long d) { return __atomic_compare_exchange_n(p, e, d, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED); }
int nand(char *p, int v) { return __atomic_fetch_nand(p, v, __ATOMIC_RELAXED); }
int plain(int *p, int v) { return *p + v; }
`
	code, addr, listing := compiled(t, source, "-mno-outline-atomics")
	var want []uint64
	inside := false
	for line := range strings.Lines(listing) {
		at, mnemonic, ok := listed(line)
		if !ok {
			continue
		}
		opens := strings.HasPrefix(mnemonic, "ldx") || strings.HasPrefix(mnemonic, "ldax")
		closes := strings.HasPrefix(mnemonic, "stx") || strings.HasPrefix(mnemonic, "stlx")
		if inside = inside || opens; inside {
			want = append(want, at)
		}
		inside = inside && !closes
	}
	got := ExclusiveRuns(code, addr)
	if len(want) < 9 || !slices.Equal(got, want) {
		t.Errorf("%#x, want %#x in\n%s", got, want, listing)
	}
}

// TestExitKinds checks that jumps through tables stay inside the function, and that tail calls and returns leave
// it.
func TestExitKinds(t *testing.T) {
	for name, c := range map[string]struct {
		source        string
		returns, tail int
		flags         []string
	}{
		"return":   {source: `int f(int a) { return a + 1; }`, returns: 1},
		"tail":     {source: `int g(int); int f(int a) { return g(a + 1); }`, tail: 1},
		"pointer":  {source: `struct s { int (*g)(int); }; int f(struct s *s) { return s->g(1); }`, tail: 1},
		"argument": {source: `int f(int (*g)(void)) { return g(); }`, tail: 1},
		"framed pointer": {
			source: `void h(void); struct s { int (*g)(int); }; int f(struct s *s) { h(); return s->g(1); }`, tail: 1,
		},
		"signed": {source: `void h(void); int f(void) { h(); return 1; }`, returns: 1, flags: []string{"-march=armv8.3-a", "-mbranch-protection=standard"}},
		"table": {
			source: `int a(void), b(void), c(void), d(void), e(void); int f(int n) { int v; switch (n) { case 0: v = a(); break; case 1: v = b(); break;
case 2: v = c(); break; case 3: v = d(); break; case 4: v = e(); break; case 5: v = a() * 3; break; case 6: v = b() + 3; break;
case 7: v = c() - 9; break; case 8: v = d() ^ 5; break; case 9: v = e() * 9; break; case 10: v = a() + b(); break; default: v = 7; } return v * 2; }`,
			returns: -1, tail: 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, addr, listing := compiled(t, c.source, c.flags...)
			exits, err := Exits(code, addr, arch.OnePiece)
			if err != nil {
				t.Fatalf("%v in\n%s", err, listing)
			}
			returns, tail := 0, 0
			for _, e := range exits {
				if e.Tail {
					tail++
				} else {
					returns++
				}
			}
			if c.returns >= 0 && returns != c.returns || c.returns < 0 && returns == 0 || tail != c.tail {
				t.Errorf("%d returns and %d tail calls, want %d and %d in\n%s", returns, tail, c.returns, c.tail, listing)
			}
			if name == "table" && !strings.Contains(listing, "\tbr\t") {
				t.Errorf("no table in\n%s", listing)
			}
		})
	}
}

// TestUnclear checks that a jump through an array without a bound on the index is unclear.
func TestUnclear(t *testing.T) {
	code, addr, listing := compiled(t, `extern int (*table[])(void); int f(unsigned long n) { return table[n](); }`)
	if exits, err := Exits(code, addr, arch.OnePiece); err == nil {
		t.Errorf("%v in\n%s", exits, listing)
	}
}

func TestConvention(t *testing.T) {
	regs := arch.Regs{regSP: arenaBase, regLR: 0x1234, 0: 10, 1: 11, 7: 17, 8: 93}
	mem := &arena{}
	mem.bytes[8] = 99
	for n, want := range map[int]uint64{0: 10, 1: 11, 7: 17, 9: 99} {
		if got, err := A64.Arg(n, &regs, mem); err != nil || got != want {
			t.Errorf("argument %d is %d, %v", n, got, err)
		}
	}
	if _, err := A64.Arg(-1, &regs, mem); err == nil {
		t.Error("there is an argument -1")
	}
	if ret, err := A64.ReturnAddress(&regs, mem); err != nil || ret != 0x1234 {
		t.Errorf("return address %#x, %v", ret, err)
	}
	if A64.SyscallNumber(&regs) != 93 || A64.SyscallArg(1, &regs) != 11 || A64.SyscallArg(6, &regs) != 0 || A64.SyscallRet(&regs) != 10 {
		t.Error("system call registers")
	}
}

func TestRegIndex(t *testing.T) {
	for name, want := range map[string][3]int{
		"x0": {0, 64, 0}, "x30": {30, 64, 0}, "w7": {7, 32, 0}, "sp": {31, 64, 0}, "lr": {30, 64, 0}, "fp": {29, 64, 0}, "pc": {32, 64, 0},
		"nzcv": {33, 4, 28}, "pstate": {33, 64, 0},
	} {
		if i, bits, shift, ok := A64.RegIndex(name); !ok || [3]int{i, bits, shift} != want {
			t.Errorf("%s is %d, %d bits, shift %d, %v", name, i, bits, shift, ok)
		}
	}
	for _, name := range []string{"", "x", "x31", "w31", "x00", "x-1", "r0", "xzr", "x1x"} {
		if _, _, _, ok := A64.RegIndex(name); ok {
			t.Errorf("there is a register %q", name)
		}
	}
}

func TestText(t *testing.T) {
	for w, want := range map[uint32]string{0xd65f03c0: "ret", 0x91000420: "add x0, x1, #0x1", 0x5ac02020: "abs"} {
		in := decoded(t, w)
		if got := A64.Text(in.Bytes[:4], in.Addr); got != want {
			t.Errorf("%#08x is %q, want %q", w, got, want)
		}
	}
	if got := A64.Text([]byte{1}, 0); got != "(bad)" {
		t.Error(got)
	}
}
