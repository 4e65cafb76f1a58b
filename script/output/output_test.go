package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"gotap/compile/diag"
	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/runtime/value"
)

var event = Event{Probe: "p", Pid: 1, Tid: 2, Time: 1 << 60, Comm: "c", Fields: []Field{
	{"n", int64(-5)}, {"big", int64(math.MinInt64)}, {"u", uint64(math.MaxUint64)}, {"f", 1.5}, {"million", 1e6}, {"nan", math.NaN()}, {"inf", math.Inf(1)}, {"low", math.Inf(-1)},
	{"s", "two words"}, {"t", "a\x01\"\u2028<"}, {"e", ""}, {"b", true}, {"in", []Field{{"x", int64(1)}, {"y", "z"}}}, {"st", []string{"0x1 a", "0x2 b"}}}}

func TestText(t *testing.T) {
	var data, errs bytes.Buffer
	s := NewText(&data, &errs)
	s.Print("line\n")
	s.Event(event)
	s.Complain("bad\n")
	s.Lost("ring full", 7)
	s.Error(diag.Diagnostic{Text: "no place"})
	s.Flush()
	want := "line\np: n=-5 big=-9223372036854775808 u=18446744073709551615 f=1.5 million=1000000 nan=NaN inf=Infinity low=-Infinity s=\"two words\" t=\"a\\x01\\\"\\u2028<\" e=\"\" b=true in.x=1 in.y=z st=\n    0x1 a\n    0x2 b\n"
	if data.String() != want {
		t.Errorf("data is %q\nwant    %q", data.String(), want)
	}
	if errs.String() != "bad\ngotap: lost 7: ring full\nerror: no place\n" {
		t.Errorf("errors are %q", errs.String())
	}
}

// Every line is one object, and its integers survive a reader that has doubles only.
func TestJSON(t *testing.T) {
	var data bytes.Buffer
	s := NewJSON(&data)
	src := diag.NewSource("s.js", "ab\ncd\n")
	s.Ready()
	s.Print("tab\t quote\" back\\ cr\r bell\x07 世界 <>&")
	s.Event(event)
	s.Error(diag.Diagnostic{Span: diag.Span{Source: src, Start: 4, End: 5}, Text: "bad", Hint: "do it", Severity: diag.Warning})
	s.Lost("ring full", 1<<60)
	s.Aggregate(Aggregate{Snapshot: snapshot.Snapshot{Object: object.Object{Name: "n", Kind: object.KindCount}}})
	s.End(End{Status: 3})
	lines := strings.Split(strings.TrimSuffix(data.String(), "\n"), "\n")
	var records []map[string]any
	for _, line := range lines {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		records = append(records, r)
	}
	var kinds []string
	for _, r := range records {
		kinds = append(kinds, r["type"].(string))
	}
	if got := strings.Join(kinds, " "); got != "ready print event error lost value end" {
		t.Errorf("records are %s", got)
	}
	if records[1]["text"] != "tab\t quote\" back\\ cr\r bell\x07 世界 <>&" || strings.Contains(lines[1], `\u003c`) {
		t.Errorf("text is %s", lines[1])
	}
	fields := records[2]["data"].(map[string]any)
	if fields["n"] != -5.0 || fields["big"] != "-9223372036854775808" || fields["u"] != "18446744073709551615" || fields["nan"] != "NaN" || fields["inf"] != "Infinity" || fields["low"] != "-Infinity" ||
		fields["t"] != "a\x01\"\u2028<" || fields["in"].(map[string]any)["y"] != "z" {
		t.Errorf("event is %s", lines[2])
	}
	if r := records[3]; r["line"] != 2.0 || r["column"] != 2.0 || r["hint"] != "do it" || r["severity"] != "warning" {
		t.Errorf("error is %s", lines[3])
	}
	if records[4]["value"] != "1152921504606846976" {
		t.Errorf("loss is %s", lines[4])
	}
}

// TestJSONTable: a table has its values, whole; a table without columns writes no record.
func TestJSONTable(t *testing.T) {
	var data bytes.Buffer
	j := NewJSON(&data)
	j.Ready()
	j.Table(Table{Text: "only text"})
	j.Table(Table{Name: "t", Columns: []string{"a", "b"}, Rows: [][]any{{int64(1) << 60, nil}, {"x", []any{1.5, true}}}})
	j.Flush()
	if _, got, _ := strings.Cut(data.String(), "\n"); got != `{"type":"table","name":"t","columns":["a","b"],"rows":[["1152921504606846976",null],["x",[1.5,true]]]}`+"\n" {
		t.Errorf("%s", got)
	}
}

