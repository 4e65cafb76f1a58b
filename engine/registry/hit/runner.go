package hit

import (
	"gotap/runtime"
	"gotap/runtime/facility"
)

// Runner is what the hits of a session share: the machine that runs programs, and free logs.
type Runner struct {
	arena      *runtime.Arena
	facilities *facility.Table
	machine    *runtime.Machine
	logs       []*runtime.Log // free ones
	ticket     uint32         // given last
	changed    func(Change)   // nil: nobody wants to know
}

// Change is what a program has done to the thread, or the process, that it ran for.
type Change struct {
	runtime.Change
	Tid int
}

// NewRunner makes a runner for programs that use an arena; without one it runs none.
func NewRunner(arena *runtime.Arena, facilities *facility.Table) *Runner {
	r := &Runner{arena: arena, facilities: facilities}
	if arena != nil {
		r.machine = runtime.NewMachine(arena)
	}
	return r
}

// Tell has a function told of every change that programs make, for threads that are made from now on.
func (r *Runner) Tell(changed func(Change)) { r.changed = changed }

// takeLog takes an empty log.
func (r *Runner) takeLog() *runtime.Log {
	var log *runtime.Log
	if n := len(r.logs); n > 0 {
		log, r.logs = r.logs[n-1], r.logs[:n-1]
	} else {
		log = new(runtime.Log)
	}
	log.Reset()
	return log
}

func (r *Runner) giveLog(log *runtime.Log) { r.logs = append(r.logs, log) }

// newTicket numbers a hold; 0 is none.
func (r *Runner) newTicket() uint32 {
	if r.ticket++; r.ticket == 0 {
		r.ticket++
	}
	return r.ticket
}
