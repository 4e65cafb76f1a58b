package engine

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"gotap/engine/fallback"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
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

// guard is the fallback of an address space.
type guard struct {
	base  uint64 // of its region; 0: there is none
	tried bool   // installing it failed, and the user has been warned
	table fallback.Table

	threads  int  // entries in use in the list of threads
	watching bool // the handler knows that debug registers are armed
	stub     int  // index of the latest stub
	left     *left
}

// protect installs the fallback, using a stopped thread whose registers have been read.
func (s *Session) protect(t *thread) {
	p := t.proc
	if !p.unguarded() || s.closing {
		return
	}
	put := t.install
	if p.space.guard.base != 0 {
		put = t.takeOver
	}
	p.space.guard.tried, p.trap.asked = true, true
	err := t.allowsHandler()
	if err == nil {
		err = put()
	}
	if err != nil {
		s.unprotected(t, err.Error())
		return
	}
	s.watchLateSignalCalls(t.proc.space)
}

// unguarded reports whether a process still lacks the fallback. Its memory may have a region already, installed by a
// process that shares the memory, as with a child of vfork. The action for SIGTRAP belongs to each process.
func (p *process) unguarded() bool {
	g := &p.space.guard
	return p.arch.Native != nil && !p.trap.asked && (g.base != 0 || !g.tried)
}

// unprotected warns about a process without fallback.
func (s *Session) unprotected(t *thread, why string) {
	s.warnIn(t.proc.space, fmt.Sprintf("process %d: %s; if gotap is killed (SIGKILL), the next breakpoint that is left will end the process", t.proc.pid, why))
}

// install maps and fills the region, or takes over one that an earlier session left, and makes its handler the action
// for SIGTRAP.
func (t *thread) install() error {
	sp := t.proc.space
	own, err := t.adoptOrMap()
	if err != nil {
		return err
	}
	if watching := sp.guard.watching; watching || t.dr.Any() || t.s.watching > 0 {
		sp.guard.watching = false // the page has overwritten the note to the handler
		t.s.markWatching(sp)
	}
	t.recordSignalCalls() // first, because the first entries are restored last
	for _, p := range sp.points {
		if p.planted {
			sp.record(p, t.tid)
		}
	}
	t.proc.trap = trapAction{own: own, asked: true}
	return t.setTrapAction()
}

// adoptOrMap takes over a region, or maps and fills one, and returns the program's own action.
func (t *thread) adoptOrMap() (own fallback.Action, err error) {
	if found, maps := t.leftRegions(); len(found) > 0 {
		if own, err = t.queryTrapAction(); err == nil {
			own = t.adopt(found, maps, own)
		}
		return own, err
	}
	base, err := t.mapMemory(0, fallback.Size)
	if err != nil {
		return own, err
	}
	if own, err = t.queryTrapAction(); err != nil {
		return own, err
	}
	sp := t.proc.space
	if err := sp.mem.Poke(base, t.proc.arch.Native.Page(base, own), t.tid); err != nil {
		return own, err
	}
	sp.guard.base, sp.guard.table = base, fallback.Table{}
	return own, nil
}

// record makes sure that a point is in the table. Call it before the point's breakpoint is planted.
func (sp *space) record(p *point, stopped int) {
	if g := &sp.guard; g.base != 0 {
		g.table.Record(sp.mem, g.base, p.addr, p.orig, p.trap, stopped)
	}
}

// unrecord removes a point whose memory is unmapped from the table.
func (sp *space) unrecord(addr uint64) { sp.guard.table.Forget(sp.mem, sp.guard.base, addr) }

// copy returns the fallback of a forked child, whose memory is a copy.
func (g *guard) copy() guard {
	c := *g
	c.threads = 0
	c.table = g.table.Clone()
	return c
}

// checkRegion makes the region in a forked child match the copy of its parent's guard, or finds that the child has no
// region.
func (sp *space) checkRegion() {
	if g := &sp.guard; g.base != 0 && !g.table.Check(sp.mem, g.base, sp.arch.WordSize()) {
		sp.guard = guard{}
	}
}

// protectAtHit installs the fallback in a program at its first hit. Nothing shows whether the kernel has unblocked
// SIGTRAP for this hit, since there was no handler to reset. A thread that blocks all other signals that instructions
// raise is taken to have blocked SIGTRAP, as in restoreTrapAction. A thread that blocks SIGTRAP but not the others has
// the fallback already (maskCalled), unless it blocked SIGTRAP with its own system call, with swapcontext, or for the
// duration of a handler. Then it is not recognised at this one hit.
func (t *thread) protectAtHit(p *point) {
	blocked := t.proc.unguarded() && !t.trapOpen && t.blocksRest()
	if blocked {
		if t.noteMerged(); t.leaveOpen() {
			blocked = false
		} else {
			t.blockTrap() // before the calls that follow, which would deliver a pending one
			p.blocks = true
		}
		t.proc.trap.blockers = true
	}
	t.s.protect(t)
	if blocked {
		t.sendMerged()
	}
}

