package gotap

import (
	"fmt"
	"slices"
	"strings"

	"gotap/compile/diag"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/script"
)

// reportRestrictions warns of options of the script's probes that have had no effect: of places to be left out that
// were none of the probe's, and of modules whose calls count that were never mapped.
func (s closing) reportRestrictions() {
	if s.opts.Tool.Quiet || s.wedged() {
		return
	}
	told := map[registry.Restriction]bool{}
	var list diag.List
	for _, p := range s.script().Probes() {
		for _, text := range p.Not {
			if spec, err := place.Parse(text.Text); err == nil {
				list = s.idle(list, told, registry.LeftOut(spec), p.Specs, text)
			}
		}
		for _, text := range p.From {
			list = s.idle(list, told, registry.Restriction{From: true, Text: text.Text}, p.Specs, text)
		}
	}
	if len(list) > 0 {
		s.opts.Hooks.Warn(list)
	}
}

// idle adds the warning about a restriction of a probe with some places, once, if it has had no effect. Those that a
// module of the library or a sample adds by itself are no concern of the user.
func (s closing) idle(list diag.List, told map[registry.Restriction]bool, r registry.Restriction, of []script.SpecText, as script.SpecText) diag.List {
	hint, idle := s.tracer.linker.Effects.Idle(r)
	switch {
	case !idle || told[r] || !s.written(as):
		return list
	case r.From:
		list.Warnf(as.Span, hint, "from %q: no such module was loaded", as.Text)
	default:
		if !isCall(as) && !slices.ContainsFunc(of, func(t script.SpecText) bool { return !isCall(t) }) {
			hint = fmt.Sprintf("write %q: system calls are no functions", callPrefix+as.Text)
		}
		list.Warnf(as.Span, hint, "nothing is left out by %q", as.Text)
	}
	told[r] = true
	return list
}

// callPrefix is how a place that is a system call begins.
const callPrefix = "syscall:"

func isCall(t script.SpecText) bool { return strings.HasPrefix(t.Text, callPrefix) }

// written reports whether the user has written a place: in the script or as an argument.
func (s closing) written(as script.SpecText) bool {
	for _, quote := range []string{`"`, "'", "`"} {
		if as.Span.Source != nil && strings.Contains(as.Span.Source.Text, quote+as.Text+quote) {
			return true
		}
	}
	for _, value := range s.opts.Args {
		if strings.Contains(value, as.Text) {
			return true
		}
	}
	return false
}
