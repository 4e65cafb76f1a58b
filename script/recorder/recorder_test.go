package recorder_test

import (
	"gotap/script"
	"gotap/script/scripttest"
	"strings"
	"testing"
	"time"
)

// tracing is a script that keeps a trail of calls and tells of those that fail.
const tracing = `
const trail = speculation({ bytes: 4096 });
probe("f", {
  enter(c) { trail.log("enter", c.arg0); this.n = c.arg0; },
  leave(c) {
    trail.printf("leave %d\n", c.ret);
    if (c.ret < 0) { log("failed:"); trail.commit(); log("done", this.n); }
    else trail.discard();
  },
});
`

func TestSpeculation(t *testing.T) {
	r := scripttest.New(t, tracing)
	got := r.Once(func() {
		r.Call(0, 1, 5)
		r.Call(0, ^uint64(0), 6)
		r.Call(0, 2, 7)
		r.Call(0, ^uint64(1), 8)
	})
	scripttest.WantLines(t, got, "failed:", "enter 6", "leave -1", "done 6", "failed:", "enter 8", "leave -2", "done 8")
}

// TestSpeculativeEvents: an event that waits reaches its callback when it is committed, and only then.
func TestSpeculativeEvents(t *testing.T) {
	r := scripttest.New(t, `
const trail = speculation();
probe("f", { enter(c) { trail.exit({ n: c.arg0 }); log("not reached"); }, exit(e) { console.log("event", e.n, e.pid, e.tid, e.comm); } });
probe("g", c => trail.commit());
probe("h", c => trail.discard());
`)
	got := r.Once(func() {
		r.Enter(0, 1)
		r.Enter(2)
		r.Enter(0, 2)
		r.Enter(0, 3)
		r.Enter(1)
	})
	scripttest.WantLines(t, got, "event 2 100 101 prog", "event 3 100 101 prog")
}

func TestRecorderDump(t *testing.T) {
	r := scripttest.New(t, `
const ring = recorder({ events: 3 });
probe("f", { enter(c) { ring.exit({ n: c.arg0 }); }, exit(e) { console.log("kept", e.n); } });
probe("g", { enter(c) { ring.log("at", c.arg0); exit({}); }, exit(e) { const d = ring.dump(); console.log(d.records, d.overwritten); } });
end(() => console.log(JSON.stringify(ring.dump())));
`)
	got := r.Once(func() {
		for n := range uint64(5) {
			r.Enter(0, n)
		}
		r.Enter(1, 9)
		scripttest.Eventually(t, "the dump", func() bool { return strings.Contains(r.Data.String(), "3 3") })
		r.Enter(0, 7)
	})
	scripttest.WantLines(t, got, "kept 3", "kept 4", "at 9", "3 3", "kept 7", `{"records":1,"overwritten":0}`)
}

// TestRecorderOnEvents: a recorder is dumped by the signal or the death it was declared for.
func TestRecorderOnEvents(t *testing.T) {
	for _, c := range []struct {
		on     string
		event  script.Event
		reason string // "": it does not dump
	}{
		{`"signal"`, script.Event{Kind: "signal", Fields: map[string]any{"pid": int64(7), "signal": int64(10)}}, "SIGUSR1 of process 7"},
		{`"SIGUSR1"`, script.Event{Kind: "signal", Fields: map[string]any{"pid": int64(7), "signal": int64(10)}}, "SIGUSR1 of process 7"},
		{`"SIGUSR2"`, script.Event{Kind: "signal", Fields: map[string]any{"pid": int64(7), "signal": int64(10)}}, ""},
		{`["SIGUSR2", "crash"]`, script.Event{Kind: "exit", Fields: map[string]any{"pid": int64(7), "signal": int64(11), "status": int64(0)}}, "SIGSEGV of process 7"},
		{`"crash"`, script.Event{Kind: "exit", Fields: map[string]any{"pid": int64(7), "signal": int64(0), "status": int64(3)}}, ""},
		{`"crash"`, script.Event{Kind: "signal", Fields: map[string]any{"pid": int64(7), "signal": int64(11)}}, ""},
		{`"end"`, script.Event{Kind: "thread", Fields: map[string]any{"pid": int64(7)}}, "end of the run"},
	} {
		r := scripttest.New(t, `const ring = recorder({ events: 2, on: `+c.on+` }); probe("f", c => ring.log(c.arg0));`)
		got := r.Once(func() {
			for n := range uint64(4) {
				r.Enter(0, n)
			}
			r.Script.Lifecycle(c.event)
		})
		want := ""
		if c.reason != "" {
			want = "--- recorder ring, " + c.reason + ": the last 2 of 4 records\n2\n3\n--- end of recorder ring\n"
		}
		if got != want {
			t.Errorf("%s: data is\n%swant\n%s", c.on, got, want)
		}
	}
}

