package arm64

import "gotap/arch"

// Class says how an instruction may be probed, and what it needs to be completed.
type Class uint8

// The classes. Prepare refuses those marked with R.
const (
	Ordinary       Class = iota // completed from registers and memory alone
	Atomic                      // reads and writes memory as one operation: an engine stops other threads
	PointerAuth                 // signs or authenticates: executed as if authentication were off
	PointerStrip                // takes a signature off a pointer: needs the width of addresses
	SystemRegister              // reads or writes a register that is not in arch.Regs: see System
	SystemCall                  // svc: the kernel executes it
	CacheLine                   // dc zva: needs the size of a block: see System
	Exclusive                   // R: load-exclusive or store-exclusive
	Breakpoint                  // R: brk, hlt, udf: a trap of the program itself
	Privileged                  // R: hvc, smc, eret, registers and operations of the kernel
	Scalable                    // R: SVE and SME
	MemoryTag                   // R: the MTE instructions, whose tags a tracer does not see
	MemoryCopy                  // R: cpy*, set*: interruptible copies
	Beyond                      // R: other instructions that are decoded but not emulated
)

// reasons says why Prepare refuses a class.
var reasons = map[Class]string{
	Exclusive:  "an exception clears the monitor, so its exclusive pair would never succeed",
	Breakpoint: "a trap of the program's own",
	Privileged: "privileged instruction",
	Scalable:   "SVE and SME are not emulated",
	MemoryTag:  "memory tags are not known to a tracer",
	MemoryCopy: "interruptible memory copies are not emulated",
	Beyond:     "not emulated",
}

// String returns the name of the class in tests and statistics.
func (k Class) String() string {
	return [...]string{
		"ordinary", "atomic", "pointer authentication", "pointer stripping", "system register", "system call", "cache line",
		"exclusive", "breakpoint", "privileged", "scalable", "memory tag", "memory copy", "beyond",
	}[k]
}

// ClassOf returns the class of an instruction that A64 decoded, and Beyond for any other.
func ClassOf(in arch.Insn) Class {
	if op, ok := in.Op.(*inst); ok {
		return op.row.class
	}
	return Beyond
}
