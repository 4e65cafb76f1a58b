package runtime

// Thread gives a program access to the thread that hit. The engine implements it. All calls come from the thread that
// runs the program. No method may allocate on success.
type Thread interface {
	// ReadMemory reads target memory at addr and returns how many bytes, from the start of p, could be read.
	ReadMemory(addr uint64, p []byte) int
	// WriteMemory writes all of p, or returns false.
	WriteMemory(addr uint64, p []byte) bool

	Arg(n int) (v uint64, ok bool)       // integer argument by calling convention, sign as in the register
	ArgFloat(n int) (f float64, ok bool) // floating-point argument; or FloatTop
	// FloatWord returns a word of the floating-point and vector registers, numbered as in package isa. ok is false if
	// the target does not have the word or it cannot be read.
	FloatWord(n int) (v uint64, ok bool)
	Return() uint64
	SetReturn(v uint64)
	Field(f Field) uint64
	// Text copies a text of the context into p and returns its uncut length.
	Text(f TextField, p []byte) int
	// Stack fills pcs, innermost first, starting with the probed address itself.
	Stack(pcs []uint64) int
}

// Context is one hit as the machine sees it. The engine owns it and reuses it.
type Context struct {
	Thread Thread
	Regs   []uint64 // register file in the architecture's order; the engine writes changes back
	Word   int      // bytes of a pointer in the target: 4 or 8
	This   uint64   // arena offset of the storage of this call, or 0
	Tid    uint32
	Dirty  bool // set by the machine when it has written Regs

	// Changed is called for every change of the target by a program; it may be nil. It is not called for changes at the
	// end of the program (Outcome's Skip and Signal).
	Changed func(Change)
}

// FloatWords is the number of the first register that is a word of the floating-point state (Thread.FloatWord 0). Such
// registers are read only if a program uses them, because that costs the engine a system call, and most programs never
// do.
const FloatWords = 1 << 10

// FloatTop is not an argument of ArgFloat but the number on top of the stack of IA-32's floating-point unit, where
// functions leave their floating-point results. It is the largest possible operand of opcode.ArgF.
const FloatTop = 255

// NoNumber as the operand of opcode.ArgF is not an argument but a value that is not a number: reading it traps.
const NoNumber = 254
