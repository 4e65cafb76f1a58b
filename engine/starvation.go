package engine

import (
	"slices"
	"strings"
	"time"

	"gotap/arch"
	"gotap/engine/linux/ptrace"
)

// A probe on every instruction can make a program so slow that a periodic signal arrives again before its handler
// has returned. The kernel then delivers the next signal at the moment in which the handler returns, and the
// interrupted code never runs another instruction: a program that is merely slow would hang. So a thread that is
// about to be interrupted at a place where it was interrupted before is relieved: the signal is kept for a number
// of hits, and delivered then.
//
// A kept signal must not be late for a system call that it has to interrupt. Therefore it is kept for hits only
// while the thread's next action is certain to be a hit: its program counter is at one of our breakpoints, and the
// instruction there is not a system call. Elsewhere the thread runs at its own speed, and freeRunTime is enough:
// after that time the thread is interrupted, and the signal is sent again. Nothing is blocked in the meantime,
// because the thread may read its mask. If the thread reaches a system call before that, the call is postponed
// until the signal's handler has returned: the call may be the one that stops the timer, and afterwards the program
// may have no handler for the signal.

// freeRunTime is how long a starved thread runs freely before the kept signal is delivered.
const freeRunTime = 200 * time.Microsecond

// freeHits is how many hits a thread gets before a signal that stops its progress is delivered.
const freeHits = 32

// spot is the place where a thread was when a signal was delivered to it: the handler returns there. It is
// forgotten when a probe is hit there, because the thread has then moved on.
type spot struct {
	pc, sp uint64
	times  int // signals delivered here
}

// stuckTimes is how many signals sent by programs are delivered at one place before the thread counts as starved.
// No handler that sends itself a signal and relies on being called again before anything else happens does so this
// often.
const stuckTimes = 16

// starvation is the state that stops signals from starving a thread.
type starvation struct {
	round int      // counts free runs, so that a timer recognises its own run
	left  int      // hits before the kept signal is delivered
	keep  bool     // the next resume leads to a certain hit or is a free run: kept signals stay kept
	run   bool     // the thread runs freely while signals are kept
	off   bool     // the next resume is from the entry of a postponed call
	from  spot     // where the free run began; times is how often calls were postponed there
	owed  bool     // kept signals were resent after a free run: the next signal is delivered
	spots [32]spot // where the latest signals were delivered; many, because handlers are interrupted too
	used  int      // spots in use
}

// firstRealTime is the number of the first real-time signal in the kernel's numbering.
const firstRealTime = 32

// jobControl is the set of signals that stop and continue processes; they are never kept.
const jobControl = 1<<(ptrace.SIGCONT-1) | 1<<(ptrace.SIGSTOP-1) | 1<<(ptrace.SIGTSTP-1) | 1<<(ptrace.SIGTTIN-1) | 1<<(ptrace.SIGTTOU-1)

// starved reports whether a signal that is about to be delivered would stop the thread's progress and must be kept.
// The registers have been read.
//
// Signals from the kernel itself, above all from timers, are kept as soon as they arrive twice at one place. A
// signal that a program sends may be one that the thread sends to itself, which must have arrived when the sending
// call returns. So it is not kept in a thread that returns from a system call, and elsewhere only when many arrived
// at one place. Real-time signals stay in order: a signal that arrives while an older one of its number is kept is
// kept behind it.
func (q *signalQueue) starved(sig int) bool {
	if jobControl>>(sig-1)&1 == 1 || synchronous>>(sig-1)&1 == 1 || q.t.s.life.closing {
		return false
	}
	if q.interruptsCall() {
		return false
	}
	if a := q.t.proc.arch; a.InCall(&q.t.regs) && !a.Restarts(&q.t.regs) { // the thread has made a call since it was here
		q.starvation.leave(*q.t.pc(), q.t.sp())
	}
	times, certain := q.starvation.at(*q.t.pc(), q.t.sp()), q.certainHit()
	if code := q.t.sigtrap.trapCode(); code <= 0 && code != ptrace.CodeTimer && !q.hasKept(sig) {
		if times < stuckTimes || q.t.proc.arch.InCall(&q.t.regs) {
			return false
		}
	}
	if !certain {
		return times > 0 || len(q.deferred) > 0 // a later signal must not overtake a kept one
	}
	if times > 0 {
		q.starvation.left = freeHits
	}
	return q.starvation.left > 0
}

