package event_test

import (
	"strings"
	"testing"

	"gotap/script"
	"gotap/script/output"
	"gotap/script/scripttest"
)

func TestEventValues(t *testing.T) {
	r := scripttest.New(t, `
probe("libc:malloc", {
  enter(c) { exit({ small: c.arg0, big: c.arg1, neg: -c.arg0, text: str(0x1000), cut: str(0x1000, 2), yes: c.arg0 > 1,
    both: `+"`${c.arg0}-${str(0x1000)}`"+`, inner: { a: 1, b: str(0x1000) }, raw: bytes(0x1000, 3), stack: c.stack(2) }); },
  exit(e) {
    console.log(e.small, typeof e.small, e.big, typeof e.big, e.neg, e.text, e.cut, e.yes, e.both, e.inner.a, e.inner.b);
    console.log(e.pid, e.tid, e.comm, e.probe, e.time, e.nothing, "pid" in e, "nope" in e);
    console.log(e.raw.length, e.raw[1], hexdump(e.raw).slice(0, 20));
    console.log(Object.keys(e).join(), JSON.stringify({ ...e, stack: 0, raw: 0 }));
    console.log(`+"`${e.stack}`"+`);
    console.log(e.stack.length, e.stack.frames[0].func, e.stack.frames[1].module, e.stack === e.stack, sym(0x401136));
    e.mine = 5; e.small = 6;
    console.log(e.mine, e.small, Object.keys(e).length);
  },
});
`)
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 7, 1<<60) }),
		"7 number 1152921504606846976 bigint -7 hello he.. true 7-hello 1 hello",
		"100 101 prog libc:malloc 12345 undefined true false",
		"3 101 00000000  68 65 6c  ",
		`small,big,neg,text,cut,yes,both,inner,raw,stack {"small":7,"big":"1152921504606846976","neg":-7,"text":"hello","cut":"he..","yes":true,"both":"7-hello","inner":{"a":1,"b":"hello"},"raw":0,"stack":0}`,
		"    0x401136 func+0x36 (libx.so)", "    0x401200 func+0x0 (libx.so)",
		"2 func /usr/lib/libx.so true func+0x36 (libx.so)",
		"5 6 11")
}

// Calls that the compiler inlined are frames as well: no more are shown than were asked for, unless the stack has no
// more anyway.
func TestStackWithInlinedCalls(t *testing.T) {
	r := scripttest.New(t, `probe("a", { enter(c) { exit({ two: c.stack(2), all: c.stack(9) }); },
  exit(e) { console.log(e.two.frames.map(f => f.func).join(), e.two.length); console.log(e.all.frames.map(f => f.func).join()); } });`)
	r.Tracer.Inlined = true
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 1) }), "small,func 2", "small,func,small,func")
}

// A stack is named as a whole wherever it is shown: an address alone does not tell whether it is an instruction or
// where a call returns to, nor what was inlined there.
func TestEveryStackIsNamedAsAWhole(t *testing.T) {
	r := scripttest.New(t, `const n = count("n", {keys: 1});
probe("a", c => { log(c.stack(2)); printf("%s;", c.stack(2)); n.at(c.stack(2)).inc(); log(`+"`<${c.stack(2)}>`"+`); });
end(() => n.print());`)
	r.Tracer.Inlined = true
	const frames = "\n    0x401136 small [inlined]\n    0x401136 func+0x36 (libx.so)\n"
	got := r.Once(func() { r.Enter(0, 1) })
	if n := strings.Count(got, frames); n != 4 {
		t.Errorf("%d stacks of 4 are as they should:\n%s", n, got)
	}
}

// What programs log and what callbacks print comes in the order it was made.
func TestOrder(t *testing.T) {
	r := scripttest.New(t, `
begin(() => console.log("begin"));
probe("a", { enter(c) { log("log", c.arg0); printf("%d;", c.arg0); exit({ n: c.arg0 }); }, exit(e) { console.log("exit", e.n); } });
end(() => console.log("end"));
`)
	scripttest.WantLines(t, r.Once(func() {
		r.Enter(0, 1)
		r.Enter(0, 2)
	}), "begin", "log 1", "1;exit 1", "log 2", "2;exit 2", "end")
}

func TestEventWithoutCallback(t *testing.T) {
	r := scripttest.New(t, `probe("a", { enter(c) { exit({ n: c.arg0, s: str(0x1000), t: "two words", inner: { x: 1 } }); }, name: "mine" });`)
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 1) }), `mine: n=1 s=hello t="two words" inner.x=1`)
}

