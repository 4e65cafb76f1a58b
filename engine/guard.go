package engine

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/threadstate"
)

// The fallback of a session's targets keeps them alive when the session is killed. Package fallback describes how it
// works. This file installs it, maintains its table and removes it.
//
// The fallback is installed before the first breakpoint of an address space is planted (it may be later in a launched
// program: see Config.LateFallback). In a launched program, the thread that is stopped at the start installs it, after
// the call that made the image. At an attach, a thread is interrupted for it: one that runs, or one that sleeps in a
// call that the kernel restarts exactly. If there is no such thread, the fallback is installed at the first stop. It
// costs four system calls made by the target, once.
//
// Order of writes. A breakpoint's entry is in the table before the breakpoint is in the code. It stays there when the
// breakpoint is removed, because a thread may have hit it whose stop has not been seen. An entry is read only for
// addresses that trap, and its byte is written only over a breakpoint, so an unused entry has no effect.
//
// Being killed during a hit. The engine peeks at stops for signals without consuming them (ptrace.PeekStop): until the
// thread is resumed the kernel holds the signal, and delivers it if we die. Registers are written with the resume flag,
// which tells the handler that they need no correction. On ARM, where registers at a breakpoint never need one, the
// handler sees this from the program counter. An out-of-line copy of an instruction runs to its end and jumps back by
// itself. An emulated instruction whose registers have not been written runs again; package fallback lists the cases
// where that is visible.

// guards keeps the fallback installed in every process, and SIGTRAP deliverable to it.
type guards struct {
	s           *Session
	signalCalls map[*module.File]signalSites
}

// protection installs, takes over and removes the fallback of the thread's process, through this thread.
type protection struct {
	t        *thread
	leftStep bool // it may be in a step that an earlier session began: see takeover.go
	unarmed  bool // it is in the call that created its image; the fallback is installed after that call
}

// guard is the fallback of an address space.
type guard struct {
	fallback.Region
	tried bool // installing it failed, and the user has been warned
}

// protect installs the fallback, using a stopped thread whose registers have been read.
func (y *guards) protect(t *thread) {
	p := t.proc
	if !p.unguarded() || y.s.life.closing {
		return
	}
	put := t.protection.install
	if p.space.guard.Base != 0 {
		put = t.sigtrap.takeOver
	}
	p.space.guard.tried, p.trap.asked = true, true
	err := t.inject.AllowsHandler()
	if err == nil {
		err = put()
	}
	if err != nil {
		y.unprotected(t, err.Error())
		return
	}
	y.watchLateSignalCalls(t.proc.space)
}

// unguarded reports whether a process still lacks the fallback. Its memory may have a region already, installed by a
// process that shares the memory, as with a child of vfork. The action for SIGTRAP belongs to each process.
func (p *process) unguarded() bool {
	g := &p.space.guard
	return p.arch.Native != nil && !p.trap.asked && (g.Base != 0 || !g.tried)
}

// unprotected warns about a process without fallback.
func (y *guards) unprotected(t *thread, why string) {
	y.s.warnIn(t.proc.space, fmt.Sprintf("process %d: %s; if gotap is killed (SIGKILL), the next breakpoint that is left will end the process", t.proc.pid, why))
}

// install maps and fills the region, or takes over one that an earlier session left, and makes its handler the action
// for SIGTRAP.
func (k *protection) install() error {
	sp := k.t.proc.space
	own, err := k.adoptOrMap()
	if err != nil {
		return err
	}
	if watching := sp.guard.Watching; watching || k.t.watch.regs.Any() || k.t.s.others.watching > 0 {
		sp.guard.Watching = false // the page has overwritten the note to the handler
		k.t.s.guards.markWatching(sp)
	}
	k.t.sigtrap.recordSignalCalls() // first, because the first entries are restored last
	for _, p := range sp.points {
		if p.planted {
			sp.record(p, k.t.Tid)
		}
	}
	k.t.proc.trap = trapAction{own: own, asked: true}
	return k.t.sigtrap.setTrapAction()
}

// adoptOrMap takes over a region, or maps and fills one, and returns the program's own action.
func (k *protection) adoptOrMap() (own fallback.Action, err error) {
	if found, maps := k.leftRegions(); len(found) > 0 {
		if own, err = k.t.sigtrap.queryTrapAction(); err == nil {
			own = k.adopt(found, maps, own)
		}
		return own, err
	}
	base, err := k.t.inject.Map(0, fallback.Size)
	if err != nil {
		return own, err
	}
	if own, err = k.t.sigtrap.queryTrapAction(); err != nil {
		return own, err
	}
	sp := k.t.proc.space
	if err := sp.mem.Poke(base, k.t.proc.arch.Native.Page(base, own), k.t.Tid); err != nil {
		return own, err
	}
	sp.guard.Base, sp.guard.Table = base, fallback.Table{}
	return own, nil
}

