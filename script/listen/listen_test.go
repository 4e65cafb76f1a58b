package listen_test

import (
	"strings"
	"testing"

	"gotap/runtime/arena"
	"gotap/runtime/facility"
	"gotap/runtime/record"
	"gotap/runtime/value"
	"gotap/script"
	"gotap/script/output"
	"gotap/script/scripttest"
)

// Listeners are called first, by priority, as they were registered, last; one that says "stop" ends the chain.
func TestListenerOrder(t *testing.T) {
	r := scripttest.New(t, `
on("fork", () => { console.log("last"); }, { order: "last" });
on("fork", () => { console.log("five"); }, { priority: 5 });
on("fork", () => { console.log("zero"); });
on("fork", () => { console.log("zero again"); });
on("fork", () => { console.log("minus"); }, { priority: -1 });
on("fork", () => { console.log("first"); }, { order: "first" });
on("exec", () => { console.log("heard"); return "stop"; }, { priority: 1 });
on("exec", () => { console.log("not heard"); }, { priority: 2 });
on("exit", () => "anything", { order: "only" });
`)
	scripttest.WantLines(t, r.Once(func() {
		r.Script.Lifecycle(script.Event{Kind: "fork"})
		r.Script.Lifecycle(script.Event{Kind: "exec"})
		r.Script.Lifecycle(script.Event{Kind: "exit"})
	}), "first", "minus", "zero", "zero again", "five", "last", "heard")
}

// once is for each arming; what is disarmed hears nothing.
func TestListenerOnce(t *testing.T) {
	r := scripttest.New(t, `
let n = 0;
const a = on("fork", () => { console.log("once", ++n, a.armed); }, { once: true });
const b = on("fork", () => { console.log("again", b.armed); if (n === 1) a.arm(); else b.disarm(); });
end(() => console.log(a.armed, b.armed));
`)
	scripttest.WantLines(t, r.Once(func() {
		for range 4 {
			r.Script.Lifecycle(script.Event{Kind: "fork"})
		}
	}), "once 1 false", "again true", "once 2 false", "again true", "false false")
}

func TestListenerRefusals(t *testing.T) {
	for text, want := range map[string]string{
		`on("fork", () => 1, { order: "first" }); on("fork", () => 1, { order: "first" })`: "the position is taken",
		`on("fork", () => 1, { order: "last" }); on("fork", () => 1, { order: "last" })`:   "the position is taken",
		`on("fork", () => 1); on("fork", () => 1, { order: "only" })`:                      "the position is taken",
		`on("fork", () => 1, { order: "only" }); on("fork", () => 1)`:                      "the position is taken",
		`on("fork", () => 1, { order: "middle" })`:                                         `"first", "last" or "only"`,
		`on("fork", () => 1, { priority: "high" })`:                                        "an integer",
		`on("fork", () => 1, { once: 1 })`:                                                 "true or false",
		`on("fork", () => 1, { prioriti: 1 })`:                                             `unknown option prioriti`,
		`on("fork", () => 1, 5)`:                                                           "options are an object",
		`facility(0, () => 1)`:                                                             "facilities are numbered from 1 to 255",
		`facility(256, () => 1)`:                                                           "facilities are numbered from 1 to 255",
		`probe("a", { enter(c) {}, order: "middle" })`:                                     `"first", "last" or "only"`,
	} {
		wantRefused(t, text, want)
	}
}

// The value of an option is what is pointed at, whichever argument the options are.
func TestOptionPlaces(t *testing.T) {
	for text, want := range map[string]string{
		`on("fork", () => 1, { once: true, priority: "high" })`: "s.js:1:45",
		`facility(7, () => 1, { hold: 1 })`:                     "s.js:1:30",
		`probe("a", { enter(c) {}, order: "middle" })`:          "s.js:1:34",
	} {
		wantRefused(t, text, want)
	}
}

// Facilities have the same order, gotap's own too, of which only the record can be had: what they do at the hit stays.
func TestFacilityOrder(t *testing.T) {
	table := facility.NewTable()
	r := scripttest.New(t, `
facility(1, e => { console.log("stopped", e.pid, e.log[0]); });
facility(7, e => { console.log("second", e.major); return "stop"; }, { priority: 2 });
facility(7, e => { console.log("once"); }, { priority: 1, once: true });
facility(7, e => { console.log("never"); }, { order: "last" });
`, func(o *script.Options) { o.Facilities = table })
	item := record.Item{Format: &record.Format{Kind: record.ItemWords}, Values: []value.Value{{Kind: value.KindInt, Int: 42}}}
	r.Script.Begin()
	for _, n := range []uint32{1, 7, 7} { // before the host's goroutine runs, which callbacks belong to
		rec := record.Record{Header: record.Header{Pid: 9}}
		if taken := table.Deliver(&facility.Delivery{Number: n, Major: 3, Record: &rec, Items: []record.Item{item}}); taken != (n == 7) {
			t.Errorf("facility %d: taken %v", n, taken)
		}
	}
	q := facility.Request{Number: facility.Stop}
	if table.Hit(&q); !q.Stop {
		t.Error("a callback took the stop away")
	}
	r.Script.Start()
	scripttest.WantLines(t, r.Finish(), "stopped 9 42", "once", "second 3", "second 3")
}

// wantRefused loads a script that is refused, and looks for a text in what is said of it.
func wantRefused(t *testing.T, text, want string) {
	t.Helper()
	arena, err := arena.New(arena.Options{Size: 16 << 20, Ring: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer arena.Close()
	_, list := script.Load(script.Options{Name: "s.js", Text: text, Arena: arena, Output: output.Discard})
	if !list.HasErrors() || !strings.Contains(list.Error(), want) {
		t.Errorf("%s\nsaid %v\nwant %s", text, list, want)
	}
}
