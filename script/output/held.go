package output

import (
	"sync"

	"gotap/compile/diag"
)

// A Held keeps what a script says while it is not certain yet that the script will run, and passes it on from Release on. A version
// that is turned down, as --watch does with one that does not compile, has said nothing.
type Held struct {
	to Sink

	mu   sync.Mutex
	open bool
	kept []func(Sink)
}

// NewHeld makes a sink that holds back what is for another one.
func NewHeld(to Sink) *Held { return &Held{to: to} }

// Release passes on what was kept, in its order; nothing is kept any more.
func (h *Held) Release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, do := range h.kept {
		do(h.to)
	}
	h.open, h.kept = true, nil
}

// say passes something on, now or later.
func (h *Held) say(do func(Sink)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open {
		do(h.to)
		return
	}
	h.kept = append(h.kept, do)
}

// Print implements Sink.
func (h *Held) Print(text string) { h.say(func(s Sink) { s.Print(text) }) }

// Complain implements Sink.
func (h *Held) Complain(text string) { h.say(func(s Sink) { s.Complain(text) }) }

// Event implements Sink.
func (h *Held) Event(e Event) { h.say(func(s Sink) { s.Event(e) }) }

// Aggregate implements Sink.
func (h *Held) Aggregate(a Aggregate) { h.say(func(s Sink) { s.Aggregate(a) }) }

// Error implements Sink.
func (h *Held) Error(d diag.Diagnostic) { h.say(func(s Sink) { s.Error(d) }) }

// Lost implements Sink.
func (h *Held) Lost(cause string, n uint64) { h.say(func(s Sink) { s.Lost(cause, n) }) }

// Ready implements Sink.
func (h *Held) Ready() { h.say(Sink.Ready) }

// End implements Sink.
func (h *Held) End(status int) { h.say(func(s Sink) { s.End(status) }) }

// Flush implements Sink.
func (h *Held) Flush() { h.say(Sink.Flush) }

// Err implements Sink: what went wrong with what was passed on.
func (h *Held) Err() error { return h.to.Err() }
