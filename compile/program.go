package compile

import (
	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// Program is one compiled handler, independent of any machine: the waist between front ends and
// executors.
//
// Code is a sequence of commands of the opcode table; jump operands are indexes into it.
// Objects, formats and texts are named by number. A Program is immutable once verified and may
// be shared.
type Program struct {
	Name    string // for listings: "malloc enter"
	Code    []Command
	Texts   []string         // constants
	Formats []runtime.Format // what log items and the event mean
	Objects []int            // arena objects used, by the numbers their declarations gave; commands name them by their index here
	Regs    []string         // register names used; push r and pop r name them by their index here
	This    int              // bytes of per-call storage the probe's programs need (the largest of them counts)
	Fuel    uint32           // 0: runtime.DefaultFuel
	LogMax  int              // 0: runtime.DefaultLog
	LogData int              // bytes of data in the log; 0: no limit but LogMax
	Stack   int              // words of stack allowed; 0: runtime.DefaultStack
	Temps   int
	Wrap    bool // circular stack
	Unsafe  bool // destructive commands are allowed in it

	Mask      uint32 // exceptions that go to handlers, with runtime.MaskSet; 0: runtime.DefaultMask
	TraceMax  int    // bytes of trace; 0: runtime.MaxTrace
	AutoTrace bool   // each exception appends to the trace
	Heap      int    // bytes of heap

	Bound Bound // set by Verify

	uses map[int]use // by index in Objects: the keys they are used with; set by Verify
}

// Command is one instruction as front ends write it.
type Command struct {
	Op  opcode.Op
	A   uint32 // jump target (index), count, object/format/text/register number, as the table's operand says
	V   uint64 // immediate word
	Pos diag.Span
}

// Bound is what the verifier proved of a program.
type Bound struct {
	Steps    uint64    // most steps a hit can take; only when Proved
	Proved   bool      // false: a loop without a bound the verifier can see; charged to fuel
	Stack    int       // deepest operand stack
	LogBytes int       // most bytes logged
	Fuel     uint32    // steps after which the machine ends the program in any case
	Loop     diag.Span // not Proved: the first loop without a bound, if it has a position
	Verified bool
}
