package hit

import (
	"fmt"
	"slices"

	"gotap/engine/linux/ptrace"
	"gotap/engine/registry"
	"gotap/runtime"
	"gotap/runtime/facility"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// Target is what a back end does for the hits of one of its threads.
type Target interface {
	// IDs returns the numbers that records carry.
	IDs() (pid, tid int)
	// Comm writes the thread's name, which records carry. p is all zeros, and its last byte stays zero.
	Comm(p []byte)
	// CalledFrom reports whether one of the modules that the probe wants calls from made the call that begins.
	CalledFrom(pr *registry.Probe) bool
	// Push records a call for the placement's leave handler, and returns its storage; ok is false if the call
	// cannot be followed.
	Push(pl *registry.Placement) (this uint64, ok bool)
	// Disarm removes the breakpoints of a probe that has disabled or removed itself.
	Disarm(pr *registry.Probe)
	// Signal sends a signal to the thread.
	Signal(n int)
	// Hold keeps the thread stopped, once the instruction has completed, until the ticket is released.
	Hold(ticket uint32)
	// Stop leaves the process stopped for a debugger.
	Stop()
	// Dump writes a core of the process. In the core the thread has the given registers: those from when the
	// program ran.
	Dump(regs []uint64)
}

// Run is one program that ran in the present hit, with what it logged.
type Run struct {
	Placement *registry.Placement
	Leave     bool   // it is a leave handler, or nothing else comes after it
	Elapsed   uint64 // duration of the call that ends, in nanoseconds
	EntrySP   uint64 // Leave: the stack pointer at the call's entry; 0 for a system call
	Result    uint64 // Leave: the address that the caller passed for a result in memory; 0 if calls pass none
	Clock     uint64 // what the clock said when another executor read it for the same program; 0: none has

	code  *runtime.Code // nil: nothing ran yet, but a post or fault handler may
	log   *record.Log   // nil when nothing was logged
	kind  outcome.ExitKind
	ask   facility.Request // the request to the facility with which the program ended
	regs  []uint64         // the thread's registers when the program ran, for a core; nil: no core requested
	this  uint64
	owned bool // the storage of the call ends with the hit
	lost  bool // the call counts as missed: its end will not be seen, and it has no storage
	time  uint64
}

// Hit holds the programs of a thread's present hit. It belongs to the thread, which reuses it.
type Hit struct {
	Context runtime.Context
	Now     *Run // the run that is in progress, or ran last

	// Skip is set if a program requested not to run the function that was just entered, but to return SkipResult.
	// The back end resets it.
	Skip       bool
	SkipResult uint64

	r     *Runner
	t     Target
	runs  []Run // in the order of declaration
	n     int
	asked Run // the run of a predicate
}

// Init initializes the hits of a thread, whose registers stay in regs.
func (h *Hit) Init(r *Runner, t Target, thread runtime.Thread, regs []uint64, tid uint32) {
	h.r, h.t = r, t
	h.Context.Thread, h.Context.Regs, h.Context.Tid = thread, regs, tid
	if r.changed != nil {
		h.Context.Changed = h.changed
	}
}

// Begin begins a hit in a process whose words have the given number of bytes.
func (h *Hit) Begin(word int) { h.n, h.Context.Word = 0, word }

// Len returns the number of runs in the hit.
func (h *Hit) Len() int { return h.n }

// Enter runs a probe's programs at the place that was hit. leaves means that its leave handler waits for the end of
// the call that begins.
func (h *Hit) Enter(pl *registry.Placement, leaves bool) {
	counts := !leaves || pl.Code.CountsEntry()
	if !h.Begins(pl) || counts && !h.Admit(pl.Probe) {
		return
	}
	h.Admitted(pl, leaves)
}

// Admitted is Enter for a hit that another executor has admitted.
func (h *Hit) Admitted(pl *registry.Placement, leaves bool) {
	var this uint64
	lost := false
	if leaves {
		var ok bool
		if this, ok = h.t.Push(pl); !ok {
			pl.Probe.Miss()
			lost = true
		}
	} else {
		this = h.Alloc(pl)
	}
	if pl.Code.Enter != nil {
		r := h.newRun(pl, pl.Code.Enter, this, 0, !leaves)
		r.lost = lost
		h.run(r)
	} else if pl.Code.Post != nil || pl.Code.Fault != nil {
		h.newRun(pl, nil, this, 0, !leaves).lost = lost
	}
}

// Call is a call that has ended.
type Call struct {
	This    uint64 // the call's storage
	Elapsed uint64 // nanoseconds
	SP      uint64 // the stack pointer at its entry; 0 for a system call
	Result  uint64 // the address that its caller passed for a result in memory; 0 if calls pass none
	// Due is set if the call was entered with the probe's last hit, so that its leave is due although the probe is
	// disabled.
	Due bool
}

// Leave runs the leave handler of a call that has ended, whose storage lives until the hit is over.
func (h *Hit) Leave(pl *registry.Placement, c Call) {
	if (c.Due || pl.Probe.Armed()) && h.returns(pl, c) {
		r := h.newRun(pl, pl.Code.Leave, c.This, c.Elapsed, c.This != 0)
		r.Leave, r.EntrySP, r.Result = true, c.SP, c.Result
		h.run(r)
	} else {
		h.Free(pl, c.This)
	}
}

// EntrySP returns the stack pointer at entry of the function to which the running program belongs; sp is the
// thread's present stack pointer.
func (h *Hit) EntrySP(sp uint64) uint64 {
	if h.Now.Leave && h.Now.EntrySP != 0 {
		return h.Now.EntrySP
	}
	return sp
}

// returns decides whether the end of a call counts. Where entries are counted, that has already been decided.
func (h *Hit) returns(pl *registry.Placement, c Call) bool {
	if pl.Code.AtReturn && !h.wanted(Run{Placement: pl, this: c.This, Elapsed: c.Elapsed, EntrySP: c.SP, Result: c.Result, Leave: true}) {
		return false
	}
	switch {
	case pl.Code.CountsEntry():
		return true
	case c.Due && !pl.Probe.Enabled: // the probe is no longer enabled, and ends what it began
		return pl.Probe.Count()
	}
	return h.Admit(pl.Probe)
}

// Alloc allocates storage for a call. It returns 0 if the probe has none, or the arena has no more.
func (h *Hit) Alloc(pl *registry.Placement) (this uint64) {
	if n := pl.Probe.Spec.ThisBytes; n > 0 {
		this = h.r.arena.AllocThis(n)
	}
	return this
}

// Free frees the storage of a call.
func (h *Hit) Free(pl *registry.Placement, this uint64) {
	if this != 0 {
		h.r.arena.FreeThis(this, pl.Probe.Spec.ThisBytes)
	}
}

// Admit decides whether this hit of a probe counts.
func (h *Hit) Admit(pr *registry.Probe) bool {
	ok, last := pr.Admit()
	if last {
		h.t.Disarm(pr)
	}
	return ok
}

// Begins reports whether a call that begins may count: where it comes from, and what the probe's predicate says unless
// it runs at the return.
func (h *Hit) Begins(pl *registry.Placement) bool {
	if len(pl.Probe.Spec.From) > 0 {
		h.asked = Run{Placement: pl}
		h.Now = &h.asked
		if !h.t.CalledFrom(pl.Probe) {
			pl.Probe.Reject()
			return false
		}
	}
	return pl.Code.AtReturn || h.Wanted(pl)
}

// Wanted runs the probe's predicate for the present hit, which is not a return.
func (h *Hit) Wanted(pl *registry.Placement) bool { return h.wanted(Run{Placement: pl}) }

// wanted runs the predicate, in the given run.
func (h *Hit) wanted(as Run) bool { return as.Placement.Code.When == nil || h.wantedFrom(as, nil) }

// wantedFrom runs the predicate, in the given run, from its start or from where another executor stopped.
func (h *Hit) wantedFrom(as Run, from *runtime.State) bool {
	pl, code := as.Placement, as.Placement.Code.When
	h.asked = as
	h.asked.code = code
	h.Now = &h.asked
	h.Context.This, h.Context.Dirty = as.this, false
	log := h.r.takeLog()
	out := h.execute(pl.Probe, code, log, from)
	h.r.giveLog(log)
	if out.Trap != outcome.NoTrap {
		h.trapped(pl.Probe, code, &out)
	}
	if out.Trap != outcome.NoTrap || out.Abort {
		pl.Probe.Reject()
		return false
	}
	return true
}

// Continue finishes a probe's program for a hit that another executor has admitted, and that runs before the
// instruction.
func (h *Hit) Continue(pl *registry.Placement, from *runtime.State) {
	h.runFrom(h.newRun(pl, pl.Code.Enter, h.Alloc(pl), 0, true), from)
}

// ContinueCall finishes the enter handler of a call that another executor follows, with its storage.
func (h *Hit) ContinueCall(pl *registry.Placement, this uint64, from *runtime.State) {
	h.runFrom(h.newRun(pl, pl.Code.Enter, this, 0, false), from)
}

// ContinueLeave finishes the leave handler of such a call, which has been admitted. The other executor keeps the
// storage.
func (h *Hit) ContinueLeave(pl *registry.Placement, c Call, from *runtime.State) {
	r := h.newRun(pl, pl.Code.Leave, c.This, c.Elapsed, false)
	r.Leave, r.EntrySP, r.Result = true, c.SP, c.Result
	h.runFrom(r, from)
}

// ContinueWhen finishes a probe's predicate for a hit, and reports whether the hit passed.
func (h *Hit) ContinueWhen(pl *registry.Placement, from *runtime.State) (passed bool) {
	return h.wantedFrom(Run{Placement: pl}, from)
}

// Start runs one program and keeps what it logged. this is the storage of the call, which is freed at the end of
// the hit if owned is set.
func (h *Hit) Start(pl *registry.Placement, code *runtime.Code, this, elapsed uint64, owned bool) *Run {
	r := h.newRun(pl, code, this, elapsed, owned)
	h.run(r)
	return r
}

// follow runs another program of the call that a run belongs to.
func (h *Hit) follow(after Run, code *runtime.Code) *Run {
	r := h.newRun(after.Placement, code, after.this, 0, false)
	r.lost = after.lost
	h.run(r)
	return r
}

// run runs the program of a run.
func (h *Hit) run(r *Run) { h.runFrom(r, nil) }

// runFrom runs the program of a run from its start, or from where another executor stopped.
func (h *Hit) runFrom(r *Run, from *runtime.State) {
	r.log = h.r.takeLog()
	h.Now = r
	h.Context.This, h.Context.Dirty = r.this, false
	out := h.execute(r.Placement.Probe, r.code, r.log, from)
	h.outcome(r, &out)
	if !r.log.HasItems() && r.kind != outcome.ExitFacility {
		h.r.giveLog(r.log)
		r.log = nil
	} else {
		r.time = ptrace.Now()
	}
}

// execute runs a program from its start, or from where another executor stopped.
func (h *Hit) execute(pr *registry.Probe, code *runtime.Code, log *record.Log, from *runtime.State) (out outcome.Outcome) {
	start := ptrace.Now()
	if from != nil {
		h.Now.Clock = from.Time
		out = h.r.machine.Resume(code, &h.Context, log, from)
	} else {
		out = h.r.machine.Run(code, &h.Context, log)
	}
	pr.Work.Ran(ptrace.Now() - start)
	return out
}

// trapped counts a trap. A probe whose programs run out of fuel again and again is disabled.
func (h *Hit) trapped(pr *registry.Probe, code *runtime.Code, out *outcome.Outcome) {
	h.r.arena.Trapped(out.Trap, code.ID, out.PC, out.Addr)
	if out.Trap == outcome.TrapFuel && pr.Exhaust(ptrace.Now()) {
		h.t.Disarm(pr)
		if h.r.warn != nil {
			h.r.warn(fmt.Sprintf("%s is disabled: its programs ran out of fuel %d times within a second; fuel: N allows more steps", pr.Spec.Name, registry.MostExhausted))
		}
	}
}

// newRun adds a run to the hit. The list grows to what the busiest place needs and is never shortened.
func (h *Hit) newRun(pl *registry.Placement, code *runtime.Code, this, elapsed uint64, owned bool) *Run {
	if h.n == len(h.runs) {
		h.runs = append(h.runs, Run{})
	}
	r := &h.runs[h.n]
	h.n++
	*r = Run{Placement: pl, code: code, this: this, Elapsed: elapsed, owned: owned}
	return r
}

// outcome handles what the end of a program requested.
func (h *Hit) outcome(r *Run, out *outcome.Outcome) {
	r.kind = out.Kind
	if out.Kind > outcome.ExitEvent {
		pid, tid := h.t.IDs()
		r.ask = facility.Request{Number: facility.Of(out), Pid: pid, Tid: tid}
		h.r.facilities.Hit(&r.ask)
		if r.ask.Dump {
			r.regs = slices.Clone(h.Context.Regs)
		}
	}
	// What a lost call cannot store was already counted with the call.
	if out.Trap != outcome.NoTrap && !(r.lost && out.Trap == outcome.TrapThis) {
		h.trapped(r.Placement.Probe, r.code, out)
	}
	if out.Remove {
		r.Placement.Probe.Retire()
		h.t.Disarm(r.Placement.Probe)
	}
	if !r.code.Unsafe || out.Trap != outcome.NoTrap {
		return
	}
	if out.Skip {
		h.Skip, h.SkipResult = true, out.SkipRet
		h.changed(runtime.Change{Program: r.code.ID, PC: out.SkipPC, Op: opcode.Skip, Value: out.SkipRet})
	}
	if out.Signal != 0 {
		h.t.Signal(int(out.Signal))
		h.changed(runtime.Change{Program: r.code.ID, PC: out.SignalPC, Op: opcode.Signal, Value: uint64(out.Signal)})
	}
}

// changed reports a change of the target.
func (h *Hit) changed(c runtime.Change) {
	if h.r.changed != nil {
		_, tid := h.t.IDs()
		h.r.changed(Change{c, tid})
	}
}
