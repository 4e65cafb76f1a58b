package script_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotap/compile/js"
	"gotap/script"
	"gotap/script/scripttest"
)

// numberTexts are expressions of programs, each with numbers whose text decides what they mean.
var numberTexts = []string{
	"k / 2.0", "k / 2", "k / 1e6", "k / 1000000", "k / 1_000_000", "k / 0x10", "k / 0b100", "k / 0o17", "k / 0.5e1", "k / 5.", "k / .5",
	"k / 1.50", "k / 1E3", "k / 1e+3", "k / 1e-3", "k / 1e1_0", "k / 1_0.0_0", "k / 2.0 * 3", "2.0 * 3 / k", "(2.0 * 3) / 4", "7 / 2.0", "7 / 2", "1e3 / 7",
	"-0.0", "k * -0.0", "-2.0 / k", "- 2.0 / k", "-(2.0) / k", "+2.0 / k", "- -2.0 / k", "-2 / k", "-/* of */2.0 / k", "k / (2.0)", "k / /* by */ 2.0",
	"k / 9007199254740993", "k + 0xffff888012345678", "k + 9223372036854775807", "k & 0xfffffffffffffff0", "k + 18014398509481985.0", "k / 1e300", "k / 1e999",
	"k / 123456789012345678901234567890.0", "k + 1e6", "k & 1e6", "k << 1e1", "k % 1e3", "k > 1e9", "min(k, 1e6)", "k + 12n", "k / 12n",
	"k / FLOAT", "k / INT", "k / EXP", "k / COMPUTED", "k / CHAIN", "k / NEGATIVE", "k / unassigned", "k / whole", "k / scale.float", "k / scale.int", "k / scale.deep.float",
	"k / half(k)", "k / twice", "k / BIG", "k / ROUNDED", "`${k / 2.0} ${2.0}`", "k ? 2.0 : 1", "k / (k ? 2.0 : 1)", "trunc(k / 2.0)", "k / 0.1", "k / 1e21",
}

// numberNames is what they name.
const numberNames = `
const FLOAT = 2.0, INT = 2, EXP = 1e6, COMPUTED = 2.0 * 3, CHAIN = EXP / 1000, NEGATIVE = -2.0, ROUNDED = Math.round(2.0 * 3), BIG = 1e18;
let unassigned = 4.0;
let whole = 4;
end(() => { whole = 5; });
const scale = { float: 2.0, int: 2, deep: { float: 1e3 } };
function half(x) { return x / 2.0; }
const twice = 2 * FLOAT;
`

// numberScript is a script with each expression as a probe.
func numberScript() string {
	var b strings.Builder
	b.WriteString(numberNames)
	for i, e := range numberTexts {
		fmt.Fprintf(&b, "probe(\"p%d\", c => { const k = c.arg0; log(%s); let v = %s; v = v; exit({ v }); });\n", i, e, e)
	}
	return b.String()
}

// bytecode lists the commands of a probe's programs without their places.
func bytecode(t *testing.T, p *script.Probe) (lines []string) {
	t.Helper()
	result, list := p.Compile(nil)
	if list.HasErrors() {
		t.Fatalf("%s: %v", p.Name, list)
	}
	for _, kind := range []js.HandlerKind{js.When, js.Enter, js.Leave} {
		if prg := result.Programs[kind]; prg != nil {
			for _, c := range prg.Code {
				lines = append(lines, fmt.Sprintf("%v %d %#x", c.Op, c.A, c.V))
			}
			for _, f := range prg.Formats {
				lines = append(lines, fmt.Sprintf("%+v", f))
			}
		}
	}
	return lines
}

