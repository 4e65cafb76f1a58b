package remote

import (
	"gotap/engine"
	"gotap/engine/isa"
	"gotap/engine/ptrace"
	"gotap/engine/rsp"
	"gotap/runtime"
	"gotap/runtime/facility"
)

// redo is an instruction that did not complete, because the processor took an exception instead: it will be come to again, which is
// no hit of its own.
type redo struct{ addr, sp uint64 }

// trap deals with a stop by a signal: a breakpoint of ours, or a signal of the target's own, which is passed on.
func (t *thread) trap(stop rsp.Stop) error {
	if stop.Signal != rsp.SignalTrap && !(stop.Signal == rsp.SignalIll && t.s.patch) {
		return t.passOn(stop)
	}
	p := t.s.points[*t.pc()]
	if p == nil || !p.planted {
		p = t.behindPatch(p)
	}
	switch {
	case p == nil && stop.Reason != "" || p == nil && t.s.kernel || stop.Signal == 0:
		return nil // a breakpoint that was taken away meanwhile, an event that nobody asked for
	case p == nil:
		return t.passOn(stop)
	}
	return t.hit(p)
}

// behindPatch finds the point whose breakpoint we wrote ourselves, and that the processor reports from behind.
func (t *thread) behindPatch(p *point) *point {
	back := t.s.isa.BreakpointPC(*t.pc())
	if t.s.patch && back != *t.pc() {
		if q := t.s.points[back]; q != nil {
			*t.pc() = back
			p = q
		}
	}
	if p == nil || p.planted {
		return p
	}
	return nil
}

// passOn delivers a signal when the target is resumed. Machines have none.
func (t *thread) passOn(stop rsp.Stop) error {
	if t.s.kernel || stop.Signal == 0 {
		return nil
	}
	t.s.notify(engine.Event{Kind: engine.EventSignal, Tid: t.id, Signal: rsp.LinuxSignal(stop.Signal)})
	t.s.signal = rsp.Action{Signal: stop.Signal, Thread: t.name}
	return nil
}

// hit is the whole of what happens at a breakpoint: the programs run, the instruction that the breakpoint displaced is completed,
// what was logged is committed. Registers have been read.
func (t *thread) hit(p *point) error {
	t.s.stats.Hits++
	t.at, t.runs = p, t.runs[:0]
	if isa.Executes(p.site, &t.regs) {
		key := redo{p.addr, t.sp()}
		if t.s.redo[key] {
			delete(t.s.redo, key)
		} else {
			t.runPrograms(p)
		}
	}
	if t.skip {
		t.skip = false
		if t.skipFunction() {
			return t.finish()
		}
	}
	return t.execute(p)
}

// runPrograms runs all programs of a point that come before its instruction.
func (t *thread) runPrograms(p *point) {
	if p.internal != nil {
		p.internal()
	}
	for _, pl := range p.enters {
		if pl.Probe.Enabled {
			t.enter(p, pl)
		}
	}
	if len(p.exits) > 0 {
		t.leaveAt(p)
	}
	if p.returns > 0 {
		t.returnedTo(p)
	}
}

// enter runs the program that a probe has at this place, and remembers the call for its leave.
func (t *thread) enter(p *point, pl *placement) {
	pr := pl.Probe
	leaves := pl.Code.Leave != nil && p.fn != nil
	if !pl.Code.AtReturn && !t.wanted(run{pl: pl}) || (!leaves || pl.Code.CountsEntry()) && !t.s.admit(pr) {
		return
	}
	var this uint64
	owned := false
	if leaves {
		var ok bool
		if this, ok = t.push(p, pl); !ok {
			pr.Missed++
		}
	} else if n := pr.Spec.ThisBytes; n > 0 {
		this, owned = t.s.cfg.Arena.AllocThis(n), true
	}
	if pl.Code.Enter != nil {
		t.start(run{pl: pl, this: this, owned: owned}, pl.Code.Enter)
	} else if pl.Code.Post != nil || pl.Code.Fault != nil {
		t.runs = append(t.runs, run{pl: pl, this: this, owned: owned})
	}
}

// start runs one program and keeps what it logged.
func (t *thread) start(r run, code *runtime.Code) {
	r.code, r.log = code, t.s.takeLog()
	t.run = &r
	t.ctx.This, t.ctx.Dirty = r.this, false
	out := t.s.machine.Run(code, &t.ctx, r.log)
	t.outcome(&r, &out)
	if !r.log.HasItems() && r.kind != runtime.ExitFacility {
		t.s.giveLog(r.log)
		r.log = nil
	} else {
		r.time = ptrace.Now()
	}
	t.runs = append(t.runs, r)
	t.run = nil
}

// wanted asks the probe's predicate about the present hit.
func (t *thread) wanted(r run) bool {
	code := r.pl.Code.When
	if code == nil {
		return true
	}
	r.code = code
	t.run = &r
	t.ctx.This, t.ctx.Dirty = r.this, false
	log := t.s.takeLog()
	out := t.s.machine.Run(code, &t.ctx, log)
	t.s.giveLog(log)
	t.run = nil
	if out.Trap != runtime.NoTrap {
		t.s.cfg.Arena.Trapped(out.Trap, code.ID, out.PC, out.Addr)
	}
	return out.Trap == runtime.NoTrap && !out.Abort
}

