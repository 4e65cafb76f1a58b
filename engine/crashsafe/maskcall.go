package crashsafe

import (
	"encoding/binary"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/isa"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// pending is a call of the kernel that a thread is about to make, at a breakpoint of watchSignalCalls, with the
// instruction by which it makes the call.
type pending struct {
	*Thread
	insn callInsn
}

// MakeCall makes the call that the thread is about to make at a breakpoint of watchSignalCalls, and reports
// whether it did. It makes rt_sigprocmask calls, and rt_sigaction calls for SIGTRAP. The kernel makes all others.
func (x *Thread) MakeCall(p *Point) bool {
	call := pending{x, p.insn}
	if p.Call == NoCall || call.arg(3) != setBytes || call.notPlain() {
		return false
	}
	of := &x.t.ABI().Calls
	switch number := call.number(); {
	case number == of.Procmask && call.setsMask():
	case number == of.Sigaction && uint32(call.arg(0)) == ptrace.SIGTRAP && call.setsAction(p):
	case number == of.Sigaction && uint32(call.arg(0)) != ptrace.SIGTRAP && call.arg(1) != 0:
		x.on.ActionSet(int(uint32(call.arg(0))))
		return false
	default:
		return false
	}
	x.t.Regs = call.afterCall()
	return true
}

// helperNumber and linkRegister are registers of 32-bit ARM: the one in which callHelper gets the number, and the one
// in which a call leaves the return address.
const (
	helperNumber = 12
	linkRegister = 14
)

// number returns the number of the pending call.
func (x pending) number() uint64 {
	if x.insn.helper {
		return x.t.Regs[helperNumber]
	}
	return x.t.Regs[x.t.ABI().Calls.Number]
}

// arg returns an argument of the pending call, the first of which is 0.
func (x pending) arg(n int) uint64 { return x.t.Regs[x.t.ABI().Calls.Args[n]] }

// notPlain reports whether more happens at the call's instruction than the call: the program steps itself, or the
// instruction is in an IT block of Thumb, where it may have a condition and counts.
func (x pending) notPlain() bool {
	a, r := x.t.ABI(), &x.t.Regs
	return a.FlagsRegister >= 0 && r[a.FlagsRegister]&tracee.TrapFlag != 0 || a.Is32BitARM() && r[isa.CPSR]&isa.BlockState != 0
}

// afterCall returns the registers that the pending call leaves when it has succeeded.
func (x pending) afterCall() arch.Regs {
	a, r := x.t.ABI(), x.t.Regs
	r[a.Ret()] = 0
	r[a.PC()] += uint64(x.insn.length)
	switch {
	case a == &abi.AMD64: // what the instruction leaves there
		r[x86.RCX], r[x86.R11] = r[x86.RIP], r[x86.EFLAGS]
	case x.insn.helper:
		r[linkRegister] = r[a.PC()] | 1 // it returns to Thumb code
	}
	return r
}

// setsMask makes an rt_sigprocmask call. It leaves to the kernel the cases that only the kernel can judge: bad
// arguments and system call filters. While system calls are traced, the kernel makes every call, so that it is seen.
func (x pending) setsMask() bool {
	if !x.open && (!x.clear || x.blocksRest()) { // this hit may have unblocked SIGTRAP and reset the action
		x.Restore()
	}
	now, next, ok := x.change()
	if !ok {
		return false
	}
	if x.in.on.TracesCalls() || x.filtered() {
		x.seeMask = x.seeMask || blocksAll(next)
		return false
	}
	if old := x.arg(2); old != 0 && !x.write(old, binary.LittleEndian.AppendUint64(nil, now)) {
		return false
	}
	if !x.passWithMask(next) {
		return false
	}
	if newly := next &^ now; newly != 0 {
		x.retarget(newly)
	}
	return true
}

// filtered reports whether filters of system calls decide about the pending call. Where nothing is stepped, a call that
// the thread itself has to make may begin at an instruction elsewhere (armcall.go in package stepping), where the
// thread would stay if the session were killed and there were no slot. So filters that let the call pass do not count
// there.
func (x pending) filtered() bool {
	if x.t.Status("Seccomp") == "0" {
		return false
	}
	return !x.t.ABI().Stepless || !x.calls.Allows(x.t.ABI().Calls.Procmask, x.arg(0), x.arg(1), x.arg(2), x.arg(3))
}

// passWithMask is setOwnMask for the mask that the pending call sets. If the session were killed when the mask is set
// and the thread is still in front of the call, the thread would make the call itself: the kernel would then store the
// new mask as the previous one, and the program would never get its own mask back. So both change together.
func (x pending) passWithMask(mask uint64) bool {
	at, open, meant, isClear := x.t.Regs, x.open, x.meant, x.clear
	mask = x.leaveTrapOpen(mask)
	err := x.calls.SetMask(mask, func() { x.queue.SetMask(mask) }, x.afterCall())
	x.t.Regs = at // the caller moves on
	if err != nil {
		x.open, x.meant, x.clear = open, meant, isClear
	}
	return err == nil
}

// retarget makes other threads check for process-wide signals that the kernel may have assigned to this thread and that
// it now blocks. The kernel does the same when a thread changes its own mask (retarget_shared_pending in
// kernel/signal.c). A thread checks for them when it leaves a stop.
func (x pending) retarget(blocked uint64) {
	pending := procfs.SignalSet(x.t.Tid, "ShdPnd") & blocked
	if pending == 0 {
		return
	}
	for o := range x.process().on.Threads() {
		if o != x.Thread && o.on.Runs() && pending&^procfs.SignalSet(o.t.Tid, "SigBlk") != 0 {
			ptrace.Interrupt(o.t.Tid)
		}
	}
}

// setsAction makes an rt_sigaction call for SIGTRAP. It reports the program's previous action, and stores the new one
// where the fallback's handler finds it. So the handler is installed at every moment.
func (x pending) setsAction(p *Point) bool {
	act, old := x.arg(1), x.arg(2)
	if x.process().Unguarded() && act != 0 {
		x.ProtectAtHit(p)
	}
	tr := x.process()
	if x.space().Base == 0 || !tr.ours {
		tr.set = true // the next hit queries it
		return false
	}
	word := x.t.ABI().WordSize()
	var text [fallback.ActionSize]byte
	if act != 0 && !x.read(act, text[:]) {
		return false
	}
	if old != 0 && !x.write(old, tr.own.Bytes(word)) {
		tr.set = act != 0
		return false
	}
	return act == 0 || x.wantOf(fallback.ParseAction(text[:], word), x.afterCall())
}

// change returns the mask that the program believes the thread has, and the mask that the pending call asks for. ok
// is false if the kernel would refuse the call.
func (x pending) change() (now, next uint64, ok bool) {
	if now, ok = x.ownMask(); !ok || x.arg(1) == 0 {
		return now, now, ok
	}
	var set [setBytes]byte
	if !x.read(x.arg(1), set[:]) {
		return now, now, false
	}
	next, ok = changedMask(uint32(x.arg(0)), now, binary.LittleEndian.Uint64(set[:]))
	return now, next, ok
}

// read reads an argument of the pending call, as the kernel would. The constants of the C library are often in pages
// that no one has read before.
func (x pending) read(addr uint64, p []byte) bool {
	return x.t.Memory().FaultIn(addr, len(p)) && x.t.Memory().ReadMemory(addr, p) == nil
}

// write writes a result of the pending call, as the kernel would.
func (x pending) write(addr uint64, p []byte) bool {
	return x.t.Memory().FaultIn(addr, len(p)) && x.t.Memory().WriteMemory(addr, p) == nil
}
