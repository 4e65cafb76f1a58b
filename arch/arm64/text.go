package arm64

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/arch/arm64/arm64asm"
)

// textMu serializes calls of the x/arch disassembler, which writes a package variable while it decodes.
var textMu sync.Mutex

// text returns the disassembly of x/arch, and the name of the row if x/arch does not know the instruction.
func text(w uint32) string {
	textMu.Lock()
	defer textMu.Unlock()
	var code [4]byte
	binary.LittleEndian.PutUint32(code[:], w)
	if in, err := arm64asm.Decode(code[:]); err == nil {
		return arm64asm.GNUSyntax(in)
	}
	if r, err := find(w); err == nil {
		return strings.ToLower(r.name)
	}
	return fmt.Sprintf(".inst %#08x", w)
}
