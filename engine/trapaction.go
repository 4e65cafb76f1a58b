package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"gotap/engine/fallback"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// The target's action for SIGTRAP. It is the fallback's handler (guard.go) for as long as the session lasts, and the program's own is kept
// in the region, where that handler finds it. Two things may happen to it.
//
// A breakpoint or a step in a thread that blocks SIGTRAP makes the kernel unblock the signal and set its action back to the
// default, whether a tracer swallows the signal or not (force_sig_info in kernel/signal.c). It is put back. In processes that have a
// handler of their own that is looked at after every hit; in others after the first hits of each point and now and then, because
// a point is passed with the signal blocked always or never, mostly.
//
// An action of which only the handler is gone was taken by the kernel; one that the program has set differs in its mask, flags or
// restorer too.
//
// The program may set an action. The functions for that of the C library and of Go's runtime are watched: what they would set is what the
// handler passes foreign signals on to, and what they say was set before is what the program had set. Other ways are
// noticed when a thread is made.

// trapAction is what is known of a process's action for SIGTRAP.
type trapAction struct {
	own      fallback.Action // the program's
	asked    bool            // it has been tried to put in the fallback
	ours     bool            // the fallback's handler is installed over it
	due      bool            // it may have changed, and has to be asked for
	set      bool            // the program has called a function to set it
	lost     bool            // it was ours, and the process was made without it
	blockers bool            // it has been found taken away by the kernel: a thread blocks SIGTRAP
	once     bool            // the program's handler, which the region still has, was called and is to be called no more
}

// checkTrap looks what became of the action in a process that has just been made, with what its parent's is now: it may have been
// made without its parent's handlers, or before the parent had ours, or while the kernel had taken that away. Where memory is
// shared, and the region in it, the program's own handler stays known there: it is the parent's.
func (p *process) checkTrap(cleared, shared bool) {
	tr := &p.trap
	if cleared && !shared && tr.own.Caught() {
		tr.own = fallback.Action{}
	}
	switch {
	case p.space.guard.base == 0:
		*tr = trapAction{own: tr.own}
	case tr.ours && hexField(p.pid, "SigCgt")&trapBit == 0:
		tr.lost, tr.ours = true, false
	}
}

// installAgain gives a process that was made without it the fallback's handler, before it runs.
func (t *thread) installAgain() {
	tr := &t.proc.trap
	tr.lost = false
	if t.filtered() != "" {
		return
	}
	var err error
	if t.proc.space.users > 1 {
		err = t.setTrapAction()
	} else {
		err = t.want(tr.own)
	}
	t.warnNotKept(err)
}

// warnNotKept tells that the fallback's handler could not be kept, if it could not. A thread that ended while it was asked needs none.
func (t *thread) warnNotKept(err error) {
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		t.s.warn(fmt.Sprintf("process %d: its handler for SIGTRAP cannot be kept: %v", t.proc.pid, err))
	}
}

// trapBit is SIGTRAP in a set of signals.
const trapBit = 1 << (ptrace.SIGTRAP - 1)

// checkTrapAction has the action asked for at the next hit.
func (p *process) checkTrapAction(tid int) {
	if p.trap.ours || hexField(tid, "SigCgt")&trapBit != 0 {
		p.trap.due = true
	}
}

// want makes an action the one that the program wants: foreign signals are passed on to it.
func (t *thread) want(own fallback.Action) error {
	sp := t.proc.space
	head := make([]byte, fallback.HeadSize)
	if err := sp.mem.Peek(sp.guard.base, head); err != nil {
		return err
	}
	fallback.SetOwn(head, sp.guard.base, own, t.proc.arch.WordSize())
	if err := sp.mem.Poke(sp.guard.base, head, t.tid); err != nil {
		return err
	}
	t.proc.trap.own, t.proc.trap.once = own, false
	return t.setTrapAction()
}

// wantAtCall is want at the breakpoint that shows the program's wish. That hit itself may have taken the handler away, and the
// blocked bit; when the handler is there again nothing tells of it any more, so that is put right first.
func (t *thread) wantAtCall(own fallback.Action) error {
	if t.trapTaken() && t.filtered() == "" {
		if err := t.putBack(); err != nil {
			return err
		}
	}
	return t.want(own)
}

// passTrap notes that a SIGTRAP is about to be passed on to the program. A handler that asked to be called once (SA_RESETHAND) is the
// program's action no more; the region forgets it when another SIGTRAP comes, because this one has yet to find it there.
func (t *thread) passTrap() {
	tr, sp := &t.proc.trap, t.proc.space
	if tr.once {
		tr.once = false
		head := make([]byte, fallback.HeadSize)
		if sp.mem.Peek(sp.guard.base, head) == nil {
			fallback.SetOwn(head, sp.guard.base, tr.own, t.proc.arch.WordSize())
			sp.mem.Poke(sp.guard.base, head, t.tid)
		}
	}
	if t.leftStep && t.trapCode() == ptrace.CodeTrace {
		t.leftStep = false
	} else if a := t.proc.arch; tr.ours && a.FlagsRegister >= 0 && t.regs[a.FlagsRegister]&trapFlag == 0 && t.trapCode() == ptrace.CodeTrace {
		t.info.SetCode(fallback.CodePassed)
		ptrace.SetSigInfo(t.tid, &t.info)
	}
	if tr.own.Once() {
		tr.own, tr.once = fallback.Action{}, tr.ours
	}
}

