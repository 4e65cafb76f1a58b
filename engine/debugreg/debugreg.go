// Package debugreg writes the debug registers of stopped threads, and tells which of the watchpoints in them a thread has met.
//
// A thread has Slots of them, and shares them with no other. What is watched is given as Watch, the same on every processor; Regs is
// how the processor has it. Functions of this package are to be called on the goroutine that traces, for threads that are stopped.
package debugreg

import "gotap/engine/place"

// Slots is how many addresses are watched at once. Processors of ARM have between two and sixteen of a kind; what one does not have the
// kernel refuses.
const Slots = 4

// Watch is what one slot watches.
type Watch struct {
	Addr   uint64
	Len    int // bytes: 1, 2, 4 or 8 of data
	Access place.Access
	Half   bool // an instruction there may be half a word: Thumb code
}
