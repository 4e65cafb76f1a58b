package jsvm

import (
	"strconv"

	"gotap/compile/diag"
	"gotap/script/output"
)

// Faults are the exceptions of callbacks: the first few of each place are shown, all are counted.
type Faults struct {
	Total   uint64
	Failed  func(diag.Diagnostic) // called for each; may be nil
	Earlier uint64                // of earlier versions of the script, and of scripts that have left
	others  uint64                // of Total, those beyond faultsPlaces
	places  map[diag.Diagnostic]uint64
	order   []diag.Diagnostic
}

const (
	faultsShown  = 3   // of one place and text
	faultsPlaces = 100 // places that are counted separately
)

func (f *Faults) report(out output.Sink, d diag.Diagnostic) {
	f.Total++
	if f.Failed != nil {
		defer f.Failed(d)
	}
	if f.places == nil {
		f.places = map[diag.Diagnostic]uint64{}
	}
	if _, known := f.places[d]; !known {
		if len(f.places) >= faultsPlaces {
			f.others++
			return
		}
		f.order = append(f.order, d)
	}
	if f.places[d]++; f.places[d] <= faultsShown {
		out.Error(d)
	}
}

// Summary reports how often each exception occurred that occurred more than once, and how many were not shown.
func (f *Faults) Summary(out output.Sink) {
	for _, d := range f.order {
		if n := f.places[d]; n > 1 {
			d.Text = d.Text + " (" + strconv.Itoa(int(n)) + " times in all)"
			out.Error(d)
		}
	}
	if f.others > 0 {
		out.Lost("exceptions of callbacks, beside those shown", f.others)
	}
}