// libMask is the size of the mask in the C library's struct sigaction, between the handler and the flags.
const libMask = 128

// readAction reads the C library's struct sigaction.
func (t *thread) readAction(addr uint64) (a fallback.Action, ok bool) {
	word := t.proc.arch.WordSize()
	p := make([]byte, word+libMask+4)
	if t.proc.space.mem.Peek(addr, p) != nil {
		return a, false
	}
	handler := uint64(binary.LittleEndian.Uint32(p))
	if word == 8 {
		handler = binary.LittleEndian.Uint64(p)
	}
	a = fallback.Simple(handler, t.proc.space.guard.base)
	a.Flags = fallback.WithRestorer(uint64(binary.LittleEndian.Uint32(p[word+libMask:])))
	copy(a.Mask[:], p[word:])
	return a, true
}

// writeAction writes the C library's struct sigaction.
func (t *thread) writeAction(addr uint64, a fallback.Action) {
	word := t.proc.arch.WordSize()
	p := make([]byte, word+libMask+4)
	binary.LittleEndian.PutUint32(p, uint32(a.Handler))
	if word == 8 {
		binary.LittleEndian.PutUint64(p, a.Handler)
	}
	copy(p[word:], a.Mask[:])
	binary.LittleEndian.PutUint32(p[word+libMask:], uint32(a.Flags))
	t.proc.space.mem.Poke(addr, p, t.tid)
}

// queryTrapAction asks the kernel for the process's action for SIGTRAP, by way of a stopped thread.
func (t *thread) queryTrapAction() (a fallback.Action, err error) {
	var p [fallback.ActionSize]byte
	err = t.withScratch(func(addr uint64) error {
		if err := t.callSigaction(0, addr); err != nil {
			return err
		}
		return t.proc.space.mem.Peek(addr, p[:])
	})
	return fallback.ParseAction(p[:], t.proc.arch.WordSize()), err
}

// setTrapAction makes the fallback's handler the action for SIGTRAP. The region says what the program's own is.
func (t *thread) setTrapAction() error {
	err := t.callSigaction(t.proc.space.guard.base+fallback.ActionAt, 0)
	t.proc.trap.ours = err == nil
	return err
}

// takeOver asks for the action, and if it is not ours takes it for one that the program has set.
func (t *thread) takeOver() error {
	tr, g := &t.proc.trap, &t.proc.space.guard
	tr.due, tr.set = false, false
	now, err := t.queryTrapAction()
	if err != nil || g.base != 0 && now.Handler == fallback.Handler(g.base) {
		return err
	}
	if g.base != 0 && now.TakenFrom(tr.own, g.base) { // by another thread's hit, just now: that one has yet to be dealt with
		tr.blockers = true
		return t.setTrapAction()
	}
	tr.own = now
	if g.base == 0 {
		return nil
	}
	return t.want(now)
}

// sometimes is after how many hits of a point it is looked whether the handler is still there.
const sometimes = 1 << 10

// looks reports whether it has to be looked after a hit whether the kernel has taken the action for SIGTRAP away.
func (t *thread) looks() bool {
	tr := &t.proc.trap
	if tr.due || tr.set || tr.own.Caught() || !t.stillOpen() && t.blocksRest() {
		return true
	}

	p := t.at
	if !tr.ours || p == nil {
		return false
	}
	p.passed++
	return p.blocks || p.passed <= 2 || p.passed%sometimes == 0
}

// restoreTrapAction puts the action for SIGTRAP back if the kernel has taken it away, and the blocked bit. The thread has been at a
// breakpoint, and its registers are as they will go on.
func (t *thread) restoreTrapAction() {
	tr := &t.proc.trap
	lost := t.trapTaken()
	taken := !lost && tr.blockers && !t.stillOpen() && t.blocksRest()
	if !lost && !taken && !tr.due && !tr.set {
		return
	}
	var err error
	switch {
	case taken && !tr.due && !tr.set:
		t.blockAgain()
	case t.filtered() != "":
		tr.due, tr.set = false, false
	case lost && !tr.set:
		err = t.putBack()
	default:
		err = t.takeOver()
	}
	t.warnNotKept(err)
}

// putBack installs what the kernel has taken away.
func (t *thread) putBack() (err error) {
	tr, g := &t.proc.trap, &t.proc.space.guard
	t.trapLost = true
	defer func() { t.trapLost = false }()
	t.noteMerged()
	if g.base != 0 {
		err = t.setTrapAction()
	} else {
		err = t.withScratch(func(addr uint64) error {
			if err := t.proc.space.mem.Poke(addr, tr.own.Bytes(t.proc.arch.WordSize()), t.tid); err != nil {
				return err
			}
			return t.callSigaction(addr, 0)
		})
	}
	tr.blockers = true
	if t.leaveOpen() {
		return err
	}
	if t.at != nil {
		t.at.blocks = true
	}
	if t.blocksRest() || !t.anotherBlocks() {
		t.blockTrap()
		t.sendMerged()
	}
	return err
}

