package perfetto

import (
	"encoding/json"
	"strings"
	"testing"

	"gotap/runtime/object"
	"gotap/runtime/snapshot"
	"gotap/script/output"
	"gotap/script/output/picture"
)

// TestWrite decodes a time line by the rules of the format: each event has the fields of its phase, and slices lie in
// one another.
func TestWrite(t *testing.T) {
	const base = 5_000_000_000_123 // a monotonic time after an hour
	p := &picture.Picture{Title: "a.js", Losses: []picture.Loss{{Cause: "ring", Count: 2}}, Errors: []string{"bad"},
		Calls: []picture.Call{{Pid: 1, Tid: 2, Comm: "c", Start: base, Duration: 3000, Took: 3100, Returned: true, Failed: true, Func: "f", Text: "f(1)", Result: "-1"},
			{Pid: 1, Tid: 2, Comm: "c", Start: base + 1000, Duration: 2000, Func: "g", Text: "g()"}},
		Events:     []output.Event{{Probe: "p", Pid: 1, Tid: 2, Time: base + 2500, Comm: "c", Fields: []output.Field{{Name: "big", Value: int64(1) << 60}, {Name: "s", Value: "<"}}}},
		Aggregates: []output.Aggregate{{Snapshot: snapshot.Snapshot{Object: object.Object{Name: "n", Kind: object.KindCount}, Entries: []snapshot.Entry{{Data: snapshot.Data{Kind: object.KindCount, Int: 5}}}}}},
		Tables:     []output.Table{{Name: "t", Columns: []string{"a"}, Rows: [][]any{{int64(1)}}}}}
	var b strings.Builder
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	var got struct {
		TraceEvents []map[string]any
		OtherData   struct {
			Lost                 map[string]int
			Errors               []string
			Aggregations, Tables []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	required := map[string][]string{"M": {"name", "pid", "args"}, "X": {"name", "ts", "dur", "pid", "tid", "args"}, "i": {"name", "ts", "s", "pid", "tid", "args"}}
	count := map[string]int{}
	for _, e := range got.TraceEvents {
		phase, _ := e["ph"].(string)
		count[phase]++
		for _, field := range required[phase] {
			if _, there := e[field]; !there {
				t.Errorf("%v has no %s", e, field)
			}
		}
	}
	if count["M"] != 2 || count["X"] != 2 || count["i"] != 1 || len(got.TraceEvents) != 5 {
		t.Fatalf("phases %v", count)
	}
	f, g, i := got.TraceEvents[2], got.TraceEvents[3], got.TraceEvents[4]
	end := func(e map[string]any) float64 { return e["ts"].(float64) + e["dur"].(float64) }
	if f["ts"] != 5_000_000_000.123 || f["dur"] != 3.0 || g["ts"].(float64) < f["ts"].(float64) || end(g)-end(f) > 1e-3 || i["ts"].(float64) > end(g) {
		t.Errorf("times of %v, %v", f, g)
	}
	if a := f["args"].(map[string]any); a["call"] != "f(1)" || a["result"] != "-1" || a["ns"] != 3100.0 || a["failed"] != true {
		t.Errorf("arguments %v", a)
	}
	if a := i["args"].(map[string]any); a["big"] != "1152921504606846976" || a["s"] != "<" {
		t.Errorf("arguments %v", a)
	}
	if o := got.OtherData; o.Lost["ring"] != 2 || len(o.Errors) != 1 || o.Aggregations[0]["value"] != 5.0 || o.Tables[0]["name"] != "t" {
		t.Errorf("%+v", o)
	}
}

// TestEmpty: a run without calls and events cannot be written as a time line.
func TestEmpty(t *testing.T) {
	var b strings.Builder
	p := &picture.Picture{Tables: []output.Table{{Name: "t", Columns: []string{"a"}, Rows: [][]any{{int64(1)}}}}}
	if err := Write(&b, p); err != ErrNothing || b.Len() != 0 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}
