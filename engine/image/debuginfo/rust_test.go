package debuginfo_test

import (
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// rustCases are functions whose results or arguments rustc passes otherwise than C passes structures of their size:
// text of the function, its call, and what is wanted of its arguments and its result.
type rustCases struct{ list []generated }

func (*rustCases) function(int) generated { panic("the functions are given") }

func (c *rustCases) sources([]generated) map[string]string {
	var text strings.Builder
	text.WriteString("#![allow(warnings)]\nuse std::hint::black_box;\n" +
		"pub struct Three { pub m0: bool, pub m1: char, pub m2: f32 }\npub struct Nested { pub m0: Box<u64>, pub m1: Option<f32> }\npub struct Wide { pub m0: u128 }\n")
	calls := ""
	for _, f := range c.list {
		text.WriteString(f.text)
		calls += "\tblack_box(" + f.call + ");\n"
	}
	return map[string]string{"main.rs": text.String() + "fn main() {\n" + calls + "}\n"}
}

// TestRustConvention compares results in memory of up to two words, and integers of 128 bits within other values.
func TestRustConvention(t *testing.T) {
	testenv.Require(t, testenv.Time, testenv.GDB, testenv.AMD64, testenv.Ptrace, testenv.Rust)
	c := &rustCases{}
	add := func(signature, body, call string, args []value, result []value) {
		number := strconv.Itoa(len(c.list))
		symbol := "_ZN3gen2f" + number + "17h0123456789abcdefE"
		text := "#[inline(never)]\n#[export_name = \"" + symbol + "\"]\npub fn f" + number + signature + " { black_box(" + number + "); " + body + " }\n"
		c.list = append(c.list, generated{symbol: symbol, text: text, call: "f" + number + call, args: args, results: [][]value{result}})
	}
	named := func(path, want string) value { return scalarAt(strings.Fields(path), want) }
	add("(p0: u8) -> Three", "black_box(p0); Three { m0: true, m1: ';', m2: -741.5 }", "(79)",
		[]value{named("p0", "79")}, []value{named("m0", "1"), named("m1", "59"), named("m2", "-741.5")})
	add("(p0: u8) -> Nested", "black_box(p0); Nested { m0: Box::new(1), m1: Some(2.5) }", "(80)", []value{named("p0", "80")}, nil)
	add("(p0: u8) -> Result<f64, usize>", "black_box(p0); Ok(1.5)", "(81)", []value{named("p0", "81")}, nil)
	add("(p0: u8, p1: Wide, p2: i64) -> u8", "black_box(p1.m0); black_box(p2); p0", "(82, Wide { m0: 5 }, -7)", []value{named("p0", "82"), named("p2", "-7")}, []value{named("", "82")})
	add("(p0: u8) -> [i32; 3]", "black_box(p0); [-33; 3]", "(83)", []value{named("p0", "83")}, []value{named("0", "-33"), named("2", "-33")})
	tc := toolchains()[4]
	tc.lang = func(*rand.Rand) language { return c }
	for _, flags := range levels(tc.name) {
		p := buildGenerated(t, &tc, flags, c.sources(nil))
		compareFunctions(t, &tc, p, c.list, 0, &comparison{})
	}
}
