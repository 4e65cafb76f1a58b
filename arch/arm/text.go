package arm

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/arch/arm/armasm"
)

// textMu serializes calls of the disassembling library, which keeps its state in a package variable.
var textMu sync.Mutex

// Text returns the disassembly, for display only: in GNU syntax for A32. For what the disassembling library does
// not know, including all of Thumb, it returns the name of the instruction and its target or word.
func (s *isa) Text(code []byte, addr uint64) string {
	in, err := s.decode(code)
	if err != nil {
		return "(bad)"
	}
	if !s.thumb {
		textMu.Lock()
		defer textMu.Unlock()
		if out, err := armasm.Decode(code[:4], armasm.ModeARM); err == nil {
			return armasm.GNUSyntax(out)
		}
	}
	if to := in.target(addr, in.control()); to != 0 {
		return fmt.Sprintf("%s %#x", strings.ToLower(in.row.name), to)
	}
	if in.size == 2 {
		return fmt.Sprintf("%s %#04x", strings.ToLower(in.row.name), binary.LittleEndian.Uint16(code))
	}
	return fmt.Sprintf("%s %#08x", strings.ToLower(in.row.name), in.word)
}
