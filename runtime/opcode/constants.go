package opcode

import (
	"bytes"
	"fmt"
	"go/format"
)

// Constants is the Go source of names.go: a constant for each row of the Table, with its stack picture and documentation.
func Constants() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("// Code generated from table.go by go generate; DO NOT EDIT.\n\npackage opcode\n\n")
	b.WriteString("// The operations, with their stack pictures and what they do.\nconst (\n")
	for i := range Table {
		row, kind := &Table[i], ""
		if i == 0 {
			kind = " Op = iota"
		}
		fmt.Fprintf(&b, "\t%s%s // %s %s\n", row.Const, kind, row.Picture(), row.Doc)
	}
	b.WriteString("\n\tNumOps // how many there are\n)\n")
	return format.Source(b.Bytes())
}