// record makes sure that a point is in the table. Call it before the point's breakpoint is planted.
func (sp *space) record(p *point, stopped int) {
	if g := &sp.guard; g.Base != 0 {
		g.Table.Record(sp.mem, g.Base, p.addr, p.orig, p.trap, stopped)
	}
}

// unrecord removes a point whose memory is unmapped from the table.
func (sp *space) unrecord(addr uint64) { sp.guard.Table.Forget(sp.mem, sp.guard.Base, addr) }

// copy returns the fallback of a forked child, whose memory is a copy.
func (g *guard) copy() guard {
	return guard{Region: g.Clone(), tried: g.tried}
}

// checkRegion makes the region in a forked child match the copy of its parent's guard, or finds that the child has no
// region.
func (sp *space) checkRegion() {
	if g := &sp.guard; g.Base != 0 && !g.Table.Check(sp.mem, g.Base, sp.arch.WordSize()) {
		sp.guard = guard{}
	}
}

// protectAtHit installs the fallback in a program at its first hit. Nothing shows whether the kernel has unblocked
// SIGTRAP for this hit, since there was no handler to reset. A thread that blocks all other signals that instructions
// raise is taken to have blocked SIGTRAP, as in restoreTrapAction. A thread that blocks SIGTRAP but not the others has
// the fallback already (maskCalled), unless it blocked SIGTRAP with its own system call, with swapcontext, or for the
// duration of a handler. Then it is not recognised at this one hit.
func (k *protection) protectAtHit(p *point) {
	blocked := k.t.proc.unguarded() && !k.t.sigtrap.open && k.t.sigtrap.blocksRest()
	if blocked {
		if k.t.sigtrap.noteMerged(); k.t.sigtrap.leaveOpen() {
			blocked = false
		} else {
			k.t.sigtrap.blockTrap() // before the calls that follow, which would deliver a pending one
			p.blocks = true
		}
		k.t.proc.trap.blockers = true
	}
	k.t.s.guards.protect(k.t)
	if blocked {
		k.t.sigtrap.sendMerged()
	}
}

// protectAttached installs the fallback in a running process that has been attached to. over is false if no thread
// could be used for it now. asleep reports that none can be used soon: all sleep in calls that must not be interrupted.
func (y *guards) protectAttached(p *process) (over, asleep bool) {
	if !p.unguarded() {
		return true, false
	}
	asked, busy := p.interruptable()
	for _, t := range asked {
		if y.s.world.withStopped(t, func() { y.protect(t) }) {
			return true, false
		}
	}
	return false, len(asked) == 0 && !busy
}

// protectNew makes sure that a process which was just created is protected, because its creator may not be yet. The
// thread is in its first stop.
func (k *protection) protectNew() {
	p := k.t.proc
	switch {
	case k.t.Tid != p.pid || p.unprobed && p.space.users == 1:
	case p.trap.lost:
		if k.t.GetRegs() {
			k.t.sigtrap.installAgain()
		}
	case p.unguarded() && k.t.GetRegs():
		k.t.s.guards.protect(k.t)
	}
}

// protectExecuted installs the fallback in the program that a thread executes while system calls are traced, at the end
// of the call that made the image. In all other cases newImage does it.
func (k *protection) protectExecuted() {
	if !k.unarmed {
		return
	}
	k.unarmed, k.t.MidCall = false, false
	k.t.s.guards.protect(k.t)
}

// lateAfter is the longest time after its start at which a program gets its fallback with Config.LateFallback. It is
// also the interval between attempts while none of a process's threads can be used.
var lateAfter = 250 * time.Millisecond

// protectFirst installs the fallback in a process that is being attached to, at a stop for a signal, and sends the
// signal again. Where signals arrive constantly, no thread can be stopped without one. A thread whose system call the
// signal interrupts is left alone.
func (k *protection) protectFirst(sig int) (did bool) {
	p := k.t.proc
	if !p.awaited || !p.unguarded() || ptrace.JobControl>>(sig-1)&1 == 1 || !k.t.GetRegs() || p.arch.Restarts(&k.t.Regs) || k.t.RaisedTrap() {
		return false
	}
	if k.t.queue.Raised(sig) || ptrace.GetSigInfo(k.t.Tid, &k.t.Info) != 0 || fallback.IsOwnCode(k.t.Info.Code()) || ptrace.SendThread(p.pid, k.t.Tid, sig) != 0 {
		return false
	}
	k.t.queue.Resent(k.t.Info)
	k.t.Consume()
	k.t.s.guards.protect(k.t)
	k.t.resume(0)
	return true
}

// protectLater installs the fallback in a process after some time, unless its first hit comes earlier.
func (y *guards) protectLater(p *process) {
	sp := p.space
	time.AfterFunc(lateAfter, func() {
		y.s.do(func() error {
			if y.s.procs[p.pid] == p && p.space == sp && !y.s.life.closing {
				if over, asleep := y.protectAttached(p); !over && !asleep {
					y.protectLater(p)
				}
			}
			return nil
		})
	})
}

