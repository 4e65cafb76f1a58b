package engine

import (
	"cmp"
	"fmt"
	"os"
	"syscall"

	"gotap/arch"
	"gotap/engine/image/unwind"
	"gotap/engine/linux/debugreg"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
)

// thread is a traced thread, with all that a hit needs, so that a hit allocates nothing. Tracing thread only.
type thread struct {
	s    *Session
	proc *process
	tid  int

	// What it is doing.
	stopped   bool // in a stop that was reported and from which it has not been resumed
	listening bool // in a group stop of job control: still stopped, but woken by SIGCONT
	parked    bool // stopped until Start
	gone      bool
	fresh     bool // its first stop has not come
	midCall   bool // its stop is inside of a system call, which will write its result over the registers
	stepping  bool // the request that let it run last was to run one instruction
	untaken   bool // its stop, for a signal, has been looked at and not taken: see ptrace.PeekStop
	silent    bool // programs do not run for it
	drop      bool // to be let go at its next stop
	awake     bool // to be stopped while the session ends, though it may be asleep
	settled   bool // ready to be let go: stopped, at no breakpoint
	trapWaits bool // it is listening, and the SIGTRAP of a breakpoint waits for it
	quiet     bool // asleep in a system call while the session ends: not to be disturbed
	vforking  bool // waits for a child that uses its memory
	ticket    uint32
	owed      int // the signal to go on with, while the thread is parked or held
	regs      arch.Regs

	step      step
	deferred  []ptrace.SigInfo // signals that came in the middle of a step, oldest first
	resent    []ptrace.SigInfo // those that were sent again, as they came at first
	mask      uint64           // the signals it blocks, while a step keeps all out
	masked    bool
	kept      keptFrom
	trapLost  bool             // it blocks SIGTRAP, and has hit a breakpoint: the kernel has reset the action
	merged    []ptrace.SigInfo // a SIGTRAP of the program's own that was pending, blocked, and has told of a hit
	trapOpen  bool             // it blocks all signals, as the program believes SIGTRAP too, which is left unblocked: see sigmask.go
	trapClear bool             // SIGTRAP was not blocked behind the latest rt_sigprocmask call that the engine made for the thread
	trapMeant bool             // the program waits for a SIGTRAP, which stays blocked until it blocks all signals no more
	leftStep  bool             // it may be in the midst of a step that an earlier session began: see takeover.go
	openDue   bool             // at its next stop SIGTRAP is unblocked, if it blocks all signals
	seeMask   bool             // behind the call that the thread is in, SIGTRAP is unblocked again
	breath    breath
	redo      redo
	seqDue    bool // it is to be looked whether the instruction being completed leads into a restartable sequence
	info      ptrace.SigInfo
	postCall  bool             // programs wait for the end of the system call it is in
	seeExit   *point           // it is in a system call that a probe stands on, and whose end has to be seen (see armcall.go)
	filters   filters          // of system calls
	unarmed   bool             // it is in the call that has made its image, and behind that the fallback is put in
	inCall    ptrace.SyscallOp // side of the system call it was last stopped at, when those are traced

	calls retprobe.Thread // that it is in
	h     hit.Hit         // programs of the present hit

	// What a program may ask, for the time it runs.
	at        *point
	walker    *unwind.Walker
	comm      *os.File
	fp        ptrace.FPRegs
	fpRead    bool
	vectors   arch.Vectors // as the emulator takes them
	left      arch.Regs    // behind the instruction that leaves a function
	keyed     keyMemory    // of the instruction being emulated on x86
	view      threadMemory // of the instruction being emulated
	faultAddr uint64       // of the instruction that faulted, for fault handlers
	faultSig  int
	dr        debugreg.Regs
	drDue     bool // its debug registers may not be what they should; they are written at its next stop
	sys       sysCall

	interrupted []sysCall // calls that wait while handlers of signals run, the innermost last
}

// newThread makes a thread of a process.
func (s *Session) newThread(p *process, tid int) *thread {
	t := &thread{s: s, proc: p, tid: tid}
	t.initHits()
	s.threads[tid] = t
	p.threads[tid] = t
	return t
}

