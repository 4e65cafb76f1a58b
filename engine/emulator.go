package engine

import (
	"errors"

	"gotap/arch"
	"gotap/arch/arm64"
	"gotap/engine/isa"
	"gotap/engine/linux/hostcpu"
	"gotap/engine/linux/ptrace"
)

// emulation completes the instruction under a breakpoint on the thread's registers, and gives it the thread's memory, vector
// registers and protection keys.
type emulation struct {
	t       *thread
	vectors arch.Vectors // in the emulator's form
	left    arch.Regs    // the registers after the instruction that leaves a function
	keyed   keyMemory    // of the instruction being emulated on x86
	memory  threadMemory // of the instruction being emulated
}

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
	m.met |= m.t.proc.watches.Touched(addr, n, write)
}

// ThreadPointer implements arm.ThreadPointer: it returns the register through which the C library finds
// thread-local storage.
func (m *threadMemory) ThreadPointer() (uint32, error) {
	v, e := ptrace.ThreadPointer(m.t.Tid)
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
		v, e := ptrace.ThreadPointer(m.t.Tid)
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
func (m *emulation) emulate(p *point) {
	switch {
	case p.site.Insn().Control == arch.Syscall && isa.Executes(p.site, &m.t.Regs):
		m.t.exec.beginCall(p)
	case m.completeAt(p) == nil:
		if m.memory.met != 0 {
			m.t.watch.runWatches(m.memory.met)
		}
		m.t.finish()
	default:
		m.t.exec.runInPlace(p)
	}
}

// completeAt emulates the instruction of a point. If the instruction reads and writes memory atomically, the other
// threads are held, because the emulation is not atomic. Other processes that share the memory are not held.
func (m *emulation) completeAt(p *point) error {
	if p.alone {
		held := m.t.s.world.holdWorld(m.t)
		defer m.t.s.world.releaseWorld(held)
	}
	return m.complete(p.site)
}

// complete emulates an instruction on the thread's registers. On error nothing has changed.
func (m *emulation) complete(site arch.Site) error {
	m.memory = threadMemory{Memory: m.t.proc.space.mem, t: m.t}
	v, ok := site.(arch.VectorSite)
	if !ok || !v.Vectors() {
		return site.Emulate(&m.t.Regs, &m.memory)
	}
	if m.t.UsesScalable() { // it is not known which bits above the emulated ones the instruction clears
		return &arch.RefusedError{Addr: *m.t.PC(), Reason: "the thread uses scalable vectors"}
	}
	if !m.t.view.getFPRegs() {
		return &arch.RefusedError{Addr: *m.t.PC(), Reason: "the vector registers cannot be read"}
	}
	how := m.t.proc.arch
	how.LoadVectors(&m.t.view.fp, &m.vectors)
	if err := v.EmulateVectors(&m.t.Regs, &m.vectors, &m.memory); err != nil {
		return err
	}
	how.StoreVectors(&m.t.view.fp, &m.vectors)
	if e := ptrace.SetFPRegs(m.t.Tid, &m.t.view.fp, m.t.proc.arch.WordSize()); e != 0 && !vanished(e) {
		return e
	}
	return nil
}

// leaving returns the registers as the instruction at a function's exit leaves them: one instruction may remove the
// frame and load the program counter. It writes no memory.
func (m *emulation) leaving() (regs *arch.Regs, ok bool) {
	if !m.t.proc.arch.Stepless || m.t.at == nil {
		return nil, false
	}
	m.left, m.memory = m.t.Regs, threadMemory{Memory: m.t.proc.space.mem, t: m.t}
	return &m.left, m.t.proc.arch.Leave(&m.left, m.t.at.site, &m.memory)
}

// returnAddress returns the return address of the function that the thread has just entered, is leaving or has
// left.
func (m *emulation) returnAddress() uint64 {
	if m.t.h.Now.Leave && m.t.calls.Behind() {
		return *m.t.PC()
	}
	if m.t.h.Now.Leave {
		if regs, ok := m.leaving(); ok {
			return regs[m.t.proc.arch.PC()]
		}
	}
	ret, _ := m.t.proc.arch.ReturnAddress(&m.t.Regs, m.t.proc.space.mem)
	return m.t.proc.arch.Target(ret)
}
