package crashsafe

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"gotap/arch"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// The target's action for SIGTRAP. During the session it is the fallback's handler (guard.go). The region holds the
// program's own action, where the handler finds it. Two events can change the action.
//
// A breakpoint or a step in a thread that blocks SIGTRAP makes the kernel unblock the signal and reset its action to
// the default, even if a tracer suppresses the signal (force_sig_info in kernel/signal.c). The engine restores the
// action. In processes with a SIGTRAP handler of their own it checks after every hit. In others it checks after the
// first hits of each point and occasionally afterwards, because SIGTRAP is usually either always or never blocked at a
// given point.
//
// If only the handler is missing from the action, the kernel reset it. An action that the program has set differs in
// its mask, flags or restorer too.
//
// The program may set an action. The engine watches the instructions by which the C library calls rt_sigaction, or
// its functions if none are found, and the function of Go's runtime. The
// handler forwards other signals to the action that the program asked for; the calls report the program's previous
// action. Actions set in any other way are noticed when a thread is created.

// Fork sets the action of a process that was just created, starting from its parent's current one. The process may have
// been created without its parent's handlers (cleared), before the parent had ours, or while the kernel had reset it.
// Where the memory, and with it the region, is shared, the region keeps the program's own handler, because that is the
// parent's.
func (p *Process) Fork(parent *Process, cleared, shared bool) {
	on := p.on
	*p = *parent
	p.on = on
	if cleared && !shared && p.own.Caught() {
		p.own = fallback.Action{}
	}
	switch {
	case on.Space().Base == 0:
		*p = Process{on: on, own: p.own}
	case p.ours && procfs.SignalSet(on.Pid(), "SigCgt")&ptrace.TrapBit == 0:
		p.lost, p.ours = true, false
	}
}

// InstallAgain installs the fallback's handler in a process that was created without it, before the process runs.
func (x *Thread) InstallAgain() {
	tr := x.process()
	tr.lost = false
	if x.calls.Filtered() != "" {
		return
	}
	var err error
	if x.space().on.Users() > 1 {
		err = x.setTrapAction()
	} else {
		err = x.want(tr.own)
	}
	x.warnNotKept(err)
}

// warnNotKept warns that the fallback's handler could not be kept, if err says so. A thread that ended during the call
// causes no warning.
func (x *Thread) warnNotKept(err error) {
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		x.in.on.Warn(fmt.Sprintf("process %d: its handler for SIGTRAP cannot be kept: %v", x.t.Of.Pid(), err))
	}
}

// Check causes the next hit to query the action, if the program may have set one. tid is one of its threads.
func (p *Process) Check(tid int) {
	if p.ours || procfs.SignalSet(tid, "SigCgt")&ptrace.TrapBit != 0 {
		p.due = true
	}
}

// want makes own the program's action: the handler forwards other signals to it.
func (x *Thread) want(own fallback.Action) error {
	if err := x.storeOwn(own); err != nil {
		return err
	}
	x.process().own, x.process().once = own, false
	return x.setTrapAction()
}

// storeOwn writes the program's action into the region.
func (x *Thread) storeOwn(own fallback.Action) error {
	sp := x.space()
	head := make([]byte, fallback.HeadSize)
	if err := x.t.Memory().Peek(sp.Base, head); err != nil {
		return err
	}
	x.t.ABI().Native.SetOwn(head, sp.Base, own)
	return x.t.Memory().Poke(sp.Base, head, x.t.Tid)
}

// wantAtCall is want for the breakpoint on the call by which the program sets its action. The thread gets the registers
// home, which it has behind the call, but t.Regs stay: the caller moves on. If the session is killed meanwhile, the
// thread makes the call itself (SetAction in package inject). What the call returns, the previous action, is therefore
// written before.
//
// The hit itself may have reset the handler and the blocked bit. Once the handler is installed again nothing shows
// that, so wantAtCall repairs it first.
func (x *Thread) wantAtCall(own fallback.Action, home arch.Regs) error {
	if x.Taken() && x.calls.Filtered() == "" {
		if err := x.putBack(); err != nil {
			return err
		}
	}
	if own.Handler == fallback.Handler(x.space().Base) { // which the program has read before its calls were seen
		own = x.process().found
	}
	at := x.t.Regs
	err := x.calls.SetAction(own, func() error { return x.storeOwn(own) }, home)
	x.t.Regs = at
	if err == nil {
		x.process().own, x.process().once, x.process().ours = own, false, true
	}
	return err
}

// wantOf is wantAtCall for a program that may share its memory, and so the region, with others. A child that
// posix_spawn creates does, and resets its parent's actions before it executes a program. It keeps the handler, without
// which it would have none until then, and which execve resets anyway. In other cases wantOf reports that the kernel
// has to set the action.
func (x *Thread) wantOf(own fallback.Action, home arch.Regs) bool {
	if x.space().on.Users() <= 1 {
		return x.wantAtCall(own, home) == nil
	}
	if own.Handler == fallback.Default {
		x.process().own = own
		return true
	}
	return false
}

