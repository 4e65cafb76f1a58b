package engine

import (
	"bytes"
	"slices"

	"gotap/engine/image/module"
	"gotap/engine/isa"
)

// System calls at probed places, on processors where nothing is stepped.
//
// The kernel has to be asked by the thread itself, with its own registers. So the thread is sent to another instruction of the kind
// that the probe displaced, one that the target has mapped anyway and that no probe stands on, and let run to the kernel's door
// (PTRACE_SYSCALL). In the stop there the program counter is put behind the instruction at home, before the call begins: as on x86,
// a blocking call, a handler that interrupts it, a child that it makes see nothing but the program's own addresses, and the kernel
// restarts it at home. Everything else of the registers is as the program has it. The processor leaves the state of an IT block as
// it is behind the instruction, wherever that lies.
//
// The end of the call is seen as well. Only there does the kernel show whether it will make the call once more: on ARM it
// puts the program counter back itself before it reports the signal that interrupted the call, and then nothing tells that
// from a thread that has not come to the instruction yet. A restarted call is not another hit.
//
// In stops at system calls the kernel shows 0 or 1 in x7 (r12 of 32-bit ARM) and puts the register right behind the
// tracer's back, so it is taken from before.

// callGadget is an instruction that calls the kernel.
type callGadget struct {
	at    uint64
	thumb bool
}

// beginCall has a thread make the system call that the instruction of a point makes.
func (t *thread) beginCall(p *point) {
	t.s.stats.Steps++
	g, ok := t.findGadget()
	if !ok {
		t.stepInPlace(p, true)
		return
	}
	p.steps++
	t.step = step{active: true, toCall: true, p: p, slot: g.at}
	st := &t.step.st
	st.Saved = t.savedForCall()
	*t.pc() = g.at
	if t.proc.arch.Is32BitARM() {
		if g.thumb != (st.Saved[1]&isa.Thumb != 0) {
			t.regs[isa.CPSR] = setBit(t.regs[isa.CPSR]&^isa.BlockState, isa.Thumb, g.thumb)
			st.Flags = 1 // the state of before has to come back
		}
	}
	t.setRegs()
	t.resume(0)
}

// savedForCall is what afterCallElsewhere needs of the registers: that which the kernel marks stops with, and CPSR.
func (t *thread) savedForCall() (saved [4]uint64) {
	saved[0] = t.regs[t.proc.arch.StopMarker()]
	if t.proc.arch.Is32BitARM() {
		saved[1] = t.regs[isa.CPSR]
	}
	return saved
}

func setBit(v, bit uint64, on bool) uint64 {
	if on {
		return v | bit
	}
	return v &^ bit
}

// afterCallElsewhere puts the registers right when the thread has come to the kernel's door, or has not. done reports that it has.
func (t *thread) afterCallElsewhere() (done bool) {
	p, st := t.step.p, &t.step.st
	done = *t.pc() != t.step.slot
	*t.pc() = p.addr
	if done {
		*t.pc() += uint64(p.length)
	}
	t.regs[t.proc.arch.StopMarker()] = st.Saved[0]
	switch {
	case !t.proc.arch.Is32BitARM():
	case !done:
		t.regs[isa.CPSR] = st.Saved[1]
	case st.Flags != 0: // an IT block whose instruction is the last, or none: the other set has no such blocks
		t.regs[isa.CPSR] = setBit(t.regs[isa.CPSR], isa.Thumb, st.Saved[1]&isa.Thumb != 0)
		t.regs[isa.CPSR] = t.regs[isa.CPSR]&^isa.BlockState | nextIT(st.Saved[1])
	}
	return done
}

// nextIT is the state of an IT block behind an instruction (Arm ARM DDI 0406, A2.5.2): the lower five bits are shifted, and the
// block ends with the last of them.
func nextIT(cpsr uint64) uint64 {
	it := cpsr>>25&3 | cpsr>>10&0x3f<<2
	if it&7 == 0 {
		return 0
	}
	it = it&0xe0 | it<<1&0x1f
	return it&3<<25 | it>>2<<10
}

// callSeen deals with the end of a system call that a probe stands on. A call that the kernel makes once more is no hit then.
func (t *thread) callSeen() {
	p := t.seeExit
	t.seeExit = nil
	if p == nil || !t.getRegs() {
		return
	}
	if *t.pc() == p.addr+uint64(p.length) && t.proc.arch.Restarts(&t.regs) {
		t.redoAt(p.addr)
	}
}

// findGadget finds an instruction by which the thread's process can call the kernel. What was found is kept, and looked at before each
// use: a probe may stand on it by now, or the memory be gone.
func (t *thread) findGadget() (callGadget, bool) {
	sp := t.proc.space
	if g := sp.gadgetAt; g.at != 0 && sp.isGadget(g) {
		return g, true
	}
	maps, err := module.Maps(t.tid)
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

// preference puts the kernel's own pages first: probes seldom stand there.
func preference(m module.Mapping) int {
	switch m.Path {
	case "[vdso]", "[sigpage]":
		return 0
	}
	return 1
}

// gadgetIn looks for a gadget in one mapping, in what is really in its memory.
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

// aligned finds an instruction in code, at a multiple of n; -1: there is none.
func aligned(code, insn []byte, n int) int {
	for i := 0; len(insn) > 0 && i+len(insn) <= len(code); i += n {
		if bytes.Equal(code[i:i+len(insn)], insn) {
			return i
		}
	}
	return -1
}

// isGadget reports whether a gadget is still there.
func (sp *space) isGadget(g callGadget) bool {
	want := sp.arch.Calls.Insn
	if g.thumb {
		want = sp.arch.Calls.Thumb
	}
	now := make([]byte, len(want))
	return sp.mem.Peek(g.at, now) == nil && bytes.Equal(now, want)
}
