package emulation

import (
	"errors"

	"gotap/arch/arm64"
	"gotap/engine/linux/hostcpu"
	"gotap/engine/linux/ptrace"
)

// Memory is a target's memory as seen by an instruction of one thread, with the other state of the thread
// that its instructions may read.
type Memory struct {
	*ptrace.Memory
	of  *Thread
	met uint64 // watchpoints that were hit: bit i is watch i of the process
}

// ReadMemory implements arch.Memory. It notes watchpoints because the processor does not see our reads of watched
// memory.
func (m *Memory) ReadMemory(addr uint64, p []byte) error {
	m.note(addr, len(p), false)
	return m.Memory.ReadMemory(addr, p)
}

// WriteMemory implements arch.Memory.
func (m *Memory) WriteMemory(addr uint64, p []byte) error {
	m.note(addr, len(p), true)
	return m.Memory.WriteMemory(addr, p)
}

// note records the watchpoints that an access hits.
func (m *Memory) note(addr uint64, n int, write bool) {
	m.met |= m.of.host.Touched(addr, n, write)
}

// ThreadPointer implements arm.ThreadPointer: it returns the register through which the C library finds
// thread-local storage.
func (m *Memory) ThreadPointer() (uint32, error) {
	v, e := ptrace.ThreadPointer(m.of.t.Tid)
	if e != 0 {
		return 0, e
	}
	return uint32(v), nil
}

// ReadSystem implements arm64.System. A register that the kernel does not report and that differs between processes
// is left to the thread itself: the instruction runs at its own address.
func (m *Memory) ReadSystem(r arm64.Register) (uint64, error) {
	if v, ok := hostcpu.Register(r); ok {
		return v, nil
	}
	if r == arm64.TPIDR {
		v, e := ptrace.ThreadPointer(m.of.t.Tid)
		if e != 0 {
			return 0, e
		}
		return v, nil
	}
	return 0, &arm64.SystemError{Register: r}
}

// WriteSystem implements arm64.System.
func (m *Memory) WriteSystem(r arm64.Register, _ uint64) error {
	return &arm64.SystemError{Register: r}
}

// SignsPointers implements arm64.PointerSigner.
func (m *Memory) SignsPointers() bool { return hostcpu.SignsPointers() }

// MaintainCache implements arm64.System. It always fails: only the thread itself can maintain caches by its own
// addresses.
func (m *Memory) MaintainCache(arm64.Operation, uint64) error {
	return errOwnCache
}

var errOwnCache = errors.New("cannot maintain a cache for another process")