// PassTrap records that a SIGTRAP is about to be delivered to the program. A handler that asked to be called once
// (SA_RESETHAND) stops being the program's action. It stays in the region until another SIGTRAP comes, because this
// SIGTRAP still needs it there.
func (x *Thread) PassTrap() {
	tr := x.process()
	if tr.once {
		tr.once = false
		x.storeOwn(tr.own)
	}
	if x.leftStep && x.t.SignalCode() == ptrace.CodeTrace {
		x.leftStep = false
	} else if a := x.t.ABI(); tr.ours && a.FlagsRegister >= 0 && x.t.Regs[a.FlagsRegister]&tracee.TrapFlag == 0 && x.t.SignalCode() == ptrace.CodeTrace {
		x.t.Info.SetCode(fallback.CodePassed)
		ptrace.SetSigInfo(x.t.Tid, &x.t.Info)
	}
	x.markSent()
	if tr.own.Once() {
		tr.own, tr.once = fallback.Action{}, tr.ours
	}
}

// markSent marks a SIGTRAP that was sent to the program and is about to be delivered, for the fallback's handler
// (fallback.SentCode).
func (x *Thread) markSent() {
	code, sent := fallback.SentCode(x.t.SignalCode())
	if sent && x.process().ours && x.t.Info.Signal() == ptrace.SIGTRAP {
		x.t.Info.SetCode(code)
		ptrace.SetSigInfo(x.t.Tid, &x.t.Info)
	}
}

// setTrapAction makes the fallback's handler the action for SIGTRAP. The region holds the program's own action.
func (x *Thread) setTrapAction() error {
	err := x.callSigaction(ptrace.SIGTRAP, x.space().Base+fallback.ActionAt, 0)
	x.process().ours = err == nil
	return err
}

// setTrapActionOver is setTrapAction when own has just been queried and stored. A thread that runs may have set another
// one since: that is then the program's own.
func (x *Thread) setTrapActionOver(own fallback.Action) error {
	base := x.space().Base
	for {
		was, err := x.replaceAction(ptrace.SIGTRAP, base+fallback.ActionAt)
		x.process().ours = err == nil
		if err != nil || was == own || was.Handler == fallback.Handler(base) || x.t.ABI().Native.Taken(was, own, base) {
			return err
		}
		if own = was; x.storeOwn(own) != nil {
			return nil
		}
		x.process().own, x.process().found = own, own
	}
}

// takeOver queries the action. If it is not ours, takeOver treats it as one that the program has set.
func (x *Thread) takeOver() error {
	tr, g := x.process(), x.space()
	tr.due, tr.set = false, false
	now, err := x.queryTrapAction()
	if err != nil || g.Base != 0 && now.Handler == fallback.Handler(g.Base) {
		return err
	}
	if g.Base != 0 && x.t.ABI().Native.Taken(now, tr.own, g.Base) { // by another thread's hit just now, which is still to be handled
		tr.blockers = true
		return x.setTrapAction()
	}
	tr.own = now
	if g.Base == 0 {
		return nil
	}
	if err := x.storeOwn(now); err != nil {
		return err
	}
	tr.once = false
	return x.setTrapActionOver(now)
}

// sometimes is the number of hits of a point between checks that the handler is still installed.
const sometimes = 1 << 10

// IsDue reports whether the engine must check after this hit whether the kernel has reset the action for SIGTRAP.
func (x *Thread) IsDue() bool {
	tr := x.process()
	if tr.due || tr.set || tr.own.Caught() || !x.stillOpen() && x.blocksRest() {
		return true
	}

	p := x.on.Point()
	if !tr.ours || p == nil {
		return false
	}
	p.passed++
	return p.blocks || p.passed <= 2 || p.passed%sometimes == 0
}

// Restore restores the action for SIGTRAP and the blocked bit if the kernel has reset them. The thread has
// been at a breakpoint, and its registers are those it continues with.
func (x *Thread) Restore() {
	tr := x.process()
	lost := x.Taken()
	taken := !lost && tr.blockers && !x.stillOpen() && x.blocksRest()
	if !lost && !taken && !tr.due && !tr.set {
		return
	}
	var err error
	switch {
	case taken && !tr.due && !tr.set:
		x.blockAgain()
	case x.calls.Filtered() != "":
		tr.due, tr.set = false, false
	case lost && !tr.set:
		err = x.putBack()
	default:
		err = x.takeOver()
	}
	x.warnNotKept(err)
}

