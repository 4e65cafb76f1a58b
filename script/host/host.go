package host

import (
	"errors"
	"sync/atomic"
	"time"

	"gotap/runtime/arena"
	"gotap/runtime/record"
)

// Script is what a host runs. Its methods are called on the goroutine that owns the machine.
type Script interface {
	// Deliver handles one record.
	Deliver(rec record.Record)
	// Drop handles a record that is not delivered, since time is up: a thread that waits for it is released.
	Drop(rec record.Record)
	// Tick runs the timers that are due.
	Tick(now time.Time)
	// NextTick is how long the next timer waits; ok is false without one.
	NextTick() (wait time.Duration, ok bool)
	// Flush writes out what has been printed.
	Flush()
}

// Host is the goroutine that owns the machine of a script, with what reaches it.
type Host struct {
	arena   *arena.Arena
	script  Script
	queue   chan func()   // posted functions and events
	asked   chan func()   // of Ask
	records chan struct{} // the pump has seen a record
	resume  chan struct{} // the ring has been emptied: the pump may wait again
	quit    chan struct{} // closed by Pause and Stop
	done    chan struct{} // closed when the loop has ended
	rested  chan struct{} // closed when the pump has ended
	running bool
	busy    bool          // there may be records in the ring: the loop reads it, and the pump rests
	dropped atomic.Uint64 // events that found the queue full
	left    atomic.Uint64 // records that were dropped when time was up
	waiting []due         // events behind records that are still in the ring
	backlog []record.Record
}

// due is an event that waits for the ring to be read up to a position.
type due struct {
	at uint64 // see arena.Arena.Written
	f  func()
}

const (
	QueueSize  = 4096                  // posted functions and events that can wait
	batchSize  = 256                   // records handled before timers and queues are looked at
	batchTime  = 20 * time.Millisecond // how long that may take
	drainTime  = 10 * time.Second      // how long Stop delivers records
	flushEvery = 50 * time.Millisecond
)

// MaxWaiting is more records than any ring holds. Targets go on writing while a ring is read, so it may never be empty.
const MaxWaiting = 1 << 17

// New makes a host that does not run yet.
func New(arena *arena.Arena, script Script) *Host {
	h := &Host{arena: arena, script: script, queue: make(chan func(), QueueSize), asked: make(chan func(), 1)}
	h.revive()
	return h
}

// revive makes the channels of one life of the loop; the queue outlives a pause.
func (h *Host) revive() {
	h.records, h.resume = make(chan struct{}), make(chan struct{})
	h.quit, h.done, h.rested = make(chan struct{}), make(chan struct{}), make(chan struct{})
}

// Start runs the loop on a goroutine of its own.
func (h *Host) Start() {
	h.running = true
	go h.loop()
}

// Pause stops the loop. Records and events wait. It is called once after each Start.
func (h *Host) Pause() {
	h.halt()
	h.running = false
	h.revive()
}

// halt ends both goroutines.
func (h *Host) halt() {
	close(h.quit)
	<-h.done
	<-h.rested
}

// Stop ends the loop if it runs, and delivers the records that are left, for ten seconds at most.
func (h *Host) Stop() {
	if h.running {
		h.halt()
	}
	until := time.Now().Add(drainTime)
	for h.Drain(batchSize) && time.Now().Before(until) {
	}
	for rec, ok := h.next(); ok; rec, ok = h.next() {
		h.left.Add(1)
		h.script.Drop(rec)
	}
	h.Empty()
}

// Share has functions posted to this host run on another one, which runs.
func (h *Host) Share(other *Host) { h.queue, h.running = other.queue, true }

// Running reports whether the loop runs.
func (h *Host) Running() bool { return h.running }

// errEnded is the error of functions that come after the end.
var errEnded = errors.New("the script's host has ended")

// Do runs a function on the host's goroutine and waits for it; before Start it runs on the caller's. Safe for
// concurrent use.
func (h *Host) Do(f func()) error {
	if !h.running {
		f()
		return nil
	}
	done := make(chan struct{})
	select {
	case h.queue <- func() { f(); close(done) }:
	case <-h.done:
		return errEnded
	}
	select {
	case <-done:
		return nil
	case <-h.done:
		return errEnded
	}
}

// Ask runs a function on the host's goroutine as soon as possible, ahead of posted ones. It does not block; a function
// that has not run yet stands for a further one too. Safe for concurrent use.
func (h *Host) Ask(f func()) {
	select {
	case h.asked <- f:
	default:
	}
}

// Event runs a function on the host's goroutine when all records that are in the ring now have been delivered, or at
// the end of the run. It does not block: an event that finds the queue full is counted as lost. Safe for concurrent
// use.
func (h *Host) Event(f func()) {
	at := h.arena.Written()
	select {
	case h.queue <- func() { h.after(at, f) }:
	default:
		h.dropped.Add(1)
	}
}

// Lost counts what was dropped, by cause. Safe for concurrent use.
func (h *Host) Lost() map[string]uint64 {
	lost := map[string]uint64{}
	if n := h.dropped.Load(); n > 0 {
		lost["events of processes: the script's queue was full"] = n
	}
	if n := h.left.Load(); n > 0 {
		lost["records left when the run ended: the script's callbacks are too slow"] = n
	}
	return lost
}

// after runs an event when all records before a position of the ring have been delivered: now, or later.
func (h *Host) after(at uint64, f func()) {
	h.runDue(len(h.waiting) >= QueueSize) // slow callbacks delay at most so many events
	h.waiting = append(h.waiting, due{at, f})
	h.runDue(false)
}

// runDue runs the events whose records have been delivered, or all of them.
func (h *Host) runDue(all bool) {
	for len(h.waiting) > 0 && (all || h.arena.Consumed() >= h.waiting[0].at) {
		next := h.waiting[0]
		if h.waiting = h.waiting[1:]; len(h.waiting) == 0 {
			h.waiting = nil
		}
		next.f()
	}
}
