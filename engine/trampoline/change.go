package trampoline

import (
	"errors"
	"slices"

	"gotap/engine/space"
	"gotap/runtime"
	"gotap/runtime/calls"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

// Programs that change the target.
//
// An operation that changes the target rings. The registers of the place, which the program may have changed, are then
// in the tracer, and on the stack of the thread lies only what the stub has saved of the old ones. So the thread leaves
// what is left of the stub, but for the tail: the session runs the programs that follow, as at a breakpoint, and the
// thread continues at the displaced instructions with the new registers. If the function is to be skipped, it returns
// instead.

var (
	errWhenChanges = errors.New("its predicate changes the target")
	errMayFault    = errors.New("one program writes a record, and another one changes registers, by which the instruction may fault")
)

// runOf returns the program of a placement that runs natively; nil if there is none.
func runOf(r *space.Run) *runtime.Code {
	if r.Ends != nil {
		return r.Placement.Code.Leave
	}
	return r.Placement.Code.Enter
}

// fitsChanges returns why programs at a point must not change the target if its jump is in a room. A record that one of
// them has written could be of an instruction that faults because another one changes a register afterwards.
func fitsChanges(p *space.Point, r *space.Room) error {
	if r.Window.Operand == nil {
		return nil
	}
	wrote := false
	for _, pl := range p.Enters {
		if wrote && setsRegister(pl.Code.Enter) {
			return errMayFault
		}
		wrote = wrote || writesRecord(pl.Code.Enter)
	}
	return nil
}

// setsRegister reports whether a program changes a register; nil changes nothing.
func setsRegister(code *runtime.Code) bool {
	return code != nil && slices.ContainsFunc(code.Insts, func(in runtime.Inst) bool { return in.Op == opcode.PopR })
}

// completeHit ends a hit of which a program may have changed the target. The registers are those of the place.
func (t *Thread) completeHit(b *bell) {
	t.runRest(b)
	t.commitOrFault(b)
	t.by.heedRing(b)
	if skip := &t.parts.Hit.Skip; !*skip || !t.skipFunction(b) {
		*skip = false
		*t.PC() = b.tail
	}
	t.on.Finish()
}

// runRest runs the programs that follow on the one that rang.
func (t *Thread) runRest(b *bell) {
	for _, r := range b.rest {
		switch pl := r.Placement; {
		case r.Ends != nil:
			t.TakeCalls(b.p)
			t.parts.Calls.Leave(&b.p.Point)
		case pl.Probe.Enabled:
			leaves := pl.Code.Leave != nil && b.p.Fn != nil
			if leaves {
				t.TakeCalls(b.p)
			}
			t.parts.Hit.Enter(pl, leaves)
		}
	}
}

// skipFunction makes the thread return from the function that it is about to enter, and reports whether that was
// possible.
func (t *Thread) skipFunction(b *bell) bool {
	t.parts.Hit.Skip = false
	entered := t.SP()
	if t.proc.Space.ABI.Skip(&t.Regs, b.p.Space.Mem, t.parts.Hit.SkipResult) != nil {
		return false
	}
	if t.stack.of != nil && b.p.Fn != nil {
		t.takeInside(entered)
	}
	t.parts.Calls.Skipped(&b.p.Point, entered)
	return true
}

// endProgram does with the frame of a call what the stub would have done at the end of the program.
func (t *Thread) endProgram(b *bell, f calls.Frame) {
	if b.run.Ends == nil {
		t.stack.of.Finish(f)
		return
	}
	for g, ok := t.stack.of.Newest(); ok && g != f; g, ok = t.stack.of.Newest() {
		t.stack.of.Remove(g)
	}
	t.stack.of.Remove(f)
}

// changes reports whether the program that rang may change the target.
func (b *bell) changes() bool { return !b.When && native.Changes(runOf(b.run)) }