// Which thread blocked SIGTRAP. The kernel sets the action back for the whole process, and unblocks the signal in the thread that
// has hit a breakpoint. When several have at once, the first whose stop is dealt with finds the action gone, and need not be the
// one. Threads that block the signal block all signals, mostly: one that blocks all others that instructions raise, and not this
// one, is taken for one that did. Where there is none, it is the thread that is stopped.

// rest are the signals besides SIGTRAP that instructions raise.
const rest = synchronous &^ trapBit

// blocksRest reports whether the thread blocks all signals that instructions raise but SIGTRAP.
func (t *thread) blocksRest() bool {
	mask := t.mask
	if !t.masked && ptrace.GetSigMask(t.tid, &mask) != 0 {
		return false
	}
	return mask&synchronous == rest
}

// anotherBlocks reports whether another thread of the process does.
func (t *thread) anotherBlocks() bool {
	for tid := range t.proc.threads {
		if tid != t.tid && hexField(tid, "SigBlk")&synchronous == rest {
			return true
		}
	}
	return false
}

// blockAgain blocks SIGTRAP in a thread that blocked it, when the action has been put back at the stop of another.
func (t *thread) blockAgain() {
	t.trapLost = true
	t.noteMerged()
	if !t.leaveOpen() {
		t.blockTrap()
		t.sendMerged()
	}
	t.trapLost = false
}

// noteMerged looks whether the stop at a breakpoint is for a SIGTRAP that somebody sent. The kernel does not queue a second one for
// a thread: one that was pending, and blocked, is all that tells of the hit.
func (t *thread) noteMerged() {
	if len(t.merged) == 0 && t.trapCode() <= 0 && t.info.Signal() == ptrace.SIGTRAP {
		t.merged = append(t.merged, t.info)
	}
}

// mergeBlocked keeps a SIGTRAP that somebody sent until the thread blocks the signal again, if it did before the present hit. Its
// info has been read.
func (t *thread) mergeBlocked() bool {
	if t.info.Code() > 0 || t.info.Signal() != ptrace.SIGTRAP || !t.trapTaken() {
		return false
	}
	t.merged = append(t.merged, t.info)
	return true
}

// sendMerged makes pending again what told of a hit. The thread blocks SIGTRAP again, and may fetch the signal without its being delivered
// (sigwait, signalfd); so one that it sent to itself is sent by it.
func (t *thread) sendMerged() {
	for i := range t.merged {
		if t.sendsItself(&t.merged[i]) {
			continue
		}
		if ptrace.SendThread(t.proc.pid, t.tid, ptrace.SIGTRAP) == 0 {
			t.resent = append(t.resent, t.merged[i])
		}
	}
	t.merged = t.merged[:0]
}

// sendsItself has the thread send itself a signal that came from its own process, and reports whether it has.
func (t *thread) sendsItself(info *ptrace.SigInfo) bool {
	own := inner(t.proc.pid)
	if info.Code() != ptrace.CodeThread || info.Pid() != own || t.proc.arch.Stepless || t.filtered() != "" {
		return false
	}
	_, err := t.callKernel(t.proc.arch.Calls.Tgkill, uint64(own), uint64(inner(t.tid)), uint64(info.Signal()))
	return err == nil
}

// inner is the number that a thread has in its own namespace.
func inner(tid int) int {
	all := strings.Fields(procfs.Status(tid, "NSpid"))
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(all[len(all)-1])
	return n
}

// trapTaken reports whether the kernel has taken away the handler for SIGTRAP that was there: the thread blocks the signal, and has
// raised it.
func (t *thread) trapTaken() bool {
	tr := &t.proc.trap
	return (tr.ours || tr.own.Caught()) && hexField(t.tid, "SigCgt")&trapBit == 0
}

// blockTrap blocks SIGTRAP in the thread: it was blocked, or the kernel would not have taken the action away.
func (t *thread) blockTrap() {
	t.trapClear = false
	if t.masked {
		t.mask |= trapBit
		return
	}
	var mask uint64
	if ptrace.GetSigMask(t.tid, &mask) == 0 {
		mask |= trapBit
		ptrace.SetSigMask(t.tid, &mask)
	}
}

// callSigaction makes the thread call rt_sigaction for SIGTRAP.
func (t *thread) callSigaction(act, old uint64) error {
	const setSize = 8 // bytes of a set of signals
	_, err := t.callKernel(t.proc.arch.Calls.Sigaction, ptrace.SIGTRAP, act, old, setSize)
	return err
}

// withScratch lends a few bytes of the thread's stack, from below what the calling convention lets it use; they are put back.
func (t *thread) withScratch(use func(addr uint64) error) error {
	const redZone, size = 128, 64
	addr := (t.sp() - redZone - size) &^ 15
	var old [size]byte
	mem := t.proc.space.mem
	if err := mem.Peek(addr, old[:]); err != nil {
		return err
	}
	err := use(addr)
	if e := mem.Poke(addr, old[:], t.tid); err == nil {
		err = e
	}
	return err
}
