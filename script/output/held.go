package output

import (
	"sync"
	"sync/atomic"

	"gotap/compile/diag"
)

// A Held keeps what a script says while it is not certain yet that the script will run, and passes it on from Release on. A version
// that is turned down, as --watch does with one that does not compile, has said nothing.
type Held struct {
	to Sink

	open atomic.Bool

	mu   sync.Mutex
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
	h.kept = nil
	h.open.Store(true)
}

// Hold keeps what is said from now on, until Release. Nothing may be being said just then.
func (h *Held) Hold() { h.open.Store(false) }

// say passes something on, now or later.
func (h *Held) say(do func(Sink)) {
	if !h.open.Load() && h.keep(do) {
		return
	}
	do(h.to)
}

// keep reports false when nothing is kept any more.
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
