package picture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
	"gotap/script/output"
)

// call is an event as gotap trace writes it; took is negative when it does not return.
func call(tid uint32, depth int64, name string, start uint64, took int64) output.Event {
	e := output.Event{Probe: "call", Pid: 1, Tid: tid, Time: start, Comm: "prog", Fields: []output.Field{{Name: "func", Value: name}, {Name: "call", Value: name + "()"}, {Name: "depth", Value: depth}}}
	if took >= 0 {
		e.Fields = append(e.Fields, output.Field{Name: "ns", Value: took}, output.Field{Name: "failed", Value: took == 7})
	}
	return e
}

// written returns the picture of what is put into a sink.
func written(t *testing.T, most int, put func(s *Sink)) (p Picture) {
	t.Helper()
	s := New(io.Discard, func(_ io.Writer, got *Picture) error { p = *got; return nil }, Limits{Events: most, Bytes: 4 << 20}, Picture{Target: "prog"})
	s.Ready()
	s.Describe("a.js", "text")
	put(s)
	s.End(output.End{Status: 3})
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

// text returns stacks as folded lines.
func (s Stacks) text() string {
	var b strings.Builder
	for _, one := range s.List {
		fmt.Fprintf(&b, "%s %d\n", strings.Join(one.Frames, ";"), one.Value)
	}
	return b.String()
}

// TestCalls: calls that come as they return, the inner before the outer, are put together by thread and depth; each has
// the time that it spent itself. One that does not return lasts until the thread's last event.
func TestCalls(t *testing.T) {
	p := written(t, 100, func(s *Sink) {
		s.Event(call(1, 1, "inner", 110, 20))
		s.Event(call(2, 0, "other", 115, 7)) // at the same time in another thread
		s.Event(call(1, 1, "inner", 140, 30))
		s.Event(call(1, 0, "outer", 100, 100))
		s.Event(call(1, 1, "last", 310, 40))
		s.Event(call(1, 0, "stuck", 300, -1))
	})
	all := p.Stacks()
	if len(all) != 2 || all[0].Unit != "nanoseconds" || all[1].Unit != "count" {
		t.Fatalf("%+v", all)
	}
	if want := "prog;other 7\nprog;outer 50\nprog;outer;inner 50\nprog;stuck 10\nprog;stuck;last 40\n"; all[0].text() != want {
		t.Errorf("times\n%s", all[0].text())
	}
	if want := "prog;other 1\nprog;outer 1\nprog;outer;inner 2\nprog;stuck 1\nprog;stuck;last 1\n"; all[1].text() != want {
		t.Errorf("counts\n%s", all[1].text())
	}
	if got := times(p.Calls); got != "outer 100+100 inner 110+20 inner 140+30 stuck 300+50 last 310+40 other 115+7 " {
		t.Error(got)
	}
	if !p.Calls[5].Failed || p.Calls[0].Failed {
		t.Errorf("%+v", p.Calls)
	}
}

// times returns calls with their beginnings and durations.
func times(calls []Call) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s %d+%d ", c.Func, c.Start, c.Duration)
	}
	return b.String()
}

// TestLateTimes: the time of a call is later than the beginning of its duration, by what it took to make its record. In
// a time line the calls of a thread still lie in one another, or beside one another.
func TestLateTimes(t *testing.T) {
	p := written(t, 100, func(s *Sink) {
		s.Event(call(1, 1, "first", 100, 50)) // seems to return after the second has begun
		s.Event(call(1, 2, "within", 119, 10))
		s.Event(call(1, 1, "second", 120, 10)) // seems to return after its caller
		s.Event(call(1, 0, "outer", 95, 30))
		s.Event(call(1, 1, "early", 205, 10)) // of calls that are reported as they return: seems to begin before its caller
		s.Event(call(1, 0, "late", 210, 40))
		s.Event(call(1, 7, "lone", 300, 5)) // its callers are not reported
	})
	if got := times(p.Calls); got != "outer 95+30 first 100+20 second 120+5 within 120+5 late 210+40 early 210+10 lone 300+5 " {
		t.Error(got)
	}
	var took []uint64
	for _, c := range p.Calls {
		took = append(took, c.Took)
	}
	if !reflect.DeepEqual(took, []uint64{30, 50, 10, 10, 40, 10, 5}) {
		t.Error(took)
	}
}

// TestCallers: what gotap trace --stack reports is around the outermost calls.
func TestCallers(t *testing.T) {
	p := written(t, 100, func(s *Sink) {
		e := call(1, 0, "leaf", 100, 5)
		e.Fields = append(e.Fields, output.Field{Name: "stack", Value: "    0x10 leaf+0x0 (prog) at a.c:1\n    0x20 work+0x4 (prog)\n    0x30 main+0x1 (prog)"})
		s.Event(e)
	})
	if got := p.Stacks()[1].text(); got != "prog;main;work;leaf 1\n" {
		t.Error(got)
	}
}

