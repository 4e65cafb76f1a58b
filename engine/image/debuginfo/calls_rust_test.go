package debuginfo_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
)

// rustLanguage writes Rust. Its functions have names as rustc makes them, but known beforehand.
type rustLanguage struct {
	rnd    *rand.Rand
	types  strings.Builder
	named  int
	values []value
}

func newRust(r *rand.Rand) language { return &rustLanguage{rnd: r} }

var rustScalars = []struct {
	name   string
	lo, hi int64
}{
	{"i8", -128, 127}, {"u8", 0, 255}, {"i16", -32768, 32767}, {"u16", 0, 65535}, {"i32", -1 << 31, 1<<31 - 1}, {"u32", 0, 1<<32 - 1},
	{"i64", -1 << 61, 1 << 61}, {"u64", 0, 1 << 61}, {"usize", 0, 1 << 61}, {"isize", -1 << 61, 1 << 61}, {"bool", 0, 1}, {"char", 0x20, 0x7e},
	{"f32", -1000, 1000}, {"f64", -1 << 19, 1 << 19}, {"i128", 0, 0}, {"u128", 0, 0},
}

func (g *rustLanguage) scalar(path []string) (typ, literal string) {
	s := rustScalars[g.rnd.Intn(len(rustScalars))]
	n := s.lo
	if s.hi > s.lo {
		n += g.rnd.Int63n(s.hi - s.lo + 1)
	}
	want := strconv.FormatInt(n, 10)
	switch s.name {
	case "f32", "f64":
		want = strconv.FormatFloat(float64(n)+0.5, 'g', -1, 64)
		literal = strconv.FormatFloat(float64(n)+0.5, 'f', 1, 64) + "_" + s.name
	case "bool":
		literal = strconv.FormatBool(n != 0)
	case "char":
		literal = strconv.QuoteRune(rune(n))
	case "i128", "u128":
		low, high := wideWords(g.rnd)
		want = wideIntText(low, high, s.name == "i128")
		literal = "(" + want + "_" + s.name + ")"
	default:
		literal = want + "_" + s.name
		if n < 0 {
			literal = "(" + literal + ")"
		}
	}
	g.values = append(g.values, scalarAt(slices.Clone(path), want))
	return s.name, literal
}

// any makes a value of any type.
func (g *rustLanguage) any(path []string, depth int) (typ, literal string) {
	below := func(name string) []string { return append(slices.Clone(path), name) }
	n := g.rnd.Intn(22)
	if depth > 1 && n > 1 {
		n = 0
	}
	switch n {
	case 8, 9:
		var types, literals []string
		for i := range 1 + g.rnd.Intn(3) {
			typ, lit := g.any(below("__"+strconv.Itoa(i)), depth+1)
			types, literals = append(types, typ), append(literals, lit)
		}
		return "(" + strings.Join(types, ", ") + ",)", "(" + strings.Join(literals, ", ") + ",)"
	case 10, 11:
		g.named++
		name := fmt.Sprintf("S%d", g.named)
		var fields, literals []string
		for i := range 1 + g.rnd.Intn(4) {
			field := fmt.Sprintf("m%d", i)
			typ, lit := g.any(below(field), depth+1)
			fields, literals = append(fields, "pub "+field+": "+typ), append(literals, field+": "+lit)
		}
		fmt.Fprintf(&g.types, "pub struct %s { %s }\n", name, strings.Join(fields, ", "))
		return name, name + " { " + strings.Join(literals, ", ") + " }"
	case 12:
		typ, lit := g.scalar(below("0"))
		return "[" + typ + "; 3]", "[" + lit + "; 3]"
	case 13:
		typ, lit := g.scalar(below("0"))
		return "Box<" + typ + ">", "Box::new(" + lit + ")"
	case 14:
		g.values = append(g.values, scalarAt(below("length"), "5"))
		return "&'static str", "\"hello\""
	case 15:
		g.values = append(g.values, scalarAt(below("len"), "3"))
		return "Vec<u16>", "vec![1, 2, 3]"
	case 16:
		g.values = append(g.values, scalarAt(below("vec.len"), "4"))
		g.values[len(g.values)-1].path = append(slices.Clone(path), "vec", "len")
		return "String", "String::from(\"four\")"
	case 17, 18:
		keep := g.values
		typ, lit := g.any(nil, 2)
		g.values = keep
		if g.rnd.Intn(2) == 0 {
			return "Option<" + typ + ">", "None"
		}
		return "Option<" + typ + ">", "Some(" + lit + ")"
	case 19:
		keep := g.values
		a, lit := g.any(nil, 2)
		b, _ := g.scalar(nil)
		g.values = keep
		return "Result<" + a + ", " + b + ">", "Ok(" + lit + ")"
	case 20:
		return "Option<Box<i32>>", "Some(Box::new(5))"
	case 21:
		return "()", "()"
	}
	return g.scalar(path)
}

func (g *rustLanguage) function(n int) generated {
	name := fmt.Sprintf("f%d", n)
	f := generated{symbol: fmt.Sprintf("_ZN3gen%d%s17h0123456789abcdefE", len(name), name)}
	g.values = nil
	var params, args []string
	use := fmt.Sprintf(" black_box(%d);", n) // or functions that are the same are merged
	for i := range g.rnd.Intn(9) {
		p := fmt.Sprintf("p%d", i)
		typ, lit := g.any([]string{p}, 0)
		params, args = append(params, p+": "+typ), append(args, lit)
		use += " black_box(&" + p + ");"
	}
	f.args, g.values = g.values, nil
	ret, body := "", ""
	if g.rnd.Intn(5) > 0 {
		typ, lit := g.any(nil, 0)
		ret, body = " -> "+typ, " "+lit
		f.results = [][]value{g.values}
	}
	f.text = fmt.Sprintf("#[inline(never)]\n#[export_name = %q]\npub fn %s(%s)%s {%s%s }\n", f.symbol, name, strings.Join(params, ", "), ret, use, body)
	f.call = fmt.Sprintf("\tblack_box(%s(%s));\n", name, strings.Join(args, ", "))
	return f
}

func (g *rustLanguage) sources(functions []generated) map[string]string {
	text := "#![allow(warnings)]\nuse std::hint::black_box;\n" + g.types.String()
	calls := ""
	for _, f := range functions {
		text += f.text
		calls += f.call
	}
	return map[string]string{"main.rs": text + "fn main() {\n" + calls + "}\n"}
}
