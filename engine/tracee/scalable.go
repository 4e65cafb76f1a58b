package tracee

import (
	"gotap/engine/linux/hostcpu"
	"gotap/engine/linux/ptrace"
)

// The scalable vector registers of 64-bit ARM (SVE) consist of the vector registers that the engine knows and more
// bits above those. The kernel discards the upper bits at every system call, because no caller relies on them, and
// when the lower parts are written separately. A thread that a tracer stops at an arbitrary place does rely on
// them.

// scalableMost is the maximum size of the register set, in bytes: 32 vectors of 2,048 bits, 17 predicates, and the
// data that describes them.
const scalableMost = 32*256 + 17*32 + 64

// Offsets and sizes in struct user_sve_header of the kernel's uapi/asm/ptrace.h, in bytes, and a flag.
const (
	scalableHeader = 16
	scalableFlags  = 12
	scalableInUse  = 1 // SVE_PT_REGS_SVE: the thread uses more than the lower parts
)

// UsesScalable reports whether a stopped thread uses the scalable registers.
func (t *Thread) UsesScalable() bool {
	if !hostcpu.HasScalable() || t.ABI().WordSize() != 8 {
		return false
	}
	var head [scalableHeader]byte
	n, e := ptrace.GetRegSet(t.Tid, ptrace.SetARMScalable, head[:])
	return e == 0 && n == len(head) && head[scalableFlags]&scalableInUse != 0
}

// KeepScalable reads the scalable registers of a stopped thread, if it uses them. back restores them.
func (t *Thread) KeepScalable() (back func()) {
	if !t.UsesScalable() {
		return func() {}
	}
	kept := make([]byte, scalableMost)
	n, e := ptrace.GetRegSet(t.Tid, ptrace.SetARMScalable, kept)
	if e != 0 {
		return func() {}
	}
	return func() { ptrace.SetRegSet(t.Tid, ptrace.SetARMScalable, kept[:n]) }
}
