package diag

import (
	"fmt"
	"strings"
)

// shownCalls is how many calls a text has.
const shownCalls = 6

// Calls returns where the function that has the span was called, as file:line:column, the innermost call first.
func (s Span) Calls() (places []string) {
	for call := s.Call; call != nil; call = call.Call {
		if call.Source != nil {
			places = append(places, call.Source.Position(call.Start).String())
		}
	}
	return places
}

// Through returns calls as the end of a sentence, empty if there are none.
func Through(calls []string) string {
	if len(calls) == 0 {
		return ""
	}
	shown, more := shorten(calls)
	text := ", called from " + strings.Join(shown, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and through %d more", more)
	}
	return text
}

// shorten returns the calls that a text has, and how many more there are.
func shorten(calls []string) (shown []string, more int) {
	shown = calls[:min(len(calls), shownCalls)]
	return shown, len(calls) - len(shown)
}

// callLines is a line for each call.
func (s Span) callLines() string {
	var b strings.Builder
	shown, more := shorten(s.Calls())
	for _, place := range shown {
		fmt.Fprintf(&b, "called from %s\n", Escape(place))
	}
	if more > 0 {
		fmt.Fprintf(&b, "and through %d more\n", more)
	}
	return b.String()
}

// Key returns the diagnostic without the calls by which its place was reached. Those that say the same of one place are
// equal then: the first call stands for all.
func (d Diagnostic) Key() Diagnostic {
	d.Span.Call = nil
	return d
}
