package dpdf

import (
	"fmt"
	"math/rand"
	"os/exec"
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/engine/testenv"
)

// Each case is a file and what the preprocessor makes of it; C's own words on the hard ones are in ISO C, 6.10.3.5.
var macroCases = []struct{ text, want string }{
	{"#define N 5\nN N1", "5 N1"},
	{"#define F(x) x+1\nF(2) F (3) F", "2+1 3+1 F"},
	{"#define F(a,b) b a\nF((1,2), 3)", "3 (1,2)"},
	{"#define F() 7\nF() F( )", "7 7"},
	{"#define F(x) G(x)\n#define G(x) F(x)\nF(1)", "F(1)"},
	{"#define f(x) x f\n f(1)(2)", "1 f(2)"},
	{"#define g f\n#define f(x) <x>\ng(2)", "< 2 >"},
	{"#define S(x) #x\nS(a  b) S() S(\"q\")", "\"a b\" \"\" \"q\""},
	{"#define J(a,b) a ## b\nJ(push,er) J(,x) J(x,) J(1,2)", "pusher x x 12"},
	{"#define J(a,b) a##b\n#define N 1\nJ(N,N) J(x,N)", "NN xN"},
	{"#define V(a,...) a[__VA_ARGS__]\nV(1,2,3) V(1)", "1[2,3] 1[]"},
	{"#define A B ## C\n#define BC 9\nA", "9"},
	{"#define F(x,\\\ny) x y\nF(1,\n2) 3", "1 2 3"},
	{"#define E\nE\nE x E", "x"},
	{"#if defined A || defined(B)\n1\n#elif !defined(A) && (3 > 2 ? 1 : 1/0)\n2\n#elif 1/0\n3\n#else\n4\n#endif", "2"},
	{"#if 0\nit's 3\" long\n#if 1\nx\n#else\ny\n#endif\n#elif 1 == 1 && 'a' == 97 && -1 < 0 && 0x10UL >= 16\nz\n#endif", "z"},
	{"#ifndef A\n#define A 1\n#elifdef A\nno\n#endif\n#ifdef B\n#elifdef A\nyes\n#endif", "yes"},
	{"#define F(x) x\n#if F(2) == 2 && unknown == 0\nyes\n#endif", "yes"},
	{"__LINE__\n__LINE__ __FILE__", "1 2 \"test.dpdf\""},
	{"#define __LINE__ 7\n__LINE__", "7"},
	{"#pragma once\n#\nx", "x"},
}

// expanded is what the preprocessor makes of a text.
func expanded(text string, o Options) (string, diag.List) {
	var diags diag.List
	p := preprocess(diag.NewSource("test.dpdf", text), o, &diags)
	return wordsOf(p.lines), diags
}

// wordsOf are the tokens of lines, with the blanks that stand between them.
func wordsOf(lines []line) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.text())
	}
	return strings.Join(all, " ")
}

func TestMacros(t *testing.T) {
	for _, c := range macroCases {
		got, diags := expanded(c.text, Options{})
		if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(c.want, " ", "") || diags.HasErrors() {
			t.Errorf("%q: %q, want %q; %v", c.text, got, c.want, diags)
		}
	}
}

// The example of ISO C, 6.10.3.5: macros that meet each other and themselves in every way.
func TestMacrosOfTheStandard(t *testing.T) {
	const text = `#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
g(x+(3,4)-w) | h 5) & m
(f)^m(m);
p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };
char c[2][6] = { str(hello), str() };`
	const want = `f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1);
f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1);
int i[] = { 1, 23, 4, 5, };
char c[2][6] = { "hello", "" };`
	got, diags := expanded(strings.Replace(text, "& m\n(f)", "& m(f)", 1), Options{})
	if strip(got) != strip(want) || diags.HasErrors() {
		t.Errorf("%s\nwant %s\n%v", got, want, diags)
	}
}

