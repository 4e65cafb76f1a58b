package engine

import (
	"gotap/engine/linux/hostcpu"
	"gotap/engine/linux/ptrace"
)

// The scalable vector registers of 64-bit ARM (SVE) hold the vector registers that the engine knows, and more bits above those. The
// kernel drops what is above at every system call, since no caller of one counts on it, and when the lower parts are written by
// themselves; a thread that a tracer stops anywhere does count on it.

// scalableMost is the most that the register set takes, in bytes: 32 vectors of 2,048 bits, 17 predicates, and what describes them.
const scalableMost = 32*256 + 17*32 + 64

// Of struct user_sve_header of the kernel's uapi/asm/ptrace.h, in bytes.
const (
	scalableHeader = 16
	scalableFlags  = 12
	scalableInUse  = 1 // SVE_PT_REGS_SVE: the thread has more than the lower parts
)

// usesScalable reports whether a stopped thread has anything in the scalable registers.
func (t *thread) usesScalable() bool {
	if !hostcpu.HasScalable() || t.proc.arch.WordSize() != 8 {
		return false
	}
	var head [scalableHeader]byte
	n, e := ptrace.GetRegSet(t.tid, ptrace.SetARMScalable, head[:])
	return e == 0 && n == len(head) && head[scalableFlags]&scalableInUse != 0
}

// keepScalable reads the scalable registers of a stopped thread, if it has anything in them. back writes them again.
func (t *thread) keepScalable() (back func()) {
	if !t.usesScalable() {
		return func() {}
	}
	kept := make([]byte, scalableMost)
	n, e := ptrace.GetRegSet(t.tid, ptrace.SetARMScalable, kept)
	if e != 0 {
		return func() {}
	}
	return func() { ptrace.SetRegSet(t.tid, ptrace.SetARMScalable, kept[:n]) }
}
