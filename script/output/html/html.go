// Package html writes what a run has produced as one page, which needs no network: tables, histograms, time series, a
// time line of calls and events, a flame graph of stacks, the printed text, the script, and what was lost.
//
// The data are JSON in the page, and page.js draws them. They come from the target, so the page puts them into texts
// only, and its policy lets it load nothing.
package html

import (
	_ "embed"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"gotap/script/output"
	"gotap/script/output/picture"
)

//go:embed page.html
var page string

//go:embed page.js
var code string

//go:embed page.css
var style string

// The data of a page. Names are indexes into Names.
type (
	data struct {
		Title, Target, Script, Text string
		Status                      int
		Lost                        []lost
		Errors                      []string
		Aggregates                  []any
		Tables                      []json.RawMessage
		Names                       []string
		Stacks                      []stacks
		Calls                       []call
		Events                      []event
	}
	lost struct {
		Cause string
		Count uint64
	}
	stacks struct {
		Name, Unit string
		List       []stack
	}
	stack struct {
		Frames []int
		Value  int64
	}
	call struct {
		Thread, Func, Module int
		Start, Duration      uint64 // nanoseconds since the first, as drawn
		Took                 uint64 // nanoseconds, as measured
		Returned, Failed     bool
		Text, Result         string
	}
	event struct {
		Thread, Probe int
		Start         uint64 // nanoseconds since the first
		Data          json.RawMessage
	}
)

// Write writes a page. It fails only when w does.
func Write(w io.Writer, p *picture.Picture) error { return write(w, p, false) }

// WriteLive writes a page that asks its server for /events, whose data are as Data returns them, and is drawn again
// with each.
func WriteLive(w io.Writer, p *picture.Picture) error { return write(w, p, true) }

// Data returns the data of a page as one line of JSON.
func Data(p *picture.Picture) ([]byte, error) {
	return output.EncodeJSON(dataOf(p)) // without <, which could end the element that the data are in
}

// network is what a live page may load.
const network = "connect-src 'self'; "

func write(w io.Writer, p *picture.Picture, live bool) error {
	raw, err := Data(p)
	if err != nil {
		return err
	}
	policy, main := "", "<main id=\"page\">"
	if live {
		policy, main = network, "<main id=\"page\" data-live=\"events\">"
	}
	_, err = strings.NewReplacer("{{STYLE}}", style, "{{CODE}}", code, "{{DATA}}", string(raw), "{{NETWORK}}", policy, "<main id=\"page\">", main).WriteString(w, page)
	return err
}

// names gives each text a number.
type names struct {
	list []string
	ids  map[string]int
}

func (n *names) of(text string) int {
	id, known := n.ids[text]
	if !known {
		id = len(n.list)
		n.ids[text], n.list = id, append(n.list, text)
	}
	return id
}

func dataOf(p *picture.Picture) data {
	n := names{ids: map[string]int{}}
	d := data{Title: p.Title, Target: p.Target, Script: p.Script, Text: string(p.Text), Status: p.End.Status, Errors: p.Errors}
	for _, l := range p.Losses {
		d.Lost = append(d.Lost, lost{l.Cause, l.Count})
	}
	for _, a := range p.Aggregates {
		d.Aggregates = append(d.Aggregates, a.Snapshot.With(a.Options).JSON())
	}
	for _, t := range p.Tables {
		d.Tables = append(d.Tables, output.TableJSON(t))
	}
	for _, s := range p.Stacks() {
		one := stacks{Name: s.Name, Unit: s.Unit}
		for _, st := range s.List {
			ids := make([]int, len(st.Frames))
			for i, frame := range st.Frames {
				ids[i] = n.of(frame)
			}
			one.List = append(one.List, stack{ids, st.Value})
		}
		d.Stacks = append(d.Stacks, one)
	}
	d.timeline(p, &n)
	d.Names = n.list
	return d
}

// timeline has the calls and events with times since the first of them.
func (d *data) timeline(p *picture.Picture, n *names) {
	first := ^uint64(0)
	for _, c := range p.Calls {
		first = min(first, c.Start)
	}
	for _, e := range p.Events {
		first = min(first, e.Time)
	}
	for _, c := range p.Calls {
		d.Calls = append(d.Calls, call{n.of(thread(c.Comm, c.Tid)), n.of(c.Func), n.of(c.Module), c.Start - first, c.Duration, c.Took, c.Returned, c.Failed, c.Text, c.Result})
	}
	for _, e := range p.Events {
		d.Events = append(d.Events, event{n.of(thread(e.Comm, e.Tid)), n.of(e.Probe), e.Time - first, output.FieldsJSON(e.Fields)})
	}
}

// thread names a thread as gotap trace does.
func thread(comm string, tid uint32) string { return comm + "/" + strconv.FormatUint(uint64(tid), 10) }
