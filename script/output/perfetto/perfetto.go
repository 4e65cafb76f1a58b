// Package perfetto writes the calls and events of a run as a time line: JSON in the form of Chrome's trace events,
// which ui.perfetto.dev, chrome://tracing and speedscope open.
//
// A call is a slice of its thread, with its arguments and result; an event is an instant with its fields as arguments;
// a time series is a counter. What has no time, such as a histogram or a table, and what was lost, is in otherData.
package perfetto

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"gotap/runtime/object"
	"gotap/script/output"
	"gotap/script/output/picture"
)

// An event of the format; times are microseconds.
type event struct {
	Name     string   `json:"name"`
	Phase    string   `json:"ph"`
	Category string   `json:"cat,omitempty"`
	Time     float64  `json:"ts"`
	Duration *float64 `json:"dur,omitempty"`
	Pid      uint32   `json:"pid"`
	Tid      uint32   `json:"tid"`
	Scope    string   `json:"s,omitempty"`
	Args     any      `json:"args,omitempty"`
}

// micro returns nanoseconds as microseconds. A double holds the nanoseconds of 104 days of uptime.
func micro(ns uint64) float64 { return float64(ns) / 1000 }

// ErrNothing reports that a run has produced nothing that has a time.
var ErrNothing = &picture.NothingError{Missing: "calls, events or time series", Advice: "gotap trace reports calls, and exit(record) in a program makes an event"}

// Write writes a picture. It fails when nothing in it has a time, or when w does.
func Write(w io.Writer, p *picture.Picture) error {
	series := counters(p)
	if len(p.Calls)+len(p.Events)+len(series) == 0 {
		return ErrNothing
	}
	b := bufio.NewWriter(w)
	b.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`)
	between := "\n"
	put := func(e event) error {
		raw, err := output.EncodeJSON(e)
		if err != nil {
			return err
		}
		b.WriteString(between)
		between = ",\n"
		_, err = b.Write(raw)
		return err
	}
	for _, list := range [][]event{threads(p), calls(p), instants(p), series} {
		for _, e := range list {
			if err := put(e); err != nil {
				return err
			}
		}
	}
	rest, err := output.EncodeJSON(otherData(p))
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "\n],\"otherData\":%s}\n", rest)
	return b.Flush()
}

// threads names the processes and threads.
func threads(p *picture.Picture) (list []event) {
	names := map[[2]uint32]string{}
	for _, c := range p.Calls {
		names[[2]uint32{c.Pid, c.Tid}] = c.Comm
	}
	for _, e := range p.Events {
		names[[2]uint32{e.Pid, e.Tid}] = e.Comm
	}
	ids := slices.SortedFunc(maps.Keys(names), func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
	told := map[uint32]bool{}
	for _, id := range ids {
		arg := map[string]string{"name": names[id]}
		if !told[id[0]] {
			list = append(list, event{Name: "process_name", Phase: "M", Pid: id[0], Tid: id[0], Args: arg})
			told[id[0]] = true
		}
		list = append(list, event{Name: "thread_name", Phase: "M", Pid: id[0], Tid: id[1], Args: arg})
	}
	return list
}

// calls returns a slice for each call; one that did not return lasts until the next call there, or the thread's last
// event.
func calls(p *picture.Picture) (list []event) {
	for _, c := range p.Calls {
		args := map[string]any{"call": c.Text, "module": c.Module}
		took := micro(c.Duration)
		if c.Returned {
			args["ns"] = c.Took
		} else {
			args["returned"] = false
		}
		if c.Result != "" {
			args["result"] = c.Result
		}
		if c.Failed {
			args["failed"] = true
		}
		if c.Stack != nil {
			args["stack"] = c.Stack
		}
		list = append(list, event{Name: c.Func, Phase: "X", Category: "call", Time: micro(c.Start), Duration: &took, Pid: c.Pid, Tid: c.Tid, Args: args})
	}
	return list
}

// instants returns the other events, each with its fields.
func instants(p *picture.Picture) (list []event) {
	for _, e := range p.Events {
		list = append(list, event{Name: e.Probe, Phase: "i", Scope: "t", Category: "event", Time: micro(e.Time), Pid: e.Pid, Tid: e.Tid, Args: fields(e.Fields)})
	}
	return list
}

// fields returns a record for encoding/json, with numbers as gotap's own records have them.
func fields(list []output.Field) json.RawMessage { return output.FieldsJSON(list) }

// counters returns the time series, a value at the beginning of each interval.
func counters(p *picture.Picture) (list []event) {
	for _, a := range p.Aggregates {
		s := a.Snapshot.With(a.Options)
		if s.Object.Kind != object.KindSeries {
			continue
		}
		for _, e := range s.Entries {
			name := s.Object.Name
			for _, v := range e.Key {
				name += " " + v.Format(a.Options.Stack)
			}
			for _, point := range e.Data.Points {
				list = append(list, event{Name: name, Phase: "C", Time: micro(uint64(max(point.Start, 0))), Args: map[string]int64{"value": point.Value}})
			}
		}
	}
	return list
}

// otherData returns what has no time.
func otherData(p *picture.Picture) map[string]any {
	rest := map[string]any{"script": p.Title, "target": p.Target}
	var data []any
	for _, a := range p.Aggregates {
		data = append(data, a.Snapshot.With(a.Options).JSON())
	}
	if data != nil {
		rest["aggregations"] = data
	}
	if len(p.Tables) > 0 {
		var tables []json.RawMessage
		for _, t := range p.Tables {
			tables = append(tables, output.TableJSON(t))
		}
		rest["tables"] = tables
	}
	lost := map[string]uint64{}
	for _, l := range p.Losses {
		lost[l.Cause] += l.Count
	}
	if len(lost) > 0 {
		rest["lost"] = lost
	}
	if len(p.Errors) > 0 {
		rest["errors"] = p.Errors
	}
	return rest
}
