package trampoline

import (
	"gotap/engine/backend"
	"gotap/engine/space"
	"gotap/runtime/native"
)

// With Config.Engine Mixed a place gets a jump if its programs run to their ends without a stop. Everything else gets a breakpoint, as with
// Auto: a program that rings a doorbell at each hit would cost more than it saves. A call can begin in native code and end at a breakpoint,
// or the other way round.

// needsInterpreterError is an operation of a program that the interpreter executes.
type needsInterpreterError struct{ why string }

func (e *needsInterpreterError) Error() string { return "its program needs the interpreter: " + e.why }

// Inlines reports whether the session may have programs run in targets. A budget is one for stops, and its probes have to stop.
func (c *Executor) Inlines() bool {
	switch c.set.Strategy {
	case backend.Inline:
		return true
	case backend.Mixed:
		return c.set.Budget == 0
	}
	return false
}

// neverRings returns why a program of a point does not run to its end without a stop. Operations that stop threads seldom, as a new key of a
// map does, do not count.
func (c *Executor) neverRings(p *space.Point) error {
	for _, pl := range p.Enters {
		if pl.Code.Post != nil || pl.Code.Fault != nil {
			return errPost
		}
		if err := c.runsThrough(p, space.Run{Placement: pl}); err != nil {
			return err
		}
	}
	for _, f := range p.Exits {
		for _, pl := range f.Entry().Leaves() {
			if err := c.runsThrough(p, space.Run{Placement: pl, Ends: f.Entry().At.(*space.Point)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// runsThrough returns why one part of what runs at a point needs the interpreter at each hit.
func (c *Executor) runsThrough(p *space.Point, r space.Run) error {
	program, err := c.nativeProgram(p, r)
	if err != nil {
		return err
	}
	for _, plan := range []*native.Plan{program.When, program.Run} {
		if plan == nil {
			continue
		}
		if bells := plan.Doorbells(); len(bells) > 0 {
			return &needsInterpreterError{plan.Ops[bells[0]].Why}
		}
	}
	return nil
}
