package script_test

import (
	"testing"

	"gotap/compile/js"
	"gotap/script"
	"gotap/script/output"
	"gotap/script/scripttest"
)

const benchScript = `
const seen = { n: 0 };
let total = 0;
probe("a", { enter(c) { exit({ i: c.arg0, size: c.arg1 }); }, exit(e) { seen.n += e.size; } });
`

// BenchmarkEvent is one small event from the program to the end of its callback.
func BenchmarkEvent(b *testing.B) {
	r := scripttest.New(b, benchScript, func(o *script.Options) { o.Output = output.Discard })
	p := r.Script.Probes()[0]
	r.Lower(p)
	ctx := r.Context()
	r.Thread.Args = []uint64{1, 2}
	b.ReportAllocs()
	for b.Loop() {
		r.Run(p, js.Enter, ctx)
		r.Script.Drain()
	}
}

// BenchmarkLine is one line that a program logs.
func BenchmarkLine(b *testing.B) {
	r := scripttest.New(b, "probe(\"a\", c => log(`line ${c.arg0}`));", func(o *script.Options) { o.Output = output.Discard })
	p := r.Script.Probes()[0]
	ctx := r.Context()
	r.Thread.Args = []uint64{1}
	b.ReportAllocs()
	for b.Loop() {
		r.Run(p, js.Enter, ctx)
		r.Script.Drain()
	}
}

// BenchmarkLoad is a small script from text to compiled probes.
func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"script.js", "script.ts"} {
		b.Run(name, func(b *testing.B) {
			r := scripttest.New(b, benchScript)
			for b.Loop() {
				s, list := script.Load(script.Options{Name: name, Text: benchScript, Arena: r.Arena})
				if s == nil {
					b.Fatal(list)
				}
				s.Close()
			}
		})
	}
}