// putBack installs again what the kernel has reset.
func (x *Thread) putBack() (err error) {
	tr, g := x.process(), x.space()
	x.lost = true
	defer func() { x.lost = false }()
	x.NoteMerged()
	if g.Base != 0 {
		err = x.setTrapAction()
	} else {
		err = x.SetAction(ptrace.SIGTRAP, tr.own)
	}
	tr.blockers = true
	if x.leaveOpen() {
		return err
	}
	if p := x.on.Point(); p != nil {
		p.blocks = true
	}
	if x.blocksRest() || !x.anotherBlocks() {
		x.blockTrap()
		x.sendMerged()
	}
	return err
}

// Finding the thread that blocked SIGTRAP. The kernel resets the action for the whole process, and unblocks the signal
// in the thread that hit a breakpoint. If several threads hit one at once, the first whose stop is handled finds the
// action reset, but it may not be the thread that blocked SIGTRAP. Threads that block SIGTRAP usually block all
// signals. So a thread that blocks all other signals that instructions raise, but not SIGTRAP, is taken for one that
// blocked it. Without such a thread, the stopped thread is taken to have blocked it.

// rest contains the signals other than SIGTRAP that instructions raise.
const rest = ptrace.Synchronous &^ ptrace.TrapBit

// blocksRest reports whether the thread blocks all signals that instructions raise except SIGTRAP.
func (x *Thread) blocksRest() bool {
	mask, ok := x.queue.Mask()
	return ok && mask&ptrace.Synchronous == rest
}

// anotherBlocks reports whether another thread of the process blocks all of them except SIGTRAP.
func (x *Thread) anotherBlocks() bool {
	for o := range x.process().on.Threads() {
		if o != x && procfs.SignalSet(o.t.Tid, "SigBlk")&ptrace.Synchronous == rest {
			return true
		}
	}
	return false
}

// blockAgain blocks SIGTRAP in a thread that blocked it before, when the action was restored at another thread's stop.
func (x *Thread) blockAgain() {
	x.lost = true
	x.NoteMerged()
	if !x.leaveOpen() {
		x.blockTrap()
		x.sendMerged()
	}
	x.lost = false
}

// NoteMerged records the siginfo if the stop at a breakpoint is for a SIGTRAP that was sent. The kernel does not queue
// a second SIGTRAP for a thread: if one was already pending and blocked, it is the only report of the hit.
func (x *Thread) NoteMerged() {
	if len(x.merged) == 0 && x.t.SignalCode() <= 0 && x.t.Info.Signal() == ptrace.SIGTRAP {
		x.merged = append(x.merged, x.t.Info)
	}
}

// MergeBlocked keeps a SIGTRAP that was sent until the thread blocks the signal again, if the thread blocked it before
// the present hit. Its siginfo has been read.
func (x *Thread) MergeBlocked() bool {
	if x.t.Info.Code() > 0 || x.t.Info.Signal() != ptrace.SIGTRAP || !x.Taken() {
		return false
	}
	x.merged = append(x.merged, x.t.Info)
	return true
}

// sendMerged makes the signals that reported hits pending again. The thread blocks SIGTRAP again and may fetch the
// signal without delivery (sigwait, signalfd). So a signal that came from the thread's own process is sent by the
// thread itself.
func (x *Thread) sendMerged() {
	for i := range x.merged {
		if x.sendsItself(&x.merged[i]) {
			continue
		}
		x.queue.Resend(&x.merged[i])
	}
	x.merged = x.merged[:0]
}

// sendsItself makes the thread send itself a signal that came from its own process, and reports whether it did.
func (x *Thread) sendsItself(info *ptrace.SigInfo) bool {
	own := numberInside(x.t.Of.Pid())
	if info.Code() != ptrace.CodeThread || info.Pid() != own || x.t.ABI().Stepless || x.calls.Filtered() != "" {
		return false
	}
	_, err := x.calls.Call(x.t.ABI().Calls.Tgkill, uint64(own), uint64(numberInside(x.t.Tid)), uint64(info.Signal()))
	return err == nil
}

// numberInside returns a thread's number in its own namespace.
func numberInside(tid int) int {
	all := strings.Fields(procfs.Status(tid, "NSpid"))
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(all[len(all)-1])
	return n
}

// Taken reports whether the kernel has reset the handler for SIGTRAP that was installed: the thread blocks the
// signal and has raised it.
func (x *Thread) Taken() bool {
	tr := x.process()
	return (tr.ours || tr.own.Caught()) && procfs.SignalSet(x.t.Tid, "SigCgt")&ptrace.TrapBit == 0
}

// blockTrap blocks SIGTRAP in the thread. It was blocked before, or the kernel would not have reset the action.
func (x *Thread) blockTrap() {
	x.clear = false
	x.queue.Block(ptrace.TrapBit)
}
