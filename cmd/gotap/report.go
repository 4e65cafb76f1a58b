package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"gotap"
	"gotap/cmd/gotap/status"
	"gotap/compile/diag"
)

// This file prints what a run reports besides its data.

// note prints a line of status, which -q silences.
func (r *run) note(format string, args ...any) { r.status("gotap: "+format+"\n", args...) }

func (r *run) status(format string, args ...any) {
	if !r.plan.quiet {
		r.progress.Clear()
		fmt.Fprintf(r.w.errs(), format, args...)
	}
}

// warnings prints what is wrong without being an error; in JSON they are records. -q silences them.
func (r *run) warnings(list diag.List) {
	if r.plan.generated {
		list = withoutPlaces(list)
	}
	for _, d := range list {
		if r.plan.json && !r.plan.quiet {
			r.out.Error(d)
			continue
		}
		r.status("%s", d.Fit(r.w.errColumns()).String())
	}
}

// complain prints an error; it is a record in JSON.
func (r *run) complain(err error) {
	r.progress.Clear()
	var list diag.List
	if errors.As(err, &list) && r.plan.generated {
		list = withoutPlaces(list)
	}
	if len(list) == 0 && !errors.As(err, &list) {
		list = diag.List{{Text: err.Error(), Hint: status.HintOf(err)}}
		if !r.plan.json {
			status.Print(r.w.Stderr, err)
			r.logs.Error(list[0])
			return
		}
	}
	for _, d := range list {
		r.out.Error(d)
	}
}

// withoutPlaces drops where in the text the diagnostics are, and what differs in nothing else.
func withoutPlaces(list diag.List) (bare diag.List) {
	for _, d := range list {
		d.Span = diag.Span{}
		if !slices.ContainsFunc(bare, func(b diag.Diagnostic) bool { return b.Text == d.Text }) {
			bare = append(bare, d)
		}
	}
	return bare
}

// printStats prints what every probe has done (--stats).
func (r *run) printStats(result *gotap.Result) {
	st := result.Stats
	fmt.Fprintf(r.w.errs(), "gotap: %d breakpoints hit, gotap's own in the loader included; %d instructions stepped, threads held %d times; targets stopped for %v\n",
		st.Hits, st.Steps, st.Held, time.Duration(st.Kept).Round(time.Millisecond))
	fmt.Fprintf(r.w.errs(), "gotap: %s\n", togetherText(st.Stops, st.Together, st.Apart))
	for _, p := range result.Probes {
		var how []string
		for name, n := range p.Strategy {
			how = append(how, fmt.Sprintf("%d %s", n, name))
		}
		sort.Strings(how)
		fmt.Fprintf(r.w.errs(), "gotap: %-30s %-9s %10d hits %6d missed, places: %s\n", p.Name, p.State, p.Hits, p.Missed, strings.Join(how, ", "))
		if p.Runs > 0 {
			fmt.Fprintf(r.w.errs(), "gotap:   the interpreter ran %s, %v each, without stopping threads\n", plural(int(p.Runs), "program"), p.Ran/time.Duration(p.Runs))
		}
		if p.RateLimited > 0 {
			fmt.Fprintf(r.w.errs(), "gotap:   beyond its rate: %d hits\n", p.RateLimited)
		}
		if p.Spent > 0 {
			fmt.Fprintf(r.w.errs(), "gotap:   sampling took %v of processor time; %s skipped\n", p.Spent.Round(time.Millisecond), plural(int(p.Skipped), "period"))
		}
		for _, c := range result.Inlined[p.ID] {
			fmt.Fprintf(r.w.Stderr, "gotap:   not seen: %s\n", gotap.InlinedText(c))
		}
		for _, why := range slices.Sorted(maps.Keys(p.Stops)) {
			fmt.Fprintf(r.w.errs(), "gotap:   not inline: %s: %s\n", plural(p.Stops[why], "place"), why)
		}
		for _, why := range p.Refused {
			fmt.Fprintf(r.w.errs(), "gotap:   left out: %s\n", why)
		}
	}
}

// leftOut returns a warning for each probe that --engine inline has left places of patterns out of.
func leftOut(probes []gotap.ProbeState) (list diag.List) {
	for _, p := range probes {
		if n := len(p.Refused); n > 0 {
			list = append(list, diag.Diagnostic{Severity: diag.Warning, Text: fmt.Sprintf("%s: %s left out, which --engine inline cannot take", p.Name, plural(n, "place")),
				Hint: "--stats names them, with the reasons; --engine auto stops threads there"})
		}
	}
	return list
}

// togetherText returns how many stops were handled on the target's CPU, and why the others were not.
func togetherText(stops, together uint64, apart string) string {
	text := fmt.Sprintf("%d of %d stops on one CPU", together, stops)
	if apart != "" {
		text += ": " + apart
	}
	return text
}
