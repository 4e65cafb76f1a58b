package debuginfo_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"

	rtvalue "gotap/runtime/value"
)

// goLanguage writes Go.
type goLanguage struct {
	rnd    *rand.Rand
	types  strings.Builder
	named  int
	values []value
}

func newGo(r *rand.Rand) language { return &goLanguage{rnd: r} }

var goScalars = []struct {
	name   string
	lo, hi int64
}{
	{"int8", -128, 127}, {"uint8", 0, 255}, {"int16", -32768, 32767}, {"uint16", 0, 65535}, {"int32", -1 << 31, 1<<31 - 1},
	{"uint32", 0, 1<<32 - 1}, {"int64", -1 << 61, 1 << 61}, {"uint64", 0, 1 << 61}, {"int", -1 << 61, 1 << 61}, {"bool", 0, 1},
	{"float32", -1000, 1000}, {"float64", -1 << 19, 1 << 19}, {"complex128", 0, 0}, {"complex64", 0, 0},
}

func (g *goLanguage) scalar(path []string) (typ, literal string) {
	s := goScalars[g.rnd.Intn(len(goScalars))]
	n := s.lo
	if s.hi > s.lo {
		n += g.rnd.Int63n(s.hi - s.lo + 1)
	}
	want := strconv.FormatInt(n, 10)
	literal = want
	switch {
	case s.name == "bool":
		literal = strconv.FormatBool(n != 0)
	case strings.HasPrefix(s.name, "complex"):
		re, im := float64(g.rnd.Intn(2000))-999.5, float64(g.rnd.Intn(1000))+0.25
		literal = fmt.Sprintf("%g+%gi", re, im)
		g.values = append(g.values, scalarAt(append(slices.Clone(path), rtvalue.RealPart), strconv.FormatFloat(re, 'g', -1, 64)),
			scalarAt(append(slices.Clone(path), rtvalue.ImaginaryPart), strconv.FormatFloat(im, 'g', -1, 64)))
		return s.name, literal
	case strings.HasPrefix(s.name, "float"):
		want = strconv.FormatFloat(float64(n)+0.5, 'g', -1, 64)
		literal = strconv.FormatFloat(float64(n)+0.5, 'f', 1, 64)
	}
	g.values = append(g.values, scalarAt(slices.Clone(path), want))
	return s.name, literal
}

// any makes a value of any type.
func (g *goLanguage) any(path []string, depth int) (typ, literal string) {
	below := func(names ...string) []string { return append(slices.Clone(path), names...) }
	add := func(want string, names ...string) { g.values = append(g.values, scalarAt(below(names...), want)) }
	n := g.rnd.Intn(22)
	if depth > 1 && n > 7 {
		n = 0
	}
	switch n {
	case 8, 9:
		g.named++
		name := fmt.Sprintf("S%d", g.named)
		var fields, literals []string
		for i := range 1 + g.rnd.Intn(4) {
			field := fmt.Sprintf("m%d", i)
			typ, lit := g.any(below(field), depth+1)
			fields, literals = append(fields, field+" "+typ), append(literals, field+": "+lit)
		}
		fmt.Fprintf(&g.types, "type %s struct { %s }\n", name, strings.Join(fields, "; "))
		return name, name + "{" + strings.Join(literals, ", ") + "}"
	case 10:
		typ, lit := g.scalar(below("0"))
		length := 1 + g.rnd.Intn(2)
		typ = fmt.Sprintf("[%d]%s", length, typ)
		return typ, typ + "{" + lit + "}"
	case 11, 12:
		add("5", "len")
		add("104", "ptr", "0")
		return "string", `"hello"`
	case 13, 14:
		add("3", "len")
		add("7", "ptr", "1")
		return "[]int", "[]int{6, 7, 8}"
	case 15:
		return "map[string]int", `map[string]int{"a": 1}`
	case 16:
		return "any", "any(5)"
	case 17:
		return "error", "error(nil)"
	case 18:
		return "chan int", "make(chan int)"
	case 19:
		add("8", "0")
		return "*int", "func() *int { x := 8; return &x }()"
	case 20:
		return "struct{}", "struct{}{}"
	}
	return g.scalar(path)
}

func (g *goLanguage) function(n int) generated {
	f := generated{symbol: fmt.Sprintf("main.f%d", n)}
	g.values = nil
	var params, args []string
	use := ""
	for i := range g.rnd.Intn(9) {
		p := fmt.Sprintf("p%d", i)
		typ, lit := g.any([]string{p}, 0)
		params, args = append(params, p+" "+typ), append(args, lit)
		if g.rnd.Intn(2) == 0 {
			use += " use(" + p + ");"
		}
	}
	f.args = g.values
	var types, literals []string
	for range g.rnd.Intn(4) {
		g.values = nil
		typ, lit := g.any(nil, 0)
		types, literals = append(types, typ), append(literals, lit)
		f.results = append(f.results, g.values)
	}
	f.text = fmt.Sprintf("//go:noinline\nfunc f%d(%s) (%s) {%s count++; return %s }\n", n, strings.Join(params, ", "), strings.Join(types, ", "), use, strings.Join(literals, ", "))
	f.call = fmt.Sprintf("\tf%d(%s)\n", n, strings.Join(args, ", "))
	return f
}

func (g *goLanguage) sources(functions []generated) map[string]string {
	text := "package main\n\nvar count int\nvar sink any\n\n//go:noinline\nfunc use(x any) { count++ }\n" + g.types.String()
	calls := ""
	for _, f := range functions {
		text += f.text
		calls += f.call
	}
	return map[string]string{"main.go": text + "func main() {\n" + calls + "}\n"}
}
