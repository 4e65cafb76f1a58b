package engine

import (
	"errors"

	"gotap/engine/image/module"
	"gotap/runtime/native"
)

// With Config.Engine Mixed a place gets a jump if its programs run to their ends without a stop, and follow no calls, write no records
// and read no memory. Functions of Go are left out.
// Everything else gets a breakpoint, as with Auto: a program that rings a doorbell would cost more than it saves.

// Reasons why the programs of a place stop its threads with Mixed, though native code could begin them.
var (
	errFollows = errors.New("calls are followed to their return")
	errWrites  = errors.New("its program writes records")
	errOfGo    = errors.New("it is a function of Go, which --engine inline takes")
)

// needsInterpreterError is an operation of a program that the interpreter executes.
type needsInterpreterError struct{ why string }

func (e *needsInterpreterError) Error() string { return "its program needs the interpreter: " + e.why }

// inlines reports whether the session may have programs run in targets. A budget is one for stops, and its probes have to stop.
func (c *patcher) inlines() bool {
	switch c.s.cfg.Engine {
	case Inline:
		return true
	case Mixed:
		return c.s.cfg.Budget == 0
	}
	return false
}

// neverRings returns why a program of a point does not run to its end without a stop. Operations that stop threads seldom, as a new key of a
// map does, do not count.
func (c *patcher) neverRings(p *point) error {
	if p.Fn != nil || len(p.Exits) > 0 {
		return errFollows
	}
	for _, pl := range p.Enters {
		switch {
		case pl.Code.Leave != nil:
			return errFollows
		case pl.Code.Enter == nil || pl.Code.Post != nil || pl.Code.Fault != nil:
			return errPost
		}
		program, err := c.nativeProgram(p, nativeRun{pl: pl})
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
	}
	if p.keepsRecords() {
		return errWrites
	}
	if m := module.Find(p.sp.mods, p.addr); m != nil && m.File != nil && m.File.IsGo() {
		return errOfGo
	}
	return nil
}
