// The C resolver of a static program needs shared libraries at run time; Go's resolver does not (see package static).
//go:debug netdns=go

package main

import (
	"os"

	_ "gotap/cmd/gotap/firstheap" // the heap's memory
	_ "gotap/cmd/gotap/static"    // link flags
)

func main() {
	collectLater()
	os.Exit(Main(World{
		Args:   os.Args[1:],
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	}))
}
