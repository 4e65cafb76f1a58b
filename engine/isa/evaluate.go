package isa

import (
	"slices"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/engine/image/module"
)

// maxEvaluated bounds the instructions of a function that is evaluated. Functions that only find something have few.
const maxEvaluated = 64

// LongestInsn is the length in bytes of the longest instruction that any processor runs.
const LongestInsn = 16

// Evaluate computes what a function of the target without arguments returns, from a thread's registers and memory,
// which it does not change: it emulates each instruction and keeps writes aside. entry is the address of its first
// instruction, modules are those of the process. It returns false when an instruction cannot be emulated or the
// function executes too many.
func (a *ISA) Evaluate(entry uint64, regs arch.Regs, mem arch.Memory, modules []module.Loaded) (result uint64, ok bool) {
	aside := &asideMemory{Memory: mem}
	if !a.enter(entry, &regs, aside, modules) {
		return 0, false
	}
	for range maxEvaluated {
		pc := regs[a.PC()]
		if pc == 0 {
			return regs[a.Ret()], true
		}
		if !a.evaluateOne(pc, &regs, aside, modules) {
			return 0, false
		}
	}
	return 0, false
}

// link returns the register in which calls leave the return address, on processors whose calls push nothing.
func (a *ISA) link() int {
	if a.WordSize() == 4 {
		return 14
	}
	return 30
}

// enter sets the registers to those of a call from address 0.
func (a *ISA) enter(entry uint64, regs *arch.Regs, mem arch.Memory, modules []module.Loaded) bool {
	const redZone = 256 // a leaf function may use memory below the stack pointer
	regs[a.SP()] = (regs[a.SP()] - redZone) &^ 15
	regs[a.PC()] = entry
	if a.Pushed > 0 {
		regs[a.SP()] -= a.Pushed
		return mem.WriteMemory(regs[a.SP()], make([]byte, a.Pushed)) == nil
	}
	regs[a.link()] = 0
	if a.pointer != nil {
		SetThumb(regs, a.SetAt(module.Find(modules, entry), entry) == arch.Arch(arm.Thumb))
	}
	return true
}

// evaluateOne emulates one instruction.
func (a *ISA) evaluateOne(pc uint64, regs *arch.Regs, mem *asideMemory, modules []module.Loaded) bool {
	set := a.Arch
	if a.pointer != nil && regs[CPSR]&Thumb != 0 {
		set = arm.Thumb
	}
	var code [LongestInsn]byte
	n := len(code)
	for n > 0 && mem.ReadMemory(pc, code[:n]) != nil { // the last page may end before
		n /= 2
	}
	in, err := set.Decode(code[:n], pc)
	if err != nil || in.Control == arch.Syscall || in.Control == arch.Trap {
		return false
	}
	site, err := set.Prepare(in)
	return err == nil && site.Allowed(arch.Emulated) && site.Emulate(regs, mem) == nil
}

// asideMemory is memory that keeps writes aside, where later reads see them.
type asideMemory struct {
	arch.Memory
	written []asideWrite
}

type asideWrite struct {
	addr uint64
	data []byte
}

// WriteMemory implements arch.Memory.
func (m *asideMemory) WriteMemory(addr uint64, p []byte) error {
	m.written = append(m.written, asideWrite{addr, slices.Clone(p)})
	return nil
}

// ReadMemory implements arch.Memory. Bytes written may be below the stack, where the target has no memory yet.
func (m *asideMemory) ReadMemory(addr uint64, p []byte) error {
	err := m.Memory.ReadMemory(addr, p)
	for _, w := range m.written {
		for i, b := range w.data {
			if at := w.addr + uint64(i) - addr; at < uint64(len(p)) {
				p[at] = b
				if len(w.data) >= len(p) {
					err = nil
				}
			}
		}
	}
	return err
}

// ThreadPointer implements arm.ThreadPointer.
func (m *asideMemory) ThreadPointer() (uint32, error) {
	if t, ok := m.Memory.(arm.ThreadPointer); ok {
		return t.ThreadPointer()
	}
	return 0, arch.ErrUnsupported
}

// ReadSystem implements arm64.System.
func (m *asideMemory) ReadSystem(r arm64.Register) (uint64, error) {
	if s, ok := m.Memory.(arm64.System); ok {
		return s.ReadSystem(r)
	}
	return 0, &arm64.SystemError{Register: r}
}

// WriteSystem implements arm64.System. It changes nothing.
func (m *asideMemory) WriteSystem(r arm64.Register, _ uint64) error {
	return &arm64.SystemError{Register: r}
}

// MaintainCache implements arm64.System.
func (m *asideMemory) MaintainCache(arm64.Operation, uint64) error { return arch.ErrUnsupported }

// SignsPointers implements arm64.PointerSigner: instructions that sign pointers are refused where the machine signs
// them.
func (m *asideMemory) SignsPointers() bool {
	s, ok := m.Memory.(arm64.PointerSigner)
	return ok && s.SignsPointers()
}
