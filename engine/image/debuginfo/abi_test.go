package debuginfo_test

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// leaf is a scalar that a generated call passes: how a script names it, and its value.
type leaf struct {
	path  []string
	value string
}

// generator writes a C program of functions with random parameters.
type generator struct {
	rnd     *rand.Rand
	types   strings.Builder // definitions of structs
	structs int
	leaves  []leaf
}

// scalarTypes are C types with the range their random values are from.
var scalarTypes = []struct {
	name   string
	lo, hi int64
	float  bool
}{
	{"signed char", -128, 127, false}, {"unsigned char", 0, 255, false}, {"short", -32768, 32767, false},
	{"unsigned short", 0, 65535, false}, {"int", -1 << 31, 1<<31 - 1, false}, {"unsigned", 0, 1<<32 - 1, false},
	{"long long", -1 << 61, 1 << 61, false}, {"long", -1 << 31, 1<<31 - 1, false}, {"_Bool", 0, 1, false},
	{"enum colour", 0, 2, false}, {"float", -1000, 1000, true}, {"double", -1 << 40, 1 << 40, true},
}

// scalar makes a scalar type and a value of it, with its literal in C.
func (g *generator) scalar(path []string) (ctype, literal string) {
	s := scalarTypes[g.rnd.Intn(len(scalarTypes))]
	n := s.lo + g.rnd.Int63n(s.hi-s.lo+1)
	value := strconv.FormatInt(n, 10)
	literal = value + "LL"
	if s.float {
		value = strconv.FormatFloat(float64(n)+0.5, 'g', -1, 64)
		literal = strconv.FormatFloat(float64(n)+0.5, 'f', 1, 64)
	}
	g.leaves = append(g.leaves, leaf{append([]string(nil), path...), value})
	return s.name, literal
}

// aggregate makes a struct or union type and a value of it.
func (g *generator) aggregate(path []string, depth int) (ctype, literal string) {
	g.structs++
	name := fmt.Sprintf("s%d", g.structs)
	var fields, values []string
	for i := range 1 + g.rnd.Intn(4) {
		field := fmt.Sprintf("m%d", i)
		at := append(append([]string(nil), path...), field)
		switch g.rnd.Intn(8) {
		case 0:
			if depth < 2 {
				typ, lit := g.aggregate(at, depth+1)
				fields, values = append(fields, typ+" "+field), append(values, lit)
				continue
			}
		case 1:
			width := 1 + g.rnd.Intn(17)
			n := g.rnd.Int63n(1<<width) - 1<<(width-1)
			g.leaves = append(g.leaves, leaf{at, strconv.FormatInt(n, 10)})
			fields, values = append(fields, fmt.Sprintf("signed %s : %d", field, width)), append(values, strconv.FormatInt(n, 10))
			continue
		case 2:
			typ, a := g.scalar(append(at, "0"))
			g.leaves = append(g.leaves, leaf{append(append([]string(nil), at...), "1"), g.leaves[len(g.leaves)-1].value})
			fields, values = append(fields, typ+" "+field+"[2]"), append(values, "{"+a+", "+a+"}")
			continue
		}
		typ, lit := g.scalar(at)
		fields, values = append(fields, typ+" "+field), append(values, lit)
	}
	fmt.Fprintf(&g.types, "struct %s { %s; };\n", name, strings.Join(fields, "; "))
	return "struct " + name, "{" + strings.Join(values, ", ") + "}"
}

// function writes one function and the call of it.
func (g *generator) function(n int) (text, call string, leaves []leaf) {
	g.leaves = nil
	var params, args []string
	use := ""
	for i := range 1 + g.rnd.Intn(11) {
		name := fmt.Sprintf("p%d", i)
		var typ, lit string
		if g.rnd.Intn(3) == 0 {
			typ, lit = g.aggregate([]string{name}, 0)
			lit = "(" + typ + ")" + lit
		} else {
			typ, lit = g.scalar([]string{name})
		}
		params, args = append(params, typ+" "+name), append(args, lit)
		switch whole := strings.HasPrefix(lit, "("); {
		case g.rnd.Intn(2) == 0:
			use += fmt.Sprintf(" __asm__ volatile(\"\" : : \"r\"(&%s) : \"memory\");", name)
		case !whole: // the prologue moves it to a register that calls preserve
			params[i] = "register " + params[i]
			use += fmt.Sprintf(" __asm__ volatile(\"\" : : \"X\"(%s));", name)
		}
	}
	ret := []string{"void", "int", "struct big", "struct small", "double"}[g.rnd.Intn(5)]
	text = fmt.Sprintf("__attribute__((noipa)) %s f%d(%s) {%s __asm__ volatile(\"\" : : : \"memory\"); }\n", ret, n, strings.Join(params, ", "), use)
	return text, fmt.Sprintf("\tf%d(%s);\n", n, strings.Join(args, ", ")), g.leaves
}

// TestParametersByConvention generates functions with random parameters, stops at their first instructions and wants
// every scalar in every parameter to have the value that the call was written with.
func TestParametersByConvention(t *testing.T) {
	testenv.Require(t, testenv.Time, testenv.GCC, testenv.GDB, testenv.AMD64, testenv.Ptrace)
	for i, flags := range []string{"-O0", "-O2", "-O2 -gdwarf-4", "-O1 -fcf-protection=full", "-O0 -m32", "-O2 -m32"} {
		t.Run(strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
			if strings.Contains(flags, "-m32") {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			compareParameters(t, int64(i+1), strings.Fields(flags))
		})
	}
}

