package debuginfo_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
)

// cLanguage writes C and C++. The functions and their calls are in two files, because a compiler that sees both changes
// how arguments are passed. The calls have no debug information, so clang only declares classes whose constructors are
// there.
type cLanguage struct {
	rnd    *rand.Rand
	cpp    bool
	types  strings.Builder
	named  int
	values []value
	packed bool // what is made now is in a packed struct, where compilers err with vectors
}

// cScalars are types with the range of their values. Those without a range are in wideScalars, or no numbers.
var cScalars = []struct {
	name   string
	lo, hi int64
	float  bool
}{
	{"signed char", -128, 127, false}, {"unsigned char", 0, 255, false}, {"char", -128, 127, false}, {"short", -32768, 32767, false},
	{"unsigned short", 0, 65535, false}, {"int", -1 << 31, 1<<31 - 1, false}, {"unsigned", 0, 1<<32 - 1, false},
	{"long long", -1 << 61, 1 << 61, false}, {"unsigned long", 0, 1 << 61, false}, {"bool", 0, 1, false},
	{"enum colour", 0, 2, false}, {"float", -1000, 1000, true}, {"double", -1 << 19, 1 << 19, true},
	{"long double", 0, 0, false}, {"__float128", 0, 0, false}, {"__int128", 0, 0, false}, {"unsigned __int128", 0, 0, false},
	{"_Complex float", 0, 0, false}, {"_Complex double", 0, 0, false}, {"_Complex long double", 0, 0, false},
	{"void *", 0, 1 << 40, false}, {"const char *", 0, 1 << 40, false}, {"quad", 0, 0, false}, {"pair2", 0, 0, false},
}

// cClasses are classes of C++ with a member that can be asked for, and how one is made; %d is the member's value.
var cClasses = []struct{ name, path, literal string }{
	{"Tracked", "n", "Tracked(%d)"}, {"Movable", "n", "Movable(%d)"}, {"Derived", "n", "Derived(%d)"}, {"Virtual", "n", "Virtual(%d)"},
	{"Homed", "n", "Homed(%d)"}, {"Trivial", "n", "Trivial{%d}"}, {"Empty", "", "Empty()"}, {"Holder<int>", "n", "Holder<int>(%d)"},
	{"Defaulted", "n", "Defaulted(%d)"}, {"Copied", "n", "Copied(%d)"},
	{"std::string", "_M_string_length", "std::string(%d & 63, 'x')"}, {"std::vector<int>", "", "std::vector<int>(3, %d)"},
	{"std::shared_ptr<int>", "_M_ptr.0", "std::make_shared<int>(%d)"}, {"std::unique_ptr<int>", "", "std::unique_ptr<int>(new int(%d))"},
	{"std::pair<int, char>", "first", "std::make_pair(%d, 'c')"}, {"std::string_view", "_M_len", "std::string_view(\"0123456789\", %d & 7)"},
	{"std::optional<long>", "", "std::optional<long>(%d)"}, {"std::array<int, 3>", "_M_elems.0", "std::array<int, 3>{%d}"},
	{"std::optional<std::string>", "", "std::optional<std::string>(\"x\")"}, {"std::variant<int, std::string, double>", "", "std::variant<int, std::string, double>(2.5)"},
	{"std::tuple<int, std::string, char>", "", "std::make_tuple(%d, std::string(\"x\"), 'c')"}, {"std::tuple<int, char>", "", "std::make_tuple(%d, 'c')"},
	{"std::variant<int, float>", "", "std::variant<int, float>(%d)"}, {"std::function<int()>", "", "std::function<int()>([] { return %d; })"},
	{"std::weak_ptr<int>", "", "std::weak_ptr<int>()"}, {"std::optional<std::unique_ptr<int>>", "", "std::optional<std::unique_ptr<int>>()"},
	{"std::map<int, int>", "", "std::map<int, int>{{1, %d}}"}, {"std::deque<int>", "", "std::deque<int>(3, %d)"}, {"std::any", "", "std::any(%d)"},
}

