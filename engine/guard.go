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

// The fallback of a session's targets: what keeps them alive when the session is killed. Package fallback tells how it
// works; this file puts it in, keeps its table, and takes it out.
//
// It is put in before the first breakpoint of an address space (in a launched program: see Config.LateFallback): at its start by
// the thread that is stopped there, behind the call that has made it; at an attach by a thread that is interrupted for it, one that
// runs or sleeps in a call which the kernel restarts exactly. When there is no such thread it is put in at the first stop. The cost
// is four system calls made by the target, once.
//
// The order of writes. A breakpoint's entry is in the table before the breakpoint is in the code, and it stays there when that
// is taken out, because a thread may have hit it that has not been seen. An entry is only read for addresses that trap, and
// its byte only written over a breakpoint; so one that is not in use does nothing.
//
// Killed in the middle of a hit. Stops for signals are looked at without being taken (ptrace.PeekStop): until the thread is resumed the
// kernel has the signal, and delivers it if we die. Registers are written with the resume flag, which tells the handler that they
// need no correction; on ARM, where registers at a breakpoint need none in any case, it sees that by the program counter. A copy of
// an instruction, out of line, runs to its end and jumps home by itself. An emulated instruction whose registers have not been
// written is run again; what package fallback says it does not help against is where that shows.

// guard is the fallback of an address space.
type guard struct {
	base  uint64 // of its region; 0: there is none
	tried bool   // it has been tried and failed, and that has been told
	table fallback.Table

	threads  int  // entries of the list of threads in use
	watching bool // the handler knows that debug registers are armed
	stub     int  // the place of the latest stub
	left     *left
}

// protect puts the fallback in by way of a stopped thread whose registers have been read.
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

// unguarded reports whether the fallback has yet to be put into a process. Its memory may have a region already, by way of a process that it shares
// it with, as a child of vfork: the action for SIGTRAP is each process's own.
func (p *process) unguarded() bool {
	g := &p.space.guard
	return p.arch.Native != nil && !p.trap.asked && (g.base != 0 || !g.tried)
}

// unprotected tells of a process without fallback.
func (s *Session) unprotected(t *thread, why string) {
	s.warnIn(t.proc.space, fmt.Sprintf("process %d: %s; if gotap is killed (SIGKILL), the next breakpoint that is left will end the process", t.proc.pid, why))
}

