package host

import (
	"time"

	"gotap/runtime/record"
)

// pump waits for records, so that the loop can wait for several things at once. It rests while the loop reads the ring.
func (h *Host) pump() {
	defer close(h.rested)
	for h.arena.Wait(h.quit) {
		select {
		case h.records <- struct{}{}:
		case <-h.quit:
			return
		}
		select {
		case <-h.resume:
		case <-h.quit:
			return
		}
	}
}

// loop is the host's goroutine.
func (h *Host) loop() {
	defer close(h.done)
	for len(h.backlog) > 0 {
		h.Drain(len(h.backlog))
	}
	go h.pump()
	h.busy = false
	for flushed := time.Now(); ; {
		if h.busy {
			if h.busy = h.Drain(batchSize); !h.busy {
				h.wakePump()
			}
			if now := time.Now(); now.Sub(flushed) > flushEvery {
				h.script.Flush()
				flushed = now
			}
			if !h.poll() {
				return
			}
			continue
		}
		h.script.Flush()
		if !h.wait() {
			return
		}
	}
}

func (h *Host) wakePump() {
	select {
	case h.resume <- struct{}{}:
	case <-h.quit:
	}
}

// poll does what is due without waiting; it returns false at the end.
func (h *Host) poll() bool {
	h.script.Tick(time.Now())
	for {
		select {
		case f := <-h.queue:
			f()
		case f := <-h.asked:
			f()
		case <-h.quit:
			return false
		default:
			return true
		}
	}
}

// wait waits for the next thing to do; it returns false at the end.
func (h *Host) wait() bool {
	var due <-chan time.Time
	if d, ok := h.script.NextTick(); ok {
		timer := time.NewTimer(d)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-h.records:
		h.busy = true
	case f := <-h.queue:
		f()
	case f := <-h.asked:
		f()
	case now := <-due:
		h.script.Tick(now)
	case <-h.quit:
		return false
	}
	return true
}

// Drain delivers records, at most so many and for about batchTime; it reports whether there may be more.
func (h *Host) Drain(most int) bool {
	for began := time.Now(); most > 0 && time.Since(began) < batchTime; most-- {
		if len(h.queue) > 0 {
			h.takePosted()
		}
		h.runDue(false)
		rec, ok := h.next()
		if !ok {
			return false
		}
		h.script.Deliver(rec)
	}
	h.runDue(false)
	return true
}

// next returns the oldest record that waits.
func (h *Host) next() (record.Record, bool) {
	if len(h.backlog) > 0 {
		rec := h.backlog[0]
		if h.backlog = h.backlog[1:]; len(h.backlog) == 0 {
			h.backlog = nil
		}
		return rec, true
	}
	return h.arena.Next()
}

// Keep delivers a record before all others, once the loop runs.
func (h *Host) Keep(rec record.Record) { h.backlog = append(h.backlog, rec) }

// pumpTime is how long CatchUp waits for the pump when a record is in the ring: its writer may have died before it was
// complete.
const pumpTime = 2 * time.Second

// CatchUp delivers the records that are in the ring now. It runs on the host's goroutine. While the loop is idle the
// pump reads the ring, and gives it up for a record.
func (h *Host) CatchUp() {
	if h.running && !h.busy && h.arena.Pending() {
		select {
		case <-h.records:
			h.busy = true
		case <-time.After(pumpTime):
			return
		}
	}
	if h.running && !h.busy {
		return // the ring is empty, and the pump reads it
	}
	for left := MaxWaiting; left > 0 && h.Drain(batchSize); left -= batchSize {
	}
}

// Empty runs everything that was posted.
func (h *Host) Empty() {
	h.takePosted()
	h.runDue(true)
}

// takePosted runs the functions in the queue.
func (h *Host) takePosted() {
	for {
		select {
		case f := <-h.queue:
			f()
		default:
			return
		}
	}
}
