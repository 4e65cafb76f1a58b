package arm64

import "gotap/arch"

// Class says how an instruction may be probed, and what completing it takes.
type Class uint8

// The classes. Prepare refuses those marked with R.
const (
	Ordinary       Class = iota // completed from registers and memory alone
	Atomic                      // reads and writes memory in one: an engine holds the process's other threads, or accepts the gap
	PointerAuth                 // signs or authenticates: executed as if pointer authentication were off (see the package documentation)
	PointerStrip                // takes a signature off a pointer: needs the width of addresses
	SystemRegister              // reads or writes a register that is not in arch.Regs: see System
	SystemCall                  // svc: left to the kernel
	CacheLine                   // dc zva: needs the size of a block: see System
	Exclusive                   // R: load-exclusive or store-exclusive
	Breakpoint                  // R: brk, hlt, udf: the program's own trap
	Privileged                  // R: hvc, smc, eret, registers and operations of the kernel
	Scalable                    // R: SVE and SME
	MemoryTag                   // R: the MTE instructions, whose tags a tracer does not see
	MemoryCopy                  // R: cpy*, set*: interruptible copies
	Beyond                      // R: other instructions that are decoded and not emulated
)

// reasons are why Prepare refuses a class.
var reasons = map[Class]string{
	Exclusive:  "an exception clears the monitor, so its exclusive pair would never succeed",
	Breakpoint: "a trap of the program's own",
	Privileged: "privileged instruction",
	Scalable:   "SVE and SME are not emulated",
	MemoryTag:  "memory tags are not known to a tracer",
	MemoryCopy: "interruptible memory copies are not emulated",
	Beyond:     "not emulated",
}

// String is the name of the class in tests and statistics.
func (k Class) String() string {
	return [...]string{
		"ordinary", "atomic", "pointer authentication", "pointer stripping", "system register", "system call", "cache line",
		"exclusive", "breakpoint", "privileged", "scalable", "memory tag", "memory copy", "beyond",
	}[k]
}

// ClassOf is the class of an instruction that A64 decoded, and Beyond for any other.
func ClassOf(in arch.Insn) Class {
	if op, ok := in.Op.(*inst); ok {
		return op.row.class
	}
	return Beyond
}
