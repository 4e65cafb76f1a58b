package sigqueue

import (
	"slices"
	"strings"
	"time"

	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// freeRunTime is how long a starved thread runs freely before the kept signal is delivered.
const freeRunTime = 200 * time.Microsecond

// freeHits is how many hits a thread gets before a signal that stops its progress is delivered.
const freeHits = 32

// spot is the place where a thread was when a signal was delivered to it: the handler returns there. It is
// forgotten when a probe is hit there, or a hit leads there, because the thread has then moved on.
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

// starved reports whether a signal that is about to be delivered would stop the thread's progress and must be kept.
// The registers have been read.
//
// Signals from the kernel itself, above all from timers, are kept as soon as they arrive twice at one place. A
// signal that a program sends may be one that the thread sends to itself, which must have arrived when the sending
// call returns. So it is not kept in a thread that returns from a system call, and elsewhere only when many arrived
// at one place. Real-time signals stay in order: a signal that arrives while an older one of its number is kept is
// kept behind it.
func (q *Queue) starved(sig int) bool {
	if ptrace.JobControl>>(sig-1)&1 == 1 || ptrace.Synchronous>>(sig-1)&1 == 1 || q.on.Closing() {
		return false
	}
	if q.interruptsCall() {
		return false
	}
	if a := q.t.ABI(); a.InCall(&q.t.Regs) && !a.Restarts(&q.t.Regs) { // the thread has made a call since it was here
		q.starvation.leave(*q.t.PC(), q.t.SP())
	}
	times, certain := q.starvation.at(*q.t.PC(), q.t.SP()), q.on.CertainHit()
	if code := q.t.SignalCode(); code <= 0 && code != ptrace.CodeTimer && !q.hasKept(sig) {
		if times < stuckTimes || q.t.ABI().InCall(&q.t.Regs) {
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
func (q *Queue) interruptsCall() bool {
	const eintr, restartNoIntr = 4, 513
	a := q.t.ABI()
	if !a.InCall(&q.t.Regs) {
		return false
	}
	code := -int64(a.SyscallRet(&q.t.Regs))
	return code == eintr || a.Restarts(&q.t.Regs) && code != restartNoIntr
}

// hasKept reports whether a signal of this number is kept.
func (q *Queue) hasKept(sig int) bool {
	return slices.ContainsFunc(q.deferred, func(s ptrace.SigInfo) bool { return s.Signal() == sig })
}

// Overrun adds the signal of a timer to a signal of the same timer that is still kept, and reports whether it did.
// The kernel has at most one pending signal for a timer and counts the expirations that it skips. To the kernel a
// kept signal is no longer pending, so kept signals would accumulate.
func (q *Queue) Overrun() bool {
	if q.Len() == 0 || q.t.SignalCode() != ptrace.CodeTimer {
		return false
	}
	for _, list := range [][]ptrace.SigInfo{q.deferred, q.resent} {
		for i := range list {
			if list[i].SameTimer(&q.t.Info) {
				list[i].Overrun(&q.t.Info)
				q.starvation.keep = true
				return true
			}
		}
	}
	return false
}

// KeepIfStarved keeps a signal that is about to be delivered and would starve the thread, and resumes the thread. It
// reports whether it did. If it did not, it notes that the signal is delivered here. The registers have been read.
func (q *Queue) KeepIfStarved(sig int) bool {
	if !q.starvation.owed && q.starved(sig) {
		q.keepForLater(sig)
		return true
	}
	if q.starvation.owed = false; sig >= ptrace.FirstRealTime {
		q.swapInfo(q.deferred, sig) // what was kept is older
	}
	q.interruptedHere()
	return false
}

// keepForLater keeps a signal that would starve the thread, and resumes the thread.
func (q *Queue) keepForLater(sig int) {
	q.starvation.keep = true
	if q.on.CertainHit() {
		q.keepSignal(sig)
		q.on.Resume(0)
		return
	}
	if q.t.SignalCode(); q.t.Info.Signal() == sig {
		q.deferred = append(q.deferred, q.t.Info)
	}
	if b := &q.starvation; b.from.pc != *q.t.PC() || b.from.sp != q.t.SP() {
		b.from = spot{*q.t.PC(), q.t.SP(), 0}
	}
	q.starvation.run = len(q.deferred) > 0
	q.starvation.round++
	round := q.starvation.round
	q.on.After(freeRunTime, func() { q.freeRunOver(round) })
	q.on.Resume(0)
}

// freeRunOver ends a free run: the stop that it causes delivers the kept signals. A stopped thread delivers them
// anyway.
func (q *Queue) freeRunOver(round int) {
	if q.on.MayRun() && q.starvation.round == round && len(q.deferred) > 0 {
		ptrace.Interrupt(q.t.Tid)
	}
}

// PutOff postpones the system call that the thread enters, to deliver the kept signals first, and reports whether
// it did: the kernel gets an invalid call number, and the thread makes its own call again after the handler. A
// seccomp filter would see the invalid number, so filtered threads are excluded. A return from a signal handler is
// not postponed, because no signal can be late for it. No call is postponed forever.
func (q *Queue) PutOff() bool {
	c := &q.t.ABI().Calls
	if !q.starvation.run || c.Original < 0 || q.on.AwaitsCall() || q.on.Closing() || q.t.Status("Seccomp") != "0" {
		return false
	}
	if op, e := ptrace.SyscallStop(q.t.Tid); e != 0 || op != ptrace.SyscallEntry || !q.t.GetRegs() {
		return false
	}
	again := *q.t.PC() - uint64(len(c.Insn))
	from := &q.starvation.from
	if from.pc != again || from.sp != q.t.SP() { // the thread has moved on
		from.times = 0
	}
	if from.times++; from.times > stuckTimes || strings.HasSuffix(q.t.ABI().SyscallName(q.t.ABI().SyscallNumber(&q.t.Regs)), "sigreturn") {
		return false
	}
	*q.t.PC(), q.t.Regs[c.Number], q.t.Regs[c.Original] = again, q.t.Regs[c.Original], ^uint64(0)
	q.t.SetRegs()
	q.starvation.off = true
	q.on.Resume(0)
	return true
}

// interruptedHere records that a signal is delivered at the current place.
func (q *Queue) interruptedHere() { q.starvation.note(*q.t.PC(), q.t.SP()) }

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

// MoveOn notes that the thread runs the instruction at its program counter, or has just come there by a hit: it has
// moved on from there since signals were delivered to it. A thread that sends itself signals in a loop gets each of
// them at one place, behind the call that unblocks them, which gotap may have made for it.
func (q *Queue) MoveOn() {
	if q.starvation.used > 0 {
		q.starvation.leave(*q.t.PC(), q.t.SP())
	}
}

// AfterHit counts a hit, and decides whether kept signals stay kept. If not, it returns the signal to deliver; 0 means
// none. The registers are those after the instruction.
func (q *Queue) AfterHit() int {
	if !q.masked && len(q.deferred) == 0 {
		return 0
	}
	if q.starvation.left > 0 {
		q.starvation.left--
	}
	if q.starvation.keep = q.starvation.left > 0 && q.on.CertainHit(); q.starvation.keep {
		return 0
	}
	return q.takeKept()
}

// Way is how a thread has to be resumed for the sake of its kept signals.
type Way int

const (
	AnyWay Way = iota
	ToCall     // to the next system call
	Freely     // the next stop must not be a system call's
)

// BeforeResume sends the kept signals again, unless they stay kept or the thread is in a step, and returns how the
// thread has to be resumed.
func (q *Queue) BeforeResume(inStep bool) (way Way) {
	if !inStep && (q.masked || len(q.deferred) > 0) && !q.starvation.keep {
		q.Unmask()
		q.starvation.owed = len(q.deferred) > 0
		q.Requeue()
		q.starvation.run = false
	}
	switch {
	case q.starvation.off: // from the entry of a postponed call
		way = Freely
	case q.starvation.run:
		way = ToCall
	}
	q.starvation.keep, q.starvation.off = false, false
	return way
}

// ReplaceSignal gives the signal stop that the thread is in the siginfo of another signal, with which the thread is to
// be resumed. The registers have been written.
//
// The stop is consumed first. A stop that was only peeked at still has its own signal. If the session died now, the
// kernel would deliver that signal with a siginfo that it makes up (SI_USER: ptrace_signal in kernel/signal.c), and the
// fallback's handler would take the SIGTRAP of a breakpoint for one that a process sent, which ends the program. After
// a consumed stop the kernel delivers nothing.
func (q *Queue) ReplaceSignal(info *ptrace.SigInfo) {
	q.t.Consume()
	ptrace.SetSigInfo(q.t.Tid, info)
	q.on.Checkpoint(tracee.InSignal)
}

// takeKept returns the oldest kept signal, or 0 if there is none, to be delivered with its original siginfo in the
// present stop, which is a signal's.
func (q *Queue) takeKept() int {
	q.Unmask()
	if len(q.deferred) == 0 {
		return 0
	}
	info := q.deferred[0]
	q.deferred = slices.Delete(q.deferred, 0, 1)
	q.ReplaceSignal(&info)
	q.Requeue()
	q.interruptedHere()
	return info.Signal()
}
