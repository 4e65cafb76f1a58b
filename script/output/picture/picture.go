package picture

import (
	"slices"
	"strings"

	"gotap/script/output"
)

// A Picture is what a run has produced.
type Picture struct {
	Title  string // the script's name
	Script string // its text; "": unknown
	Target string // what is traced, for people

	Text       []byte             // printed, or of events with a text, at most the last MaxText bytes
	Events     []output.Event     // without calls, in order, at most Limits.Events
	Calls      []Call             // by thread, each before the calls that are made in it
	Tables     []output.Table     // the last of each name
	Aggregates []output.Aggregate // the last of each name
	Losses     []Loss
	Errors     []string // as people see them, at most the first 1000
	End        output.End
}

// A Loss is how much was lost, and why.
type Loss struct {
	Cause string
	Count uint64
}

// MaxText is how much of the printed text is kept, in bytes.
const MaxText = 1 << 20

// Call is one call of a function, as gotap trace reports it.
type Call struct {
	Pid, Tid     uint32
	Comm         string
	Depth        int    // calls of the thread that it was inside of, those that are not reported included
	Outer        int    // index of the reported call that it was made in; -1: none
	Start        uint64 // monotonic nanoseconds
	Duration     uint64 // nanoseconds; Start and Duration lie in those of the outer call, and do not overlap with those of its others
	Took         uint64 // nanoseconds as measured; until the thread's last event when it did not return
	Returned     bool
	Failed       bool
	Func, Module string
	Text         string   // with its arguments
	Result       string   // "": none
	Stack        []string // innermost first; nil: not taken
}

// CallOf returns the call that an event reports.
func CallOf(e output.Event) (c Call, ok bool) {
	if e.Probe != "call" || !slices.ContainsFunc(e.Fields, func(f output.Field) bool { return f.Name == "call" }) {
		return c, false
	}
	c = Call{Pid: e.Pid, Tid: e.Tid, Comm: e.Comm, Start: e.Time}
	for _, f := range e.Fields {
		text, _ := f.Value.(string)
		switch f.Name {
		case "func":
			c.Func = text
		case "module":
			c.Module = text
		case "call":
			c.Text = text
		case "result":
			c.Result = text
		case "ns":
			n, _ := number(f.Value)
			c.Took, c.Returned = uint64(max(n, 0)), true
		case "depth":
			n, _ := number(f.Value)
			c.Depth = int(max(n, 0))
		case "failed":
			c.Failed, _ = f.Value.(bool)
		case "stack":
			c.Stack = lines(f.Value)
		}
	}
	return c, c.Func != ""
}

// number returns a value that is a number.
func number(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case uint32:
		return int64(v), true
	case uint64:
		return int64(v), true
	case float64:
		return int64(v), true
	}
	return 0, false
}

// lines returns the frames of a value: a list of texts, or a text of lines. Nil when it is neither.
func lines(v any) (list []string) {
	switch v := v.(type) {
	case string:
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, line)
			}
		}
	case []string:
		return v
	case []any:
		for _, one := range v {
			text, ok := one.(string)
			if !ok {
				return nil
			}
			list = append(list, text)
		}
	}
	return list
}
