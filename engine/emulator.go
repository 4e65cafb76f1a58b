package engine

import (
	"errors"

	"gotap/arch"
	"gotap/arch/arm64"
	"gotap/engine/isa"
	"gotap/engine/linux/hostcpu"
	"gotap/engine/linux/ptrace"
	"gotap/engine/place"
)

// threadMemory is a target's memory for the instruction of one thread, with what else of the thread its instructions may read.
type threadMemory struct {
	*ptrace.Memory
	t   *thread
	met uint64 // watchpoints that were met: bit i is watch i of the process
}

// ReadMemory implements arch.Memory. The processor does not see what is watched being read by us.
func (m *threadMemory) ReadMemory(addr uint64, p []byte) error {
	m.note(addr, len(p), false)
	return m.Memory.ReadMemory(addr, p)
}

// WriteMemory implements arch.Memory.
func (m *threadMemory) WriteMemory(addr uint64, p []byte) error {
	m.note(addr, len(p), true)
	return m.Memory.WriteMemory(addr, p)
}

// note remembers the watchpoints that an access meets.
func (m *threadMemory) note(addr uint64, n int, write bool) {
	for i, w := range m.t.proc.watches {
		kind := w.spec.Access == place.OnReadWrite || write && w.spec.Access == place.OnWrite
		if kind && addr < w.addr+uint64(w.spec.Len) && w.addr < addr+uint64(n) {
			m.met |= 1 << i
		}
	}
}

// ThreadPointer implements arm.ThreadPointer: the register that the C library finds thread-local storage by.
func (m *threadMemory) ThreadPointer() (uint32, error) {
	v, e := ptrace.ThreadPointer(m.t.tid)
	if e != 0 {
		return 0, e
	}
	return uint32(v), nil
}

// ReadSystem implements arm64.System. Registers that neither the kernel tells of nor all processes share are left to the
// thread itself: the instruction is run at its own place.
func (m *threadMemory) ReadSystem(r arm64.Register) (uint64, error) {
	if v, ok := hostcpu.Register(r); ok {
		return v, nil
	}
	if r == arm64.TPIDR {
		v, e := ptrace.ThreadPointer(m.t.tid)
		if e != 0 {
			return 0, e
		}
		return v, nil
	}
	return 0, &arm64.SystemError{Register: r}
}

// WriteSystem implements arm64.System.
func (m *threadMemory) WriteSystem(r arm64.Register, _ uint64) error {
	return &arm64.SystemError{Register: r}
}

// SignsPointers implements arm64.PointerSigner.
func (m *threadMemory) SignsPointers() bool { return hostcpu.SignsPointers() }

// MaintainCache implements arm64.System: only the thread itself can reach its caches by its addresses.
func (m *threadMemory) MaintainCache(arm64.Operation, uint64) error {
	return errOwnCache
}

var errOwnCache = errors.New("cannot maintain a cache for another process")

// emulate completes the displaced instruction of a point on a processor where nothing is stepped. The registers are at the instruction.
// What the emulation cannot do, above all an access that faults, the processor does at the instruction's own place.
func (t *thread) emulate(p *point) {
	switch {
	case p.site.Insn().Control == arch.Syscall && isa.Executes(p.site, &t.regs):
		t.beginCall(p)
	case t.completeAt(p) == nil:
		if t.view.met != 0 {
			t.runWatches(t.view.met)
		}
		t.finish()
	default:
		t.runAtHome(p)
	}
}

// completeAt emulates the instruction of a point, with the other threads held if it reads and writes memory in one: the emulation does
// not. Other processes that share the memory are not held.
func (t *thread) completeAt(p *point) error {
	if p.alone {
		held := t.s.holdWorld(t)
		defer t.s.releaseWorld(held)
	}
	return t.complete(p.site)
}

// complete emulates an instruction on the thread's registers. On error nothing has changed.
func (t *thread) complete(site arch.Site) error {
	t.view = threadMemory{Memory: t.proc.space.mem, t: t}
	v, ok := site.(arch.VectorSite)
	if !ok || !v.Vectors() {
		return site.Emulate(&t.regs, &t.view)
	}
	if t.usesScalable() { // which bits above the emulated ones it clears is not known
		return &arch.RefusedError{Addr: *t.pc(), Reason: "the thread uses scalable vectors"}
	}
	if !t.getFPRegs() {
		return &arch.RefusedError{Addr: *t.pc(), Reason: "the vector registers cannot be read"}
	}
	how := t.proc.arch
	how.LoadVectors(&t.fp, &t.vectors)
	if err := v.EmulateVectors(&t.regs, &t.vectors, &t.view); err != nil {
		return err
	}
	how.StoreVectors(&t.fp, &t.vectors)
	if e := ptrace.SetFPRegs(t.tid, &t.fp, t.proc.arch.WordSize()); e != 0 && !vanished(e) {
		return e
	}
	return nil
}

// jumpTo sets the program counter to where a pointer to code leads, in the instruction set that it chooses.
func (t *thread) jumpTo(pointer uint64) { t.proc.arch.Jump(&t.regs, pointer) }

// leaving is the registers as the instruction at a function's exit makes them: it may take down the frame and load the program counter in
// one. It writes no memory.
func (t *thread) leaving() (regs *arch.Regs, ok bool) {
	if !t.proc.arch.Stepless || t.at == nil {
		return nil, false
	}
	t.left, t.view = t.regs, threadMemory{Memory: t.proc.space.mem, t: t}
	return &t.left, t.proc.arch.Leave(&t.left, t.at.site, &t.view)
}

// ExitSP implements call.Target.
func (t *thread) ExitSP() uint64 {
	if regs, ok := t.leaving(); ok {
		return regs[t.proc.arch.SP()]
	}
	return t.sp()
}

// ResultAddress implements call.Target.
func (t *thread) ResultAddress() uint64 { return t.proc.arch.ResultAddress(&t.regs) }

// returnAddress is where the function returns to that has just been entered, is being left, or has been left.
func (t *thread) returnAddress() uint64 {
	if t.h.Now.Leave && t.calls.Behind() {
		return *t.pc()
	}
	if t.h.Now.Leave {
		if regs, ok := t.leaving(); ok {
			return regs[t.proc.arch.PC()]
		}
	}
	ret, _ := t.proc.arch.ReturnAddress(&t.regs, t.proc.space.mem)
	return t.proc.arch.Target(ret)
}
