// Command generate writes the constants of package opcode, names.go, from its Table.
package main

import (
	"fmt"
	"os"

	"gotap/runtime/opcode"
)

func main() {
	source, err := opcode.Constants()
	if err == nil {
		err = os.WriteFile("names.go", source, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot write the constants of operations:", err)
		os.Exit(1)
	}
}
