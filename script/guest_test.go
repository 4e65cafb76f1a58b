package script_test

import (
	"fmt"
	"gotap/script"
	"gotap/script/scripttest"
	"strings"
	"testing"
)

const versionText = `
let total = 0;
const n = count("n");
probe("work", { enter(c) { total += 1; n.inc(); exit({ i: c.arg0 }); }, exit(e) { console.log("v1", e.i); } });
probe("other", c => log("other"));
begin(() => console.log("begin v1"));
end(() => console.log("end v1", total, n.get()));
`

// A script takes over from its earlier version while hits go on: each is counted once, and its event reaches the
// version whose probe was hit.
func TestHandOver(t *testing.T) {
	old := scripttest.New(t, versionText)
	old.Start()
	old.Enter(0, 1)
	scripttest.Eventually(t, "the first event", func() bool { return strings.Contains(old.Data.String(), "v1 1") })
	// The second version does something else in its program, so that its probe is a new one.
	text := strings.NewReplacer("v1", "v2", "total += 1", "total += 10").Replace(versionText)
	next := scripttest.NewOn(t, old.Arena, text, func(o *script.Options) { o.Previous, o.Output = old.Script, old.Output })
	keep, add, remove := next.Script.Plan(old.Script)
	if len(keep) != 1 || len(add) != 1 || len(remove) != 1 {
		t.Fatalf("keep %d, add %d, remove %d", len(keep), len(add), len(remove))
	}
	old.Script.Pause()
	old.Enter(0, 2) // the probes are exchanged about here
	next.Enter(0, 3)
	old.Enter(1)
	next.Script.TakeOver(old.Script)
	next.Script.Begin()
	next.Script.Start()
	next.Enter(0, 4)
	old.Enter(0, 5) // as the leave of a call that was under way does: who took the probe's place is told
	next.Script.End()
	scripttest.WantLines(t, old.Data.String(), "begin v1", "v1 1", "v1 2", "begin v2", "v2 3", "other", "v2 4", "v2 5", "end v2 23 5", "@n: 5")
}

func TestHandOverFails(t *testing.T) {
	old := scripttest.New(t, versionText)
	old.Start()
	old.Script.Pause()
	old.Enter(0, 1)
	old.Script.Resume()
	old.Enter(0, 2)
	scripttest.WantLines(t, old.Finish(), "begin v1", "v1 1", "v1 2", "end v1 2 2", "@n: 2")
}

// A second script joins a run and leaves it.
func TestJoin(t *testing.T) {
	r := scripttest.New(t, `let ticks = 0; probe("a", { enter(c) { exit({}); }, exit() { console.log("a"); } }); end(() => console.log("end"));`)
	r.Start()
	g := scripttest.NewOn(t, r.Arena, `const m = max("m"); probe("b", { enter(c) { m.add(c.arg0); exit.hold({ v: c.arg0 }); }, exit(e) { console.log("b", e.v); } });
every("1ms", () => { if (m.get() === 6) { m.add(7); console.log("tick"); } });`, func(o *script.Options) { o.FirstProbe, o.Output = 1000, r.Output })
	if err := r.Script.Join(g.Script); err != nil {
		t.Fatal(err)
	}
	r.Enter(0)
	g.Enter(0, 5)
	scripttest.Eventually(t, "b", func() bool { return strings.Contains(r.Data.String(), "b 5") })
	g.Enter(0, 6)
	scripttest.Eventually(t, "tick", func() bool { return strings.Contains(r.Data.String(), "tick") })
	if err := r.Script.Leave(g.Script); err != nil {
		t.Fatal(err)
	}
	r.Enter(0)
	got := strings.Replace(r.Finish(), "tick\n", "", 1) // its place among the events is chance
	scripttest.WantLines(t, got, "a", "b 5", "b 6", "@m: 7", "a", "end")
	if fmt.Sprint(r.Tracer.Released) != "[1 2]" {
		t.Errorf("released %v", r.Tracer.Released)
	}
}

func TestValues(t *testing.T) {
	r := scripttest.New(t, `let total = 5, name = "x"; const n = count("n"), p = perThread(1);
probe("a", c => { total++; name = "y"; n.inc(); p.value++; });`)
	r.Enter(0)
	var got []string
	for _, v := range r.Script.Values() {
		got = append(got, fmt.Sprint(v.Object.Name, v.Entries[0].Data.Int, v.Entries[0].Data.Text))
	}
	if s := strings.Join(got, " "); s != "n1 total6 name0y" && s != "n1  total6  name0 y" {
		t.Errorf("values %q", s)
	}
	r.Script.Reset()
	for _, v := range r.Script.Values() {
		if v.Object.Name == "total" && v.Entries[0].Data.Int != 5 {
			t.Errorf("total is %d after the reset", v.Entries[0].Data.Int)
		}
	}
}

// What a script that joined has recorded reaches its callbacks although it leaves at once, and events of processes
// reach it.
func TestLeaveLosesNothing(t *testing.T) {
	r := scripttest.New(t, `probe("a", c => {});`)
	r.Start()
	g := scripttest.NewOn(t, r.Arena, `let n = 0, forks = 0; probe("b", { enter(c) { exit({}); }, exit() { n++; } });
on("fork", () => forks++); end(() => console.log("left", n, forks));`, func(o *script.Options) { o.FirstProbe, o.Output = 1000, r.Output })
	for range 20 {
		if err := r.Script.Join(g.Script); err != nil {
			t.Fatal(err)
		}
		r.Script.Lifecycle(script.Event{Kind: "fork"})
		for range 500 {
			g.Enter(0)
		}
		if err := r.Script.Leave(g.Script); err != nil {
			t.Fatal(err)
		}
		g.Script.Revive()
	}
	lines := strings.Split(strings.TrimSpace(r.Finish()), "\n")
	for i, line := range lines {
		if want := fmt.Sprint("left ", 500*(i+1), " ", i+1); line != want || len(lines) != 20 {
			t.Fatalf("turn %d of %d: %q, want %q", i, len(lines), line, want)
		}
	}
}

// The exceptions of a run are those of all its scripts: of versions that were replaced, of scripts that have joined,
// and of those that have left.
func TestFaultsOfAllScripts(t *testing.T) {
	const throws = `begin(() => { throw new Error("thrown"); });`
	old := scripttest.New(t, throws)
	old.Start()
	left := scripttest.NewOn(t, old.Arena, throws, func(o *script.Options) { o.FirstProbe, o.Output = 1000, old.Output })
	if err := old.Script.Join(left.Script); err != nil {
		t.Fatal(err)
	}
	if err := old.Script.Leave(left.Script); err != nil {
		t.Fatal(err)
	}
	joined := scripttest.NewOn(t, old.Arena, throws, func(o *script.Options) { o.FirstProbe, o.Output = 2000, old.Output })
	if err := old.Script.Join(joined.Script); err != nil {
		t.Fatal(err)
	}
	next := scripttest.NewOn(t, old.Arena, `end(() => { throw new Error("thrown"); });`, func(o *script.Options) { o.Previous, o.Output = old.Script, old.Output })
	old.Script.Pause()
	next.Script.TakeOver(old.Script)
	next.Script.Begin()
	next.Script.Start()
	next.Script.End()
	if n := next.Script.Faults(); n != 4 {
		t.Errorf("%d exceptions, want 4", n)
	}
}
