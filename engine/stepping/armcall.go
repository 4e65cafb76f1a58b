package stepping

import (
	"gotap/engine/inject"
	"gotap/engine/isa"
	"gotap/engine/space"
	"gotap/engine/tracee"
)

// System calls at probed places, on processors where nothing is stepped.
//
// The thread itself has to make the call, with its own registers. So the thread is sent to a copy of the instruction in
// the point's slot, behind which is a jump back, and runs to the system call entry stop (PTRACE_SYSCALL). If the
// session is killed, the thread makes the call there and returns by itself. There may be no slot, because no memory can
// be mapped within reach or because a filter of system calls forbids it. Then the thread is sent to another instruction
// of the same kind, which the target has mapped anyway and which has no probe. If the session is killed before the
// entry stop has been handled, the thread stays there.
//
// In the entry stop, before the call begins, the program counter is set behind
// the probed instruction. So, as on x86, a blocking call, a handler that interrupts it and a child that it creates
// see only the program's own addresses, and the kernel restarts the call at the probed instruction. All other
// registers are the program's own. The processor leaves the state of an IT block as it is behind the instruction,
// wherever the instruction lies.
//
// The end of the call is seen too. Only there does the kernel show whether it will make the call once more: on ARM
// it sets the program counter back itself before it reports the signal that interrupted the call, and then nothing
// distinguishes the thread from one that has not reached the instruction yet. A restarted call is not another hit.
//
// In stops at system calls the kernel shows 0 or 1 in x7 (r12 on 32-bit ARM), and restores the register later
// without the tracer's involvement. So the register's value is taken from before the stop.

// beginCall makes a thread make the system call of a point's instruction.
func (x *Thread) beginCall(p *space.Point) {
	x.parts.Stats.Steps++
	g, ok := x.callPlace(p)
	if !ok {
		x.StepInPlace(p, true)
		return
	}
	p.Steps++
	x.step = step{active: true, toCall: true, p: p, slot: g.At}
	st := &x.step.st
	st.Saved = x.savedForCall()
	*x.PC() = g.At
	if x.parts.View.Space.ABI.Is32BitARM() {
		if g.Thumb != (st.Saved[1]&isa.Thumb != 0) {
			x.Regs[isa.CPSR] = setBit(x.Regs[isa.CPSR]&^isa.BlockState, isa.Thumb, g.Thumb)
			st.Flags = 1 // the previous state has to be restored
		}
	}
	x.SetRegs()
	x.on.Checkpoint(tracee.InEntry)
	x.on.Resume(0)
}

// callPlace returns an instruction that calls the kernel: the copy in the point's slot. If no slot can be had, it is an
// instruction that the target has elsewhere.
func (x *Thread) callPlace(p *space.Point) (inject.Gadget, bool) {
	if x.parts.Patcher.SlotFor(p, x.Thread, x.parts.Inject) {
		return inject.Gadget{At: p.Slot}, true
	}
	return x.parts.Inject.FindGadget()
}

// savedForCall returns the registers that afterCallElsewhere needs: the one in which the kernel marks stops, and
// CPSR.
func (x *Thread) savedForCall() (saved [4]uint64) {
	saved[0] = x.Regs[x.parts.View.Space.ABI.StopMarker()]
	if x.parts.View.Space.ABI.Is32BitARM() {
		saved[1] = x.Regs[isa.CPSR]
	}
	return saved
}

func setBit(v, bit uint64, on bool) uint64 {
	if on {
		return v | bit
	}
	return v &^ bit
}

// afterCallElsewhere corrects the registers, whether the thread has reached the system call entry stop or not. done
// reports whether it has.
func (x *Thread) afterCallElsewhere() (done bool) {
	p, st := x.step.p, &x.step.st
	done = *x.PC() != x.step.slot
	*x.PC() = p.Addr
	if done {
		*x.PC() += uint64(p.Length)
	}
	x.Regs[x.parts.View.Space.ABI.StopMarker()] = st.Saved[0]
	switch {
	case !x.parts.View.Space.ABI.Is32BitARM():
	case !done:
		x.Regs[isa.CPSR] = st.Saved[1]
	case st.Flags != 0: // the instruction is the last of an IT block or in none: the other instruction set has no such blocks
		x.Regs[isa.CPSR] = setBit(x.Regs[isa.CPSR], isa.Thumb, st.Saved[1]&isa.Thumb != 0)
		x.Regs[isa.CPSR] = x.Regs[isa.CPSR]&^isa.BlockState | nextIT(st.Saved[1])
	}
	return done
}

// nextIT returns the state of an IT block behind an instruction (Arm ARM DDI 0406, A2.5.2): the lower five bits are
// shifted, and the block ends with the last of them.
func nextIT(cpsr uint64) uint64 {
	it := cpsr>>25&3 | cpsr>>10&0x3f<<2
	if it&7 == 0 {
		return 0
	}
	it = it&0xe0 | it<<1&0x1f
	return it&3<<25 | it>>2<<10
}

// CallSeen handles the end of a system call that has a probe. If the kernel makes the call once more, that is not
// another hit.
func (x *Thread) CallSeen() {
	p := x.seeExit
	x.seeExit = nil
	if p == nil || !x.GetRegs() {
		return
	}
	if *x.PC() == p.Addr+uint64(p.Length) && x.parts.View.Space.ABI.Restarts(&x.Regs) {
		x.redoAt(p.Addr)
	}
}