// unquoted leaves out quotes, which C escapes inside of others.
func unquoted(text string) string { return strings.NewReplacer(`"`, "", `\`, "").Replace(strip(text)) }

func strip(text string) string { return strings.Join(strings.Fields(text), "") }

func TestDefinitionsFromOutside(t *testing.T) {
	o := Options{Defs: map[string]string{"N": "(1+2)", "F(x, y)": "x ## y", "EMPTY": ""}}
	if got, diags := expanded("N F(1,2) EMPTY x", o); strip(got) != "(1+2)12x" || diags.HasErrors() {
		t.Errorf("%q, %v", got, diags)
	}
	for name, want := range map[string]string{"3": "#define takes a name", "F(": "not parameters", "": "#define takes a name"} {
		if _, diags := expanded("x", Options{Defs: map[string]string{name: "1"}}); !strings.Contains(diags.Error(), want) {
			t.Errorf("%q: %v", name, diags)
		}
	}
}

func TestIncludes(t *testing.T) {
	o := Options{Open: openTest, Include: []string{"nowhere", "dir"}}
	for text, want := range map[string]string{
		"#include \"guarded\"\nGUARDED x":                  "x",
		"#include \"once\"\n#include \"once\"\nx":          "x",
		"#include <sys.h>\nSYS":                            "psuhd,4UL4UL",
		"#define NAME <sys.h>\n#include NAME\nSYS":         "psuhd,4UL4UL",
		"#include \"lib/common\"\n#include \"sys.h\"\nSYS": "psuhd,4UL4UL",
	} {
		if got, diags := expanded(text, o); strip(got) != want || diags.HasErrors() {
			t.Errorf("%q: %q, %v", text, got, diags)
		}
	}
}

func TestWarnings(t *testing.T) {
	_, diags := expanded("#define A 1\n#define A 1\n#define A 2\n#warning old\n#pragma pack\nx", Options{})
	want := []string{"A is already defined", "#warning old", "#pragma pack is ignored"}
	if len(diags) != len(want) || diags.HasErrors() {
		t.Fatalf("%v", diags)
	}
	for i, d := range diags {
		if !strings.Contains(d.Text, want[i]) {
			t.Errorf("%v", d)
		}
	}
}

// Macros that make more and more of each other end, and soon.
func TestMacrosAreBounded(t *testing.T) {
	var many strings.Builder
	many.WriteString("#define A " + strings.Repeat("x ", 900) + "\n")
	for range 20_000 {
		many.WriteString("A\n")
	}
	for text, want := range map[string]string{
		many.String(): "macros make more than",
		"#define F(x) x x\n" + strings.Repeat("F(", 60) + "1" + strings.Repeat(")", 60): "macros make a line of more than",
		"#define F(x) F(x\nF(" + strings.Repeat("1,\n", 5000):                           "do not end",
	} {
		if _, diags := expanded(text, Options{}); len(diags) != 1 || !strings.Contains(diags[0].Text, want) {
			t.Errorf("%.40q: %d, %.200v", text, len(diags), diags)
		}
	}
}

// TestMacrosAreThoseOfC compares random macros with what the C preprocessor makes of them. Those that are refused for
// what they grow to are not shown to it: it has no limit.
func TestMacrosAreThoseOfC(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	random := rand.New(rand.NewSource(7))
	var texts, made []string
	var all strings.Builder
	for range 1500 {
		text := randomMacros(random)
		got, diags := expanded(text, Options{})
		if diags.HasErrors() {
			continue
		}
		fmt.Fprintf(&all, "begin_%d\n%s\n", len(texts), text)
		for _, name := range macroNames {
			fmt.Fprintf(&all, "#undef %s\n", name)
		}
		texts, made = append(texts, text), append(made, got)
	}
	if len(texts) < 400 {
		t.Errorf("only %d texts had no errors", len(texts))
	}
	compareWithC(t, all.String(), texts, made)
}

// compareWithC has the C preprocessor read texts, each after a line of its own.
func compareWithC(t *testing.T, all string, texts, made []string) {
	t.Helper()
	cmd := exec.Command("gcc", "-E", "-P", "-w", "-std=c11", "-x", "c", "-")
	cmd.Stdin = strings.NewReader(all)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	rest := string(out)
	for i, text := range texts {
		_, rest, _ = strings.Cut(rest, fmt.Sprintf("begin_%d\n", i))
		want, _, _ := strings.Cut(rest, fmt.Sprintf("begin_%d\n", i+1))
		if unquoted(made[i]) != unquoted(want) {
			t.Errorf("%q, and C makes %q of\n%s", made[i], want, text)
		}
	}
}

var macroNames = []string{"A", "B", "C", "F", "G", "H"}

// randomMacros is a text with a few definitions and uses of them. A macro names those before it, and itself: what
// becomes of a circle through several, or of arguments behind the end of a replacement, C leaves open in part.
func randomMacros(r *rand.Rand) string {
	var b strings.Builder
	for i, name := range macroNames {
		switch i {
		case 3, 5:
			fmt.Fprintf(&b, "#define %s(p) %s\n", name, randomWords(r, 5, i, []string{"p"}))
		case 4:
			fmt.Fprintf(&b, "#define %s(p,q) %s\n", name, randomWords(r, 6, i, []string{"p", "q"}))
		default:
			fmt.Fprintf(&b, "#define %s %s\n", name, randomWords(r, 4, i, nil))
		}
	}
	for range 3 {
		b.WriteString("use " + randomWords(r, 6, len(macroNames)-1, nil) + "\n")
	}
	return b.String()
}

// randomWords are up to n words: names, numbers, uses of the macros up to a number, and parameters with # and ##.
func randomWords(r *rand.Rand, n, most int, params []string) string {
	var out []string
	for range 1 + r.Intn(n) {
		name := macroNames[r.Intn(most+1)]
		switch k := r.Intn(12); {
		case k < 3 && params != nil:
			out = append(out, params[r.Intn(len(params))])
		case k == 3 && params != nil:
			out = append(out, "#"+params[r.Intn(len(params))])
		case k == 4 && params != nil:
			out = append(out, params[0], "##", "v"+fmt.Sprint(r.Intn(3)))
		case k < 9 && name == "G":
			out = append(out, "G("+randomWords(r, n/2+1, most, params)+", "+randomWords(r, n/2+1, most, params)+")")
		case k < 9 && name >= "F":
			out = append(out, name+" ("+randomWords(r, n/2+1, most, params)+")")
		case k < 9:
			out = append(out, name)
		default:
			out = append(out, []string{"x", "y", "1", "+", "(z)"}[r.Intn(5)])
		}
		if len(out) > 40 {
			break
		}
	}
	return strings.Join(out, " ")
}