// protectAttached installs the fallback in a running process that has been attached to. over is false if no thread
// could be used for it now. asleep reports that none can be used soon: all sleep in calls that must not be interrupted.
func (s *Session) protectAttached(p *process) (over, asleep bool) {
	if !p.unguarded() {
		return true, false
	}
	asked, busy := p.interruptable()
	for _, t := range asked {
		if s.withStopped(t, func() { s.protect(t) }) {
			return true, false
		}
	}
	return false, len(asked) == 0 && !busy
}

// protectNew makes sure that a process which was just created is protected, because its creator may not be yet. The
// thread is in its first stop.
func (t *thread) protectNew() {
	p := t.proc
	switch {
	case t.tid != p.pid || p.silent && p.space.users == 1:
	case p.trap.lost:
		if t.getRegs() {
			t.installAgain()
		}
	case p.unguarded() && t.getRegs():
		t.s.protect(t)
	}
}

// protectExecuted installs the fallback in the program that a thread executes while system calls are traced, at the end
// of the call that made the image. In all other cases newImage does it.
func (t *thread) protectExecuted() {
	if !t.unarmed {
		return
	}
	t.unarmed, t.midCall = false, false
	t.s.protect(t)
}

// lateAfter is the longest time after its start at which a program gets its fallback with Config.LateFallback. It is
// also the interval between attempts while none of a process's threads can be used.
var lateAfter = 250 * time.Millisecond

// protectFirst installs the fallback in a process that is being attached to, at a stop for a signal, and sends the
// signal again. Where signals arrive constantly, no thread can be stopped without one. A thread whose system call the
// signal interrupts is left alone.
func (t *thread) protectFirst(sig int) (did bool) {
	p := t.proc
	if !p.awaited || !p.unguarded() || jobControl>>(sig-1)&1 == 1 || !t.getRegs() || p.arch.Restarts(&t.regs) || t.raisedTrap() {
		return false
	}
	if t.raised(sig) || ptrace.GetSigInfo(t.tid, &t.info) != 0 || ptrace.SendThread(p.pid, t.tid, sig) != 0 {
		return false
	}
	t.resent = append(t.resent, t.info)
	t.unreported()
	t.s.protect(t)
	t.resume(0)
	return true
}

// protectLater installs the fallback in a process after some time, unless its first hit comes earlier.
func (s *Session) protectLater(p *process) {
	sp := p.space
	time.AfterFunc(lateAfter, func() {
		s.do(func() error {
			if s.procs[p.pid] == p && p.space == sp && !s.closing {
				if over, asleep := s.protectAttached(p); !over && !asleep {
					s.protectLater(p)
				}
			}
			return nil
		})
	})
}

// continued is called for a thread that continues after a group stop. A process that was stopped when it was attached
// to could not install its fallback then.
func (t *thread) continued() {
	if p := t.proc; p.unguarded() {
		t.s.protectLater(p)
	}
}

// withStopped stops a running thread briefly and calls fn with its registers read. It returns false if the thread
// reports another stop first, or has just hit a breakpoint. In the latter case the SIGTRAP is still queued and the
// thread is past the breakpoint's first byte. Only its own stop corrects that; a system call made now would swallow the
// signal.
func (s *Session) withStopped(t *thread, fn func()) bool {
	if ptrace.Interrupt(t.tid) != 0 || !s.holdOne(t) {
		return false
	}
	defer t.resume(0)
	if t.raisedTrap() || !t.getRegs() {
		return false
	}
	fn()
	return true
}

// enoughAsked is the maximum number of threads that are asked to stop until one does. The others report another stop.
const enoughAsked = 4