// install maps and fills the region, or takes over one that an earlier session left, and makes its handler the action for SIGTRAP.
func (t *thread) install() error {
	sp := t.proc.space
	own, err := t.adoptOrMap()
	if err != nil {
		return err
	}
	if watching := sp.guard.watching; watching || t.dr.Any() || t.s.watching > 0 {
		sp.guard.watching = false // it was told in what the page has overwritten
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

// record makes sure that a point is in the table. It is to be called before its breakpoint is planted.
func (sp *space) record(p *point, stopped int) {
	if g := &sp.guard; g.base != 0 {
		g.table.Record(sp.mem, g.base, p.addr, p.orig, p.trap, stopped)
	}
}

// unrecord forgets a point whose memory is gone.
func (sp *space) unrecord(addr uint64) { sp.guard.table.Forget(sp.mem, sp.guard.base, addr) }

// copy is the fallback of a forked child, whose memory is a copy.
func (g *guard) copy() guard {
	c := *g
	c.threads = 0
	c.table = g.table.Clone()
	return c
}

// checkRegion makes the region in a forked child what the copy of its parent's guard says, or finds that there is none.
func (sp *space) checkRegion() {
	if g := &sp.guard; g.base != 0 && !g.table.Check(sp.mem, g.base, sp.arch.WordSize()) {
		sp.guard = guard{}
	}
}

// protectAtHit puts the fallback into a program with its first hit. Nothing tells whether the kernel has unblocked SIGTRAP for that
// one, since there was no handler to take away; a thread that blocks all other signals of its kind had it blocked, as in
// restoreTrapAction. One that blocks SIGTRAP and not those has the fallback already (maskCalled); unless it made the system call
// itself, or by swapcontext, or for the time of a handler: then it is not recognised at this one hit.
func (t *thread) protectAtHit(p *point) {
	blocked := t.proc.unguarded() && !t.trapOpen && t.blocksRest()
	if blocked {
		if t.noteMerged(); t.leaveOpen() {
			blocked = false
		} else {
			t.blockTrap() // before the calls that follow, or one that is pending would be delivered
			p.blocks = true
		}
		t.proc.trap.blockers = true
	}
	t.s.protect(t)
	if blocked {
		t.sendMerged()
	}
}

// protectAttached puts the fallback into a process that has been attached to and runs. over is false when no thread could be asked
// for it now; asleep reports that none will be soon: all sleep, in calls that must not be interrupted.
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

// protectNew makes sure that a process which has just been made by another is protected: that one may not have been yet. The thread
// is in its first stop.
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

// protectExecuted puts the fallback into the program that a thread executes, while system calls are traced: at the end of the call
// that has made the image. Elsewhere newImage does it.
func (t *thread) protectExecuted() {
	if !t.unarmed {
		return
	}
	t.unarmed, t.midCall = false, false
	t.s.protect(t)
}

// lateAfter is how long after its start a program gets its fallback at the latest, with Config.LateFallback, and the time between
// tries where none of a process's threads can be asked.
var lateAfter = 250 * time.Millisecond

// protectFirst puts the fallback into a process that is being attached to, at a signal, which is sent again: where signals come all the time, no
// thread can be stopped without one. A thread whose system call the signal interrupts is left alone.
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

// protectLater puts the fallback into a process some time after, unless its first hit comes before.
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

// continued is for a thread that goes on after a group stop. A process that was stopped when it was attached to could not be asked for
// its fallback then.
func (t *thread) continued() {
	if p := t.proc; p.unguarded() {
		t.s.protectLater(p)
	}
}

// withStopped stops a running thread for a moment; fn finds its registers read. It reports false when the thread has something else to
// say first: another stop, or the SIGTRAP of a breakpoint that it has run into just before. That one is still queued, the thread stands
// behind the breakpoint's first byte, and only its own stop puts that right; a system call made now would swallow it.
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

// enoughAsked is how many threads are asked to stop until one does; the others have something else to say.
const enoughAsked = 4

// interruptable chooses threads that can be stopped without their noticing: those that run, and then those that sleep in a system call which is
// restarted exactly. busy tells that there may be more soon, since not all sleep.
func (p *process) interruptable() (found []*thread, busy bool) {
	var sleep []*thread
	for _, t := range p.threads {
		switch {
		case t.gone || t.listening: // the latter is stopped for as long as its owner likes, and is asked when it is continued
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

// activity reports whether a thread that is not stopped runs, or sleeps in a system call, and whether that goes on as if it had not been
// interrupted.
func (t *thread) activity() (runs, asleep, exact bool) {
	call := strings.Fields(procfs.Read(t.tid, "syscall"))
	if len(call) == 1 && call[0] == "running" {
		return true, false, false
	}
	asleep = strings.HasPrefix(procfs.Status(t.tid, "State"), "S")
	return false, asleep, asleep && len(call) > 4 && t.proc.arch.Calls.GoesOnExactly(call)
}

// interruptable reports whether a thread can be stopped without its noticing.
func (t *thread) interruptable() bool {
	if t.gone || t.listening || t.stopped || t.fresh || t.vforking {
		return false
	}
	runs, _, exact := t.activity()
	return runs || exact
}

// unprotect gives a process its own action for SIGTRAP back, by way of a stopped thread, and reports whether the handler is gone.
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

// leftWatched notes that the threads of a process may have debug registers that an earlier session left armed.
func (p *process) leftWatched() {
	p.space.guard.watching = true
	for _, t := range p.threads {
		t.drDue = true
	}
}

// markWatching tells the handler that debug registers are armed in an address space. It is to be called before they are, and is never
// taken back: a thread may have met one and its stop not have been seen. A program cannot arm any by itself.
func (s *Session) markWatching(sp *space) {
	if g := &sp.guard; g.base != 0 && !g.watching {
		at, p := fallback.Watching(g.base, true)
		g.watching = sp.mem.Poke(at, p, s.stoppedTid(sp)) == nil
	}
}

// leaveExec lets a thread that is stopped inside of execve come to its end, which is where it can be made to call the kernel. It reports
// false when the thread has something else to say first, or is watched for system calls: then the fallback has to wait.
//
// The kernel for 32-bit ARM does not tell of the end of a call whose beginning was not asked for (ret_fast_syscall in its
// arch/arm/kernel/entry-common.S looks for that flag where it has just shifted it away); what would be told of is the program's first own
// call. So on ARM a stop is asked for, which comes before the thread runs anything.
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

// keptFrom is what the handler has been told is kept from a thread.
type keptFrom struct {
	entry int // of the list of threads, counted from 1; 0: none
	what  fallback.Thread
}

// noteKept tells the handler what is kept from the thread: it is to be called before signals are blocked or the thread is resumed with
// signals kept from it. What a signal came with is lost if it comes to that, and how often one was sent.
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

// freeEntry finds an entry in the list of threads, 0 when there is none left.
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

// dropKept takes the thread out of the list, when nothing is kept from it any more.
func (t *thread) dropKept() {
	if t.kept.entry != 0 && !t.masked && len(t.deferred) == 0 {
		t.writeKept(fallback.Thread{})
		t.kept = keptFrom{}
	}
}
