package runtime

import (
	"gotap/runtime/element"
	"gotap/runtime/opcode"
)

// Limits of the machine. All executors share them.
const (
	DefaultStack = 32       // words of the operand stack
	MaxStack     = 256      // words a program may ask for
	MaxTemps     = 256      // scratch words of a hit
	MaxCalls     = 32       // nested calls
	ScratchSize  = 64 << 10 // bytes of text a hit may make
	DefaultFuel  = 10_000   // steps of a hit
	MaxFuel      = 1_000_000
	MaxTrace     = 1024 // bytes of the trace of a hit
)

// Inst is one decoded instruction. The comment of an operation lists its operands (see Op).
type Inst struct {
	Op opcode.Op
	A  uint32
	V  uint64
}

// Code is a program ready to run: verified, decoded and bound to one arena. It is immutable, and several threads may
// use it.
type Code struct {
	ID      uint32 // number of the program in its arena; contained in records
	Insts   []Inst
	Texts   []string         // constants of opcode.PushS
	Layouts []element.Layout // of opcode.Element
	Stack   int              // words of operand stack needed, as verified
	Temps   int              // scratch words, zero at the start of a hit
	Fuel    uint32           // steps; 0 means DefaultFuel
	LogMax  int              // bytes of stored items; 0 means DefaultLog
	LogData int              // bytes of data in items, without headers and padding; 0: only LogMax limits the log
	Bounded bool             // the verifier proved that the steps stay below Fuel, so the machine need not count
	Wrap    bool             // the operand stack is circular, as in DProbes: only for programs that request it
	Unsafe  bool             // contains destructive operations
	Needs   opcode.Needs     // features that an executor needs to run it (NeedsOf)
	Mask    uint32           // exceptions that go to handlers; 0 means DefaultMask (see MaskSet)
	Trace   uint32           // number of the format of the trace's item, plus 1; 0: no trace
	Room    int              // bytes of trace; 0 means MaxTrace
	Heap    int              // bytes of heap
	Auto    bool             // each exception appends to the trace
}

// UsesField reports whether the program reads a field of its context.
func (c *Code) UsesField(f Field) bool {
	for i := range c.Insts {
		if in := &c.Insts[i]; in.Op == opcode.Field && Field(in.A) == f {
			return true
		}
	}
	return false
}
