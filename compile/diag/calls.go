package diag

import (
	"fmt"
	"strings"
)

// Calls are the places of calls of functions that are copied into programs, the innermost first. They can be compared,
// as a Diagnostic is.
type Calls struct {
	at [6]Span
	n  int // how many there are; those behind the array are not known
}

// Add adds a call outside of those that are there.
func (c *Calls) Add(at Span) {
	if c.n < len(c.at) {
		c.at[c.n] = at
	}
	c.n++
}

// Places returns where the calls that are known are, as file:line:column.
func (c Calls) Places() (list []string) {
	for _, call := range c.at[:min(c.n, len(c.at))] {
		if call.Source != nil {
			list = append(list, call.Source.Position(call.Start).String())
		}
	}
	return list
}

// text is a line for each call.
func (c Calls) text() string {
	var b strings.Builder
	for _, place := range c.Places() {
		fmt.Fprintf(&b, "called from %s\n", Escape(place))
	}
	if more := c.n - len(c.at); more > 0 {
		fmt.Fprintf(&b, "and through %d more\n", more)
	}
	return b.String()
}
