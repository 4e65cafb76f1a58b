package compile

import (
	"gotap/compile/diag"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
)

// Program is one compiled handler, independent of any machine. It is the interface between front ends and executors.
//
// Code is a sequence of commands of the opcode table; jump operands are indexes into it. Commands name objects, formats
// and texts by number. A Program is immutable once verified and may be shared.
type Program struct {
	Name    string // for listings: "malloc enter"
	Code    []Command
	Texts   []string        // constants
	Formats []record.Format // describe log items and the event
	Objects []int           // IDs of the arena objects used; commands name an object by its index here
	Regs    []string        // register names used; push r and pop r name a register by its index here
	This    int             // bytes of per-call storage needed (the largest of the probe's programs counts)
	Fuel    uint32          // 0: runtime.DefaultFuel
	LogMax  int             // 0: record.DefaultLog
	LogData int             // bytes of data in the log; 0: limited only by LogMax
	Stack   int             // words of stack allowed; 0: runtime.DefaultStack
	Temps   int
	Wrap    bool // circular stack
	Unsafe  bool // destructive commands are allowed

	Mask      uint32 // exceptions that go to handlers, with runtime.MaskSet; 0: runtime.DefaultMask
	TraceMax  int    // bytes of trace; 0: runtime.MaxTrace
	AutoTrace bool   // each exception appends to the trace
	Heap      int    // bytes of heap

	Bound Bound // set by Verify

	uses map[int]use // by index in Objects: the keys used with the object; set by Verify
}

// Command is one instruction as front ends produce it.
type Command struct {
	Op  opcode.Op
	A   uint32 // jump target (index), count, or object/format/text/register number, according to the table's operand
	V   uint64 // immediate word
	Pos diag.Span
}

// Bound is what the verifier proved about a program.
type Bound struct {
	Steps    uint64    // maximum number of steps of a hit; only if Proved
	Proved   bool      // false: there is a loop for which the verifier found no bound; its steps are charged to the fuel
	Stack    int       // deepest operand stack
	LogBytes int       // maximum number of bytes logged
	Fuel     uint32    // steps after which the machine ends the program in any case
	Loop     diag.Span // not Proved: the first loop without a bound, if it has a position
	Verified bool
}
