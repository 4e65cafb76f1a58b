package engine

import (
	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/ptrace"
	"gotap/runtime"
	"gotap/runtime/facility"
)

// run is one program that ran in the present hit, with what it logged: that is committed when the instruction has
// completed, or thrown away when it faults.
type run struct {
	pl      *placement
	code    *runtime.Code
	log     *runtime.Hit // nil when nothing was logged
	kind    runtime.ExitKind
	ask     facility.Request // of the facility that the program ended with
	this    uint64
	elapsed uint64
	owned   bool // the storage of the call ends with the hit
	leave   bool
	time    uint64
}

// hit is the whole of what happens at a breakpoint: the programs run, the instruction that the breakpoint displaced is
// completed, what was logged is committed, the thread goes on.
//
// Precondition: the thread has just stopped, its registers have been read.
func (t *thread) hit(p *point) {
	t.s.stats.Hits++
	*t.pc() = p.addr
	t.nruns, t.at, t.fpRead = 0, p, false
	if t.proc.space.guard.base == 0 && (p.internal == nil || !t.s.cfg.LateFallback) {
		t.s.protect(t)
	}
	if t.breath.used > 0 {
		t.breath.leave(p.addr, t.sp())
	}
	if p.internal != nil {
		if p.internal(t, p) {
			t.setRegs() // at the breakpoint, which it will hit again
			return
		}
	}
	if len(p.picks) > 0 {
		t.picking(p)
	}
	again := t.redo.addr == p.addr && t.redo.sp == t.sp() && p.addr != 0
	t.redo = redo{}
	if !again && !t.silent && !t.proc.silent && isa.Executes(p.site, &t.regs) {
		if t.s.meter.resting {
			t.restAt(p)
		} else {
			t.runPrograms(p)
		}
	}
	if t.skip {
		t.skip = false
		t.skipFunction(p)
		return
	}
	t.execute(p)
}

// runPrograms runs all programs of a point that come before its instruction.
func (t *thread) runPrograms(p *point) {
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
	counts := !leaves || pl.Code.CountsEntry()
	if !pl.Code.AtReturn && !t.wanted(pl, 0, 0) || counts && !t.s.admit(pr) {
		return
	}
	var this, now uint64
	owned := false
	if leaves {
		now = ptrace.Now()
		var ok bool
		if this, ok = t.push(p, pl, now); !ok {
			pr.Missed++
		}
	} else if n := pr.Spec.ThisBytes; n > 0 {
		this, owned = t.s.cfg.Arena.AllocThis(n), true
	}
	if pl.Code.Enter != nil {
		t.start(pl, pl.Code.Enter, this, 0, owned)
	} else if pl.Code.Post != nil || pl.Code.Fault != nil {
		t.newRun(pl, nil, this, 0, owned)
	}
}

// start runs one program and keeps what it logged.
func (t *thread) start(pl *placement, code *runtime.Code, this, elapsed uint64, owned bool) *run {
	r := t.newRun(pl, code, this, elapsed, owned)
	r.log = t.s.takeLog()
	t.run = r
	t.ctx.This, t.ctx.Word, t.ctx.Dirty = this, t.proc.arch.WordSize(), false
	out := t.s.machine.Run(code, &t.ctx, r.log)
	t.outcome(r, &out)
	if !r.log.HasItems() && r.kind != runtime.ExitFacility {
		t.s.giveLog(r.log)
		r.log = nil
	} else {
		r.time = ptrace.Now()
	}
	return r
}

// wanted asks the probe's predicate about the present hit.
func (t *thread) wanted(pl *placement, this, elapsed uint64) bool {
	code := pl.Code.When
	if code == nil {
		return true
	}
	t.asked = run{pl: pl, code: code, this: this, elapsed: elapsed}
	t.run = &t.asked
	t.ctx.This, t.ctx.Word, t.ctx.Dirty = this, t.proc.arch.WordSize(), false
	log := t.s.takeLog()
	out := t.s.machine.Run(code, &t.ctx, log)
	t.s.giveLog(log)
	if out.Trap != runtime.NoTrap {
		t.s.cfg.Arena.Trapped(out.Trap, code.ID, out.PC, out.Addr)
	}
	if out.Trap != runtime.NoTrap || out.Abort {
		pl.Probe.Turned++
		return false
	}
	return true
}

// newRun adds a run to the hit. The list grows to what the busiest place needs and stays that long.
func (t *thread) newRun(pl *placement, code *runtime.Code, this, elapsed uint64, owned bool) *run {
	if t.nruns == len(t.runs) {
		t.runs = append(t.runs, run{})
	}
	r := &t.runs[t.nruns]
	t.nruns++
	*r = run{pl: pl, code: code, this: this, elapsed: elapsed, owned: owned}
	return r
}

// outcome does what the end of a program asks for.
func (t *thread) outcome(r *run, out *runtime.Outcome) {
	r.kind = out.Kind
	if out.Kind > runtime.ExitEvent {
		r.ask = facility.Request{Number: facility.Of(out), Pid: t.proc.pid, Tid: t.tid}
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
		t.skip, t.skipRet = true, out.SkipRet
	}
	if out.Signal != 0 {
		ptrace.SendThread(t.proc.pid, t.tid, int(out.Signal))
	}
}