const cClassText = `
#include <string>
#include <vector>
#include <memory>
#include <utility>
#include <string_view>
#include <optional>
#include <array>
#include <any>
#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <variant>
struct Tracked { int n; Tracked(int v) : n(v) {} Tracked(const Tracked &o) : n(o.n) {} ~Tracked() {} };
struct Movable { int n; Movable(int v) : n(v) {} Movable(Movable &&o) : n(o.n) {} };
struct Copied { int n; Copied(int v) : n(v) {} Copied(const Copied &o, int add = 0) : n(o.n + add) {} };
struct Defaulted { int n; Defaulted(int v) : n(v) {} Defaulted(const Defaulted &) = default; ~Defaulted() = default; };
struct Base { int n; Base(int v) : n(v) {} };
struct Derived : Base { double d; Derived(int v) : Base(v), d(v) {} };
struct Virtual { int n; Virtual(int v) : n(v) {} virtual int f() { return n; } };
struct Homed { int n; long more; Homed(int v); };
struct Trivial { int n; float f; };
struct Empty {};
template <class T> struct Holder { T n; Holder(T v) : n(v) {} ~Holder() {} };
`

// scalar makes a type, a value of it and its literal.
func (g *cLanguage) scalar(path []string) (ctype, literal string) {
	s := cScalars[g.rnd.Intn(len(cScalars))]
	for g.packed && s.name == "quad" {
		s = cScalars[g.rnd.Intn(len(cScalars))]
	}
	path = slices.Clone(path)
	switch {
	case s.name == "quad", s.name == "pair2":
		g.values = append(g.values, scalarAt(path, ""))
		return s.name, map[string]string{"quad": "(quad){1, 2, 3, 4}", "pair2": "(pair2){1, 2}"}[s.name]
	case s.lo == s.hi:
		return s.name, wideScalars[s.name](g, path)
	}
	n := s.lo + g.rnd.Int63n(s.hi-s.lo+1)
	want := strconv.FormatInt(n, 10)
	literal = want + "LL"
	switch {
	case s.float:
		want = strconv.FormatFloat(float64(n)+0.5, 'g', -1, 64)
		literal = strconv.FormatFloat(float64(n)+0.5, 'f', 1, 64)
	case strings.HasPrefix(s.name, "enum"), strings.HasSuffix(s.name, "*"):
		literal = "(" + s.name + ")" + literal
	default:
		literal = "(" + s.name + ")" + literal
	}
	if s.name == "bool" && n != 0 {
		want = "1"
	}
	g.values = append(g.values, scalarAt(path, want))
	return s.name, literal
}

// aggregate makes a struct or union and a value of it.
func (g *cLanguage) aggregate(path []string, depth int) (ctype, literal string) {
	g.named++
	name, keyword, packed := fmt.Sprintf("s%d", g.named), "struct", ""
	if g.rnd.Intn(10) == 0 {
		packed = "__attribute__((packed)) "
	}
	defer func(before bool) { g.packed = before }(g.packed)
	g.packed = g.packed || packed != ""
	if g.rnd.Intn(8) == 0 {
		packed += fmt.Sprintf("__attribute__((aligned(%d))) ", 16<<g.rnd.Intn(2))
	}
	count := 1 + g.rnd.Intn(4)
	if g.rnd.Intn(8) == 0 {
		keyword, count = "union", 1
	}
	var fields, values []string
	for i := range count {
		field := fmt.Sprintf("m%d", i)
		at := append(slices.Clone(path), field)
		switch n := g.rnd.Intn(9); {
		case n == 0 && depth < 2:
			typ, lit := g.aggregate(at, depth+1)
			fields, values = append(fields, typ+" "+field), append(values, lit)
			continue
		case n == 1 && keyword == "struct":
			width := 1 + g.rnd.Intn(17)
			n := g.rnd.Int63n(1<<width) - 1<<(width-1)
			g.values = append(g.values, scalarAt(at, strconv.FormatInt(n, 10)))
			fields, values = append(fields, fmt.Sprintf("signed %s : %d", field, width)), append(values, strconv.FormatInt(n, 10))
			continue
		case n == 2:
			before := len(g.values)
			typ, lit := g.scalar(append(at, "0"))
			for _, v := range g.values[before:] { // of a complex number there are two
				v.path = slices.Clone(v.path)
				v.path[len(at)] = "1"
				g.values = append(g.values, v)
			}
			fields, values = append(fields, typ+" "+field+"[2]"), append(values, "{"+lit+", "+lit+"}")
			continue
		}
		typ, lit := g.scalar(at)
		fields, values = append(fields, typ+" "+field), append(values, lit)
	}
	if keyword == "union" {
		fields = append(fields, "char other")
	}
	fmt.Fprintf(&g.types, "%s %s%s { %s; };\n", keyword, packed, name, strings.Join(fields, "; "))
	return keyword + " " + name, "{" + strings.Join(values, ", ") + "}"
}

