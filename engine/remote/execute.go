package remote

import (
	"fmt"
	"time"

	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/remote/rsp"
)

// execute completes the displaced instruction: by emulation if possible, otherwise the target runs it at its own
// address, with the breakpoint lifted meanwhile.
//
// Lifting a breakpoint is safe because all other threads are stopped: a step moves only one thread, and so does a
// run to the next instruction if the stub can do that. If it cannot, as with processors of a machine without vCont,
// another thread may pass the place without a hit.
func (t *thread) execute(p *point) error {
	if p.How == arch.Emulated {
		before := t.regs.General
		if t.emulate(p) == nil && t.s.stub.takesSP(&t.regs, before[t.s.stub.isa.SP()]) {
			return t.finish()
		}
		t.regs.General = before // the pushed value still lies below the stack pointer, and is written again
	}
	if t.s.stub.isa.Stepless {
		return t.runToNext(p)
	}
	return t.step(p)
}

// emulate completes the instruction on the registers. On error nothing has changed.
func (t *thread) emulate(p *point) error {
	if v, ok := p.Site.(arch.VectorSite); ok && v.Vectors() {
		if !t.regs.LoadVectors() {
			return &arch.RefusedError{Addr: p.Addr, Reason: "the stub does not show the vector registers"}
		}
		return v.EmulateVectors(&t.regs.General, &t.regs.Vectors, t.s.mem)
	}
	if p.Site.Insn().Control == arch.Syscall && isa.Executes(p.Site, &t.regs.General) {
		return errNotEmulated
	}
	return p.Site.Emulate(&t.regs.General, t.s.mem)
}

var errNotEmulated = &arch.RefusedError{Reason: "the kernel executes system calls"}

// execPatience is how long an instruction that the target runs itself may take. It may be a system call that waits.
const execPatience = 5 * time.Second

// step makes the stub step the instruction.
func (t *thread) step(p *point) error {
	t.s.stats.Steps++
	stop, err := t.away(p, func() (rsp.Stop, error) { return t.go1(true) })
	if err != nil || t.s.control.Ended() {
		return err
	}
	ours := t.s.control.TakeInterrupt(stop)
	switch {
	case ours && *t.regs.PC() == p.Addr:
		return t.again(p)
	case !ours && stop.Signal != rsp.SignalTrap && stop.Signal != 0:
		t.faulted(stop.Signal)
		return t.passOn(stop)
	}
	return t.stepped(p)
}

// stepped handles the end of a step. If the thread is not at an address to which the instruction leads, the
// instruction has not completed: a page was missing, and the probed kernel has begun to fetch it.
func (t *thread) stepped(p *point) error {
	in := p.Site.Insn()
	if *t.regs.PC() == p.Addr && in.Control == arch.Plain { // a repeated string instruction between two iterations
		return t.again(p)
	}
	if t.s.stub.kernel && in.Control == arch.Plain && *t.regs.PC() != p.Addr+uint64(in.Len) {
		return t.again(p)
	}
	return t.finish()
}

// again commits what the programs of this hit logged, and ensures that they do not run when the instruction is
// tried again.
func (t *thread) again(p *point) error {
	t.h.Commit()
	t.s.stops.expectRetry(p.Addr, t.before)
	return nil
}

// runToNext makes the thread execute the instruction and run into a breakpoint behind it: never a step.
func (t *thread) runToNext(p *point) error {
	in := p.Site.Insn()
	next, err := t.s.points.get(p.Addr+uint64(in.Len), nil)
	if in.Control != arch.Plain && in.Control != arch.Syscall || err != nil {
		return fmt.Errorf("cannot complete the instruction at %#x: it is neither emulated nor followed by another one", p.Addr)
	}
	next.Returns++
	defer func() { next.Returns--; t.s.points.sync(next) }()
	if err := t.s.points.sync(next); err != nil {
		return err
	}
	stop, err := t.away(p, func() (rsp.Stop, error) { return t.go1(false) })
	if err != nil || t.s.control.Ended() {
		return err
	}
	switch ours := t.s.control.TakeInterrupt(stop); {
	case ours && *t.regs.PC() != next.Addr:
		return t.again(p)
	case !ours && stop.Signal != rsp.SignalTrap && stop.Signal != 0:
		t.faulted(stop.Signal)
		return t.passOn(stop)
	case *t.regs.PC() != next.Addr:
		return t.again(p)
	}
	*t.regs.PC() = next.Addr
	if err := t.finish(); err != nil || !next.Used() {
		return err
	}
	return t.hit(next)
}

// away calls do with the breakpoint of a point lifted, and reads the registers of the thread afterwards.
func (t *thread) away(p *point, do func() (rsp.Stop, error)) (rsp.Stop, error) {
	sp := t.regs.SP()
	if err := t.regs.Write(); err != nil {
		return rsp.Stop{}, err
	}
	if err := t.s.points.unplant(p); err != nil {
		return rsp.Stop{}, err
	}
	stop, err := do()
	if err != nil {
		return stop, err
	}
	t.s.mem.Forget()
	if stop.Kind != rsp.Stopped {
		t.h.Drop()
		t.s.stops.exited(stop)
		return stop, nil
	}
	if err := t.regs.Read(); err != nil {
		return stop, err
	}
	t.before = sp
	return stop, t.s.points.sync(p)
}

// go1 makes only this thread step or run, and waits until it has stopped.
func (t *thread) go1(step bool) (rsp.Stop, error) {
	if err := t.s.stub.client.Resume(rsp.Action{Step: step, Thread: t.name}); err != nil {
		return rsp.Stop{}, err
	}
	stop, ok, err := t.s.stub.client.WaitStop(execPatience, nil)
	if err == nil && !ok {
		err = fmt.Errorf("thread %s does not come back from the instruction at %#x", t.name, *t.regs.PC())
	}
	return stop, err
}
