package hit

import (
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/facility"
	"gotap/runtime/record"
)

// Runner is what the hits of a session share: the machine that runs programs, and free logs.
type Runner struct {
	arena      *arena.Arena
	facilities *facility.Table
	machine    *runtime.Machine
	logs       []*record.Log // free ones
	ticket     uint32        // the last ticket given
	changed    func(Change)  // nil: changes are not reported
	warn       func(string)  // nil: nobody is told that a probe was disabled
}

// Change describes what a program has changed in the thread or process for which it ran.
type Change struct {
	runtime.Change
	Tid int
}

// NewRunner returns a runner for programs that use an arena; without an arena it runs none.
func NewRunner(arena *arena.Arena, facilities *facility.Table) *Runner {
	r := &Runner{arena: arena, facilities: facilities}
	if arena != nil {
		r.machine = runtime.NewMachine(arena)
	}
	return r
}

// Tell sets a function that is called for every change that programs make, for threads created from now on.
func (r *Runner) Tell(changed func(Change)) { r.changed = changed }

// Warn sets a function that is told when a probe is disabled.
func (r *Runner) Warn(warn func(text string)) { r.warn = warn }

// takeLog returns an empty log.
func (r *Runner) takeLog() *record.Log {
	var log *record.Log
	if n := len(r.logs); n > 0 {
		log, r.logs = r.logs[n-1], r.logs[:n-1]
	} else {
		log = new(record.Log)
	}
	log.Reset()
	return log
}

func (r *Runner) giveLog(log *record.Log) { r.logs = append(r.logs, log) }

// newTicket returns the number of a new hold, which is never 0.
func (r *Runner) newTicket() uint32 {
	if r.ticket++; r.ticket == 0 {
		r.ticket++
	}
	return r.ticket
}
