package arm64

import "gotap/arch"

// PointerSigner is implemented by an arch.Memory of a process whose pointers may be signed. SignsPointers returns
// true if the processor and the kernel have pointer authentication on. Without it, it is off.
//
// Only the process has its keys. If authentication is on, instructions that only sign or authenticate fail, and the
// thread has to execute them. Branches and returns that authenticate go where the pointer leads without its
// signature, which is right unless it is forged.
type PointerSigner interface{ SignsPointers() bool }

// errSigned refuses an instruction that needs the keys.
const errSigned = arch.Refusal("cannot emulate an instruction that signs or authenticates a pointer: only the process has the keys")

// signs reports whether pointer authentication is on.
func (c *cpu) signs() bool {
	s, ok := c.mem.(PointerSigner)
	return ok && s.SignsPointers()
}

// authentic returns the target of a branch that authenticates the pointer.
func (c *cpu) authentic(p uint64) uint64 {
	if c.signs() {
		return stripped(p)
	}
	return p
}
