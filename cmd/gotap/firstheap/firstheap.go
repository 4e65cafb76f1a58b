// Package firstheap gives the start of gotap's heap its memory at once. Go's runtime maps the heap in pieces of 4 MiB,
// and every start of gotap touches most pages of the first one, for the tables and commands of its packages. Page by page
// that took a quarter of the processor time of a short command.
//
// The package has no functions and starts no goroutines; main imports it for its initialisation. It imports only what
// package syscall needs: it is initialised early for that reason, before the packages that fill the heap.
package firstheap

import (
	"unsafe"

	"gotap/engine/linux/populate"
)

// piece is how much the runtime adds to its heap at a time.
const piece = 4 << 20

// object keeps the compiler from placing what init allocates outside the heap.
var object *[64]byte

func init() {
	object = new([64]byte)
	populate.Range(uintptr(unsafe.Pointer(object))&^(piece-1), piece)
	object = nil
}
