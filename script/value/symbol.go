package value

import (
	"fmt"
	"path"
	"strings"
)

// Symbol is an address with its names; unknown parts are empty.
type Symbol struct {
	Addr   uint64
	Func   string
	Offset uint64 // in Func; without one the address in the file of Module, as nm prints it
	Module string // path of the file
	File   string
	Line   int

	Inlined bool // a call without code of its own, so without an Offset
}

// String returns the symbol as stacks print it: "0x401136 main+0x4 (prog) at prog.c:12", without its unknown parts. An
// address outside of functions has its offset in the file: "0x401136 (prog:0x1136)". An inlined call has no offset:
// "0x401136 swap [inlined] (prog)".
func (y Symbol) String() string {
	if y.interpreted() {
		return y.interpretedText()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "0x%x", y.Addr)
	switch {
	case y.Func == "":
	case y.Inlined:
		fmt.Fprintf(&b, " %s [inlined]", y.Func)
	default:
		fmt.Fprintf(&b, " %s+0x%x", y.Func, y.Offset)
	}
	switch {
	case y.Module != "" && y.Func == "" && y.Offset != 0: // as a place is named
		fmt.Fprintf(&b, " (%s:0x%x)", path.Base(y.Module), y.Offset)
	case y.Module != "":
		fmt.Fprintf(&b, " (%s)", path.Base(y.Module))
	}
	if y.File != "" {
		fmt.Fprintf(&b, " at %s:%d", path.Base(y.File), y.Line)
	}
	return b.String()
}