// outcome does what the end of a program asks for.
func (t *thread) outcome(r *run, out *runtime.Outcome) {
	r.kind = out.Kind
	if out.Kind > runtime.ExitEvent {
		r.ask = facility.Request{Number: facility.Of(out), Pid: t.s.pid(), Tid: t.id}
		t.s.cfg.Facilities.Hit(&r.ask)
	}
	if out.Trap != runtime.NoTrap {
		t.s.cfg.Arena.Trapped(out.Trap, r.code.ID, out.PC, out.Addr)
	}
	if out.Remove {
		t.s.retire(r.pl.Probe)
	}
	if !r.code.Unsafe {
		return
	}
	if out.Skip {
		t.skip, t.ret = true, out.SkipRet
	}
	if n := rsp.SignalOf(int(out.Signal)); n != 0 && !t.s.kernel {
		t.s.signal = rsp.Action{Signal: n, Thread: t.name}
	} else if out.Signal != 0 {
		t.s.warn("a stub cannot deliver signal %d here", out.Signal)
	}
}

// takeLog takes an empty log.
func (s *Session) takeLog() *runtime.Hit {
	h := new(runtime.Hit)
	if n := len(s.logs); n > 0 {
		h, s.logs = s.logs[n-1], s.logs[:n-1]
	}
	h.Reset()
	return h
}

func (s *Session) giveLog(h *runtime.Hit) { s.logs = append(s.logs, h) }

// finish is called when the instruction has completed, with the registers as it left them.
func (t *thread) finish() error {
	for i, n := 0, len(t.runs); i < n; i++ {
		r := t.runs[i]
		if post := r.pl.Code.Post; post != nil && !r.leave && r.code != post {
			t.start(run{pl: r.pl, this: r.this}, post)
		}
	}
	t.commit()
	return t.writeRegs()
}

// commit makes the logs of a hit visible and gives back what it used.
func (t *thread) commit() {
	for i := range t.runs {
		r := &t.runs[i]
		if r.log != nil {
			t.commitRun(r, 0)
		}
		t.act(r)
		t.endRun(r)
	}
	t.runs = t.runs[:0]
}

// commitRun makes one log visible.
func (t *thread) commitRun(r *run, flags uint16) {
	hdr := runtime.Header{Kind: r.kind, Flags: flags, Program: r.code.ID, Probe: r.pl.Probe.Spec.ID,
		Pid: uint32(t.s.pid()), Tid: uint32(t.id), Time: r.time, Exit: r.ask.Number}
	copy(hdr.Comm[:15], t.comm())
	if r.ask.Hold {
		t.s.ticket = max(1, t.s.ticket+1)
		hdr.Hold = t.s.ticket
	}
	if t.s.cfg.Arena.Commit(hdr, r.log) && hdr.Hold != 0 {
		t.s.tickets[hdr.Hold] = t
	}
}

// act does what the end of a program asks for once the instruction has completed.
func (t *thread) act(r *run) {
	if r.ask.Stop {
		t.s.warn("exit.stop has no effect through a stub: when gotap lets go, the target goes on")
	}
	if r.ask.Dump {
		t.s.warn("exit.dump has no effect through a stub: no core is written")
	}
}

// endRun gives back what a run used.
func (t *thread) endRun(r *run) {
	if r.log != nil {
		t.s.giveLog(r.log)
		r.log = nil
	}
	if r.owned && r.this != 0 {
		t.s.cfg.Arena.FreeThis(r.this, r.pl.Probe.Spec.ThisBytes)
	}
}

// faulted is called when the instruction faulted instead: logs are thrown away unless the probe wants them, and the fault handlers
// run.
func (t *thread) faulted(sig int) {
	t.sig = rsp.LinuxSignal(sig)
	n := len(t.runs)
	for i := range n {
		r := &t.runs[i]
		if r.log != nil && r.pl.Probe.Spec.LogOnFault {
			t.commitRun(r, runtime.RecordFault)
		}
		if r.log != nil {
			t.s.giveLog(r.log)
			r.log = nil
		}
	}
	for i := range n {
		r := t.runs[i]
		if f := r.pl.Code.Fault; f != nil {
			t.start(run{pl: r.pl, this: r.this}, f)
			if last := &t.runs[len(t.runs)-1]; last.log != nil {
				t.commitRun(last, runtime.RecordFault)
			}
		}
	}
	for i := range t.runs {
		t.endRun(&t.runs[i])
	}
	t.runs = t.runs[:0]
}

// skipFunction returns from the function that was just entered, without running it.
func (t *thread) skipFunction() bool {
	entered := t.sp()
	if t.s.isa.Skip(&t.regs, &t.s.mem, t.ret) != nil {
		return false
	}
	t.dropEntered(entered)
	return true
}
