package gotap

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gotap/engine"
	"gotap/runtime/arena"
	"gotap/runtime/snapshot"
	"gotap/script"
)

// A Result is what a session has come to.
type Result struct {
	Status  int                 // that the script gave to stop(), 0 otherwise
	Faults  uint64              // exceptions of callbacks
	Targets []Target            // the targets that the options named
	Maps    map[string]Map      // the script's aggregations, maps and shared variables by name
	Lost    map[string]uint64   // what was lost, by cause
	Probes  []ProbeState        // what every probe has done
	Stats   engine.Stats        // what tracing has cost
	Inlined map[uint32][]Copies // by number of the probe, the inlined copies of its functions, whose calls are not seen
}

// Map is an aggregation, a map or a shared variable as it stands.
type Map = snapshot.Snapshot

// ProbeState is what a probe has done.
type ProbeState = engine.ProbeState

// Copies are the inlined copies of a function.
type Copies = engine.Copies

// Count returns the integer that a variable, a counter or a sum without keys holds; 0 when there is none of that name.
func (r *Result) Count(name string) int64 {
	if m, ok := r.Maps[name]; ok && len(m.Entries) == 1 {
		return m.Entries[0].Data.Int
	}
	return 0
}

// result collects what a session has come to.
func (s closing) result(states []engine.ProbeState) *Result {
	r := &Result{Targets: s.Targets(), Maps: map[string]Map{}, Lost: map[string]uint64{}, Probes: states, Stats: s.engine.Stats(),
		Inlined: map[uint32][]Copies{}}
	if s.wedged() {
		return r
	}
	r.Status, r.Faults = s.script().Status(), s.script().Faults()
	for _, v := range s.script().Values() {
		r.Maps[v.Object.Name] = v
	}
	for _, p := range states {
		if found := s.tracer.linker.Copies.Of(p.ID); len(found) > 0 {
			r.Inlined[p.ID] = found
		}
	}
	return r
}

// report reports at the end what was lost, and what the user should know.
func (s closing) report(r *Result) {
	s.reportPlaces()
	s.notices.flush()
	s.reportLost(r, s.traps(), compareNatural)
	s.reportChanges()
	s.reportLost(r, s.losses(r), strings.Compare)
	s.reportRestrictions()
	s.reportUnfollowed(r.Probes)
}

// reportLost reports losses in an order of their causes, and adds them to the result.
func (s closing) reportLost(r *Result, lost map[string]uint64, order func(a, b string) int) {
	for _, cause := range slices.SortedFunc(maps.Keys(lost), order) {
		r.Lost[explained(cause)] = lost[cause]
		s.opts.Output.Lost(explained(cause), lost[cause])
	}
}

// losses returns the causes of loss with their counts, but for programs that ended early.
func (s closing) losses(r *Result) map[string]uint64 {
	lost := map[string]uint64{}
	all := []map[string]uint64{s.arena.Lost(), s.opts.Hooks.Lost()}
	if !s.wedged() {
		all = append(all, s.script().Lost())
	}
	for _, from := range all {
		for cause, n := range from {
			lost[cause] += n
		}
	}
	lost["windows in which probes rested, for --budget"] = r.Stats.Rests
	lost["probes disabled, for --budget"] = r.Stats.Disabled
	lost["watchpoints taken off a thread, which met one with an instruction that cannot be emulated"] = r.Stats.Unwatched
	lost["notices dropped: standard error was not read"] = s.notices.dropped.Load()
	if s.detached.Load() {
		lost["targets detached, for --budget"] = 1
	}
	for _, p := range r.Probes {
		lost[fmt.Sprintf("hits of %s missed: more calls at once than its maxActive", p.Name)] += p.TooDeep
		lost[fmt.Sprintf("hits of %s missed", p.Name)] += p.Missed - p.TooDeep
		if p.Exhausted {
			lost[fmt.Sprintf("probe %s disabled, whose programs ran out of fuel", p.Name)]++
		}
		lost[fmt.Sprintf("periods of %s skipped, in which gotap had no processor, or had used a tenth of the time for samples", p.Name)] += p.Skipped
	}
	maps.DeleteFunc(lost, func(_ string, n uint64) bool { return n == 0 })
	return lost
}

// traps returns the programs that ended early, by their place in the text and the reason. A line that was compiled for
// several places counts once.
func (s closing) traps() map[string]uint64 {
	counts := map[string]uint64{}
	for _, t := range s.arena.Traps() {
		counts[s.trapText(t)] += t.Count
	}
	return counts
}

// trapText returns a trap in words: the place, what happened, and for memory the address of the last time.
func (s closing) trapText(t arena.TrapCount) string {
	info, _ := s.arena.Program(t.Program)
	return script.PlaceOf(info, t.PC) + ": " + script.TrapText(info, t)
}

// compareNatural orders texts with the numbers in them as numbers.
func compareNatural(a, b string) int {
	switch {
	case a == b:
		return 0
	case natural(a, b):
		return -1
	}
	return 1
}

// natural reports whether a text comes before another: line 9 comes before line 10.
func natural(a, b string) bool {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x != y && x > 0 && y > 0 {
			return x < y
		}
		n := max(x, 1)
		if x != y || a[:n] != b[:n] {
			return a < b
		}
		a, b = a[n:], b[n:]
	}
	return len(a) < len(b)
}

// digits returns how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