// takeLog takes an empty log. There are never more in use than programs whose instruction has not completed.
func (s *Session) takeLog() *runtime.Hit {
	if n := len(s.logs); n > 0 {
		h := s.logs[n-1]
		s.logs = s.logs[:n-1]
		h.Reset()
		return h
	}
	h := new(runtime.Hit)
	h.Reset()
	return h
}

func (s *Session) giveLog(h *runtime.Hit) { s.logs = append(s.logs, h) }

// execute completes the displaced instruction, at once or by a step.
func (t *thread) execute(p *point) {
	if t.proc.arch.emulates != nil {
		t.emulate(p)
		return
	}
	if p.how == arch.Emulated && len(t.proc.watches) == 0 && p.site.Emulate(&t.regs, p.sp.mem) == nil {
		t.finish(0)
		return
	}
	// What cannot be emulated, or would fault, is left to the processor.
	t.beginStep(p)
}

// finish is called when the instruction has completed, with the registers as it left them.
func (t *thread) finish(sig int) {
	if t.nruns > 0 {
		t.runPosts()
		t.commit()
	}
	t.setRegs()
	if sig == 0 && (t.masked || len(t.deferred) > 0) {
		if t.breathe(); !t.breath.keep {
			sig = t.takeKept()
		}
	}
	if sig == 0 && t.looks() {
		t.restoreTrapAction()
	}
	t.resume(sig)
}

// runPosts runs the programs that come after the instruction.
func (t *thread) runPosts() {
	for i, n := 0, t.nruns; i < n; i++ {
		r := &t.runs[i]
		if post := r.pl.Code.Post; post != nil && !r.leave && r.code != post {
			t.start(r.pl, post, r.this, 0, false)
		}
	}
}

// commit makes the logs of a hit visible and gives back what it used.
func (t *thread) commit() { t.commitFrom(0) }

// commitFrom is commit for the runs from base on.
func (t *thread) commitFrom(base int) {
	for i := base; i < t.nruns; i++ {
		r := &t.runs[i]
		if r.log != nil {
			t.commitRun(r, 0)
		}
		t.act(r)
		t.endRun(r)
	}
	t.nruns = base
}

// commitRun makes one log visible.
func (t *thread) commitRun(r *run, flags uint16) {
	hdr := runtime.Header{
		Kind: r.kind, Flags: flags, Program: r.code.ID, Probe: r.pl.Probe.Spec.ID,
		Pid: uint32(t.proc.pid), Tid: uint32(t.tid), Time: r.time, Exit: r.ask.Number,
	}
	t.readComm(hdr.Comm[:])
	if r.ask.Hold {
		hdr.Hold = t.s.newTicket()
	}
	if t.s.cfg.Arena.Commit(hdr, r.log) && hdr.Hold != 0 {
		t.hold(hdr.Hold)
	}
}

// act does what the end of a program asks for once the instruction has completed.
func (t *thread) act(r *run) {
	if r.ask.Stop {
		ptrace.SendThread(t.proc.pid, t.tid, ptrace.SIGSTOP)
	}
	if r.ask.Dump {
		t.setRegs()
		t.dump()
	}
}

// endRun gives back what a run used.
func (t *thread) endRun(r *run) {
	if r.log != nil {
		t.s.giveLog(r.log)
	}
	if r.owned && r.this != 0 {
		t.s.cfg.Arena.FreeThis(r.this, r.pl.Probe.Spec.ThisBytes)
	}
	*r = run{}
}

// freeRuns gives back the runs of a hit that will not be completed.
func (t *thread) freeRuns() {
	for i := range t.nruns {
		t.endRun(&t.runs[i])
	}
	t.nruns = 0
}

// faulted is called when the instruction faulted instead: logs are thrown away unless the probe wants them, and the
// fault handlers run. The instruction may be run again later, which will be a hit of its own.
func (t *thread) faulted() {
	n := t.nruns
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
		if f := t.runs[i].pl.Code.Fault; f != nil {
			if r := t.start(t.runs[i].pl, f, t.runs[i].this, 0, false); r.log != nil {
				t.commitRun(r, runtime.RecordFault)
			}
		}
	}
	t.freeRuns()
}

// newTicket numbers a hold.
func (s *Session) newTicket() uint32 {
	s.ticket++
	if s.ticket == 0 {
		s.ticket++
	}
	return s.ticket
}

// hold keeps the thread stopped until the ticket is released.
func (t *thread) hold(ticket uint32) {
	if t.ticket != 0 {
		delete(t.s.tickets, t.ticket)
	}
	t.ticket = ticket
	t.s.tickets[ticket] = t
}

// skipFunction returns from the function that was just entered, without running it.
func (t *thread) skipFunction(p *point) {
	sp := t.sp()
	if t.proc.arch.Skip(&t.regs, p.sp.mem, t.skipRet) != nil {
		t.execute(p)
		return
	}
	t.dropFrames(sp + 1)
	t.finish(0)
}
