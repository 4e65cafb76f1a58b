package remote

import (
	"gotap/engine/backend"
	"gotap/engine/isa"
	"gotap/engine/remote/rsp"
)

// trap handles a stop by a signal: one of our breakpoints, or a signal of the target's own, which is passed on.
func (t *thread) trap(stop rsp.Stop) error {
	s, pc := t.s, t.regs.PC()
	if stop.Signal != rsp.SignalTrap && !(stop.Signal == rsp.SignalIll && s.points.patch) {
		return t.passOn(stop)
	}
	p := s.points.hit(stop, *pc)
	s.stops.stray(p == nil, *pc)
	switch {
	case p == nil && stop.Reason != "" || p == nil && s.stub.kernel || stop.Signal == 0:
		return nil // a breakpoint that was removed meanwhile, or an event that nobody requested
	case p == nil:
		return t.passOn(stop)
	}
	*pc = p.Addr
	return t.hit(p)
}

// passOn delivers a signal when the target is resumed. Machines have no signals.
func (t *thread) passOn(stop rsp.Stop) error {
	if t.s.stub.kernel || stop.Signal == 0 {
		return nil
	}
	t.s.report.notify(backend.Event{Kind: backend.EventSignal, Tid: t.id, Signal: rsp.LinuxSignal(stop.Signal)})
	t.s.control.Deliver(stop.Signal, t.name)
	return nil
}

// hit does everything that happens at a breakpoint: the programs run, the displaced instruction is completed, and
// what was logged is committed. The registers have been read.
func (t *thread) hit(p *point) error {
	t.s.stats.Hits++
	t.view.begin(p)
	t.h.Begin(t.s.stub.isa.WordSize())
	if isa.Executes(p.Site, &t.regs.General) && !t.s.stops.takeRetry(p.Addr, t.regs.SP()) {
		if p.internal != nil {
			p.internal()
		}
		t.calls.Hit(&p.Point)
	}
	if t.h.Skip {
		t.h.Skip = false
		if t.skipFunction() {
			return t.finish()
		}
	}
	return t.execute(p)
}

// finish is called when the instruction has completed, with the registers that it left.
func (t *thread) finish() error {
	t.h.Posts()
	t.h.Commit()
	return t.regs.Write()
}

// faulted is called when the instruction faulted instead.
func (t *thread) faulted(sig int) {
	t.view.Fault(0, rsp.LinuxSignal(sig))
	t.h.Faulted()
}

// skipFunction returns from the function that was just entered, without running its code.
func (t *thread) skipFunction() bool {
	s := t.s
	entered, before := t.regs.SP(), t.regs.General
	if s.stub.isa.Skip(&t.regs.General, s.mem, t.h.SkipResult) != nil {
		return false
	}
	if !s.stub.takesSP(&t.regs, entered) {
		t.regs.General = before
		s.report.warn("skip has no effect through this stub: it does not take another stack pointer")
		return false
	}
	t.calls.Skipped(&t.view.at.Point, entered)
	return true
}
