package runtime

// Thread is what a program may ask about the thread that hit. The engine implements it; all
// calls come from the thread that runs the program. No method may allocate on success.
type Thread interface {
	// ReadMemory reads target memory at addr and returns how many bytes from the start of p
	// could be read.
	ReadMemory(addr uint64, p []byte) int
	// WriteMemory writes all of p or reports false.
	WriteMemory(addr uint64, p []byte) bool

	Arg(n int) (v uint64, ok bool)       // integer argument by calling convention, sign as in the register
	ArgFloat(n int) (f float64, ok bool) // floating argument; FloatTop
	// FloatWord is a word of the floating-point and vector registers, numbered as package isa names them; ok is false when the target
	// has no such word or it cannot be read.
	FloatWord(n int) (v uint64, ok bool)
	Return() uint64
	SetReturn(v uint64)
	Field(f Field) uint64
	// Text copies a text of the context into p and returns its length before any cut.
	Text(f TextField, p []byte) int
	// Stack fills pcs, innermost first, beginning with the probed address itself.
	Stack(pcs []uint64) int
}

// Context is one hit as the machine sees it. The engine owns it and reuses it.
type Context struct {
	Thread Thread
	Regs   []uint64 // register file in the architecture's order; writes are the engine's to put back
	Word   int      // bytes of a pointer in the target: 4 or 8
	This   uint64   // arena offset of the storage of this call, 0 when there is none
	Tid    uint32
	Dirty  bool // set by the machine when Regs were written

	// Changed is called for every change of the target that a program has made; nil: nobody wants to know. What it does at the
	// end (Outcome's Skip and Signal) is not told here.
	Changed func(Change)
}

// FloatWords is the number of the first register that is a word of the floating-point state (Thread.FloatWord 0). Such registers are
// read only when a program asks for them: that costs the engine a system call, and most programs never do.
const FloatWords = 1 << 10

// FloatTop is, for ArgFloat, no argument but the number on top of the stack of IA-32's floating-point unit: there functions leave
// their floating results. It is the last number that the operand of opcode.ArgF can be.
const FloatTop = 255

// NoNumber is, as the operand of opcode.ArgF, no argument but a value that is no number: reading it traps.
const NoNumber = 254
