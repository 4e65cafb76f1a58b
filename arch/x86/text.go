package x86

import (
	"fmt"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// known lists instructions that x86asm mistakes for others.
var known = map[string]string{
	"\xf3\x0f\x1e\xfa": "endbr64",
	"\xf3\x0f\x1e\xfb": "endbr32",
	"\xc5\xf8\x77":     "vzeroupper",
	"\xc5\xfc\x77":     "vzeroall",
	"\xf3\x90":         "pause",
}

// Text returns the disassembly in AT&T syntax, for display only. If the disassembling library does not know an
// instruction or gets its length wrong, the text is "?" and the bytes.
func (m *isa) Text(code []byte, addr uint64) string {
	in, err := decodeInst(code, m.long)
	if err != nil {
		return "(bad)"
	}
	b := in.bytes()
	if s, ok := known[string(b)]; ok {
		return s
	}
	mode := 32
	if m.long {
		mode = 64
	}
	out, err := x86asm.Decode(b, mode)
	if err != nil || out.Len != len(b) || out.Op == 0 {
		return fmt.Sprintf("? % x", b)
	}
	text := strings.TrimSpace(x86asm.GNUSyntax(out, addr, nil))
	if i := strings.LastIndexByte(text, ' '); in.relLen != 0 && i >= 0 {
		mnemonic := strings.TrimSuffix(text[:i], "q") // callq, jmpq
		return fmt.Sprintf("%s %#x", mnemonic, m.wrap(addr+uint64(in.length)+uint64(in.imm)))
	}
	return text
}
