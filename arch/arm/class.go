package arm

import "gotap/arch"

// Class says how an instruction may be probed.
type Class uint8

// The classes. Prepare refuses those marked with R.
const (
	Ordinary       Class = iota // completed from registers and memory alone
	Swap                        // SWP: reads and writes memory as one operation; an engine accepts the gap
	SystemRegister              // reads or writes the thread pointer: needs a memory that is a ThreadPointer
	SystemCall                  // SVC: the kernel executes it
	Exclusive                   // R: load-exclusive or store-exclusive
	Trap                        // R: BKPT, UDF, HLT: a trap of the program itself
	Privileged                  // R: instructions and registers of the kernel
	Endian                      // R: SETEND: data of the other byte order
	Coprocessor                 // R: coprocessors other than the vector unit
	Beyond                      // R: other instructions that are decoded but not emulated

	hole // a gap in a table: Decode fails
)

// reasons says why Prepare refuses a class.
var reasons = [...]string{
	Exclusive:   "an exception clears the monitor, so its exclusive pair would never succeed",
	Trap:        "a trap of the program's own",
	Privileged:  "privileged instruction",
	Endian:      "big-endian data is not emulated",
	Coprocessor: "coprocessor instruction",
	Beyond:      "not emulated",
}

// String returns the name of the class in tests and statistics.
func (k Class) String() string {
	return [...]string{
		"ordinary", "swap", "system register", "system call", "exclusive", "trap", "privileged", "endian", "coprocessor", "beyond",
	}[k]
}

// ClassOf returns the class of an instruction that A32 or Thumb decoded, and Beyond for any other.
func ClassOf(in arch.Insn) Class {
	if op, ok := in.Op.(*inst); ok {
		return op.row.class
	}
	return Beyond
}
