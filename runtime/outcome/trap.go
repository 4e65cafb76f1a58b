package outcome

// Trap is the reason why a program was ended early. There is one for each limit. All executors share them, so messages
// do not depend on where the program ran.
type Trap uint8

// The traps.
const (
	NoTrap       Trap = iota
	TrapFuel          // more steps than allowed
	TrapRead          // unreadable address
	TrapWrite         // unwritable address
	TrapDivide        // division by zero
	TrapStack         // operand stack over- or underflow
	TrapCalls         // call stack over- or underflow
	TrapText          // scratch memory for text exhausted
	TrapKey           // key too long
	TrapIndex         // variable index out of range
	TrapThis          // no storage: the entry of the call was not seen
	TrapRegister      // no such register or argument here
	TrapOp            // not an operation
	TrapUser          // raised by the program
	TrapFull          // a keyed object declared with FullError is full
	TrapLog           // an item did not fit into the log, and the program's mask makes that an error
	TrapHeap          // no room for a block of the heap
	TrapHandle        // no block of the heap has this handle
	TrapOffset        // outside a block of the heap
	TrapErrno         // the process has no C library, or its errno cannot be found
	TrapModule        // the process does not have the module
	TrapRunTime       // the processor time of the thread is not known
	TrapWide          // an integer of 128 bits that does not fit into a word
	NumTraps
)

var trapTexts = [NumTraps]string{
	NoTrap: "no trap", TrapFuel: "out of fuel: more steps than allowed", TrapRead: "cannot read memory", TrapWrite: "cannot write memory",
	TrapDivide: "division by zero", TrapStack: "operand stack over- or underflow", TrapCalls: "calls nested too deep",
	TrapText: "no room for more text in this hit", TrapKey: "key too long", TrapIndex: "variable index out of range",
	TrapThis: "the entry of this call was not seen", TrapRegister: "no such register or argument here",
	TrapOp: "not an operation", TrapUser: "raised by the program", TrapFull: "what it adds to is full", TrapLog: "no room in the log",
	TrapHeap: "no room in the heap", TrapHandle: "no such block of the heap", TrapOffset: "outside its block of the heap",
	TrapErrno: "cannot find errno: no C library that has one", TrapModule: "the module is not in the process",
	TrapRunTime: "the processor time of the thread is not known", TrapWide: "the number does not fit into 64 bits",
}

// String returns the text of the trap in messages.
func (t Trap) String() string {
	if t < NumTraps {
		return trapTexts[t]
	}
	return "unknown trap"
}

// Error implements error, so that each trap is an error value.
func (t Trap) Error() string { return t.String() }