func TestJSONOutput(t *testing.T) {
	var data scripttest.Buffer
	r := scripttest.New(t, `
const n = count("n"), h = hist("h"), s = sum("s", { keys: 2 }), x = max("x");
probe("a", { enter(c) { n.inc(); h.add(c.arg0); s.at("k", c.arg0).add(1); x.add(c.arg1);
  exit({ n: c.arg0, big: c.arg1, stack: c.stack(1), inner: { y: 1 } }); } });
end(() => { console.log("tab\t \"quoted\" <>&"); console.error("bad"); null.x; });
`, func(o *script.Options) { o.Output = output.NewJSON(&data); o.Output.Ready() })
	r.Once(func() { r.Enter(0, 5, 1<<60) })
	want := []string{
		`{"type":"ready",`,
		`{"type":"event","name":"a","time":12345,"pid":100,"tid":101,"comm":"prog","data":{"n":5,"big":"1152921504606846976","stack":["0x401136 func+0x36 (libx.so)"],"inner":{"y":1}}}`,
		`{"type":"print","text":"tab\t \"quoted\" <>&\n"}`,
		`{"type":"print","stream":"stderr","text":"bad\n"}`,
		`{"type":"error","text":"TypeError: Cannot read property 'x' of undefined or null","file":"script.js","line":5,"column":`,
		`{"type":"value","name":"n","value":1}`,
		`{"type":"hist","name":"h","data":[{"min":4,"max":7,"count":1}]}`,
		`{"type":"map","name":"s","data":[{"key":["k",5],"value":1}]}`,
		`{"type":"value","name":"x","value":"1152921504606846976"}`,
	}
	got := strings.Split(strings.TrimSuffix(data.String(), "\n"), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d records:\n%s", len(got), data.String())
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("record %d is\n%s\nwant\n%s", i, got[i], want[i])
		}
	}
}

func TestWhen(t *testing.T) {
	r := scripttest.New(t, `
const BIG = 10;
probe("call", { when: c => c.arg0 > BIG, enter(c) { log("enter", c.arg0); }, leave(c) { log("leave", c.ret); } });
probe("leave only", { when: ({ arg0 }) => arg0 > BIG, leave(c) { log("left", c.ret); } });
probe("result", { when: c => c.ret < 0, leave: c => log("failed", c.ret) });
probe("noted", { when(c) { return this.n > BIG && c.ret === 0; }, enter(c) { this.n = c.arg0; }, leave(c) { log("noted", this.n); } });
probe("pattern", { when: c => c.arg0 === 1, enter({ arg0, arg1 }) { log(arg0, arg1); } });
`)
	scripttest.WantLines(t, r.Once(func() {
		r.Call(0, 1, 5)
		r.Call(0, 2, 50)
		r.Call(1, 3, 5)
		r.Call(1, 4, 50)
		r.Call(2, 5)
		r.Call(2, ^uint64(0))
		r.Call(3, 0, 5)
		r.Call(3, 0, 50)
		r.Call(3, 1, 50)
		r.Enter(4, 1, 9)
		r.Enter(4, 2, 9)
	}), "enter 50", "leave 2", "left 4", "failed -1", "noted 50", "1 9")
}

// A stack in a key is symbolised when the map prints.
func TestStackKeys(t *testing.T) {
	r := scripttest.New(t, `const by = count("by", { keys: 1 }); probe("a", c => by.at(c.stack(2)).inc());`)
	got := r.Once(func() { r.Enter(0) })
	if !strings.Contains(got, "func+0x36 (libx.so)") || !strings.HasSuffix(got, "]: 1\n") {
		t.Errorf("data is\n%s", got)
	}
}

// callsym asks for an address as one to return to: of the call the function is the outermost, and the line the
// innermost's.
func TestCallSymbol(t *testing.T) {
	r := scripttest.New(t, `probe("a", { enter(c) { exit({ n: 1 }); }, exit(e) { console.log(sym(0x401136), callsym(0x401136), callsym(e.pid, 0x401136n)); callsym("x"); } });`)
	r.Tracer.Inlined = true
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 1) }), "func+0x36 (libx.so) func+0x36 (libx.so) func+0x36 (libx.so)")
	r.WantErrors(`"x" is not an address`)
}

// hexdump takes where the bytes begin; options are another function's, and are not left unread.
func TestHexdump(t *testing.T) {
	r := scripttest.New(t, `probe("a", { enter(c) { exit({ raw: bytes(0x1000, 3) }); },
  exit(e) { console.log(hexdump(e.raw, 0x20n)); hexdump(e.raw, { length: 1 }); } });`)
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 1) }), "00000020  68 65 6c                                          |hel|")
	r.WantErrors(`the base of hexdump is a number, not an object`)
}
