package runtime

import "gotap/runtime/opcode"

// Limits of the machine. All executors share them.
const (
	DefaultStack  = 32       // words of the operand stack
	MaxStack      = 256      // words a program may ask for
	MaxTemps      = 256      // scratch words of a hit
	MaxCalls      = 32       // nested calls
	MaxText       = 4096     // bytes of one text
	DefaultText   = 256      // default size of str(p) in bytes
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
	MaxThreads    = 16384 // threads that a per-thread variable or a trail can distinguish
	TrailThreads  = 1024  // number of threads that have a trail at a time, unless Max is set
	DefaultEvents = 1024  // records of a recorder
	MaxEvents     = 1 << 20
	RecordBytes   = 512 // bytes of one such record, with its header
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
	Texts   []string     // constants of opcode.PushS
	Stack   int          // words of operand stack needed, as verified
	Temps   int          // scratch words, zero at the start of a hit
	Fuel    uint32       // steps; 0 means DefaultFuel
	LogMax  int          // bytes of stored items; 0 means DefaultLog
	LogData int          // bytes of data in items, without headers and padding; 0: only LogMax limits the log
	Bounded bool         // the verifier proved that the steps stay below Fuel, so the machine need not count
	Wrap    bool         // the operand stack is circular, as in DProbes: only for programs that request it
	Unsafe  bool         // contains destructive operations
	Needs   opcode.Needs // features that an executor needs to run it (NeedsOf)
	Mask    uint32       // exceptions that go to handlers; 0 means DefaultMask (see MaskSet)
	Trace   uint32       // number of the format of the trace's item, plus 1; 0: no trace
	Room    int          // bytes of trace; 0 means MaxTrace
	Heap    int          // bytes of heap
	Auto    bool         // each exception appends to the trace
}

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
	NumTraps
)

// Outcome describes how one run of a program ended.
type Outcome struct {
	Kind     ExitKind
	Abort    bool // discard the log
	Remove   bool // remove the probe
	Trap     Trap
	Addr     uint64 // TrapRead, TrapWrite: the address
	PC       uint32 // the instruction that ended the program
	Steps    uint32
	Facility uint32
	Skip     bool // skip the function, with result SkipRet
	SkipRet  uint64
	Signal   uint8

	SkipPC, SignalPC uint32 // the operations that requested it
}
