package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/runtime"
	"gotap/script"
)

// This file is what a session tells the user besides its data.

// note prints a line of status, which -q silences.
func (r *run) note(format string, args ...any) { r.status("gotap: "+format+"\n", args...) }

func (r *run) status(format string, args ...any) {
	if !r.plan.quiet {
		r.progress.clear()
		fmt.Fprintf(r.w.errs(), format, args...)
	}
}

// warn is called by the engine, on its thread.
func (r *run) warn(text string) { r.notices.post(func() { r.note("%s", text) }) }

// dumped is called by the engine, on its thread, for every core. One that could not be written is an error.
func (r *run) dumped(pid int, path string, size int64, err error) {
	r.notices.post(func() {
		if err != nil {
			r.complain(err)
			return
		}
		r.note("core of process %d: %s (%d KB)", pid, path, size>>10)
	})
}

// overloaded is called by the engine, on its thread, when targets are stopped for too long. What a budget takes from the data is loss, and
// told with -q too.
func (r *run) overloaded(o engine.Overload) {
	share := fmt.Sprintf("targets were stopped for %.0f %% of the time", 100*o.Share)
	d := diag.Diagnostic{Severity: diag.Warning}
	switch o.Step {
	case engine.OverloadSlow:
		d.Text, d.Hint = share+" and run slowly", "--budget PERCENT limits that; fewer probes, or every: N, help as well"
		if r.plan.quiet {
			return
		}
	case engine.OverloadSampling:
		d.Text = fmt.Sprintf("--budget: %s (%s allowed); probes rest for a part of each quarter of a second, and counts are samples", share, strings.TrimSuffix(r.plan.budget, "%")+" %")
	case engine.OverloadDisabled:
		d.Text = fmt.Sprintf("--budget: %s in spite of rests; probe %s was the hottest and is disabled", share, o.Probe)
	case engine.OverloadDetached:
		r.detached.Store(true)
		d.Text = fmt.Sprintf("--budget: %s in spite of all that; gotap lets go of them", share)
	}
	r.notices.post(func() { r.out.Error(d) })
}

// complain tells an error; it is a record in JSON.
func (r *run) complain(err error) {
	r.progress.clear()
	var list diag.List
	if !errors.As(err, &list) {
		list = diag.List{{Text: err.Error(), Hint: hintOf(err)}}
		if !r.plan.json {
			report(r.w.Stderr, err)
			r.logs.Error(list[0])
			return
		}
	}
	for _, d := range list {
		r.out.Error(d)
	}
}

// lifecycle passes an event of a process on. It is called on the tracing thread and does not block.
func (r *run) lifecycle(e engine.Event) {
	if e.Kind == engine.EventDone {
		return
	}
	r.w.guardLifecycle(e)
	f := map[string]any{"pid": int64(e.Pid), "tid": int64(e.Tid), "time": e.Time}
	switch e.Kind {
	case engine.EventFork, engine.EventThread:
		if e.Kind == engine.EventFork {
			r.forks.Add(1)
		}
		f["child"] = int64(e.Child)
	case engine.EventExec, engine.EventModule:
		if e.Kind == engine.EventExec && r.launched == 0 {
			r.outcomes.rename(e.Pid, shown(filepath.Base(e.Path)))
		}
		f["path"] = e.Path
	case engine.EventSignal:
		f["signal"] = int64(e.Signal)
	case engine.EventExit:
		if e.Pid == r.launched {
			r.once.Do(func() { close(r.over) }) // its number may be another's later
		}
		r.ended(e)
		f["signal"], f["status"] = int64(e.Signal), int64(e.Status)
	}
	r.script().Lifecycle(script.Event{Kind: string(e.Kind), Fields: f})
}

