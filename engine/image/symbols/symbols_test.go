package symbols

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/image/module"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

const inlining = `
static int total;
static inline __attribute__((always_inline)) void deepest(int n) { total += n * 7; __asm__ volatile("" ::: "memory"); }
static inline __attribute__((always_inline)) void middle(int n) { deepest(n + 1); deepest(n ^ 5); }
__attribute__((noinline)) void outer(int n) { middle(n); total--; }
int main(int argc, char **argv) { outer(argc); return total & 1; }
`

// TestStackLikeAddr2line: the functions that an address belongs to, inlined ones among them, are those that binutils
// name.
func TestStackLikeAddr2line(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.Addr2line, testenv.Objcopy)
	dir := t.TempDir()
	source, program := filepath.Join(dir, "inlining.c"), filepath.Join(dir, "inlining")
	if err := os.WriteFile(source, []byte(inlining), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := fixture.Command("gcc", "-g", "-O1", "-no-pie", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := module.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	const bias = 0x10000000
	m := &module.Loaded{Path: program, File: file, Bias: bias}
	find := func(uint64) *module.Loaded { return m }
	outer := file.Lookup("outer")[0].Func
	var files Files
	deep := 0
	for addr := outer.Addr; addr < outer.Addr+outer.Size; addr++ {
		got := files.Stack([]uint64{addr + bias}, find)
		deep = max(deep, len(got))
		if text, want := describe(got), addr2line(t, program, addr); text != want {
			t.Fatalf("%#x is in\n%swhich addr2line knows as\n%s", addr, text, want)
		}
	}
	if deep != 3 {
		t.Errorf("calls are inlined %d deep, not 3", deep)
	}
	sym := files.Name(m, outer.Addr+3+bias)
	if sym.Func != "outer" || sym.Offset != 3 || sym.Module != program || sym.Line == 0 {
		t.Errorf("outer+3 is %+v", sym)
	}
	total := file.LookupVar("total")[0]
	if sym := files.Name(m, total.Addr+2+bias); sym.Func != "total" || sym.Offset != 2 || sym.Line != 0 {
		t.Errorf("total+2 is %+v", sym)
	}
	checkNameless(t, program, outer.Addr+3)
	if sym := files.Name(nil, 5); sym != (Symbol{Addr: 5}) {
		t.Errorf("an address of no module is %+v", sym)
	}
}

// checkNameless: where a file has no symbols, an address of it is the one in the file.
func checkNameless(t *testing.T, program string, addr uint64) {
	t.Helper()
	bare := program + ".bare"
	if out, err := exec.Command("objcopy", "--strip-all", program, bare).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := module.Open(bare)
	if err != nil {
		t.Fatal(err)
	}
	const bias = 0x20000000
	var files Files
	if sym := files.Name(&module.Loaded{Path: bare, File: file, Bias: bias}, addr+bias); sym != (Symbol{Addr: addr + bias, Offset: addr, Module: bare}) {
		t.Errorf("%#x of a stripped program is %+v", addr, sym)
	}
}

func describe(all []Symbol) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%s\n%s:%d\n", s.Func, filepath.Base(s.File), s.Line)
	}
	return b.String()
}

// addr2line asks binutils for the functions and lines of an address.
func addr2line(t *testing.T, program string, addr uint64) string {
	out, err := exec.Command("addr2line", "-f", "-i", "-s", "-e", program, fmt.Sprintf("%#x", addr)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), " (discriminator")
		b.WriteString(line + "\n")
	}
	return b.String()
}

// In this program a signal handler returns to back, and the signal came at the first instruction of hurt.
const handled = `
__asm__(".text\n"
	".globl before\n.type before,@function\nbefore: nop\nret\n.size before,.-before\n"
	".globl hurt\n.type hurt,@function\nhurt: nop\nret\n.size hurt,.-hurt\n"
	".globl ahead\n.type ahead,@function\nahead: nop\nret\n.size ahead,.-ahead\n"
	".cfi_startproc\n.cfi_signal_frame\nnop\n"
	".globl back\n.type back,@function\nback: nop\n.size back,.-back\n.cfi_endproc\n");
int main(void) { return 0; }
`

// TestStackBehindSignal: what a signal interrupted is an instruction and no call, and so is what its handler returns
// to.
func TestStackBehindSignal(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	dir := t.TempDir()
	source, program := filepath.Join(dir, "handled.c"), filepath.Join(dir, "handled")
	if err := os.WriteFile(source, []byte(handled), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := fixture.Command("gcc", "-no-pie", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := module.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	m := &module.Loaded{Path: program, File: file, Bias: 0x10000000}
	start := func(name string) uint64 { return file.Lookup(name)[0].Func.Addr + m.Bias }
	var files Files
	pcs := []uint64{start("main"), start("back"), start("hurt"), start("hurt") + 1, start("main") + 4}
	var got []string
	for _, s := range files.Stack(pcs, func(uint64) *module.Loaded { return m }) {
		got = append(got, fmt.Sprintf("%s+%d", s.Func, s.Offset))
	}
	if text := strings.Join(got, " "); text != "main+0 back+0 hurt+0 hurt+1 main+4" {
		t.Errorf("the stack is %s", text)
	}
}