// continued is called for a thread that continues after a group stop. A process that was stopped when it was attached
// to could not install its fallback then.
func (k *protection) continued() {
	if p := k.t.proc; p.unguarded() {
		k.t.s.guards.protectLater(p)
	}
}

// enoughAsked is the maximum number of threads that are asked to stop until one does. The others report another stop.
const enoughAsked = 4

// interruptable returns threads that can be stopped without noticing it: those that run, then those that sleep in a
// system call that is restarted exactly. busy reports that there may soon be more, since not all threads sleep.
func (p *process) interruptable() (found []*thread, busy bool) {
	var sleep []*thread
	for _, t := range p.threads {
		switch {
		case t.state.Is(threadstate.Gone, threadstate.JobStopped): // a listening thread stays stopped until its owner continues it, and is asked then
			continue
		case !t.mayRun():
			busy = true
			continue
		}
		runs, asleep, exact := t.protection.activity()
		switch {
		case runs:
			found = append(found, t)
		case asleep && exact:
			sleep = append(sleep, t)
		}
		busy = busy || !asleep
		if len(found) == enoughAsked || len(found) > 0 && len(sleep) > 0 {
			break
		}
	}
	found = append(found, sleep...)
	return found[:min(len(found), enoughAsked)], busy
}

// activity reports whether a thread that is not stopped runs, whether it sleeps in a system call, and whether that call
// continues exactly as if it had not been interrupted.
func (k *protection) activity() (runs, asleep, exact bool) {
	call := strings.Fields(procfs.Read(k.t.Tid, "syscall"))
	if len(call) == 1 && call[0] == "running" {
		return true, false, false
	}
	asleep = strings.HasPrefix(procfs.Status(k.t.Tid, "State"), "S")
	return false, asleep, asleep && len(call) > 4 && k.t.proc.arch.Calls.GoesOnExactly(call)
}

// interruptable reports whether a thread can be stopped without noticing it.
func (k *protection) interruptable() bool {
	if !k.t.mayRun() {
		return false
	}
	runs, _, exact := k.activity()
	return runs || exact
}

// unprotect restores a process's own action for SIGTRAP, using a stopped thread, and reports whether the handler is
// removed.
func (k *protection) unprotect() (gone bool) {
	tr := &k.t.proc.trap
	if !tr.ours || k.t.state.Now() == threadstate.Gone || !k.t.GetRegs() {
		return false
	}
	tr.ours = false
	now, err := k.t.sigtrap.queryTrapAction()
	if err != nil || now.Handler != fallback.Handler(k.t.proc.space.guard.Base) {
		return err == nil
	}
	if err := k.t.sigtrap.callSigaction(k.t.proc.space.guard.Base+fallback.OwnAt, 0); err != nil {
		k.t.s.warn(fmt.Sprintf("process %d: its action for SIGTRAP cannot be put back: %v", k.t.proc.pid, err))
		return false
	}
	return true
}

// leftWatched records that the threads of a process may have debug registers that an earlier session left armed.
func (p *process) leftWatched() {
	p.space.guard.Watching = true
	for _, t := range p.threads {
		t.watch.due = true
	}
}

// markWatching informs the handler that debug registers are armed in an address space. Call it before they are. The
// mark is never cleared: a thread may have hit a debug register without its stop having been seen. A program cannot arm
// debug registers itself.
func (y *guards) markWatching(sp *space) {
	if g := &sp.guard; g.Base != 0 && !g.Watching {
		at, p := fallback.Watching(g.Base, true)
		g.Watching = sp.mem.Poke(at, p, y.s.world.stoppedTid(sp)) == nil
	}
}

// leaveExec lets a thread that is stopped inside execve run to the end of the call, where it can be made to call the
// kernel. It returns false if the thread reports another stop first, or if its system calls are traced. Then the
// fallback has to wait.
//
// The 32-bit ARM kernel does not report the end of a call whose beginning was not requested: ret_fast_syscall in its
// arch/arm/kernel/entry-common.S checks for that flag after it has shifted the flag away. It would report the program's
// first own call instead. So on ARM the engine requests a stop, which comes before the thread runs anything.
func (k *protection) leaveExec() bool {
	if k.t.s.others.sysnames > 0 {
		return false
	}
	asked := k.t.proc.arch.Stepless
	if asked && (ptrace.Interrupt(k.t.Tid) != 0 || ptrace.Cont(k.t.Tid, 0) != 0) || !asked && ptrace.ContToSyscall(k.t.Tid, 0) != 0 {
		return false
	}
	tid, e := 0, syscall.EINTR
	for e == syscall.EINTR {
		tid, e = ptrace.PeekStop(k.t.Tid, &k.t.s.stops.special, true)
	}
	st := k.t.s.stops.special
	if tid != k.t.Tid || !st.AtSyscall() && !(asked && st.Event() == ptrace.EventStop && !st.GroupStop()) {
		k.t.state.To(threadstate.Running)
		return false
	}
	ptrace.ConsumeStop(k.t.Tid)
	k.t.MidCall = false
	return true
}
