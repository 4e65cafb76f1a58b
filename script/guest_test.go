package script

import (
	"fmt"
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

// A script takes over from its earlier version while hits go on: each is counted once, and its event reaches the version
// whose probe was hit.
func TestHandOver(t *testing.T) {
	old := newRig(t, versionText)
	old.start()
	old.enter(0, 1)
	eventually(t, "the first event", func() bool { return strings.Contains(old.data.String(), "v1 1") })
	// The second version does something else in its program, so that its probe is a new one.
	text := strings.NewReplacer("v1", "v2", "total += 1", "total += 10").Replace(versionText)
	next := newRigOn(t, old.arena, text, func(o *Options) { o.Previous, o.Output = old.s, old.s.out })
	keep, add, remove := next.s.Plan(old.s)
	if len(keep) != 1 || len(add) != 1 || len(remove) != 1 {
		t.Fatalf("keep %d, add %d, remove %d", len(keep), len(add), len(remove))
	}
	old.s.Pause()
	old.enter(0, 2) // the probes are exchanged about here
	next.enter(0, 3)
	old.enter(1)
	next.s.TakeOver(old.s)
	next.s.Begin()
	next.s.Start()
	next.enter(0, 4)
	old.enter(0, 5) // as the leave of a call that was under way does: who took the probe's place is told
	next.s.End()
	wantLines(t, old.data.String(), "begin v1", "v1 1", "v1 2", "begin v2", "v2 3", "other", "v2 4", "v2 5", "end v2 23 5", "@n: 5")
}

func TestHandOverFails(t *testing.T) {
	old := newRig(t, versionText)
	old.start()
	old.s.Pause()
	old.enter(0, 1)
	old.s.Resume()
	old.enter(0, 2)
	wantLines(t, old.finish(), "begin v1", "v1 1", "v1 2", "end v1 2 2", "@n: 2")
}

// A second script joins a run and leaves it.
func TestJoin(t *testing.T) {
	r := newRig(t, `let ticks = 0; probe("a", { enter(c) { exit({}); }, exit() { console.log("a"); } }); end(() => console.log("end"));`)
	r.start()
	g := newRigOn(t, r.arena, `const m = max("m"); probe("b", { enter(c) { m.add(c.arg0); exit.hold({ v: c.arg0 }); }, exit(e) { console.log("b", e.v); } });
every("1ms", () => { if (m.get() === 6) { m.add(7); console.log("tick"); } });`, func(o *Options) { o.FirstProbe, o.Output = 1000, r.s.out })
	if err := r.s.Join(g.s); err != nil {
		t.Fatal(err)
	}
	r.enter(0)
	g.enter(0, 5)
	eventually(t, "b", func() bool { return strings.Contains(r.data.String(), "b 5") })
	g.enter(0, 6)
	eventually(t, "tick", func() bool { return strings.Contains(r.data.String(), "tick") })
	if err := r.s.Leave(g.s); err != nil {
		t.Fatal(err)
	}
	r.enter(0)
	got := strings.Replace(r.finish(), "tick\n", "", 1) // its place among the events is chance
	wantLines(t, got, "a", "b 5", "b 6", "@m: 7", "a", "end")
	if fmt.Sprint(r.tracer.released) != "[1 2]" {
		t.Errorf("released %v", r.tracer.released)
	}
}

func TestValues(t *testing.T) {
	r := newRig(t, `let total = 5, name = "x"; const n = count("n"), p = perThread(1);
probe("a", c => { total++; name = "y"; n.inc(); p.value++; });`)
	r.enter(0)
	var got []string
	for _, v := range r.s.Values() {
		got = append(got, fmt.Sprint(v.Object.Name, v.Entries[0].Data.Int, v.Entries[0].Data.Text))
	}
	if s := strings.Join(got, " "); s != "n1 total6 name0y" && s != "n1  total6  name0 y" {
		t.Errorf("values %q", s)
	}
	r.s.Reset()
	for _, v := range r.s.Values() {
		if v.Object.Name == "total" && v.Entries[0].Data.Int != 5 {
			t.Errorf("total is %d after the reset", v.Entries[0].Data.Int)
		}
	}
}

// What a script that joined has recorded reaches its callbacks although it leaves at once, and events of processes reach it.
func TestLeaveLosesNothing(t *testing.T) {
	r := newRig(t, `probe("a", c => {});`)
	r.start()
	g := newRigOn(t, r.arena, `let n = 0, forks = 0; probe("b", { enter(c) { exit({}); }, exit() { n++; } });
on("fork", () => forks++); end(() => console.log("left", n, forks));`, func(o *Options) { o.FirstProbe, o.Output = 1000, r.s.out })
	for range 20 {
		if err := r.s.Join(g.s); err != nil {
			t.Fatal(err)
		}
		r.s.Lifecycle(Event{Kind: "fork"})
		for range 500 {
			g.enter(0)
		}
		if err := r.s.Leave(g.s); err != nil {
			t.Fatal(err)
		}
		g.s.stopped.Store(false)
	}
	lines := strings.Split(strings.TrimSpace(r.finish()), "\n")
	for i, line := range lines {
		if want := fmt.Sprint("left ", 500*(i+1), " ", i+1); line != want || len(lines) != 20 {
			t.Fatalf("turn %d of %d: %q, want %q", i, len(lines), line, want)
		}
	}
}

// The exceptions of a run are those of all its scripts: of versions that were replaced, of scripts that have joined, and of those that
// have left.
func TestFaultsOfAllScripts(t *testing.T) {
	const throws = `begin(() => { throw new Error("thrown"); });`
	old := newRig(t, throws)
	old.start()
	left := newRigOn(t, old.arena, throws, func(o *Options) { o.FirstProbe, o.Output = 1000, old.s.out })
	if err := old.s.Join(left.s); err != nil {
		t.Fatal(err)
	}
	if err := old.s.Leave(left.s); err != nil {
		t.Fatal(err)
	}
	joined := newRigOn(t, old.arena, throws, func(o *Options) { o.FirstProbe, o.Output = 2000, old.s.out })
	if err := old.s.Join(joined.s); err != nil {
		t.Fatal(err)
	}
	next := newRigOn(t, old.arena, `end(() => { throw new Error("thrown"); });`, func(o *Options) { o.Previous, o.Output = old.s, old.s.out })
	old.s.Pause()
	next.s.TakeOver(old.s)
	next.s.Begin()
	next.s.Start()
	next.s.End()
	if n := next.s.Faults(); n != 4 {
		t.Errorf("%d exceptions, want 4", n)
	}
}
