package script_test

import (
	"fmt"
	"gotap/script"
	"gotap/script/host"
	"gotap/script/scripttest"
	"strings"
	"testing"
	"time"
)

// However different their texts are, exceptions are counted.
func TestManyExceptions(t *testing.T) {
	r := scripttest.New(t, `probe("a", { enter(c) { exit({ n: c.arg0 }); }, exit(e) { throw new Error("no " + (e.n >> 1)); } });`)
	r.Once(func() {
		for n := range 250 {
			r.Enter(0, uint64(n))
		}
	})
	r.WantErrors(`error: no 0\n`, `error: no 99\n`, `error: no 0 \(2 times in all\)`, `error: no 99 \(2 times in all\)`,
		`lost 50: exceptions of callbacks, beside those shown`)
	if strings.Contains(r.Errors.String(), "no 100") {
		t.Errorf("all are shown")
	}
}

func TestThrowingCallback(t *testing.T) {
	r := scripttest.New(t, `
probe("a", { enter(c) { exit({ n: c.arg0 }); },
  exit(e) { console.log(e.n); throw new Error("no " + (e.n > 5)); } });
end(() => { console.log("end"); undefined.x; });
end(() => console.log("end 2"));
`)
	got := r.Once(func() {
		for n := range 10 {
			r.Enter(0, uint64(n))
		}
	})
	scripttest.WantLines(t, got, "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "end", "end 2")
	r.WantErrors(`script\.js:3:\d+: error: no false\n  .*throw new Error.*\n +\^+\n`, `error: no true\n`, `script\.js:4:\d+: error: TypeError`,
		`no false \(6 times in all\)`, `no true \(4 times in all\)`)
	if n := strings.Count(r.Errors.String(), "error: no false\n"); n != 3 {
		t.Errorf("shown %d times", n)
	}
	if r.Script.Faults() != 11 {
		t.Errorf("%d faults", r.Script.Faults())
	}
}

// A name that a callback misspells is told with the one of the script, or of a builtin, that it nearly is.
func TestNamesNearby(t *testing.T) {
	r := scripttest.New(t, `
let total = 0;
const sizes = hist("sizes");
probe("a", { enter(c) { exit({}); }, exit(e) {
  const inner = () => total;
  console.log(totl);
} });
every("1h", () => {});
end(() => { sizse.print(); });
end(() => { evrey("1s"); });
end(() => require("gotap/erno"));
end(() => { BEGIN(() => {}); });
end(() => { expect(1).toBee(1); });
end(() => { expect([]).toHaveLength(1); });
sizes.clear();
`)
	r.Once(func() { r.Enter(0) })
	r.WantErrors(`script\.js:6:15: error: ReferenceError: totl is not defined\n.*\n +\^\^\^\^\nhint: did you mean total\?`,
		`script\.js:9:13: error: .*sizse.*\n.*\n +\^{5}\nhint: did you mean sizes\?`, `hint: did you mean every\?`,
		`BEGIN is not defined\n.*\n +\^{5}\nhint: begin\(\(\) => { … }\)`, `'toBee'\n.*\n +\^{5}\nhint: did you mean toBe\?`,
		`'toHaveLength'\n.*\n +\^+\nhint: expect\(x\) has not, toBe, toEqual, `)
}

// The machine's words for null, and for integers that are no numbers, are put right, and what to do is told.
func TestMachinesWords(t *testing.T) {
	r := scripttest.New(t, `
const big = 1n << 60n;
end(() => { null.x; });
end(() => { console.log(big + 1); });
end(() => { console.log(Math.max(big, 2)); });
`)
	r.Once(func() {})
	large := `\n.*\n +\^+\nhint: an integer of a program that is beyond 2\^53 is a BigInt here: Number\(x\)`
	r.WantErrors(`script\.js:3:\d+: error: TypeError: Cannot read property 'x' of undefined or null\n`,
		`script\.js:4:\d+: error: TypeError: Cannot mix BigInt.*`+large, `script\.js:5:\d+: error: TypeError: Cannot convert a BigInt.*`+large)
}

func TestEndlessCallback(t *testing.T) {
	r := scripttest.New(t, `
let turn = 0;
probe("a", { enter(c) { exit({}); }, exit(e) {
  try {
    try { for (;;) turn++; } finally { console.log("finally"); }
  } catch (e) { console.log("caught"); }
  console.log("after");
} });
end(() => console.log("end"));
`, scripttest.Impatient)
	scripttest.WantLines(t, r.Once(func() { r.Enter(0) }), "end")
	r.WantErrors(`script\.js:5:\d+: error: still running after 400ms: the callback was ended`)
}

// A callback that never ends does not keep timers, or the end, from their turn until all records are delivered.
func TestEndlessCallbackLeavesTimersTheirTurn(t *testing.T) {
	r := scripttest.New(t, `
probe("a", { enter(c) { exit({}); }, exit(e) { for (;;); } });
every("1ms", () => stop(3));
`, scripttest.Impatient)
	for range 20 {
		r.Enter(0)
	}
	r.Start()
	<-r.Tracer.Status
	r.Finish()
	if n := r.Script.Faults(); n > 2 {
		t.Errorf("%d callbacks before the timer had its turn", n)
	}
}

func TestEndlessTopLevel(t *testing.T) {
	// In the first instructions of a round the machine takes the loop for the statement before it, so both stand in one
	// line.
	s, list := script.Load(script.Options{Name: "s.js", Text: "\nlet a = 1; while (true) Math.abs(a);\n", Deadline: 200 * time.Millisecond})
	if s != nil || len(list) != 1 || !strings.Contains(list[0].String(), "s.js:2:") || !strings.Contains(list[0].Text, "still running after 1s: the script was ended") {
		t.Errorf("script %v, %v", s, list)
	}
}

func TestEndlessRecursion(t *testing.T) {
	r := scripttest.New(t, `
function f(n) {
  return f(n + 1) + 1;
}
probe("a", { enter(c) { exit({}); }, exit(e) { f(0); } });
`, func(o *script.Options) { o.Deadline = scripttest.Patience }) // a slow machine may need long for so many calls
	r.Once(func() { r.Enter(0) })
	r.WantErrors(`script\.js:3:\d+: error: calls nested too deeply\n`, `hint: does a function call itself`)
}

func TestAllocationBomb(t *testing.T) {
	r := scripttest.New(t, `
const kept = [];
probe("a", { enter(c) { exit({ n: c.arg0 }); }, exit(e) {
  console.log(e.n);
  for (;;) kept.push(new Array(100).fill(e.n));
} });
end(() => console.log("end"));
const n = count("n");
begin(() => n.inc());
`, func(o *script.Options) { o.HeapLimit, o.Deadline = 64<<20, scripttest.Patience })
	r.Start()
	r.Enter(0, 1)
	select {
	case status := <-r.Tracer.Status:
		if status != 1 {
			t.Errorf("status %d", status)
		}
	case <-time.After(scripttest.Patience):
		t.Fatal("the run was not ended")
	}
	r.Enter(0, 2)
	scripttest.WantLines(t, r.Finish(), "1", "@n: 1")
	r.WantErrors(`script\.js:5:\d+: error: the script uses more than 64 MB of memory`)
}

// Built-ins that cannot be interrupted refuse what is too large.
func TestHugeBuiltins(t *testing.T) {
	r := scripttest.New(t, `
for (const f of [() => "a".repeat(2 ** 28), () => "a".padEnd(2 ** 28), () => new Array(1e9).fill(0), () => Array.from({ length: 1e9 }),
    () => new Uint8Array(1e10), () => new ArrayBuffer(1e10), () => new Array(1e9).join()]) {
  try { f(); console.log("made"); } catch (e) { console.log(e.name); }
}
console.log("ab".repeat(2), [1, 2].join("-"), new Uint8Array([1, 2]).length, new Uint8Array(3) instanceof Uint8Array, Array.from("ab").length);
`)
	name := "RangeError"
	scripttest.WantLines(t, r.Once(func() {}), name, name, name, name, name, name, name, "abab 1-2 2 true 2")
}

// A built-in that cannot be interrupted is reported as the end. What it blocks goes on in this test until it is done.
func TestStuck(t *testing.T) {
	stuck := make(chan error, 1)
	r := scripttest.New(t, `
probe("a", { enter(c) { exit({}); }, exit(e) { /(?=x)?(a+)+$/.test("a".repeat(21) + "b"); } });
`, scripttest.Impatient, func(o *script.Options) { o.Stuck = func(err error) { stuck <- err } })
	r.Script.SetDeadline(20 * time.Millisecond) // loading the script may take longer
	r.Start()
	r.Enter(0)
	select {
	case err := <-stuck:
		if !strings.Contains(err.Error(), "cannot interrupt") {
			t.Error(err)
		}
	case <-time.After(scripttest.Patience):
		t.Error("never reported")
	}
	r.Finish()
}

func TestRejectedPromise(t *testing.T) {
	r := scripttest.New(t, `
probe("a", { enter(c) { exit({}); }, exit(e) {
  Promise.reject(new TypeError("why"));
  Promise.reject(5).catch(() => console.log("handled"));
  Promise.resolve(1).then(v => console.log("then", v));
} });
`)
	scripttest.WantLines(t, r.Once(func() { r.Enter(0) }), "handled", "then 1")
	r.WantErrors(`script\.js:3:\d+: error: a promise was rejected: TypeError: why`)
	if r.Script.Faults() != 1 {
		t.Errorf("%d faults", r.Script.Faults())
	}
}

func TestStop(t *testing.T) {
	r := scripttest.New(t, `
probe("a", { enter(c) { log("hit", c.arg0); exit({ i: c.arg0 }); }, exit(e) {
  console.log("event", e.i);
  if (e.i === 3) { try { stop(69); } finally { console.log("not reached"); } }
} });
end(() => { console.log("end ran"); });
`)
	r.Start()
	for n := range 8 {
		r.Enter(0, uint64(n))
	}
	if status := <-r.Tracer.Status; status != 69 {
		t.Errorf("status %d", status)
	}
	scripttest.WantLines(t, r.Finish(), "hit 0", "event 0", "hit 1", "event 1", "hit 2", "event 2", "hit 3", "event 3", "end ran")
	if r.Script.Status() != 69 || !r.Script.Stopped() {
		t.Errorf("status %d, stopped %v", r.Script.Status(), r.Script.Stopped())
	}
	r.WantErrors()
}

// A held thread is let go whatever its callback does.
func TestHold(t *testing.T) {
	r := scripttest.New(t, `
let limit = 3;
probe("a", { enter(c) { if (c.arg0 > limit) exit.hold({ v: c.arg0 }); },
  exit(e) { if (e.v === 5) throw 1; if (e.v === 6) for (;;); if (e.v === 7) stop(0); limit = 4; } });
`, scripttest.Impatient)
	r.Once(func() {
		for n := range 10 {
			r.Enter(0, uint64(n))
			want := int(r.Holds)
			scripttest.Eventually(t, "release", func() bool {
				r.Tracer.Mu.Lock()
				defer r.Tracer.Mu.Unlock()
				return len(r.Tracer.Released) == want
			})
		}
	})
	if fmt.Sprint(r.Tracer.Released) != "[1 2 3 4 5 6]" {
		t.Errorf("released %v", r.Tracer.Released)
	}
}

func TestLifecycle(t *testing.T) {
	r := scripttest.New(t, `
on("fork", e => console.log("fork", e.pid, e.child));
on("exec", e => console.log("exec", e.path));
on("fork", e => console.log("again", e.time));
`)
	scripttest.WantLines(t, r.Once(func() {
		r.Script.Lifecycle(script.Event{Kind: "fork", Fields: map[string]any{"pid": 5, "child": 6, "time": uint64(1 << 60)}})
		r.Script.Lifecycle(script.Event{Kind: "exec", Fields: map[string]any{"path": "/bin/ls"}})
		r.Script.Lifecycle(script.Event{Kind: "exit", Fields: map[string]any{}})
	}), "fork 5 6", "again 1152921504606846976", "exec /bin/ls")
}

// What a process did before it ended is told before its end, though the two reach the host on different ways.
func TestEventsAfterTheirRecords(t *testing.T) {
	r := scripttest.New(t, `
let told = "";
probe("f", { enter(c) { exit({ n: c.arg0 }); }, exit(e) { told += e.n; } });
on("exit", e => { told += e.mark; });
end(() => console.log(told));
`)
	const rounds = 300
	got := r.Once(func() {
		for range rounds {
			r.Enter(0, 1)
			r.Enter(0, 2)
			r.Script.Lifecycle(script.Event{Kind: "exit", Fields: map[string]any{"mark": "."}})
		}
	})
	scripttest.WantLines(t, got, strings.Repeat("12.", rounds))
}

// A queue that is full counts what it drops, and never blocks the sender of events.
func TestLifecycleFlood(t *testing.T) {
	r := scripttest.New(t, `
let seen = 0;
on("fork", () => { seen++; });
end(() => console.log(seen));
`)
	r.Script.Begin()
	for range host.QueueSize + 10 {
		r.Script.Lifecycle(script.Event{Kind: "fork"})
	}
	r.Script.Start()
	scripttest.WantLines(t, r.Finish(), fmt.Sprint(host.QueueSize))
	for cause, n := range r.Script.Lost() {
		if n != 10 {
			t.Errorf("%s: %d", cause, n)
		}
	}
	if len(r.Script.Lost()) != 1 {
		t.Error("nothing lost?")
	}
}

// What is asked to be printed is, however many events wait; asked again before that it is printed once.
func TestPrintAllInFlood(t *testing.T) {
	r := scripttest.New(t, `
const n = count("n");
n.inc();
on("fork", () => {});
end(() => n.clear());
`)
	r.Script.Begin()
	for range host.QueueSize + 1 {
		r.Script.Lifecycle(script.Event{Kind: "fork"})
	}
	printed := make(chan bool, 2)
	for range 2 {
		r.Script.PrintAll(func() { printed <- true })
	}
	r.Script.Start()
	<-printed
	scripttest.WantLines(t, r.Finish(), "@n: 1")
	if len(printed) != 0 {
		t.Error("printed twice")
	}
}

// A slow callback fills the ring, which counts; received and lost add up.
func TestFlood(t *testing.T) {
	r := scripttest.New(t, `
const seen = { n: 0 };
probe("a", { enter(c) { exit({ i: c.arg0, text: str(0x1006, 200) }); }, exit(e) { seen.n++; for (let i = 0; i < 300; i++) ; } });
end(() => console.log(seen.n));
`)
	const hits = 20000
	got := r.Once(func() {
		for n := range hits {
			r.Enter(0, uint64(n))
		}
	})
	lost := uint64(0)
	for _, n := range r.Arena.Lost() {
		lost += n
	}
	if got != fmt.Sprintln(hits-lost) || lost == 0 {
		t.Errorf("received %s of %d, lost %d", got, hits, lost)
	}
}

func TestHandle(t *testing.T) {
	r := scripttest.New(t, `
const h = probe("libc:malloc", { enter(c) {}, disabled: true, name: "mine" });
console.log(h.name, h.hits);
begin(() => { h.enable(); console.log(h.hits, h.missed, h.places); h.disable(); h.remove();
  probe("late", c => log("late")); });
end(() => { try { probe("bad", c => { nop1(); }); } catch (e) { console.log(e.message); } try { probe("x", { limti: 1 }); } catch (e) { console.log(e.message); } });
`)
	scripttest.WantLines(t, r.Once(func() { r.Enter(1) }), "mine 0", "42 1152921504606846976 3", "late", "unknown name nop1", "a probe has no option limti")
	if got := strings.Join(r.Tracer.Calls, ", "); got != "enable mine, disable mine, remove mine, add late" {
		t.Error(got)
	}
}

func TestOptions(t *testing.T) {
	text := `
const ms = option("ms", 10, "threshold"), f = option("f", "libc:write"), x = option("x", 1.5), on = option("on", false);
console.log(ms + 1, f, x, on);
`
	r := scripttest.New(t, text, func(o *script.Options) { o.Args = map[string]string{"ms": "0x20", "on": "yes"} })
	scripttest.WantLines(t, r.Once(func() {}), "33 libc:write 1.5 true")
	if o := r.Script.Options(); len(o) != 4 || o[0].Help != "threshold" || o[0].Default != "10" || o[0].Type != "integer" || o[2].Type != "number" {
		t.Errorf("%+v", o)
	}
	for args, want := range map[string]string{"mss=5": "did you mean ms?", "ms=abc": "--arg ms=abc: not an integer",
		"on=maybe": "not true or false", "x=1.2.3": "not a number"} {
		name, value, _ := strings.Cut(args, "=")
		_, list := script.Load(script.Options{Name: "s.js", Text: text, Args: map[string]string{name: value}})
		if !list.HasErrors() || !strings.Contains(list.Error(), want) {
			t.Errorf("%s: %v", args, list)
		}
	}
	// A default with a point is a number, though JavaScript's 1.0 is 1.
	ratio := scripttest.New(t, `const x = option("x", 1.0), /* 2.5 */ n = option("n", 2); console.log(x, n);`, func(o *script.Options) { o.Args = map[string]string{"x": "0.5"} })
	scripttest.WantLines(t, ratio.Once(func() {}), "0.5 2")
	if o := ratio.Script.Options(); o[0].Type != "number" || o[1].Type != "integer" {
		t.Errorf("%+v", o)
	}
	typed := scripttest.New(t, `const x: number = option("x", 1.0) as number; console.log(x);`, func(o *script.Options) { o.Name, o.Args = "s.ts", map[string]string{"x": "0.5"} })
	scripttest.WantLines(t, typed.Once(func() {}), "0.5")
	needed := `const f = option("f");`
	if _, list := script.Load(script.Options{Name: "s.js", Text: needed}); !strings.Contains(list.Error(), "give --arg f=") {
		t.Error(list)
	}
	if s, list := script.Load(script.Options{Name: "s.js", Text: needed, Check: true}); s == nil {
		t.Error(list)
	}
}

func TestAdoption(t *testing.T) {
	text := `
let total = 0, name = "a", kind = 0;
const n = count("n"), m = max("m"), by = sum("by", { keys: 1 });
probe("work", { enter(c) { total += c.arg0; n.inc(); m.add(c.arg0); by.at(c.arg0).add(1); kind = 1; }, exit() { } });
probe("other", c => { name = "b"; });
`
	old := scripttest.New(t, text)
	old.Script.Begin()
	old.Enter(0, 5)
	old.Enter(1)
	r := scripttest.NewOn(t, old.Arena, strings.NewReplacer("max(", "min(", "kind = 0", `kind = ""`, "kind = 1", `kind = "x"`, `name = "b"`, `name = "c"`).Replace(text)+
		`end(() => console.log(total, n.get(), m.get(), by.get(5), name, kind === ""));`, func(o *script.Options) { o.Previous = old.Script })
	keep, add, remove := r.Script.Plan(old.Script)
	if len(keep) != 0 || len(add) != 2 || len(remove) != 2 {
		t.Errorf("keep %d, add %d, remove %d", len(keep), len(add), len(remove))
	}
	got := r.Once(func() {})
	if !strings.HasPrefix(got, "5 1 undefined 1 b true\n") {
		t.Errorf("data is %s", got)
	}
}

// What only callbacks count goes on in the next version as well, also of a script that imports modules.
func TestValuesOfCallbacksAreKept(t *testing.T) {
	for name, head := range map[string]string{"alone": "", "with modules": `import { LIMIT } from "gotap/test";` + "\nprint(LIMIT > 0);\n"} {
		text := head + `
let got = 0, word = "a", flag = false, was = -1, fixed = 5, list = [], other = 1;
probe("work", { enter(c) { exit({ n: c.arg0 }); }, exit(e) { got += e.n; word += "b"; flag = true; was = -2.5; list.push(1); other = "x"; print("seen", list.length); } });
end(() => console.log(got, word, flag, was, fixed, list.length, other));
`
		old := scripttest.New(t, text, func(o *script.Options) { o.Keep = true })
		old.Start()
		old.Enter(0, 5)
		old.Enter(0, 7)
		scripttest.Eventually(t, "both events", func() bool { return strings.Contains(old.Data.String(), "seen 2") })
		old.Script.Pause()
		r := scripttest.NewOn(t, old.Arena, strings.Replace(text, "fixed = 5", "fixed = 6", 1)+`probe("c", c => {});`, func(o *script.Options) { o.Previous, o.Keep = old.Script, true })
		r.Script.Plan(old.Script)
		r.Script.TakeOver(old.Script)
		if got := r.Once(func() {}); !strings.Contains(got, "12 abb true -2.5 6 0 1\n") {
			t.Errorf("%s: data is %s", name, got)
		}
	}
}

func TestPlanKeeps(t *testing.T) {
	text := `
let total = 0;
const n = count("n"), LIMIT = 5;
function helper(x) { return x > LIMIT; }
probe("a", { enter(c) { if (helper(c.arg0)) { total++; n.inc(); exit({}); } }, exit() { console.log("old"); } });
probe("b", c => { total++; });
`
	old := scripttest.New(t, text)
	old.Script.Begin()
	old.Enter(0, 6)
	r := scripttest.NewOn(t, old.Arena, strings.Replace(text, `"old"`, `"new"`, 1)+`probe("c", c => {});`, func(o *script.Options) { o.Previous = old.Script })
	keep, add, remove := r.Script.Plan(old.Script)
	if len(keep) != 2 || len(add) != 1 || len(remove) != 0 {
		t.Fatalf("keep %d, add %d, remove %d", len(keep), len(add), len(remove))
	}
	if keep[0].ID != old.Script.Probes()[0].ID || add[0].ID <= keep[1].ID {
		t.Errorf("numbers %d, %d, %d", keep[0].ID, keep[1].ID, add[0].ID)
	}
	// The old programs run on; the new script gets their events, also the one that waits in the ring.
	got := r.Once(func() { old.Enter(0, 7) })
	if got != "new\nnew\n@n: 2\n" {
		t.Errorf("data is %s", got)
	}
	changed := scripttest.NewOn(t, old.Arena, strings.Replace(text, "LIMIT = 5", "LIMIT = 6", 1), func(o *script.Options) { o.Previous = old.Script })
	if keep, _, _ := changed.Script.Plan(old.Script); len(keep) != 1 {
		t.Errorf("kept %d probes when a constant of one changed", len(keep))
	}
}

// Keys of another shape start afresh, and everything else goes on.
func TestAdoptionOfOtherKeys(t *testing.T) {
	text := `let total = 0; const by = count("by"); probe("work", c => { total++; by.at(c.arg0).inc(); });`
	old := scripttest.New(t, text)
	old.Script.Begin()
	old.Enter(0, 5)
	r := scripttest.NewOn(t, old.Arena, strings.Replace(text, "by.at(c.arg0)", "by.at(c.comm)", 1)+`end(() => console.log(total));`,
		func(o *script.Options) { o.Previous = old.Script })
	scripttest.WantLines(t, r.Once(func() { r.Enter(0, 5) }), "2", "@by[comm]: 1")
}

func TestCheck(t *testing.T) {
	s, list := script.Load(script.Options{Name: "s.js", Text: `probe("a", { enter(c) { this.x = 1; }, leave(c) { while (c.ret) log(1); } });`, Check: true})
	if s == nil {
		t.Fatal(list)
	}
	defer s.Close()
	all, list := s.Check()
	if list.HasErrors() || len(all) != 2 || !all[0].Program.Bound.Proved || all[1].Program.Bound.Proved {
		t.Errorf("%+v %v", all, list)
	}
}

// What a script shows of gotap's own objects names no function of gotap's inside.
func TestShownHandles(t *testing.T) {
	r := scripttest.New(t, `console.log(probe("f", c => {}), every("1s", () => {}));`)
	if text := r.Once(func() {}); strings.Contains(text, "gotap/") || !strings.Contains(text, "enable: [function]") {
		t.Errorf("shown is %s", text)
	}
}

func TestSymbolText(t *testing.T) {
	for want, y := range map[string]script.Symbol{
		"0x5":                                   {Addr: 5},
		"0x401136 main+0x4 (prog) at prog.c:12": {Addr: 0x401136, Func: "main", Offset: 4, Module: "/bin/prog", File: "/src/prog.c", Line: 12},
		"0x401136 swap [inlined] (prog)":        {Addr: 0x401136, Func: "swap", Module: "/bin/prog", Inlined: true},
		"0x401136 (prog:0x1136)":                {Addr: 0x401136, Offset: 0x1136, Module: "/bin/prog"},
		"0x401136 (prog)":                       {Addr: 0x401136, Module: "/bin/prog"},
	} {
		if got := y.String(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