// interruptable returns threads that can be stopped without noticing it: those that run, then those that sleep in a
// system call that is restarted exactly. busy reports that there may soon be more, since not all threads sleep.
func (p *process) interruptable() (found []*thread, busy bool) {
	var sleep []*thread
	for _, t := range p.threads {
		switch {
		case t.gone || t.listening: // a listening thread stays stopped until its owner continues it, and is asked then
			continue
		case t.stopped || t.fresh || t.vforking:
			busy = true
			continue
		}
		runs, asleep, exact := t.activity()
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
func (t *thread) activity() (runs, asleep, exact bool) {
	call := strings.Fields(procfs.Read(t.tid, "syscall"))
	if len(call) == 1 && call[0] == "running" {
		return true, false, false
	}
	asleep = strings.HasPrefix(procfs.Status(t.tid, "State"), "S")
	return false, asleep, asleep && len(call) > 4 && t.proc.arch.Calls.GoesOnExactly(call)
}

// interruptable reports whether a thread can be stopped without noticing it.
func (t *thread) interruptable() bool {
	if t.gone || t.listening || t.stopped || t.fresh || t.vforking {
		return false
	}
	runs, _, exact := t.activity()
	return runs || exact
}

// unprotect restores a process's own action for SIGTRAP, using a stopped thread, and reports whether the handler is
// removed.
func (t *thread) unprotect() (gone bool) {
	tr := &t.proc.trap
	if !tr.ours || t.gone || !t.getRegs() {
		return false
	}
	tr.ours = false
	now, err := t.queryTrapAction()
	if err != nil || now.Handler != fallback.Handler(t.proc.space.guard.base) {
		return err == nil
	}
	if err := t.callSigaction(t.proc.space.guard.base+fallback.OwnAt, 0); err != nil {
		t.s.warn(fmt.Sprintf("process %d: its action for SIGTRAP cannot be put back: %v", t.proc.pid, err))
		return false
	}
	return true
}

// leftWatched records that the threads of a process may have debug registers that an earlier session left armed.
func (p *process) leftWatched() {
	p.space.guard.watching = true
	for _, t := range p.threads {
		t.drDue = true
	}
}

// markWatching informs the handler that debug registers are armed in an address space. Call it before they are. The
// mark is never cleared: a thread may have hit a debug register without its stop having been seen. A program cannot arm
// debug registers itself.
func (s *Session) markWatching(sp *space) {
	if g := &sp.guard; g.base != 0 && !g.watching {
		at, p := fallback.Watching(g.base, true)
		g.watching = sp.mem.Poke(at, p, s.stoppedTid(sp)) == nil
	}
}

// leaveExec lets a thread that is stopped inside execve run to the end of the call, where it can be made to call the
// kernel. It returns false if the thread reports another stop first, or if its system calls are traced. Then the
// fallback has to wait.
//
// The 32-bit ARM kernel does not report the end of a call whose beginning was not requested: ret_fast_syscall in its
// arch/arm/kernel/entry-common.S checks for that flag after it has shifted the flag away. It would report the program's
// first own call instead. So on ARM the engine requests a stop, which comes before the thread runs anything.
func (t *thread) leaveExec() bool {
	if t.s.sysnames > 0 {
		return false
	}
	asked := t.proc.arch.Stepless
	if asked && (ptrace.Interrupt(t.tid) != 0 || ptrace.Cont(t.tid, 0) != 0) || !asked && ptrace.ContToSyscall(t.tid, 0) != 0 {
		return false
	}
	tid, e := 0, syscall.EINTR
	for e == syscall.EINTR {
		tid, e = ptrace.PeekStop(t.tid, &t.s.special, true)
	}
	st := t.s.special
	t.stopped = tid == t.tid && (st.AtSyscall() || asked && st.Event() == ptrace.EventStop && !st.GroupStop())
	if t.stopped {
		ptrace.ConsumeStop(t.tid)
		t.midCall = false
	}
	return t.stopped
}

// keptFrom is what the handler's list says about a thread: which signals are withheld from it.
type keptFrom struct {
	entry int // in the list of threads, counted from 1; 0: none
	what  fallback.Thread
}

// noteKept records for the handler what is withheld from the thread. Call it before signals are blocked, or before the
// thread is resumed with signals withheld. If the handler has to deliver them, their siginfo is lost, and how often
// each was sent.
func (t *thread) noteKept(mask uint64) {
	g := &t.proc.space.guard
	if g.base == 0 {
		return
	}
	now := fallback.Thread{Tid: t.tid, Masked: true, Mask: mask}
	for i := range t.deferred {
		now.Kept |= 1 << (t.deferred[i].Signal() - 1)
	}
	if t.kept.entry != 0 && t.kept.what == now {
		return
	}
	if t.kept.entry == 0 {
		if t.kept.entry = t.freeEntry(); t.kept.entry == 0 {
			return
		}
	}
	t.kept.what = now
	t.writeKept(now)
	if t.kept.entry > g.threads {
		g.threads = t.kept.entry
		at, p := fallback.Masks(g.base, g.threads)
		t.proc.space.mem.Poke(at, p, t.tid)
	}
}

// freeEntry returns a free entry in the list of threads, or 0 if there is none.
func (t *thread) freeEntry() int {
	used := map[int]bool{}
	for _, o := range t.s.threads {
		if o.proc.space == t.proc.space {
			used[o.kept.entry] = true
		}
	}
	if l := t.proc.space.guard.left; l != nil {
		for _, i := range l.threads {
			used[i+1] = true
		}
	}
	for i := 1; i <= fallback.Threads; i++ {
		if !used[i] {
			return i
		}
	}
	return 0
}

func (t *thread) writeKept(what fallback.Thread) {
	sp := t.proc.space
	at, p := what.Entry(sp.guard.base, t.kept.entry-1)
	sp.mem.Poke(at, p[:], t.tid)
}

// dropKept removes the thread from the list when nothing is withheld from it any more.
func (t *thread) dropKept() {
	if t.kept.entry != 0 && !t.masked && len(t.deferred) == 0 {
		t.writeKept(fallback.Thread{})
		t.kept = keptFrom{}
	}
}