// TestParametersOnARM is the same with the conventions of ARM, of which the 32-bit one has two, in programs that QEMU
// runs.
func TestParametersOnARM(t *testing.T) {
	testenv.Require(t, testenv.Time, testenv.GCCARM, testenv.GCCARM64, testenv.GDBMulti, testenv.QEMUARM, testenv.QEMUARM64)
	const arm, arm64 = "arm-linux-gnueabihf-gcc ", "aarch64-linux-gnu-gcc "
	for i, flags := range []string{arm + "-O0 -marm", arm + "-O2 -mthumb", arm + "-O0 -mthumb", arm + "-O2 -marm", arm64 + "-O0", arm64 + "-O2"} {
		t.Run(strings.ReplaceAll(flags, " ", ""), func(t *testing.T) {
			compareParameters(t, int64(i+10), strings.Fields(flags))
		})
	}
}

// TestHalfFloatsTakeARegister asks for what comes behind numbers of two bytes, each of which has a register of four for
// itself.
func TestHalfFloatsTakeARegister(t *testing.T) {
	testenv.Require(t, testenv.GCCARM)
	source := filepath.Join(t.TempDir(), "half.c")
	text := "int f(_Float16 a, float b, _Float16 c, float d) { return b + d; }\nint main(void) { return f(1, 2, 3, 4); }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := build(t, source, strings.Fields("arm-linux-gnueabihf-gcc -O0 -marm -mfpu=neon-vfpv4 -mfp16-format=ieee")...)
	for name, reg := range map[string]string{"b": "d0", "d": "d1"} { // s1 and s3, which are upper halves
		a, err := p.info.Access(p.address(t, "f"), []string{name})
		if err != nil || a.Reg != reg || len(a.Steps) == 0 || a.Steps[0].Offset != 32 {
			t.Errorf("%s is at %+v, %v", name, a, err)
		}
	}
}

func compareParameters(t *testing.T, seed int64, flags []string) {
	const functions = 40
	g := &generator{rnd: rand.New(rand.NewSource(seed))}
	var bodies, calls strings.Builder
	leaves := map[string][]leaf{}
	var places []string
	for n := range functions {
		text, call, list := g.function(n)
		name := fmt.Sprintf("f%d", n)
		bodies.WriteString(text)
		calls.WriteString(call)
		leaves[name] = list
		places = append(places, name)
	}
	source := filepath.Join(t.TempDir(), "generated.c")
	text := "enum colour { RED, GREEN, BLUE };\nstruct big { long v[5]; };\nstruct small { long a, b; };\n" +
		g.types.String() + bodies.String() + "int main(void) {\n" + calls.String() + "\treturn 0;\n}\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := build(t, source, flags...)
	checked, wrong := 0, 0
	for _, s := range p.record(t, strings.Join(places, " "), "", 0) {
		for _, l := range leaves[s.Function] {
			checked++
			a, err := p.info.Access(s.pc(), l.path)
			got := ""
			if err == nil {
				got, err = s.eval(a)
			}
			if err != nil || got != l.value {
				if wrong++; wrong < 6 {
					sig, _ := p.info.Signature(s.pc())
					t.Errorf("%s: %s is %s (%+v, %v), want %s", sig, strings.Join(l.path, "."), got, a, err, l.value)
				}
			}
		}
		delete(leaves, s.Function)
	}
	t.Logf("%d values, %d wrong, %d functions not seen", checked, wrong, len(leaves))
	if len(leaves) > 0 || checked < 150 {
		t.Errorf("only %d values checked", checked)
	}
}

// TestPackedPartsByConvention passes a number that is misaligned only within the whole, which puts the whole in memory,
// and a bit-field in two eightbytes, which takes two registers.
func TestPackedPartsByConvention(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.Clang, testenv.GDB, testenv.AMD64, testenv.Ptrace)
	const text = `
enum colour { RED, GREEN };
struct __attribute__((packed)) inner { enum colour c; unsigned short n; };
struct outer { signed b : 5; struct inner i; };
struct __attribute__((packed)) split { short a; unsigned short b[2]; char c; signed d : 13; };
__attribute__((noipa, noinline)) int f0(struct outer p0, int p1) { __asm__ volatile("" : : "r"(&p0), "r"(&p1) : "memory"); return 0; }
__attribute__((noipa, noinline)) int f1(struct split p0, int p1) { __asm__ volatile("" : : "r"(&p0), "r"(&p1) : "memory"); return 0; }
int main(void) { return f0((struct outer){-11, {GREEN, 52650}}, 59) + f1((struct split){-5161, {7, 9}, -59, 86}, 77); }
`
	want := map[string][]leaf{
		"f0": {{[]string{"p0", "b"}, "-11"}, {[]string{"p0", "i", "c"}, "1"}, {[]string{"p0", "i", "n"}, "52650"}, {[]string{"p1"}, "59"}},
		"f1": {{[]string{"p0", "a"}, "-5161"}, {[]string{"p0", "c"}, "-59"}, {[]string{"p1"}, "77"}},
	}
	source := filepath.Join(t.TempDir(), "packed.c")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, compiler := range []string{"-O0", "clang -O0"} {
		p := build(t, source, strings.Fields(compiler)...)
		seen := 0
		for _, s := range p.record(t, "f0 f1", "", 0) {
			for _, l := range want[s.Function] {
				a, err := p.info.Access(s.pc(), l.path)
				got := ""
				if err == nil {
					got, err = s.eval(a)
				}
				if err != nil || got != l.value {
					t.Errorf("%s: %s: %s is %s (%v), want %s", compiler, s.Function, strings.Join(l.path, "."), got, err, l.value)
				}
			}
			seen++
		}
		if seen != len(want) {
			t.Errorf("%s: %d calls were seen", compiler, seen)
		}
	}
}