// TestNumbersOfAllForms compiles one text as plain JavaScript, as TypeScript, with an import, and as modules of either
// kind: all have to give the same bytecode, whatever esbuild makes of their numbers.
func TestNumbersOfAllForms(t *testing.T) {
	text := numberScript()
	dir := scripttest.Write(t, map[string]string{
		"other.js": "export const nothing = 0;\n", "module.js": "export const other = 1;\n" + text, "typed.ts": "export const other: number = 1;\n" + text,
		"common.cjs": text + "exports.other = 1;\n",
	})
	plain := scripttest.New(t, text, func(o *script.Options) { o.Dir = dir })
	forms := []struct{ name, text string }{
		{"script.ts", text},
		{"typed.ts", text + "const typed: number = 2.0;\n"},
		{"imports.js", "import { nothing } from \"./other.js\";\n" + text + "console.log(nothing);\n"},
		{"imports.ts", "import { nothing } from \"./other.js\";\n" + text + "console.log(nothing as number);\n"},
		{"module.js", "import { other } from \"./module.js\";\nconsole.log(other);\n"},
		{"typedmodule.js", "import { other } from \"./typed.ts\";\nconsole.log(other);\n"},
		{"common.js", "const { other } = require(\"./common.cjs\");\nconsole.log(other);\n"},
		{"required.js", "const { other } = require(\"./module.js\");\nconsole.log(other);\n"},
		{"requiredtyped.js", "const { other } = require(\"./typed.ts\");\nconsole.log(other);\n"},
	}
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			r := scripttest.New(t, form.text, func(o *script.Options) { o.Name, o.Dir = filepath.Join(dir, "main-"+form.name), dir })
			if len(r.Script.Probes()) != len(numberTexts) {
				t.Fatalf("%d probes", len(r.Script.Probes()))
			}
			for i, p := range r.Script.Probes() {
				want, got := bytecode(t, plain.Script.Probes()[i]), bytecode(t, p)
				if !slices.Equal(want, got) {
					t.Errorf("%s: %q, not %q", numberTexts[i], got, want)
				}
			}
		})
	}
}

// TestNumbers holds what numbers mean to programs.
func TestNumbers(t *testing.T) {
	tests := []struct{ expr, want string }{
		{"k / 2.0", "3.5"}, {"k / 2", "3"}, {"k / 1e6", "0.000007"}, {"k / 1000000", "0"}, {"k / FLOAT", "3.5"}, {"k / INT", "3"}, {"k / EXP", "0.000007"},
		{"k / CHAIN", "0.007"}, {"k / NEGATIVE", "-3.5"}, {"k / unassigned", "1.75"}, {"k / whole", "1"}, {"k / scale.float", "3.5"},
		{"k / scale.int", "3"}, {"k / scale.deep.float", "0.007"}, {"k / ROUNDED", "1"}, {"k / twice", "1.75"}, {"k / 1e999", "0"},
		{"9007199254740993 + k * 1e0", "9007199254740999"}, {"2e0 * 3 / k > 0.85", "true"}, {"k + 1e6", "1000007"}, {"k << 1e1", "7168"},
	}
	var b strings.Builder
	b.WriteString(numberNames)
	var want []string
	for i, test := range tests {
		fmt.Fprintf(&b, "probe(\"p%d\", c => { const k = c.arg0; log(%s); });\n", i, test.expr)
		want = append(want, test.want)
	}
	r := scripttest.New(t, b.String())
	scripttest.WantLines(t, r.Once(func() {
		for i := range tests {
			r.Enter(i, 7)
		}
	}), want...)
}

// TestFloatsInHistograms: the bucket of a float is that of the integer below it.
func TestFloatsInHistograms(t *testing.T) {
	r := scripttest.New(t, `
const h = hist("h"), l = lhist("l", -4, 4, 1), s = sum("s");
probe("x", c => { const x = f64(0x1000) * 0.0 + c.arg0 / 2.0; h.add(x); l.add(x); h.add(1e6); s.add(2e3); });
end(() => {
  const buckets = x => x.toJSON().buckets.filter(b => b.count > 0).map(b => [b.min, b.max, b.count].join(":")).join(" ");
  console.log(buckets(h)); console.log(buckets(l)); console.log(s.take());
  h.clear(); l.clear();
});
`)
	r.Thread.Memory = make([]byte, 8)
	out := r.Once(func() {
		for _, k := range []int64{7, 1, -1, -3, -4} {
			r.Enter(0, uint64(k))
		}
	})
	scripttest.WantLines(t, out, ":-1:3 0:0:1 2:3:1 524288:1048575:5", "-2:-2:2 -1:-1:1 0:0:1 3:3:1", "10000")
}
