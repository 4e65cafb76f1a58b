package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"gotap/compile/diag"
	"gotap/engine"
)

// inlined tells which of the probed functions have inlined copies, calls that no probe on the function sees. Debug information
// knows them. Reading it takes long, so that places are only noted while probes are placed, and looked up aside.
type inlined struct {
	mu    sync.Mutex // guards what follows; not held while debug information is read
	noted []notedPlace
	seen  map[string]bool

	looking sync.Mutex // held while debug information is read, and until what it says is told; taken before mu
	found   []foundCopies
}

// notedPlace is a place that a probe was compiled for.
type notedPlace struct {
	probe uint32
	at    engine.CopiedPlace
}

// foundCopies are the copies of a function that a probe is on.
type foundCopies struct {
	probe uint32
	engine.Copies
}

// note remembers a place of a probe. It is called on the tracing thread, for each place that a program is compiled for.
func (in *inlined) note(probe uint32, at engine.PlaceInfo) {
	c, ok := at.(engine.CopiedPlace)
	if !ok {
		return
	}
	key := fmt.Sprintf("%d %s", probe, at.Name())
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.seen[key] {
		if in.seen == nil {
			in.seen = map[string]bool{}
		}
		in.seen[key] = true
		in.noted = append(in.noted, notedPlace{probe, c})
	}
}

// lookUpLocked finds the copies at places that were noted since the last time. The caller holds looking.
func (in *inlined) lookUpLocked() (found []foundCopies) {
	in.mu.Lock()
	places := in.noted
	in.noted = nil
	in.mu.Unlock()
	for _, p := range places {
		if c, ok := p.at.Copies(); ok {
			found = append(found, foundCopies{p.probe, c})
		}
	}
	in.found = append(in.found, found...)
	return found
}

// of are the copies that are known of a probe's functions.
func (in *inlined) of(probe uint32) (found []engine.Copies) {
	in.looking.Lock()
	defer in.looking.Unlock()
	for _, f := range in.found {
		if f.probe == probe {
			found = append(found, f.Copies)
		}
	}
	return found
}

// copiesTold is how many functions are told of one by one, and how many calls of one.
const copiesTold = 3

// tellInlined warns of copies that were not told of yet. Any goroutine.
func (r *run) tellInlined() {
	if r.plan.quiet && !r.plan.stats {
		return
	}
	in := &r.tracer.inlined
	in.looking.Lock()
	defer in.looking.Unlock()
	var all []engine.Copies
	for _, f := range in.lookUpLocked() {
		if !slices.ContainsFunc(all, func(o engine.Copies) bool { return o.Func == f.Func && o.Where() == f.Where() }) {
			all = append(all, f.Copies)
		}
	}
	if len(all) == 0 {
		return
	}
	list := diag.List{{Severity: diag.Warning, Text: inlinedTogether(all), Hint: "gotap list -v tells where"}}
	if len(all) <= copiesTold {
		list = nil
		for _, c := range all {
			list = append(list, inlinedWarning(c))
		}
	}
	r.notices.post(func() { r.warnings(list) })
}

// inlinedWarning is what is said of one function.
func inlinedWarning(c engine.Copies) diag.Diagnostic {
	d := diag.Diagnostic{Severity: diag.Warning, Text: inlinedText(c)}
	switch line, n := c.Body(); {
	case n > len(c.Calls):
		d.Hint = line + ", a line of it, is hit in all of them"
	case n > 1:
		d.Hint = fmt.Sprintf("%s, a line of it, has code in %s", line, plural(n, "place"))
	}
	return d
}

// inlinedText is "part is inlined in 5 places, whose calls are not seen: main at a.c:12 and 20, …".
func inlinedText(c engine.Copies) string {
	shown, more := c, ""
	if n := len(c.Calls) - 2*copiesTold; n > 0 {
		shown.Calls, more = c.Calls[:2*copiesTold], fmt.Sprintf(", … and %d more", n)
	}
	return fmt.Sprintf("%s is inlined in %s, whose calls are not seen: %s%s", c.Func, plural(len(c.Calls), "place"), shown.Where(), more)
}

// inlinedTogether is what is said of many functions.
func inlinedTogether(all []engine.Copies) string {
	slices.SortStableFunc(all, func(a, b engine.Copies) int { return len(b.Calls) - len(a.Calls) })
	var names []string
	total := 0
	for i, c := range all {
		total += len(c.Calls)
		if i < copiesTold {
			names = append(names, fmt.Sprintf("%s (%d)", c.Func, len(c.Calls)))
		}
	}
	return fmt.Sprintf("%d of the functions probed are inlined in %s, whose calls are not seen: %s, …", len(all), plural(total, "place"), strings.Join(names, ", "))
}