// interruptsCall reports whether the signal that the thread is stopped with ends or restarts a system call. If it
// were kept, no handler would run, but the call would still be affected: some calls fail with EINTR after any stop,
// some restart with their full timeout. A thread that reaches such a call is not starved. A call that the kernel
// repeats by itself until no signal is pending (ERESTARTNOINTR), such as fork, does not count.
func (q *signalQueue) interruptsCall() bool {
	const eintr, restartNoIntr = 4, 513
	a := q.t.proc.arch
	if !a.InCall(&q.t.regs) {
		return false
	}
	code := -int64(a.SyscallRet(&q.t.regs))
	return code == eintr || a.Restarts(&q.t.regs) && code != restartNoIntr
}

// hasKept reports whether a signal of this number is kept.
func (q *signalQueue) hasKept(sig int) bool {
	return slices.ContainsFunc(q.deferred, func(s ptrace.SigInfo) bool { return s.Signal() == sig })
}

// overrun adds the signal of a timer to a signal of the same timer that is still kept, and reports whether it did.
// The kernel has at most one pending signal for a timer and counts the expirations that it skips. To the kernel a
// kept signal is no longer pending, so kept signals would accumulate.
func (q *signalQueue) overrun() bool {
	if q.t.sigtrap.trapCode() != ptrace.CodeTimer {
		return false
	}
	for _, list := range [][]ptrace.SigInfo{q.deferred, q.resent} {
		for i := range list {
			if list[i].SameTimer(&q.t.info) {
				list[i].Overrun(&q.t.info)
				return true
			}
		}
	}
	return false
}

// keepForLater keeps a signal that would starve the thread, and resumes the thread.
func (q *signalQueue) keepForLater(sig int) {
	q.starvation.keep = true
	if q.certainHit() {
		q.keepSignal(sig)
		q.t.resume(0)
		return
	}
	if q.t.sigtrap.trapCode(); q.t.info.Signal() == sig {
		q.deferred = append(q.deferred, q.t.info)
	}
	if b := &q.starvation; b.from.pc != *q.t.pc() || b.from.sp != q.t.sp() {
		b.from = spot{*q.t.pc(), q.t.sp(), 0}
	}
	q.starvation.run = len(q.deferred) > 0
	q.starvation.round++
	round := q.starvation.round
	time.AfterFunc(freeRunTime, func() {
		q.t.s.do(func() error {
			q.freeRunOver(round)
			return nil
		})
	})
	q.t.resume(0)
}

// breathOver ends a free run: the stop that it causes delivers the kept signals. A stopped thread delivers them
// anyway.
func (q *signalQueue) freeRunOver(round int) {
	if q.t.state.MayRun() && q.starvation.round == round && len(q.deferred) > 0 {
		ptrace.Interrupt(q.t.tid)
	}
}

