package engine

import (
	"bytes"
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/isa"
)

// System calls at probed places, on processors where nothing is stepped.
//
// The thread itself has to make the call, with its own registers. So the thread is sent to another instruction of
// the same kind as the displaced one, which the target has mapped anyway and which has no probe, and runs to the
// system call entry stop (PTRACE_SYSCALL). In that stop, before the call begins, the program counter is set behind
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

// callGadget is a system call instruction.
type callGadget struct {
	at    uint64
	thumb bool
}

// beginCall makes a thread make the system call of a point's instruction.
func (x *execution) beginCall(p *point) {
	x.t.s.stats.Steps++
	g, ok := x.findGadget()
	if !ok {
		x.stepInPlace(p, true)
		return
	}
	p.steps++
	x.step = step{active: true, toCall: true, p: p, slot: g.at}
	st := &x.step.st
	st.Saved = x.savedForCall()
	*x.t.pc() = g.at
	if x.t.proc.arch.Is32BitARM() {
		if g.thumb != (st.Saved[1]&isa.Thumb != 0) {
			x.t.regs[isa.CPSR] = setBit(x.t.regs[isa.CPSR]&^isa.BlockState, isa.Thumb, g.thumb)
			st.Flags = 1 // the previous state has to be restored
		}
	}
	x.t.setRegs()
	x.t.resume(0)
}

// savedForCall returns the registers that afterCallElsewhere needs: the one in which the kernel marks stops, and
// CPSR.
func (x *execution) savedForCall() (saved [4]uint64) {
	saved[0] = x.t.regs[x.t.proc.arch.StopMarker()]
	if x.t.proc.arch.Is32BitARM() {
		saved[1] = x.t.regs[isa.CPSR]
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
func (x *execution) afterCallElsewhere() (done bool) {
	p, st := x.step.p, &x.step.st
	done = *x.t.pc() != x.step.slot
	*x.t.pc() = p.addr
	if done {
		*x.t.pc() += uint64(p.length)
	}
	x.t.regs[x.t.proc.arch.StopMarker()] = st.Saved[0]
	switch {
	case !x.t.proc.arch.Is32BitARM():
	case !done:
		x.t.regs[isa.CPSR] = st.Saved[1]
	case st.Flags != 0: // the instruction is the last of an IT block or in none: the other instruction set has no such blocks
		x.t.regs[isa.CPSR] = setBit(x.t.regs[isa.CPSR], isa.Thumb, st.Saved[1]&isa.Thumb != 0)
		x.t.regs[isa.CPSR] = x.t.regs[isa.CPSR]&^isa.BlockState | nextIT(st.Saved[1])
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

// callSeen handles the end of a system call that has a probe. If the kernel makes the call once more, that is not
// another hit.
func (x *execution) callSeen() {
	p := x.seeExit
	x.seeExit = nil
	if p == nil || !x.t.getRegs() {
		return
	}
	if *x.t.pc() == p.addr+uint64(p.length) && x.t.proc.arch.Restarts(&x.t.regs) {
		x.redoAt(p.addr)
	}
}

// findGadget finds an instruction with which the thread's process can call the kernel. The result is kept and
// checked before each use: a probe may have been placed on it, or the memory may no longer exist.
func (x *execution) findGadget() (callGadget, bool) {
	sp := x.t.proc.space
	if g := sp.gadgetAt; g.at != 0 && sp.isGadget(g) {
		return g, true
	}
	maps, err := module.Maps(x.t.tid)
	if err != nil {
		return callGadget{}, false
	}
	slices.SortStableFunc(maps, func(a, b module.Mapping) int { return preference(a) - preference(b) })
	for _, m := range maps {
		if g, ok := sp.gadgetIn(m); ok {
			sp.gadgetAt = g
			return g, true
		}
	}
	return callGadget{}, false
}

// preference sorts the kernel's own pages first: probes are seldom placed there.
func preference(m module.Mapping) int {
	switch m.Path {
	case "[vdso]", "[sigpage]":
		return 0
	}
	return 1
}

// gadgetIn searches one mapping for a gadget, in the actual contents of memory.
func (sp *space) gadgetIn(m module.Mapping) (callGadget, bool) {
	if !m.Exec || !m.Read || m.Path == "[vectors]" {
		return callGadget{}, false
	}
	const chunk = 64 << 10
	var buf [chunk]byte
	calls := &sp.arch.Calls
	for at := m.Start; at < m.End; at += chunk {
		code := buf[:sp.mem.PeekAvailable(at, buf[:min(chunk, m.End-at)])]
		if i := aligned(code, calls.Insn, 4); i >= 0 {
			return callGadget{at + uint64(i), false}, true
		}
		if i := aligned(code, calls.Thumb, 2); i >= 0 {
			return callGadget{at + uint64(i), true}, true
		}
	}
	return callGadget{}, false
}

// aligned returns the index of an instruction in code, at a multiple of n, or -1.
func aligned(code, insn []byte, n int) int {
	for i := 0; len(insn) > 0 && i+len(insn) <= len(code); i += n {
		if bytes.Equal(code[i:i+len(insn)], insn) {
			return i
		}
	}
	return -1
}

// isGadget reports whether a gadget is still in memory.
func (sp *space) isGadget(g callGadget) bool {
	want := sp.arch.Calls.Insn
	if g.thumb {
		want = sp.arch.Calls.Thumb
	}
	now := make([]byte, len(want))
	return sp.mem.Peek(g.at, now) == nil && bytes.Equal(now, want)
}
