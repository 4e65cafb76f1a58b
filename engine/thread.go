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

// thread is a traced thread with everything that a hit needs, so that a hit allocates nothing. Only the tracing
// thread uses it.
type thread struct {
	s    *Session
	proc *process
	tid  int

	// The thread's current state.
	stopped   bool // in a stop that was reported and from which it has not been resumed
	listening bool // in a group stop of job control: still stopped, but woken by SIGCONT
	parked    bool // stopped until Start
	gone      bool
	fresh     bool // its first stop has not been reported
	midCall   bool // its stop is inside a system call, whose result will overwrite registers
	stepping  bool // it was last resumed to run one instruction
	untaken   bool // its stop, for a signal, was peeked at and not consumed: see ptrace.PeekStop
	silent    bool // programs do not run for it
	drop      bool // to be detached at its next stop
	awake     bool // to be stopped while the session ends, even if it is asleep
	settled   bool // ready to be detached: stopped, not at a breakpoint
	trapWaits bool // it is listening, and the SIGTRAP of a breakpoint waits for it
	quiet     bool // asleep in a system call while the session ends: must not be disturbed
	vforking  bool // it waits for a child that uses its memory (vfork)
	ticket    uint32
	owed      int // the signal to deliver when a parked or held thread resumes
	regs      arch.Regs

	step      step
	deferred  []ptrace.SigInfo // signals that arrived during a step or were kept longer, oldest first
	resent    []ptrace.SigInfo // the original siginfo of signals that were resent
	mask      uint64           // the thread's own mask while masked is set
	masked    bool
	kept      keptFrom
	trapLost  bool             // it hit a breakpoint with SIGTRAP blocked: the kernel has reset the action
	merged    []ptrace.SigInfo // a SIGTRAP sent to the program that was pending and blocked, and whose stop reported a hit
	trapOpen  bool             // it blocks all signals but SIGTRAP, which the program believes blocked too: see sigmask.go
	trapClear bool             // SIGTRAP was not blocked after the latest rt_sigprocmask call that the engine made for the thread
	trapMeant bool             // the program waits for a SIGTRAP, which stays blocked until the program no longer blocks all signals
	leftStep  bool             // it may be in a step that an earlier session began: see takeover.go
	openDue   bool             // SIGTRAP must be unblocked at its next stop, if it blocks all signals
	seeMask   bool             // SIGTRAP must be unblocked again after the current system call
	breath    breath
	redo      redo
	seqDue    bool // check whether the instruction being completed leads into a restartable sequence
	info      ptrace.SigInfo
	postCall  bool             // programs wait for the end of its current system call
	seeExit   *point           // the point of the probed system call that it is in, whose end has to be seen (see armcall.go)
	filters   filters          // its filters of system calls
	unarmed   bool             // it is in the call that created its image; the fallback is installed after that call
	inCall    ptrace.SyscallOp // the side of the system call at which it last stopped, if calls are traced

	calls retprobe.Thread // the calls that it is in
	h     hit.Hit         // the programs of the present hit

	// What a program may ask for while it runs.
	at        *point
	walker    *unwind.Walker
	comm      *os.File
	fp        ptrace.FPRegs
	fpRead    bool
	vectors   arch.Vectors // in the emulator's form
	left      arch.Regs    // the registers after the instruction that leaves a function
	keyed     keyMemory    // of the instruction being emulated on x86
	view      threadMemory // of the instruction being emulated
	faultAddr uint64       // of the instruction that faulted, for fault handlers
	faultSig  int
	dr        debugreg.Regs
	drDue     bool // its debug registers may be wrong; they are written at its next stop
	sys       sysCall

	interrupted []sysCall // system calls that wait while signal handlers run, innermost last
}

// newThread adds a thread to a process.
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

// resume resumes a stopped thread: with its step if it is in one, otherwise freely. A thread that is parked or held
// stays stopped, and gets the signal when it resumes. ESRCH is not an error: the thread has been killed, which Wait
// will report.
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
		e = ptrace.Cont(t.tid, sig) // the stop that ends it is not a system call's
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

// setRegs writes the registers back. If the stop was only peeked at, the resume flag marks the registers as
// correct: see package fallback. The first instruction that runs clears the flag.
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

// resumeFlag is RF. It prevents the processor from stopping for a debug register that watches the very next
// instruction.
const resumeFlag = 1 << 16

// getRegs reads the registers, and reports false if the thread has been killed. It clears the resume flag, which
// must not be visible to programs.
func (t *thread) getRegs() bool {
	e := ptrace.GetRegs(t.tid, &t.regs)
	if i := t.proc.arch.FlagsRegister; i >= 0 {
		t.regs[i] &^= resumeFlag
	}
	return e == 0
}

// unreported consumes the stop that the thread is in, which was only peeked at. Its siginfo is lost.
func (t *thread) unreported() {
	if t.untaken {
		ptrace.ConsumeStop(t.tid)
		t.untaken = false
	}
}

// pc returns a pointer to the program counter in the thread's registers.
func (t *thread) pc() *uint64 { return &t.regs[t.proc.arch.PC()] }

// sp returns the stack pointer.
func (t *thread) sp() uint64 { return t.regs[t.proc.arch.SP()] }

// release resumes a held thread.
func (t *thread) release() {
	delete(t.s.tickets, t.ticket)
	t.ticket = 0
	t.resume(0)
}

// closeFiles closes the files that were opened to answer programs.
func (t *thread) closeFiles() {
	if t.comm != nil {
		t.comm.Close()
		t.comm = nil
	}
}