// TestJSONStops: the end of a run has the numbers of stops, and a reason if there is one.
func TestJSONStops(t *testing.T) {
	for want, stops := range map[string]Stops{
		`{"type":"end","status":0,"stops":{"all":10,"together":8}}`:                     {All: 10, Together: 8},
		`{"type":"end","status":0,"stops":{"all":10,"together":0,"apart":"2 threads"}}`: {All: 10, Apart: "2 threads"},
	} {
		var data bytes.Buffer
		NewJSON(&data).End(End{Stops: &stops})
		if got := strings.TrimSpace(data.String()); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// The end of a run tells how its targets have ended: one by itself, several in a list.
func TestJSONTargets(t *testing.T) {
	for want, targets := range map[string][]Target{
		`{"type":"end","status":1}`:                                                         nil,
		`{"type":"end","status":1,"target":{"pid":7}}`:                                      {{Pid: 7}},
		`{"type":"end","status":1,"target":{"pid":7,"status":0}}`:                           {{Pid: 7, Ended: true}},
		`{"type":"end","status":1,"target":{"pid":7,"signal":11,"core":true}}`:              {{Pid: 7, Ended: true, Signal: 11, Dumped: true}},
		`{"type":"end","status":1,"targets":[{"pid":7,"signal":9},{"pid":8,"status":256}]}`: {{Pid: 7, Ended: true, Signal: 9}, {Pid: 8, Ended: true, Status: 256}},
	} {
		var data bytes.Buffer
		NewJSON(&data).End(End{Status: 1, Targets: targets})
		if got := strings.TrimSpace(data.String()); got != want {
			t.Errorf("end is %s, want %s", got, want)
		}
	}
}

// What comes before the probes are armed stands behind the ready record; without one it stands before the end.
func TestJSONReadyFirst(t *testing.T) {
	for _, ready := range []bool{true, false} {
		var data bytes.Buffer
		s := NewJSON(&data)
		s.Print("early")
		s.Flush()
		if data.Len() != 0 {
			t.Errorf("written before it is known whether there is a ready record: %s", data.String())
		}
		want := []string{"early", `"end"`}
		if ready {
			s.Ready()
			s.Print("late")
			want = []string{`"ready"`, "early", "late", `"end"`}
		}
		s.End(End{})
		lines := strings.Split(strings.TrimSpace(data.String()), "\n")
		if len(lines) != len(want) {
			t.Fatalf("records are %q", lines)
		}
		for i, w := range want {
			if !strings.Contains(lines[i], w) {
				t.Errorf("record %d is %s, not %s", i, lines[i], w)
			}
		}
	}
}

type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) {
	b.writes++
	return 0, errors.New("gone")
}

// A reader that went away costs one write; the run goes on and is told why at its end.
func TestBrokenWriter(t *testing.T) {
	b := &broken{}
	for _, s := range []Sink{NewText(b, &bytes.Buffer{}), NewJSON(b)} {
		b.writes = 0
		s.Ready()
		for range 10 {
			s.Print(strings.Repeat("x", bufferSize))
			s.Flush()
		}
		if b.writes != 1 || s.Err() == nil {
			t.Errorf("%d writes, %v", b.writes, s.Err())
		}
	}
}

// What is held back comes in its order, or not at all; afterwards nothing is held back.
func TestHeld(t *testing.T) {
	var data, errs bytes.Buffer
	h := NewHeld(NewText(&data, &errs))
	h.Print("one\n")
	h.Complain("bad\n")
	h.Event(Event{Probe: "p"})
	h.Flush()
	if data.Len()+errs.Len() != 0 {
		t.Errorf("said before it was released: %q, %q", data.String(), errs.String())
	}
	h.Release()
	h.Print("two\n")
	h.Flush()
	if data.String() != "one\np:\ntwo\n" || errs.String() != "bad\n" {
		t.Errorf("said %q, %q", data.String(), errs.String())
	}
}

// What a target could make a terminal do is escaped in every kind of text, and whole in JSON.
func TestControlsEscaped(t *testing.T) {
	const evil = "\x1b]0;x\a\u009b2J\u202e"
	say := func(s Sink) {
		s.Ready()
		s.Print(evil + "\n")
		s.Complain(evil + "\n")
		s.Event(Event{Probe: "p", Fields: []Field{{"k", evil}, {"st", []string{evil}}, {evil, 1}}})
		s.Event(Event{Text: evil + "\n"})
		s.Aggregate(Aggregate{Snapshot: snapshot.Snapshot{Object: object.Object{Name: "n", Kind: object.KindCount, Keys: 1},
			Entries: []snapshot.Entry{{Key: []value.Value{value.Text(evil)}}}}})
		s.Error(diag.Diagnostic{Text: evil})
		s.Lost(evil, 1)
		s.End(End{})
		s.Flush()
	}
	var data, errs bytes.Buffer
	say(NewText(&data, &errs))
	if got := data.String() + errs.String(); strings.ContainsFunc(got, diag.IsControl) || strings.Count(got, `\x1b`) < 6 {
		t.Errorf("written %q", got)
	}
	data.Reset()
	say(NewJSON(&data))
	if n := strings.Count(data.String(), `\u001b]0;x`); n < 6 {
		t.Errorf("JSON has %d of them: %s", n, data.String())
	}
	data.Reset()
	own := NewText(&data, &errs)
	own.Own = new(diag.Controls)
	own.Own.Add("\x1b[31m")
	own.Print("\x1b[31m\x1b[32m\n")
	own.Flush()
	if data.String() != "\x1b[31m\\x1b[32m\n" {
		t.Errorf("written %q", data.String())
	}
}
