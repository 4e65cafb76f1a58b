package debuginfo_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// inlineSource generates a C program of functions that are always inlined, count their calls and say so at the end.
func inlineSource(r *rand.Rand, functions int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "#include <stdio.h>\nstatic int n[%d];\n__attribute__((noipa)) int odd(int x) { return x & 1; }\n", functions)
	for i := range functions {
		fmt.Fprintf(&s, "static inline __attribute__((always_inline)) int f%d(int x)\n{\n", i)
		inlineBody(&s, r, i)
		fmt.Fprintf(&s, "\treturn x;\n}\n")
	}
	for i := range functions / 2 {
		fmt.Fprintf(&s, "__attribute__((noipa)) int g%d(int x)\n{\n\tint sum = x;\n\tfor (int i = 0; i < %d; i++)\n", i, 1+r.IntN(3))
		fmt.Fprintf(&s, "\t\tsum += f%d(x + i)%s;\n\treturn sum;\n}\n", r.IntN(functions), []string{"", fmt.Sprintf(" + f%d(sum)", r.IntN(functions)), " * odd(i)"}[r.IntN(3)])
	}
	s.WriteString("int main(void)\n{\n\tint sum = 0;\n\tfor (int i = 0; i < 7; i++)\n\t\tsum += 0")
	for i := range functions / 2 {
		fmt.Fprintf(&s, " + g%d(i)", i)
	}
	fmt.Fprintf(&s, ";\n\tfor (int i = 0; i < %d; i++)\n\t\tprintf(\"%%d\\n\", n[i]);\n\treturn sum == 12345;\n}\n", functions)
	return s.String()
}

// inlineBody generates the statements of function i.
func inlineBody(s *strings.Builder, r *rand.Rand, i int) {
	counted := r.IntN(4)
	for k := range 4 {
		if k == counted {
			fmt.Fprintf(s, "\tn[%d]++;\n", i)
		}
		switch kind := r.IntN(6); {
		case kind == 0:
			fmt.Fprintf(s, "\tx = x * %d + odd(x);\n", 3+r.IntN(20))
		case kind == 1:
			fmt.Fprintf(s, "\tif (x > %d)\n\t\tx -= %d;\n", r.IntN(50), r.IntN(30))
		case kind == 2:
			fmt.Fprintf(s, "\tfor (int k = 0; k < x %% 5; k++)\n\t\tx += odd(k) + %d;\n", r.IntN(5))
		case kind == 3 && i > 0:
			fmt.Fprintf(s, "\tx += f%d(x + %d);\n", r.IntN(i), k)
		default:
			fmt.Fprintf(s, "\tx ^= x >> %d;\n", 1+r.IntN(9))
		}
	}
}

// TestInlinedCallsAreEntered: the beginnings of the inlined copies of a function are passed as often as the program has
// counted its calls, if the beginnings of all of them are known. gdb counts the former.
func TestInlinedCallsAreEntered(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.GDB, testenv.Ptrace)
	const functions = 10
	exact, all := 0, 0
	for seed, flags := range some(3, []string{"-O1", "-O2", "-O3", "-Os", "-O2 -gdwarf-4", "clang -O1", "clang -O2"}) {
		if strings.HasPrefix(flags, "clang") {
			testenv.Require(t, testenv.Clang)
		}
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		source := filepath.Join(t.TempDir(), "inlined.c")
		if err := os.WriteFile(source, []byte(inlineSource(r, functions)), 0o600); err != nil {
			t.Fatal(err)
		}
		p := build(t, source, append(strings.Fields(flags), "-no-pie")...)
		said, err := exec.Command(p.path).Output()
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Fields(string(said)) {
			var want, got int
			fmt.Sscan(line, &want)
			copies, err := p.info.CopiesOf(fmt.Sprintf("f%d", i))
			if err != nil {
				t.Fatal(err)
			}
			var addrs []uint64
			for _, c := range copies {
				if c.Exact {
					addrs = append(addrs, c.PC)
				}
			}
			all += len(copies)
			if exact += len(addrs); len(addrs) < len(copies) || len(addrs) == 0 {
				continue
			}
			for _, n := range p.hits(t, addrs) {
				got += n
			}
			if got != want {
				t.Errorf("%s: f%d is called %d times, and %d beginnings are passed %d times: %#x", flags, i, want, len(addrs), got, addrs)
			}
		}
	}
	t.Logf("the beginnings of %d of %d copies are known", exact, all)
	if exact < all/2 {
		t.Error("too few")
	}
}

// TestNamesAreSearchedOnce asks twice for a name that no function has, as happens before it is refused, and for one that
// was inlined.
func TestNamesAreSearchedOnce(t *testing.T) {
	p := build(t, "testdata/inlined.c", "-O2")
	units := 0
	for _, name := range []string{"nowhere", "main.c", "scale"} {
		before := p.info.Searched()
		copies, err := p.info.CopiesOf(name)
		if err != nil {
			t.Fatal(err)
		}
		units = p.info.Searched() - before
		_, _, ok := p.info.Inlined(name)
		if units == 0 || p.info.Searched() != before+units || ok != (len(copies) > 0) {
			t.Errorf("%s: %d units searched first, %d then; %d copies, %v", name, units, p.info.Searched()-before-units, len(copies), ok)
		}
	}
}

// TestCopiesOfTemplates asks for an inlined function by the name of its template, with and without arguments.
func TestCopiesOfTemplates(t *testing.T) {
	testenv.Require(t, testenv.GXX)
	source := filepath.Join(t.TempDir(), "templates.cc")
	if err := os.WriteFile(source, []byte(`static volatile int sink;
namespace n {
template <class T> static inline __attribute__((always_inline)) T bound(T v, T hi) { asm volatile("" : "+r"(v)); return v < hi ? v : hi; }
template <class T> struct Box { T v; __attribute__((always_inline)) T get() { sink = v; sink = v * 3; return v + sink; } };
}
int main(int argc, char **argv) {
	n::Box<int> i{argc};
	n::Box<long> l{argc};
	return n::bound<int>(argc, 5) + n::bound<long>(argc, 6) + n::bound<long>(argc, 7) + i.get() + l.get();
}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := build(t, source, "-O1")
	for name, want := range map[string]int{"n::bound": 3, "n::bound<int>": 1, "n::bound<long int>": 2, "n::Box::get": 2, "n::Box<int>::get": 1,
		"bound": 0, "n::boun": 0, "n::bound<short>": 0} {
		copies, err := p.info.CopiesOf(name)
		if err != nil || len(copies) != want {
			t.Errorf("%s: %d copies, %v; want %d", name, len(copies), err, want)
		}
	}
}
