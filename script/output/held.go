package output

import (
	"sync"
	"sync/atomic"

	"gotap/compile/diag"
)

// A Held keeps what a script prints until it is certain that the script runs, and passes it on from Release on. A
// version that is rejected, because it does not compile for example, prints nothing.
type Held struct {
	to Sink

	open atomic.Bool

	mu   sync.Mutex
	kept []func(Sink)
}

// NewHeld makes a sink that holds back what is for another one.
func NewHeld(to Sink) *Held { return &Held{to: to} }

// Release passes on what was kept, in order; from then on nothing is kept.
func (h *Held) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, do := range h.kept {
		do(h.to)
	}
	h.kept = nil
	h.open.Store(true)
}

// Hold keeps everything until Release. It must not be called while anything is being printed.
func (h *Held) Hold() { h.open.Store(false) }

// say calls do for the sink, now or at Release.
func (h *Held) say(do func(Sink)) {
	if !h.open.Load() && h.keep(do) {
		return
	}
	do(h.to)
}

// keep keeps a call for Release; it reports false after Release.
func (h *Held) keep(do func(Sink)) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open.Load() {
		return false
	}
	h.kept = append(h.kept, do)
	return true
}

// Print implements Sink.
func (h *Held) Print(text string) { h.say(func(s Sink) { s.Print(text) }) }

// Clear implements Sink.
func (h *Held) Clear() { h.say(Sink.Clear) }

// Complain implements Sink.
func (h *Held) Complain(text string) { h.say(func(s Sink) { s.Complain(text) }) }

// Event implements Sink.
func (h *Held) Event(e Event) { h.say(func(s Sink) { s.Event(e) }) }

// Table implements Sink.
func (h *Held) Table(t Table) { h.say(func(s Sink) { s.Table(t) }) }

// Aggregate implements Sink.
func (h *Held) Aggregate(a Aggregate) { h.say(func(s Sink) { s.Aggregate(a) }) }

// Error implements Sink.
func (h *Held) Error(d diag.Diagnostic) { h.say(func(s Sink) { s.Error(d) }) }

// Lost implements Sink.
func (h *Held) Lost(cause string, n uint64) { h.say(func(s Sink) { s.Lost(cause, n) }) }

// Ready implements Sink.
func (h *Held) Ready() { h.say(Sink.Ready) }

// End implements Sink.
func (h *Held) End(e End) { h.say(func(s Sink) { s.End(e) }) }

// Flush implements Sink.
func (h *Held) Flush() { h.say(Sink.Flush) }

// Err implements Sink: what went wrong with what was passed on.
func (h *Held) Err() error { return h.to.Err() }
