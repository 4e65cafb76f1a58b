package emulation

import (
	"syscall"

	"gotap/arch"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
)

// Host is what an emulation asks of the session about its thread.
type Host interface {
	// FPRegs returns the floating-point and vector registers, which are read at most once per hit, or nil if they
	// cannot be read.
	FPRegs() *ptrace.FPRegs
	// Touched returns the watchpoints of the process that an access hits: bit i is watch i.
	Touched(addr uint64, n int, write bool) uint64
	// Keyed returns what is known of protection keys in the thread's address space.
	Keyed() *Keyed
}

// Thread emulates instructions of one thread.
type Thread struct {
	t       *tracee.Thread
	host    Host
	keys    *Keys
	vectors arch.Vectors // in the emulator's form
	left    arch.Regs    // the registers after the instruction that leaves a function
	keyed   keyMemory    // of the instruction being emulated on x86
	memory  Memory       // of the instruction being emulated
}

// Init makes it ready for a thread. keys are those of the session; nil: the processor has none.
func (m *Thread) Init(t *tracee.Thread, host Host, keys *Keys) { m.t, m.host, m.keys = t, host, keys }

// Memory returns the thread's memory for an instruction that is about to be emulated. It is valid until the next one.
func (m *Thread) Memory() *Memory {
	m.memory = Memory{Memory: m.t.Memory(), of: m}
	return &m.memory
}

// Met returns the watchpoints that the last instruction's accesses have hit: bit i is watch i of the process.
func (m *Thread) Met() uint64 { return m.memory.met }

// Complete emulates an instruction on the thread's registers, which are at it. On error nothing has changed. Met
// returns the watchpoints that its accesses have hit.
func (m *Thread) Complete(site arch.Site) error {
	mem := m.Memory()
	v, ok := site.(arch.VectorSite)
	if !ok || !v.Vectors() {
		return site.Emulate(&m.t.Regs, mem)
	}
	if m.t.UsesScalable() { // it is not known which bits above the emulated ones the instruction clears
		return &arch.RefusedError{Addr: *m.t.PC(), Reason: "the thread uses scalable vectors"}
	}
	fp := m.host.FPRegs()
	if fp == nil {
		return &arch.RefusedError{Addr: *m.t.PC(), Reason: "the vector registers cannot be read"}
	}
	how := m.t.ABI()
	how.LoadVectors(fp, &m.vectors)
	if err := v.EmulateVectors(&m.t.Regs, &m.vectors, mem); err != nil {
		return err
	}
	how.StoreVectors(fp, &m.vectors)
	if e := ptrace.SetFPRegs(m.t.Tid, fp, how.WordSize()); e != 0 && e != syscall.ESRCH {
		return e
	}
	return nil
}

// Leaving returns the registers as the instruction at a function's exit leaves them: one instruction may remove the
// frame and load the program counter. It writes no memory. ok is false if the instruction does not leave the function.
func (m *Thread) Leaving(site arch.Site) (regs *arch.Regs, ok bool) {
	m.left = m.t.Regs
	return &m.left, m.t.ABI().Leave(&m.left, site, m.Memory())
}
