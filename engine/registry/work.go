package registry

import "time"

// Work is what the interpreter has done for a probe. What native code does, and stopping threads, is not in it.
type Work struct {
	Runs  uint64 // programs that ran, or that native code has left to the interpreter from some command on; predicates are programs
	Spent time.Duration

	since  uint64 // when the present second of programs without fuel began, in nanoseconds
	number int    // how many there were in it
}

// A probe is disabled when its programs run out of fuel MostExhausted times within a second.
const (
	MostExhausted = 100
	exhaustedTime = uint64(time.Second)
)

// Ran counts a program that ran for the given time.
func (w *Work) Ran(nanoseconds uint64) {
	w.Runs++
	w.Spent += time.Duration(nanoseconds)
}

// Exhaust notes that a program ran out of fuel at a time. Its probe is disabled when that happens too often: such
// programs are of no use, and keep threads waiting. It reports whether this was the time when that happened.
func (pr *Probe) Exhaust(now uint64) bool {
	w := &pr.Work
	if w.number == 0 || now-w.since >= exhaustedTime {
		w.since, w.number = now, 0
	}
	if w.number++; w.number < MostExhausted || !pr.Enabled {
		return false
	}
	pr.Enabled, pr.Exhausted = false, true
	w.number = 0
	return true
}
