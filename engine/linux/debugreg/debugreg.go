// Package debugreg writes the debug registers of stopped threads, and reports which of their watchpoints a thread has hit.
//
// Each thread has Slots of them. A Watch is the same on every processor; Regs has the
// format of the processor. Call the functions of this package on the tracing goroutine, for stopped threads only.
package debugreg

import "gotap/engine/place"

// Slots is the number of addresses watched at once. ARM processors have between two and sixteen of each kind; the kernel refuses
// slots that the processor lacks.
const Slots = 4

// Watch is the watchpoint in one slot.
type Watch struct {
	Addr   uint64
	Len    int // bytes: 1, 2, 4 or 8 of data
	Access place.Access
	Half   bool // an instruction there may be half a word: Thumb code
}
