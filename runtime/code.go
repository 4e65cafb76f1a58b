package runtime

import "gotap/runtime/opcode"

// Limits of the machine. All executors share them.
const (
	DefaultStack  = 32       // words of the operand stack
	MaxStack      = 256      // words a program may ask for
	MaxTemps      = 256      // scratch words of a hit
	MaxCalls      = 32       // nested calls
	MaxText       = 4096     // bytes of one text
	DefaultText   = 256      // bytes of str(p) when nothing else is asked
	DefaultLog    = 1024     // bytes of the log of a hit
	MaxLog        = 16 << 10 // bytes logMax may ask for
	ScratchSize   = 64 << 10 // bytes of text a hit may make
	DefaultFuel   = 10_000   // steps of a hit
	MaxFuel       = 1_000_000
	MaxKey        = 2048    // bytes of an encoded key
	MaxKeyParts   = 16      // parts of a key
	MaxKeys       = 1 << 20 // keys of one object
	MaxThisBytes  = 4096    // bytes of the storage of a call
	MaxStackDepth = 127     // frames of c.stack
	MaxTrace      = 1024    // bytes of the trace of a hit

	DefaultTrail  = 16 << 10 // bytes a thread's trail holds
	MaxTrail      = 1 << 20
	MaxThreads    = 16384 // threads that a per-thread variable or a trail tells apart
	TrailThreads  = 1024  // threads that have a trail at a time, unless Max says otherwise
	DefaultEvents = 1024  // records of a recorder
	MaxEvents     = 1 << 20
	RecordBytes   = 512 // bytes of one of them, with its header
)

// Inst is one decoded instruction. Which operands an operation has is in its comment (see Op).
type Inst struct {
	Op opcode.Op
	A  uint32
	V  uint64
}

// Code is a program ready to run: verified, decoded and bound to one arena. It is immutable
// and may be used by several threads.
type Code struct {
	ID      uint32 // number of the program in its arena; records carry it
	Insts   []Inst
	Texts   []string     // constants of opcode.PushS
	Stack   int          // words of operand stack needed, as verified
	Temps   int          // scratch words, zero at the start of a hit
	Fuel    uint32       // steps; 0 means DefaultFuel
	LogMax  int          // bytes of items as they are stored; 0 means DefaultLog
	LogData int          // bytes of data in them, without headers and padding; 0: LogMax alone limits the log
	Bounded bool         // the verifier proved that the steps stay below Fuel: the machine need not count
	Wrap    bool         // the operand stack is circular, as in DProbes: only for programs that ask for it
	Unsafe  bool         // holds destructive operations
	Needs   opcode.Needs // what an executor must have to run it (NeedsOf)
	Mask    uint32       // exceptions that go to handlers; 0 means DefaultMask (see MaskSet)
	Trace   uint32       // number of the format of the trace's item, plus 1; 0: nothing is traced
	Room    int          // bytes of trace; 0 means MaxTrace
	Heap    int          // bytes of heap
	Auto    bool         // each exception appends to the trace
}

// Trap is why a program was ended before its end. There is one for each limit, shared by all
// executors, so that a message is the same wherever the program ran.
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
	TrapThis          // no storage: the call was not seen being entered
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
	NumTraps
)

// Outcome is how one run of a program ended.
type Outcome struct {
	Kind     ExitKind
	Abort    bool // discard the log
	Remove   bool // remove the probe
	Trap     Trap
	Addr     uint64 // TrapRead, TrapWrite: the address
	PC       uint32 // the instruction that ended the program
	Steps    uint32
	Facility uint32
	Skip     bool // the function is to be skipped, with result SkipRet
	SkipRet  uint64
	Signal   uint8

	SkipPC, SignalPC uint32 // the operations that asked for it
}