// TestClocksOfDumpedEvents: an event that loops is ended, and the callback that dumps goes on with its own time; stop()
// in an event ends both.
func TestClocksOfDumpedEvents(t *testing.T) {
	r := scripttest.New(t, `
const ring = recorder();
probe("f", { enter(c) { ring.exit({ n: c.arg0 }); }, exit(e) { if (e.n === 1) for (;;); if (e.n === 3) stop(4); console.log("kept", e.n); } });
probe("g", { enter(c) { exit({}); }, exit(e) { ring.dump(); console.log("dumped"); } });
`, func(o *script.Options) { o.Deadline = 500 * time.Millisecond })
	got := r.Once(func() {
		for n := range uint64(3) {
			r.Enter(0, n)
		}
		r.Enter(1)
		scripttest.Eventually(t, "the dump", func() bool { return strings.Contains(r.Data.String(), "dumped") })
		r.Enter(0, 3)
		r.Enter(1)
		scripttest.Eventually(t, "the stop", func() bool { return r.Script.Stopped() })
	})
	scripttest.WantLines(t, got, "kept 0", "kept 2", "dumped")
	if r.Script.Status() != 4 || !strings.Contains(r.Errors.String(), "still running after 500ms") {
		t.Errorf("status %d\n%s", r.Script.Status(), r.Errors.String())
	}
}

func TestAsideDiagnostics(t *testing.T) {
	for text, want := range map[string]string{
		`const t = speculation({ byte: 1 })`:                              "unknown option byte",
		`const t = speculation({ bytes: 1 })`:                             "bytes must be an integer from 128 to 1048576, not 1",
		`const m = map({ max: 1048577 })`:                                 "max must be an integer from 1 to 1048576, not 1048577",
		`const n = count({ keys: 17 })`:                                   "keys must be an integer from 0 to 16, not 17",
		`const t = speculation(4)`:                                        "options are an object, not 4",
		`const r = recorder({ events: 0 })`:                               "events must be an integer from 1 to",
		`const r = recorder({ on: "segv" })`:                              `a recorder cannot be dumped on "segv"`,
		`const r = recorder(); r.log(1)`:                                  "log() of a trail or a recorder belongs in a program",
		`const r = recorder(); probe("f", c => r.dump())`:                 "are kept until a callback calls r.dump()",
		`const r = recorder(); probe("f", c => r.commit())`:               "a recorder has no member commit in a program",
		`const t = speculation(); probe("f", c => t.comit())`:             "did you mean commit?",
		`const t = speculation(); probe("f", c => t.commit(1))`:           "commit takes 0 arguments, not 1",
		`const t = speculation(); probe("f", c => log(t))`:                "wait until t.commit() or t.discard()",
		`probe("f", c => { const t = speculation(); t.log(1); })`:         "make it at top level: const x = speculation()",
		`const r = recorder({ events: 1048576, bytes: 16384 })`:           "cannot make r: cannot set aside",
		`const t = speculation(); probe("f", c => t.printf("%d", "x"))`:   "one conversion for each value",
		`const t = speculation(); probe("f", c => t.exit(1))`:             "exit takes a record",
		`const t = speculation(); probe("f", c => { let x = t.log(1); })`: "no value",
	} {
		s, list := script.Load(script.Options{Name: "a.js", Text: text})
		if s != nil {
			s.Close()
		}
		if !strings.Contains(list.Error(), want) {
			t.Errorf("%s\nis told\n%v\nwant %q", text, list, want)
		}
	}
}
