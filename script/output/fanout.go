package output

import (
	"errors"

	"gotap/compile/diag"
)

// Fanout gives everything to several sinks, in their order.
type Fanout []Sink

// Print implements Sink.
func (f Fanout) Print(text string) { f.each(func(s Sink) { s.Print(text) }) }

// Clear implements Sink.
func (f Fanout) Clear() { f.each(Sink.Clear) }

// Complain implements Sink.
func (f Fanout) Complain(text string) { f.each(func(s Sink) { s.Complain(text) }) }

// Event implements Sink.
func (f Fanout) Event(e Event) { f.each(func(s Sink) { s.Event(e) }) }

// Table implements Sink.
func (f Fanout) Table(t Table) { f.each(func(s Sink) { s.Table(t) }) }

// Aggregate implements Sink.
func (f Fanout) Aggregate(a Aggregate) { f.each(func(s Sink) { s.Aggregate(a) }) }

// Error implements Sink.
func (f Fanout) Error(d diag.Diagnostic) { f.each(func(s Sink) { s.Error(d) }) }

// Lost implements Sink.
func (f Fanout) Lost(cause string, n uint64) { f.each(func(s Sink) { s.Lost(cause, n) }) }

// Ready implements Sink.
func (f Fanout) Ready() { f.each(Sink.Ready) }

// End implements Sink.
func (f Fanout) End(e End) { f.each(func(s Sink) { s.End(e) }) }

// Flush implements Sink.
func (f Fanout) Flush() { f.each(Sink.Flush) }

// Err returns what went wrong in any of the sinks.
func (f Fanout) Err() error {
	var all []error
	f.each(func(s Sink) { all = append(all, s.Err()) })
	return errors.Join(all...)
}

func (f Fanout) each(do func(Sink)) {
	for _, s := range f {
		do(s)
	}
}