// initHits prepares for hits and calls.
func (t *thread) initHits() {
	t.h.Init(t.s.runner, t, t, t.regs[:], uint32(t.tid))
	t.calls.Init(t, &t.h, nil)
}

// resume lets a stopped thread go on: with its step, if it is in the middle of one, otherwise freely.
// A thread that is parked or held stays where it is, and gets the signal when it goes on.
// ESRCH is no error: the thread has been killed, of which Wait will tell.
func (t *thread) resume(sig int) {
	sig = cmp.Or(sig, t.owed)
	if t.owed = 0; t.parked || t.ticket != 0 || t.gone {
		t.owed = sig
		return
	}
	if sig != 0 && !t.proc.silent && t.s.cfg.Notify != nil {
		t.s.notify(Event{Kind: EventSignal, Pid: t.proc.pid, Tid: t.tid, Signal: sig})
	}
	if sig == ptrace.SIGTRAP {
		t.passTrap()
	}
	if t.s.closing && !t.step.active {
		t.letGo(sig)
		return
	}
	if !t.step.active && (t.masked || len(t.deferred) > 0) && !t.breath.keep {
		t.unmask()
		t.breath.owed = len(t.deferred) > 0
		t.requeue()
		t.breath.run = false
	}
	off := t.breath.off
	t.breath.keep, t.breath.off = false, false
	t.stopped, t.listening, t.untaken = false, false, false
	t.stepping = t.step.active && !t.step.toCall
	var e syscall.Errno
	switch {
	case t.step.active && t.step.toCall:
		e = ptrace.ContToSyscall(t.tid, sig)
	case t.stepping:
		e = ptrace.Step(t.tid, sig)
	case off:
		e = ptrace.Cont(t.tid, sig) // its end is not a system call's
	case t.breath.run, t.postCall, t.seeExit != nil, t.unarmed, (t.s.sysnames > 0 && !t.s.meter.resting || t.sys.awaited()) && !t.silent && !t.proc.silent:
		e = ptrace.ContToSyscall(t.tid, sig)
	default:
		e = ptrace.Cont(t.tid, sig)
	}
	t.dropKept()
	if e != 0 && !vanished(e) {
		t.s.warn(fmt.Sprintf("cannot resume thread %d: %v", t.tid, e))
	}
}

// setRegs writes the registers back. The resume flag says that they are right: see package fallback. It goes with the
// first instruction that runs.
func (t *thread) setRegs() {
	word := t.proc.arch.WordSize()
	if !t.untaken || t.proc.arch.FlagsRegister < 0 {
		ptrace.SetRegs(t.tid, &t.regs, word)
		return
	}
	flags := &t.regs[t.proc.arch.FlagsRegister]
	*flags |= resumeFlag
	ptrace.SetRegs(t.tid, &t.regs, word)
	*flags &^= resumeFlag
}

// resumeFlag is RF. It keeps the processor from stopping for a debug register that watches the very next instruction.
const resumeFlag = 1 << 16

// getRegs reads the registers; false when the thread has been killed. The resume flag is no business of programs.
func (t *thread) getRegs() bool {
	e := ptrace.GetRegs(t.tid, &t.regs)
	if i := t.proc.arch.FlagsRegister; i >= 0 {
		t.regs[i] &^= resumeFlag
	}
	return e == 0
}

// unreported takes the stop that the thread is in, which had only been looked at: what it stopped with is gone.
func (t *thread) unreported() {
	if t.untaken {
		ptrace.ConsumeStop(t.tid)
		t.untaken = false
	}
}

// pc is the index of the program counter.
func (t *thread) pc() *uint64 { return &t.regs[t.proc.arch.PC()] }

// sp is the stack pointer.
func (t *thread) sp() uint64 { return t.regs[t.proc.arch.SP()] }

// release lets a held thread go.
func (t *thread) release() {
	delete(t.s.tickets, t.ticket)
	t.ticket = 0
	t.resume(0)
}

// closeFiles closes what was opened for programs' questions.
func (t *thread) closeFiles() {
	if t.comm != nil {
		t.comm.Close()
		t.comm = nil
	}
}
