package debuginfo_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"gotap/engine/testenv"
)

// cTypesText declares types whose place depends on parts of them that are easily overlooked.
const cTypesText = `
union wide { long double m0; char other; };
union small { char other; long double m0; };
struct around { union wide m0; };
union alone { long double m0; long double m1; };
struct single { long double m0[1]; };
struct front { long : 64; double d; };
struct padded { float f; double d; };
struct tail { double d; int : 32; };
struct half { float f; int : 32; };
struct after { int i; int : 32; double d; };
union both { long double m0; struct { long : 64; long b; } s; };
`

// cFunction makes a generated function that returns its first parameter and takes numbers behind it, in every kind of
// register.
func cFunction(n int, typ, literal string, members ...value) generated {
	f := generated{symbol: fmt.Sprintf("f%d", n)}
	f.text = fmt.Sprintf(`%s f%d(%s p0, int p1, double p2) { __asm__ volatile("" : : "r"(&p0), "r"(&p1), "r"(&p2), "i"(%d) : "memory"); return p0; }`, typ, n, typ, n)
	f.call = fmt.Sprintf("\t{ %s v = %s; f%d(v, 7, 8.5); }\n", typ, literal, n)
	for _, v := range members {
		of := v
		of.path = append([]string{"p0"}, v.path...)
		f.args = append(f.args, of)
	}
	f.args = append(f.args, scalarAt([]string{"p1"}, "7"), scalarAt([]string{"p2"}, "8.5"))
	f.results = [][]value{members}
	return f
}

// TestPartsDecidePlaces passes and returns unions in which a long double shares its place with something else, and
// classes with bit-fields that have no name: the debug information does not mention them, compilers disagree whether
// they count, and an argument beside one is read as it was written or refused.
func TestPartsDecidePlaces(t *testing.T) {
	testenv.Require(t, testenv.GDB, testenv.AMD64, testenv.Ptrace)
	wide := func(name string) value { return wideFloatAt([]string{name}, big.NewFloat(2.5), 64) }
	double := scalarAt([]string{"d"}, "3.5")
	described := []generated{
		cFunction(0, "union wide", "{2.5L}", wide("m0")),
		cFunction(1, "union small", "{.m0 = 2.5L}", wide("m0")),
		cFunction(2, "struct around", "{{2.5L}}", wideFloatAt([]string{"m0", "m0"}, big.NewFloat(2.5), 64)),
		cFunction(3, "union alone", "{2.5L}", wide("m0")),
		cFunction(4, "struct single", "{{2.5L}}", wideFloatAt([]string{"m0", "0"}, big.NewFloat(2.5), 64)),
		cFunction(5, "struct padded", "{4.5f, 3.5}", scalarAt([]string{"f"}, "4.5"), double),
		cFunction(6, "struct after", "{5, 3.5}", scalarAt([]string{"i"}, "5"), double),
	}
	unnamed := []generated{
		cFunction(7, "struct front", "{3.5}", double),
		cFunction(8, "struct tail", "{3.5}", double),
		cFunction(9, "struct half", "{4.5f}", scalarAt([]string{"f"}, "4.5")),
		cFunction(10, "union both", "{2.5L}", wide("m0")),
	}
	for _, tc := range toolchains()[:4] {
		t.Run(tc.name, func(t *testing.T) {
			testenv.Require(t, tc.needs...)
			var all, more comparison
			for _, flags := range []string{"-O0", "-O2"} {
				sources := func(functions []generated) map[string]string {
					ext := map[bool]string{true: "cc", false: "c"}[strings.HasSuffix(tc.name, "++")]
					texts, declared, calls := cTypesText, cTypesText, ""
					for _, f := range functions {
						head, _, _ := strings.Cut(f.text, " {")
						texts, declared, calls = texts+f.text+"\n", declared+head+";\n", calls+f.call
					}
					return map[string]string{"callees." + ext: texts, "callers." + ext: declared + "int main(void) {\n" + calls + "}\n"}
				}
				p := buildGenerated(t, &tc, flags, sources(append(described[:len(described):len(described)], unnamed...)))
				compareFunctions(t, &tc, p, described, 0, &all)
				compareFunctions(t, &tc, p, unnamed, 0, &more)
			}
			if all.refused > 0 {
				t.Errorf("%d values are refused although everything is known of their types", all.refused)
			}
			if more.refused == 0 {
				t.Error("nothing beside bit-fields without a name is refused")
			}
		})
	}
}
