package opcode

import (
	"math/bits"
	"strings"
)

// Needs are the features that a program needs from its executor. An executor that lacks one of them refuses the
// program, or hands it on to another executor at the operation that needs it.
type Needs uint32

// The needs. Those that depend on an operand (the kind of an exit, a register, a field of the context) are added by
// runtime.NeedsOf.
const (
	NeedRegs       Needs = 1 << iota // registers at the probe
	NeedFloatRegs                    // floating-point and vector registers
	NeedArgs                         // arguments and results by calling convention
	NeedMemory                       // the target's memory
	NeedFloat                        // floating-point arithmetic
	NeedStack                        // unwinding the stack
	NeedContext                      // numbers of the context: pid, time, cpu …
	NeedComm                         // the thread's name
	NeedPlaceText                    // names of the place: function, module, probe
	NeedErrno                        // the C library's errno
	NeedModules                      // where modules lie
	NeedText                         // scratch memory for text
	NeedThis                         // storage of the call
	NeedPerThread                    // per-thread variables
	NeedKeys                         // keys, maps and aggregations
	NeedLog                          // items of the log
	NeedDeferred                     // trails and recorders
	NeedHeap                         // the heap of the hit
	NeedExceptions                   // handlers of exceptions
	NeedTrace                        // the trace of frames
	NeedEvent                        // an exit whose callback gets a record
	NeedHold                         // an exit that holds the thread
	NeedDump                         // an exit that writes a core
	NeedStop                         // an exit that leaves the process stopped
	NeedFacility                     // an exit to a facility
	NeedRemove                       // removing the probe
	NeedUnsafe                       // changing the target
	NeedSkip                         // skipping the function
	NeedSignal                       // sending a signal
	NeedWrap                         // a circular stack
	numNeeds       = iota
)

// needNames are the names of the needs, from the lowest bit on.
var needNames = [numNeeds]string{
	"regs", "floatregs", "args", "memory", "float", "stack", "context", "comm", "place", "errno", "modules", "text", "this",
	"perthread", "keys", "log", "deferred", "heap", "exceptions", "trace", "event", "hold", "dump", "stop", "facility",
	"remove", "unsafe", "skip", "signal", "wrap",
}

// String lists the needs, as "regs memory hold"; "nothing" when there are none.
func (n Needs) String() string {
	if n == 0 {
		return "nothing"
	}
	var list []string
	for ; n != 0; n &= n - 1 {
		if bit := bits.TrailingZeros32(uint32(n)); bit < numNeeds {
			list = append(list, needNames[bit])
		}
	}
	return strings.Join(list, " ")
}

// Without are the needs that an executor which has only some cannot meet.
func (n Needs) Without(has Needs) Needs { return n &^ has }