// tell reports what was lost and, with --stats, what every probe did. Loss is told with -q too.
func (r *run) tell(states []engine.ProbeState) {
	r.tellInlined()
	r.notices.flush()
	r.tellTraps()
	r.tellChanges()
	lost := map[string]uint64{}
	for _, from := range []map[string]uint64{r.arena.Lost(), r.script().Lost(), r.plan.lostByLogs(), r.lostByRecording()} {
		for cause, n := range from {
			lost[cause] += n
		}
	}
	st := r.session.Stats()
	lost["windows in which probes rested, for --budget"] = st.Rests
	lost["probes disabled, for --budget"] = st.Disabled
	lost["watchpoints taken off a thread, which met one with an instruction that cannot be emulated"] = st.Unwatched
	lost["notices not told: nobody read standard error"] = r.notices.dropped.Load()
	if r.detached.Load() {
		lost["targets let go, for --budget"] = 1
	}
	for _, s := range states {
		lost[fmt.Sprintf("hits of %s missed: more calls at once than its maxActive", s.Name)] += s.Crowded
		lost[fmt.Sprintf("hits of %s missed", s.Name)] += s.Missed - s.Crowded
	}
	causes := make([]string, 0, len(lost))
	for cause, n := range lost {
		if n > 0 {
			causes = append(causes, cause)
		}
	}
	sort.Strings(causes)
	for _, cause := range causes {
		r.out.Lost(explained(cause), lost[cause])
	}
	r.tellUnfollowed(states)
	if r.plan.stats {
		r.tellStats(states)
	}
}

// explained adds to a cause of loss which limit it was, by the name that raises it.
func explained(cause string) string {
	switch cause {
	case "ring full":
		return cause + ": callbacks and output could not keep up"
	case "log full":
		return cause + ": more in a hit than its probe's logMax"
	}
	kind, _, _ := strings.Cut(cause, " ")
	if strings.HasSuffix(cause, " full") && kind != "trail" && kind != "recorder" {
		return cause + ": more keys than its max"
	}
	return cause
}

// tellTraps reports programs that were ended early, with their place, in the order of the text. Those that a line was compiled to for
// several places are told together.
func (r *run) tellTraps() {
	counts := map[string]uint64{}
	for _, t := range r.arena.Traps() {
		counts[r.trapText(t)] += t.Count
	}
	texts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		switch {
		case natural(a, b):
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	for _, text := range texts {
		r.out.Lost(text, counts[text])
	}
}

// natural compares texts with the numbers in them as numbers: line 9 comes before line 10.
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

// digits is how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// trapText is a trap in words: the place, what happened, and for memory the address of the last time.
func (r *run) trapText(t runtime.TrapCount) string {
	info, _ := r.arena.Program(t.Program)
	where := r.placeOf(t.Program, t.PC)
	text := fmt.Sprintf("%s: %s", where, t.Trap)
	if t.Trap == runtime.TrapFuel && info.Fuel > 0 {
		text = fmt.Sprintf("%s: out of fuel: a run took more than %d steps, as many as its probe's option fuel, in a definition file jmpmax, gives (%d at most)", where, info.Fuel, runtime.MaxFuel)
	}
	if t.Addr != 0 || t.Trap == runtime.TrapRead || t.Trap == runtime.TrapWrite {
		text += fmt.Sprintf(" at address %#x", t.Addr)
	}
	return text
}

func (r *run) tellStats(states []engine.ProbeState) {
	st := r.session.Stats()
	fmt.Fprintf(r.w.errs(), "gotap: %d breakpoints hit, gotap's own in the loader included; %d instructions stepped, threads held %d times; targets stopped for %v\n",
		st.Hits, st.Steps, st.Held, time.Duration(st.Kept).Round(time.Millisecond))
	for _, s := range states {
		var how []string
		for name, n := range s.Strategy {
			how = append(how, fmt.Sprintf("%d %s", n, name))
		}
		sort.Strings(how)
		fmt.Fprintf(r.w.errs(), "gotap: %-30s %-9s %10d hits %6d missed, places: %s\n", s.Name, s.State, s.Hits, s.Missed, strings.Join(how, ", "))
		if s.Over > 0 {
			fmt.Fprintf(r.w.errs(), "gotap:   beyond its rate: %d hits\n", s.Over)
		}
		for _, c := range r.tracer.inlined.of(s.ID) {
			fmt.Fprintf(r.w.Stderr, "gotap:   not seen: %s\n", inlinedText(c))
		}
		for _, why := range s.Refused {
			fmt.Fprintf(r.w.errs(), "gotap:   left out: %s\n", why)
		}
	}
}
