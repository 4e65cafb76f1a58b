// Package debugreg writes the debug registers of stopped threads, and reports which of their watchpoints a thread has
// hit.
//
// Each thread has Slots slots. A Watch is the same on every processor; Regs has the format of the processor. Call the
// functions of this package only on the tracing goroutine and for stopped threads.
package debugreg

import "gotap/engine/place"

// Slots is the number of addresses that can be watched at once. ARM processors have between two and sixteen slots of
// each kind; the kernel refuses slots that the processor lacks.
const Slots = 4

// Watch is the watchpoint in one slot.
type Watch struct {
	Addr   uint64
	Len    int // bytes: 1, 2, 4 or 8 of data
	Access place.Access
	Half   bool // an instruction at Addr may be a halfword: Thumb code
}
