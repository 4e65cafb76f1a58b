package script

import (
	"testing"

	"gotap/compile/js"
	"gotap/script/output"
)

const benchScript = `
const seen = { n: 0 };
let total = 0;
probe("a", { enter(c) { exit({ i: c.arg0, size: c.arg1 }); }, exit(e) { seen.n += e.size; } });
`

// BenchmarkEvent is one small event from the program to the end of its callback.
func BenchmarkEvent(b *testing.B) {
	r := newRig(b, benchScript, func(o *Options) { o.Output = output.Discard })
	p := r.s.Probes()[0]
	r.lower(p)
	ctx := r.context()
	r.thread.args = []uint64{1, 2}
	b.ReportAllocs()
	for b.Loop() {
		r.run(p, js.Enter, ctx)
		r.s.drain(1)
	}
}

// BenchmarkLine is one line that a program logs.
func BenchmarkLine(b *testing.B) {
	r := newRig(b, "probe(\"a\", c => log(`line ${c.arg0}`));", func(o *Options) { o.Output = output.Discard })
	p := r.s.Probes()[0]
	ctx := r.context()
	r.thread.args = []uint64{1}
	b.ReportAllocs()
	for b.Loop() {
		r.run(p, js.Enter, ctx)
		r.s.drain(1)
	}
}

// BenchmarkLoad is a small script from text to compiled probes.
func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"script.js", "script.ts"} {
		b.Run(name, func(b *testing.B) {
			r := newRig(b, benchScript)
			for b.Loop() {
				s, list := Load(Options{Name: name, Text: benchScript, Arena: r.arena})
				if s == nil {
					b.Fatal(list)
				}
				s.Close()
			}
		})
	}
}
