package trampoline

import (
	"errors"

	"gotap/engine/backend"
	"gotap/engine/space"
)

// With Config.Engine Mixed a place gets a jump if there is a way for its programs to run to their ends without a stop:
// a hit that a predicate or an `if` lets go costs nanoseconds then, and one that rings a doorbell little more than at a
// breakpoint. Everything else gets a breakpoint, as with Auto. So does a place at which most hits turn out to ring. A
// call can begin in native code and end at a breakpoint, or the other way round.

// needsInterpreterError is an operation of a program that the interpreter executes.
type needsInterpreterError struct{ why string }

func (e *needsInterpreterError) Error() string { return "its program needs the interpreter: " + e.why }

// Inlines reports whether the session may have programs run in targets. A budget is one for stops, and its probes have
// to stop.
func (c *Executor) Inlines() bool {
	switch c.set.Strategy {
	case backend.Inline:
		return true
	case backend.Mixed:
		return c.set.Budget == 0
	}
	return false
}

// mayNotRing returns why a program of a point rings at each hit, or nil if none does.
func (c *Executor) mayNotRing(p *space.Point) error {
	for _, pl := range p.Enters {
		if !matters(c.set.Strategy, pl) {
			continue
		}
		if pl.Code.Post != nil || pl.Code.Fault != nil {
			return errPost
		}
		if err := c.ringsAlways(p, space.Run{Placement: pl}); err != nil {
			return err
		}
	}
	for _, f := range p.Exits {
		for _, pl := range f.Entry().Leaves() {
			if !matters(c.set.Strategy, pl) {
				continue
			}
			if err := c.ringsAlways(p, space.Run{Placement: pl, Ends: f.Entry().At.(*space.Point)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// ringsAlways returns why one part of what runs at a point needs the interpreter at each hit, or nil if it does not.
// Hits that a predicate rejects, and those between the ones that `every` lets pass, do not need it.
func (c *Executor) ringsAlways(p *space.Point, r space.Run) error {
	program, err := c.nativeProgram(p, r)
	plan := program.Run
	switch {
	case err != nil:
		return err
	case program.When != nil:
		plan = program.When
	case program.Gate != nil && program.Gate.Limits().Every > 1:
		return nil
	}
	if plan == nil || !plan.AlwaysRings() {
		return nil
	}
	why := "it runs out of fuel"
	if bells := plan.Doorbells(); len(bells) > 0 {
		why = plan.Ops[bells[0]].Why
	}
	return &needsInterpreterError{why}
}

// heedRing counts a ring at a place. If at least half of the hits ring, the place gets its breakpoint back for good:
// there, they are cheaper. Hits are counted for a whole probe, so at a place that is one of many it takes longer until
// this is seen.
func (c *Executor) heedRing(b *bell) {
	const window = 64 // rings from one look to the next
	if c.set.Strategy != backend.Mixed {
		return
	}
	jump, gate := &b.p.Jump, b.run.Placement.Probe.Gate
	if hits := gate.Seen() + gate.Rejected(); jump.Rings == 0 {
		jump.HitsBefore = hits
	} else if jump.Rings == window {
		often := hits-jump.HitsBefore < 2*window
		if jump.Rings = 0; often && jump.In {
			c.removeJumps([]*space.Point{b.p})
			c.drop(b.p, errRings)
		}
		return
	}
	jump.Rings++
}

var errRings = errors.New("most hits need the interpreter")
