package engine

import (
	"slices"
	"strings"
	"time"

	"gotap/arch"
	"gotap/engine/linux/ptrace"
)

// A probe on every instruction makes a program so slow that a periodic signal can come again before its handler has returned.
// The kernel then delivers the next one in the very moment in which the handler returns, and what was interrupted
// never runs another instruction: a program that is merely slow would hang. So a thread that is about to be interrupted where it
// has been interrupted before is given breath: the signal is kept for a number of hits, and delivered then.
//
// A kept signal must not be late for a system call, which it has to interrupt. Therefore it is kept for hits only while the next
// thing that the thread does is certain to be one: its program counter is at a breakpoint of ours, and the instruction
// there is no system call. Elsewhere the thread moves at its own speed, and breathTime is enough: then it is interrupted,
// and the signal is sent again. Nothing is blocked in the meantime, because the thread may look at its mask. When it comes to a system call
// before that, the call is put off until the signal's handler has returned: it may be the one that stops the timer, and has nobody
// there for its signal afterwards.

// breathTime is how long a starved thread runs freely before the kept signal is delivered.
const breathTime = 200 * time.Microsecond

// breathHits is how many hits a thread has before a signal that keeps it from moving is delivered.
const breathHits = 32

// spot is where a thread was when a signal was delivered to it: the handler returns to there. It is forgotten when a probe is hit
// there, for then the thread has moved on.
type spot struct {
	pc, sp uint64
	times  int // signals delivered here
}

// stuckTimes is how many signals that programs sent are delivered in one place before the thread counts as starved. It is more
// than any handler will send to itself that counts on being called again before anything else happens.
const stuckTimes = 16

// breath is what a thread needs for not being starved by signals.
type breath struct {
	round int      // counts free runs, so that a timer knows its own
	left  int      // hits before the kept signal is delivered
	keep  bool     // the next resume is towards a certain hit, or a free run: what was kept stays so
	run   bool     // it runs freely, with something kept
	off   bool     // the next resume is from the entry of a call that is put off
	from  spot     // where the free run began; times is how often calls were put off there
	owed  bool     // what was kept was sent again after a free run: the next signal is delivered
	spots [32]spot // where the latest signals were delivered; many, because handlers are interrupted as well
	used  int      // spots in use
}

// firstRealTime is the first real-time signal, as the kernel counts.
const firstRealTime = 32

// jobControl are the signals that stop and continue processes; they are never kept.
const jobControl = 1<<(ptrace.SIGCONT-1) | 1<<(ptrace.SIGSTOP-1) | 1<<(ptrace.SIGTSTP-1) | 1<<(ptrace.SIGTTIN-1) | 1<<(ptrace.SIGTTOU-1)

// starved reports whether a signal about to be delivered would keep the thread from moving, and is to be kept. The
// registers have been read.
//
// What the kernel itself sends, timers above all, is kept as soon as it comes twice in one place. A signal that a program sends may
// be one that it sends itself, which has to be there when the call that sent it returns: so it is not kept in a thread that comes
// out of a system call, and elsewhere only when many came in one place. Real-time signals stay in their order:
// what comes while an older one of its number is kept is kept behind it.
func (t *thread) starved(sig int) bool {
	if jobControl>>(sig-1)&1 == 1 || synchronous>>(sig-1)&1 == 1 || t.s.closing {
		return false
	}
	if t.interruptsCall() {
		return false
	}
	if a := t.proc.arch; a.InCall(&t.regs) && !a.Restarts(&t.regs) { // it has made a call since it was here
		t.breath.leave(*t.pc(), t.sp())
	}
	times, certain := t.breath.at(*t.pc(), t.sp()), t.certainHit()
	if code := t.trapCode(); code <= 0 && code != ptrace.CodeTimer && !t.hasKept(sig) {
		if times < stuckTimes || t.proc.arch.InCall(&t.regs) {
			return false
		}
	}
	if !certain {
		return times > 0 || len(t.deferred) > 0 // what comes behind a kept one must not overtake it
	}
	if times > 0 {
		t.breath.left = breathHits
	}
	return t.breath.left > 0
}

// interruptsCall reports whether the signal that the thread is stopped with ends a system call, or has it made again. Without a
// handler that would be another call: some fail with EINTR whatever stops them, some start anew with all their time. A thread that
// comes to such a call is not starved. A call that the kernel repeats by itself until no signal is pending (ERESTARTNOINTR), as
// fork, is none.
func (t *thread) interruptsCall() bool {
	const eintr, restartNoIntr = 4, 513
	a := t.proc.arch
	if !a.InCall(&t.regs) {
		return false
	}
	code := -int64(a.SyscallRet(&t.regs))
	return code == eintr || a.Restarts(&t.regs) && code != restartNoIntr
}

// hasKept reports whether a signal of this number is being kept.
func (t *thread) hasKept(sig int) bool {
	return slices.ContainsFunc(t.deferred, func(s ptrace.SigInfo) bool { return s.Signal() == sig })
}

