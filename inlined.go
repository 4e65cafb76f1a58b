package gotap

import (
	"fmt"
	"slices"
	"strings"

	"gotap/compile/diag"
	"gotap/engine"
	"gotap/engine/link"
)

// copiesShown is how many functions get a warning of their own, and half of how many calls of one it lists.
const copiesShown = 3

// reportPlaces warns of inlined copies of functions that were probed since the last call, of names that mean several
// versions of a symbol, and of debug information that is missing. Any goroutine.
func (s *Session) reportPlaces() {
	if s.opts.Tool.Quiet {
		return
	}
	if list := MissingWarnings(s.engine.FreshMissing()); len(list) > 0 {
		s.notices.post(func() { s.opts.Hooks.Warn(list) })
	}
	if list := versionWarnings(s.tracer.linker.Versions.Fresh()); len(list) > 0 {
		s.notices.post(func() { s.opts.Hooks.Warn(list) })
	}
	s.tracer.linker.Copies.Fresh(func(fresh []engine.Copies) {
		if list := inlinedWarnings(fresh); len(list) > 0 {
			s.notices.post(func() { s.opts.Hooks.Warn(list) })
		}
	})
}

// versionWarnings warns of names that mean several functions of one file.
func versionWarnings(fresh []link.Versioned) (list diag.List) {
	for _, v := range fresh {
		names := v.Names()
		list = append(list, diag.Diagnostic{Severity: diag.Warning,
			Text: fmt.Sprintf("%s is several functions, all of which are probed: %s", v.Name, strings.Join(names, ", ")),
			Hint: "with its version, as in " + names[0] + ", a name means one of them"})
	}
	return list
}

// inlinedWarnings warns of functions with inlined copies: one by one, or of many together.
func inlinedWarnings(fresh []engine.Copies) diag.List {
	var all []engine.Copies
	for _, c := range fresh {
		if !slices.ContainsFunc(all, func(o engine.Copies) bool { return o.Func == c.Func && o.Where() == c.Where() }) {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil
	}
	list := diag.List{{Severity: diag.Warning, Text: inlinedTogether(all), Hint: "gotap list -v tells where"}}
	if len(all) <= copiesShown {
		list = nil
		for _, c := range all {
			list = append(list, inlinedWarning(c))
		}
	}
	return list
}

// inlinedWarning returns the warning about one function.
func inlinedWarning(c engine.Copies) diag.Diagnostic {
	d := diag.Diagnostic{Severity: diag.Warning, Text: InlinedText(c)}
	switch line, n := c.Body(); {
	case n > len(c.Calls):
		d.Hint = line + ", a line of it, is hit in all of them"
	case n > 1:
		d.Hint = fmt.Sprintf("%s, a line of it, has code in %s", line, plural(n, "place"))
	}
	return d
}

// InlinedText is "part is inlined in 5 places, whose calls are not seen: main at a.c:12 and 20, …".
func InlinedText(c engine.Copies) string {
	shown, more := c, ""
	if n := len(c.Calls) - 2*copiesShown; n > 0 {
		shown.Calls, more = c.Calls[:2*copiesShown], fmt.Sprintf(", … and %d more", n)
	}
	return fmt.Sprintf("%s is inlined in %s, whose calls are not seen: %s%s", c.Func, plural(len(c.Calls), "place"), shown.Where(), more)
}

// inlinedTogether returns the text of the warning about many functions.
func inlinedTogether(all []engine.Copies) string {
	slices.SortStableFunc(all, func(a, b engine.Copies) int { return len(b.Calls) - len(a.Calls) })
	var names []string
	total := 0
	for i, c := range all {
		total += len(c.Calls)
		if i < copiesShown {
			names = append(names, fmt.Sprintf("%s (%d)", c.Func, len(c.Calls)))
		}
	}
	return fmt.Sprintf("%d of the functions probed are inlined in %s, whose calls are not seen: %s, …", len(all), plural(total, "place"), strings.Join(names, ", "))
}