// putOff postpones the system call that the thread enters, to deliver the kept signals first, and reports whether
// it did: the kernel gets an invalid call number, and the thread makes its own call again after the handler. A
// seccomp filter would see the invalid number, so filtered threads are excluded. A return from a signal handler is
// not postponed, because no signal can be late for it. No call is postponed forever.
func (q *signalQueue) putOff() bool {
	c := &q.t.proc.arch.Calls
	if c.Original < 0 || q.t.exec.step.active || q.t.exec.postCall || q.t.exec.seeExit != nil || q.t.protection.unarmed || q.t.s.life.closing || q.t.statusField("Seccomp") != "0" {
		return false
	}
	if op, e := ptrace.SyscallStop(q.t.tid); e != 0 || op != ptrace.SyscallEntry || !q.t.getRegs() {
		return false
	}
	again := *q.t.pc() - uint64(len(c.Insn))
	from := &q.starvation.from
	if from.pc != again || from.sp != q.t.sp() { // the thread has moved on
		from.times = 0
	}
	if from.times++; from.times > stuckTimes || strings.HasSuffix(q.t.proc.arch.SyscallName(q.t.proc.arch.SyscallNumber(&q.t.regs)), "sigreturn") {
		return false
	}
	*q.t.pc(), q.t.regs[c.Number], q.t.regs[c.Original] = again, q.t.regs[c.Original], ^uint64(0)
	q.t.setRegs()
	q.starvation.off = true
	q.t.resume(0)
	return true
}

// certainHit reports whether the thread's next action is a hit of an instruction that completes by itself, which a
// system call may not.
func (q *signalQueue) certainHit() bool {
	p := q.t.proc.space.points[*q.t.pc()]
	return p != nil && p.planted && !q.t.s.life.closing && p.site.Insn().Control != arch.Syscall
}

// interruptedHere records that a signal is delivered at the current place.
func (q *signalQueue) interruptedHere() { q.starvation.note(*q.t.pc(), q.t.sp()) }

// at returns how many signals were delivered at a place since the thread last moved on from there.
func (b *starvation) at(pc, sp uint64) int {
	for i := range b.spots[:b.used] {
		if s := &b.spots[i]; s.pc == pc && s.sp == sp {
			return s.times
		}
	}
	return 0
}

// note counts a signal delivered at a place. If there is no room, it drops the place recorded longest ago.
func (b *starvation) note(pc, sp uint64) {
	s := spot{pc, sp, b.at(pc, sp) + 1}
	if b.leave(pc, sp); b.used == len(b.spots) {
		b.used = copy(b.spots[:], b.spots[1:])
	}
	b.spots[b.used] = s
	b.used++
}

// leave forgets a place because the thread runs the instruction there.
func (b *starvation) leave(pc, sp uint64) {
	for i := range b.spots[:b.used] {
		if s := &b.spots[i]; s.pc == pc && s.sp == sp {
			b.used = i + copy(b.spots[i:b.used], b.spots[i+1:b.used])
			return
		}
	}
}

// breathe counts a hit, and decides whether kept signals stay kept. The registers are those after the instruction.
func (q *signalQueue) keepOrDeliver() {
	if q.starvation.left > 0 {
		q.starvation.left--
	}
	q.starvation.keep = q.starvation.left > 0 && q.certainHit()
}

// replaceSignal gives the signal stop that the thread is in the siginfo of another signal, with which the thread is to
// be resumed. The registers have been written.
//
// The stop is consumed first. A stop that was only peeked at still has its own signal. If the session died now, the
// kernel would deliver that signal with a siginfo that it makes up (SI_USER: ptrace_signal in kernel/signal.c), and the
// fallback's handler would take the SIGTRAP of a breakpoint for one that a process sent, which ends the program. After
// a consumed stop the kernel delivers nothing.
func (q *signalQueue) replaceSignal(info *ptrace.SigInfo) {
	q.t.unreported()
	ptrace.SetSigInfo(q.t.tid, info)
	q.t.s.passed(inSignal)
}

// takeKept returns the oldest kept signal, or 0 if there is none, to be delivered with its original siginfo in the
// present stop, which is a signal's.
func (q *signalQueue) takeKept() int {
	q.unmask()
	if len(q.deferred) == 0 {
		return 0
	}
	info := q.deferred[0]
	q.deferred = slices.Delete(q.deferred, 0, 1)
	q.replaceSignal(&info)
	q.requeue()
	q.interruptedHere()
	return info.Signal()
}