// overrun counts the signal of a timer whose last one is still kept. The kernel has one signal on its way for a timer and counts what
// it misses; kept ones are not on their way as far as it knows, and would come to be more and more.
func (t *thread) overrun() bool {
	if t.trapCode() != ptrace.CodeTimer {
		return false
	}
	for _, list := range [][]ptrace.SigInfo{t.deferred, t.resent} {
		for i := range list {
			if list[i].SameTimer(&t.info) {
				list[i].Overrun(&t.info)
				return true
			}
		}
	}
	return false
}

// keepForLater keeps a signal that would starve the thread, and lets the thread go on.
func (t *thread) keepForLater(sig int) {
	t.breath.keep = true
	if t.certainHit() {
		t.keepSignal(sig)
		t.resume(0)
		return
	}
	if t.trapCode(); t.info.Signal() == sig {
		t.deferred = append(t.deferred, t.info)
	}
	if b := &t.breath; b.from.pc != *t.pc() || b.from.sp != t.sp() {
		b.from = spot{*t.pc(), t.sp(), 0}
	}
	t.breath.run = len(t.deferred) > 0
	t.breath.round++
	round := t.breath.round
	time.AfterFunc(breathTime, func() {
		t.s.do(func() error {
			t.breathOver(round)
			return nil
		})
	})
	t.resume(0)
}

// breathOver ends a free run: the stop that follows delivers what was kept. A thread that is stopped delivers it anyway.
func (t *thread) breathOver(round int) {
	if !t.gone && !t.stopped && t.breath.round == round && len(t.deferred) > 0 {
		ptrace.Interrupt(t.tid)
	}
}

// putOff has what was kept delivered in front of the system call that the thread enters, and reports whether it has: the kernel is told
// of a call that there is none of, and the thread makes its own anew behind the handler. A filter of system calls would be asked about the
// former, and the return from a handler is nothing that a signal can be late for. Nor is a call put off for ever.
func (t *thread) putOff() bool {
	c := &t.proc.arch.Calls
	if c.Original < 0 || t.step.active || t.postCall || t.seeExit != nil || t.unarmed || t.s.closing || t.statusField("Seccomp") != "0" {
		return false
	}
	if op, e := ptrace.SyscallStop(t.tid); e != 0 || op != ptrace.SyscallEntry || !t.getRegs() {
		return false
	}
	again := *t.pc() - uint64(len(c.Insn))
	from := &t.breath.from
	if from.pc != again || from.sp != t.sp() { // the thread has moved
		from.times = 0
	}
	if from.times++; from.times > stuckTimes || strings.HasSuffix(t.proc.arch.SyscallName(t.proc.arch.SyscallNumber(&t.regs)), "sigreturn") {
		return false
	}
	*t.pc(), t.regs[c.Number], t.regs[c.Original] = again, t.regs[c.Original], ^uint64(0)
	t.setRegs()
	t.breath.off = true
	t.resume(0)
	return true
}

// certainHit reports whether the next thing that the thread does is a hit of an instruction that comes to its end by itself.
func (t *thread) certainHit() bool {
	p := t.proc.space.points[*t.pc()]
	return p != nil && p.planted && !t.s.closing && p.site.Insn().Control != arch.Syscall
}

// interruptedHere notes where a signal is delivered.
func (t *thread) interruptedHere() { t.breath.note(*t.pc(), t.sp()) }

// at is how many signals were delivered in a place since the thread last moved on from there.
func (b *breath) at(pc, sp uint64) int {
	for i := range b.spots[:b.used] {
		if s := &b.spots[i]; s.pc == pc && s.sp == sp {
			return s.times
		}
	}
	return 0
}

// note counts a signal delivered in a place; the place noted longest ago makes room.
func (b *breath) note(pc, sp uint64) {
	s := spot{pc, sp, b.at(pc, sp) + 1}
	if b.leave(pc, sp); b.used == len(b.spots) {
		b.used = copy(b.spots[:], b.spots[1:])
	}
	b.spots[b.used] = s
	b.used++
}

// leave forgets a place, because the thread runs the instruction there.
func (b *breath) leave(pc, sp uint64) {
	for i := range b.spots[:b.used] {
		if s := &b.spots[i]; s.pc == pc && s.sp == sp {
			b.used = i + copy(b.spots[i:b.used], b.spots[i+1:b.used])
			return
		}
	}
}

// breathe counts a hit, and decides whether what was kept stays so. The registers are those behind the instruction.
func (t *thread) breathe() {
	if t.breath.left > 0 {
		t.breath.left--
	}
	t.breath.keep = t.breath.left > 0 && t.certainHit()
}

// takeKept is the oldest signal that was kept, to be delivered in the stop of a signal, with the siginfo it came with; 0 for none.
func (t *thread) takeKept() int {
	t.unmask()
	if len(t.deferred) == 0 {
		return 0
	}
	info := t.deferred[0]
	t.deferred = slices.Delete(t.deferred, 0, 1)
	ptrace.SetSigInfo(t.tid, &info)
	t.requeue()
	t.interruptedHere()
	return info.Signal()
}
