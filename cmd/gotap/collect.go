package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// firstCollection is how far the heap may grow before it is collected for the first time, as GOGC is given: Go's
// runtime starts with 4 MB, so this is 32 MB.
const firstCollection = 800

// collectLater has the first garbage collection wait. What gotap allocates while it starts, such as symbol tables,
// mostly stays, so that the collections at 4, 8 and 16 MB find little: they took a tenth of the processor time of a
// short run. Memory stays bounded, because everything after the first collection is as usual. A GOGC that the user has
// set counts.
func collectLater() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(firstCollection)
	garbage := new([64]byte) // larger than what the runtime allocates in common blocks, which a collection may keep
	runtime.AddCleanup(garbage, func(percent int) { debug.SetGCPercent(percent) }, usual)
}