// class makes an object of a class.
func (g *cLanguage) class(path []string) (ctype, literal string) {
	c := cClasses[g.rnd.Intn(len(cClasses))]
	n := g.rnd.Int63n(1 << 30)
	literal = c.literal
	if strings.Contains(literal, "%d") {
		literal = fmt.Sprintf(literal, n)
	}
	if c.path != "" {
		switch {
		case c.name == "std::string":
			n &= 63
		case c.name == "std::string_view":
			n &= 7
		}
		g.values = append(g.values, scalarAt(append(slices.Clone(path), strings.Split(c.path, ".")...), strconv.FormatInt(n, 10)))
	}
	return c.name, literal
}

// any makes a value of any type.
func (g *cLanguage) any(path []string) (ctype, literal string) {
	switch n := g.rnd.Intn(8); {
	case n < 2:
		ctype, literal = g.aggregate(path, 0)
		return ctype, "(" + ctype + ")" + literal
	case n < 5 && g.cpp:
		return g.class(path)
	}
	return g.scalar(path)
}

func (g *cLanguage) function(n int) generated {
	f := generated{symbol: fmt.Sprintf("f%d", n)}
	g.values = nil
	var params, args []string
	use := ""
	for i := range g.rnd.Intn(10) {
		name := fmt.Sprintf("p%d", i)
		typ, lit := g.any([]string{name})
		if g.cpp && g.rnd.Intn(8) == 0 {
			typ += " const &"
		}
		params, args = append(params, typ+" "+name), append(args, lit)
		if g.rnd.Intn(2) == 0 {
			use += fmt.Sprintf(" __asm__ volatile(\"\" : : \"r\"(&%s) : \"memory\");", name)
		}
	}
	f.args, g.values = g.values, nil
	ret, body := "void", ""
	if g.rnd.Intn(5) > 0 {
		var lit string
		ret, lit = g.any(nil)
		body = " return " + lit + ";"
		f.results = [][]value{g.values}
	}
	f.text = fmt.Sprintf("%s f%d(%s) {%s __asm__ volatile(\"\" : : \"i\"(%d) : \"memory\");%s }\n", ret, n, strings.Join(params, ", "), use, n, body)
	f.call = fmt.Sprintf("\tf%d(%s);\n", n, strings.Join(args, ", "))
	return f
}

func (g *cLanguage) sources(functions []generated) map[string]string {
	head, ext := "#include <stdbool.h>\n", ".c"
	if g.cpp {
		head, ext = cClassText, ".cc"
	}
	head += wideText + "enum colour { RED, GREEN, BLUE };\ntypedef float quad __attribute__((vector_size(16)));\ntypedef int pair2 __attribute__((vector_size(8)));\n" + g.types.String()
	var callees, declared, calls strings.Builder
	for _, f := range functions {
		callees.WriteString(f.text)
		declared.WriteString(f.text[:strings.Index(f.text, " {")] + ";\n")
		calls.WriteString(f.call)
	}
	homed := ""
	if g.cpp {
		homed = "Homed::Homed(int v) : n(v), more(v) {}\n"
	}
	return map[string]string{
		"callees" + ext: head + callees.String(),
		"callers" + ext: head + homed + declared.String() + "int main(void) {\n" + calls.String() + "\treturn 0;\n}\n",
	}
}
