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

// threadMemory is a target's memory as seen by an instruction of one thread, with the other state of the thread
// that its instructions may read.
type threadMemory struct {
	*ptrace.Memory
	t   *thread
	met uint64 // watchpoints that were hit: bit i is watch i of the process
}

// ReadMemory implements arch.Memory. It notes watchpoints because the processor does not see our reads of watched
// memory.
func (m *threadMemory) ReadMemory(addr uint64, p []byte) error {
	m.note(addr, len(p), false)
	return m.Memory.ReadMemory(addr, p)
}

// WriteMemory implements arch.Memory.
func (m *threadMemory) WriteMemory(addr uint64, p []byte) error {
	m.note(addr, len(p), true)
	return m.Memory.WriteMemory(addr, p)
}

// note records the watchpoints that an access hits.
func (m *threadMemory) note(addr uint64, n int, write bool) {
	for i, w := range m.t.proc.watches {
		kind := w.spec.Access == place.OnReadWrite || write && w.spec.Access == place.OnWrite
		if kind && addr < w.addr+uint64(w.spec.Len) && w.addr < addr+uint64(n) {
			m.met |= 1 << i
		}
	}
}

// ThreadPointer implements arm.ThreadPointer: it returns the register through which the C library finds
// thread-local storage.
func (m *threadMemory) ThreadPointer() (uint32, error) {
	v, e := ptrace.ThreadPointer(m.t.tid)
	if e != 0 {
		return 0, e
	}
	return uint32(v), nil
}

// ReadSystem implements arm64.System. A register that the kernel does not report and that differs between processes
// is left to the thread itself: the instruction runs at its own address.
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

// MaintainCache implements arm64.System. It always fails: only the thread itself can maintain caches by its own
// addresses.
func (m *threadMemory) MaintainCache(arm64.Operation, uint64) error {
	return errOwnCache
}

var errOwnCache = errors.New("cannot maintain a cache for another process")

// emulate completes the displaced instruction of a point on a processor where nothing is stepped. The registers are
// at the instruction. What the emulation cannot do, above all an access that faults, the processor does at the
// instruction's own address.
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

// completeAt emulates the instruction of a point. If the instruction reads and writes memory atomically, the other
// threads are held, because the emulation is not atomic. Other processes that share the memory are not held.
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
	if t.usesScalable() { // it is not known which bits above the emulated ones the instruction clears
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

// jumpTo sets the program counter to the target of a code pointer, in the instruction set that the pointer selects.
func (t *thread) jumpTo(pointer uint64) { t.proc.arch.Jump(&t.regs, pointer) }

// leaving returns the registers as the instruction at a function's exit leaves them: one instruction may remove the
// frame and load the program counter. It writes no memory.
func (t *thread) leaving() (regs *arch.Regs, ok bool) {
	if !t.proc.arch.Stepless || t.at == nil {
		return nil, false
	}
	t.left, t.view = t.regs, threadMemory{Memory: t.proc.space.mem, t: t}
	return &t.left, t.proc.arch.Leave(&t.left, t.at.site, &t.view)
}

// ExitSP implements retprobe.Target.
func (t *thread) ExitSP() uint64 {
	if regs, ok := t.leaving(); ok {
		return regs[t.proc.arch.SP()]
	}
	return t.sp()
}

// ResultAddress implements retprobe.Target.
func (t *thread) ResultAddress() uint64 { return t.proc.arch.ResultAddress(&t.regs) }

// returnAddress returns the return address of the function that the thread has just entered, is leaving or has
// left.
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
