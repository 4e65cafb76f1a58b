package arm64

// PointerSigner is for an arch.Memory of a process whose pointers may be signed: it answers true where the processor and the kernel
// have pointer authentication on. Without an answer it is off. The keys are the process's own and nobody else's: where it is on,
// instructions that only sign or authenticate fail, and have to be run by the thread; branches and returns that authenticate go
// where the pointer leads without its signature, which is where they go unless it is forged.
type PointerSigner interface{ SignsPointers() bool }

// errSigned is an instruction that needs the keys.
const errSigned = refusal("cannot emulate an instruction that signs or authenticates a pointer: the keys are the process's own")

// signs reports whether pointer authentication is on.
func (c *cpu) signs() bool {
	s, ok := c.mem.(PointerSigner)
	return ok && s.SignsPointers()
}

// authentic is a pointer as a branch that authenticates it goes to it.
func (c *cpu) authentic(p uint64) uint64 {
	if c.signs() {
		return stripped(p)
	}
	return p
}
