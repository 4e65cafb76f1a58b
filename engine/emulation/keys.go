package emulation

import (
	"encoding/binary"
	"errors"

	"gotap/arch"
	"gotap/engine/linux/hostcpu"
	"gotap/engine/linux/ptrace"
)

// Protection keys.
//
// A thread may have removed its own access to pages with a certain key (pkeys(7)). The processor checks that, but the
// kernel does not when one process reads the memory of another: an emulated instruction would read and write where the
// thread itself faults. So in a process that uses keys, instructions that access memory outside the stack are not
// emulated; the processor executes them.
//
// Nothing reports when a process begins to use keys. The sign is a thread whose rights differ from those that each
// program starts with. The engine checks for it before each emulated access outside the stack, until it has seen it in
// the process. A thread that kept the initial rights, and accesses memory to which another thread assigned a key, is
// not recognised before that other thread has made such an access.

// firstRights is the initial value of the protection key register (PKRU): access only to pages without a key
// (init_pkru_value in the kernel's arch/x86/mm/pkeys.c).
const firstRights = 0x55555554

// allRights forbid nothing, whatever keys there are. Some virtual machines report them for every thread (seen with
// PVM); keys are not detected there.
const allRights = 0

// nearStack is the distance from the stack pointer within which an access counts as one to the stack.
const nearStack = 64 << 10

var errKeys = errors.New("the process uses protection keys")

// keyMemory is a target's memory for an emulated instruction of one thread. An access that a protection key may forbid
// returns an error.
type keyMemory struct {
	*ptrace.Memory
	of *Thread
}

// ReadMemory implements arch.Memory.
func (m *keyMemory) ReadMemory(addr uint64, p []byte) error {
	if m.of.restricted(addr) {
		return errKeys
	}
	return m.Memory.ReadMemory(addr, p)
}

// WriteMemory implements arch.Memory.
func (m *keyMemory) WriteMemory(addr uint64, p []byte) error {
	if m.of.restricted(addr) {
		return errKeys
	}
	return m.Memory.WriteMemory(addr, p)
}

// Try emulates an instruction on the thread's registers, which are at it, and reports whether it could. If not, nothing
// has changed, and the processor has to execute it.
func (m *Thread) Try(site arch.Site) bool {
	var mem arch.Memory = m.t.Memory()
	if m.keys != nil {
		m.keyed = keyMemory{m.t.Memory(), m}
		mem = &m.keyed
	}
	return site.Emulate(&m.t.Regs, mem) == nil
}

// restricted reports whether a protection key may forbid the thread access to an address.
func (m *Thread) restricted(addr uint64) bool {
	if sp := m.t.SP(); addr-sp+nearStack < 2*nearStack {
		return false
	}
	in := m.host.Keyed()
	if !in.used {
		rights := m.keys.rights(m.t.Tid)
		in.used = rights != firstRights && rights != allRights
	}
	return in.used
}

// rights returns a stopped thread's protection key register.
func (k *Keys) rights(tid int) uint32 {
	state := k.state
	n, e := ptrace.GetRegSet(tid, ptrace.SetX86State, state)
	if e != 0 || n < len(state) {
		return firstRights // without the register, keys are not detected
	}
	return binary.LittleEndian.Uint32(state[len(state)-rightsSize:])
}

// rightsSize is the size of the register in the saved state, including what follows it there.
const rightsSize = 8

// Keys reads the protection key registers of a session's threads.
type Keys struct {
	state []byte // buffer for a thread's saved state up to the register
}

// Keyed is what is known of protection keys in an address space. The zero value is for one in which none have been
// seen.
type Keyed struct{ used bool }

// NewKeys returns the reader of a session, or nil if the processor has no keys.
func NewKeys() *Keys {
	offset, ok := hostcpu.KeyRights()
	if !ok {
		return nil
	}
	return &Keys{make([]byte, offset+rightsSize)}
}