// TestStacks finds stacks in events, tables and keys.
func TestStacks(t *testing.T) {
	frames := []string{"0x10 leaf+0x4 (libc.so.6) at a.c:3", "0x20 (prog:0x20)", "0x30 main+0x1 (prog)"}
	name := func(value.Value) []string { return frames }
	p := written(t, 100, func(s *Sink) {
		for range 2 {
			s.Event(output.Event{Probe: "p", Comm: "prog", Fields: []output.Field{{Name: "stack", Value: frames}}})
		}
		s.Table(output.Table{Name: "old", Columns: []string{"stack", "hits"}, Rows: [][]any{{"x", int64(1)}}})
		s.Table(output.Table{Name: "old", Columns: []string{"stack", "hits"}, Rows: [][]any{{"a;b", int64(4)}}})
		s.Table(output.Table{Name: "leaks", Columns: []string{"bytes", "stack"}, Rows: [][]any{{int64(9), []any{frames[0], frames[2]}}, {int64(1), nil}}})
		s.Aggregate(output.Aggregate{Options: snapshot.Options{Stack: name}, Snapshot: snapshot.Snapshot{
			Object:  object.Object{Name: "n", Kind: object.KindCount, Keys: 2},
			Entries: []snapshot.Entry{{Key: []value.Value{value.Text("k"), {Kind: value.KindStack, Stack: []uint64{1}}}, Data: snapshot.Data{Kind: object.KindCount, Int: 5}}}}})
	})
	var got []string
	for _, s := range p.Stacks() {
		got = append(got, s.Name+" "+s.Unit+" "+s.text())
	}
	want := []string{"old, hits count a;b 4\n", "leaks, bytes bytes main;leaf 9\n", "n count k;main;prog:0x20;leaf 5\n", "p count prog;main;prog:0x20;leaf 2\n"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestKept: the sink keeps so many events and says how many were more, and the end of a long text.
func TestKept(t *testing.T) {
	var s *Sink
	p := written(t, 2, func(sink *Sink) {
		s = sink
		for range 5 {
			s.Event(output.Event{Probe: "p"})
		}
		line := strings.Repeat("x", MaxText/4-1) + "\n"
		for range 20 {
			s.Print(line)
		}
		s.Print("end\n")
		s.Lost("ring full", 2)
		s.Error(diag.Diagnostic{Text: "bad"})
	})
	if len(p.Events) != 2 || s.Dropped() != 3 {
		t.Errorf("%d events kept, %d dropped", len(p.Events), s.Dropped())
	}
	if len(p.Text) > MaxText || !bytes.HasSuffix(p.Text, []byte("x\nend\n")) {
		t.Errorf("%d bytes of text", len(p.Text))
	}
	if p.Title != "a.js" || p.Script != "text" || p.Target != "prog" || p.End.Status != 3 || len(p.Losses) != 1 || len(p.Errors) != 1 {
		t.Errorf("%+v", p)
	}
}

// TestUnwritten: a run whose probes were never armed writes nothing, nor does a second end; what goes wrong is kept.
func TestUnwritten(t *testing.T) {
	bad, n := errors.New("full"), 0
	s := New(io.Discard, func(io.Writer, *Picture) error { n++; return bad }, Limits{Events: 1}, Picture{})
	s.End(output.End{})
	if n != 0 || s.Err() != nil {
		t.Error("written before the probes were armed")
	}
	s.Ready()
	s.End(output.End{})
	s.End(output.End{})
	if n != 1 || !errors.Is(s.Err(), bad) {
		t.Errorf("written %d times, %v", n, s.Err())
	}
}

// TestBytes: the texts of events take so many bytes at most, and what follows the first event without room is not kept
// either.
func TestBytes(t *testing.T) {
	var s *Sink
	p := written(t, 1000, func(sink *Sink) {
		s = sink
		for range 5 {
			s.Event(output.Event{Probe: "p", Fields: []output.Field{{Name: "s", Value: strings.Repeat("x", 1<<20)}}})
		}
		s.Event(output.Event{Probe: "p"})
	})
	if len(p.Events) != 3 || s.Dropped() != 3 {
		t.Errorf("%d events kept, %d dropped", len(p.Events), s.Dropped())
	}
}

// TestBounded: a recursion of any depth, and any number of stacks, take so much memory at most, and no value is lost.
func TestBounded(t *testing.T) {
	const deep = 20_000
	p := written(t, deep, func(s *Sink) {
		for i := deep - 1; i >= 0; i-- {
			s.Event(call(1, int64(i), "again", uint64(1000+i), int64(2*(deep-i))))
		}
	})
	all := p.Stacks()
	var sum int64
	for _, one := range all[1].List {
		sum += one.Value
		if len(one.Frames) > maxDepth {
			t.Fatalf("a stack of %d frames", len(one.Frames))
		}
	}
	if sum != deep {
		t.Errorf("%d calls of %d", sum, deep)
	}
	f := newFolder()
	for i := range maxNodes + 10 {
		f.add(f.stack("main", fmt.Sprint(i), "leaf"), 1)
	}
	for i := range 10 {
		f.add(f.stack("main", fmt.Sprint(i), "leaf"), 1)
	}
	sum = 0
	frames := 0
	for _, one := range f.stacks("", "").List {
		sum += one.Value
		frames += len(one.Frames)
		if one.Frames[0] == otherStacks && one.Value < maxNodes/2 || len(one.Frames) == 3 && one.Frames[1] == "3" && one.Value != 2 {
			t.Errorf("%+v", one)
		}
	}
	if sum != maxNodes+20 || len(f.nodes) != maxNodes || frames > maxFrames+1 {
		t.Errorf("%d counted, %d nodes, %d frames", sum, len(f.nodes), frames)
	}
}

// TestNames: names of the target are lines of UTF-8 without control characters.
func TestNames(t *testing.T) {
	f := newFolder()
	f.add(f.stack("a\x00b\nc\x1b[2J\u009b\xff"), 1)
	if got := f.stacks("", "").List[0].Frames; len(got) != 1 || got[0] != `a\x00b c\x1b[2J\u009b?` && got[0] != `a\x00b c\x1b[2J\u009b\xff` {
		t.Errorf("%q", got)
	}
}
