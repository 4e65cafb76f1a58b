package goabi

import (
	"fmt"

	"gotap/arch"
)

// Exits returns the instructions that leave a function that Go's compiler generated. code is the whole function, which
// is at vaddr. Returns leave, and so do jumps out of the function, which wrappers have. An indirect jump with an index
// uses a jump table of the function; one without is the tail call of a wrapper. The error is that of an instruction
// that cannot be decoded.
func Exits(code []byte, vaddr uint64, a arch.Arch) ([]arch.Exit, error) {
	var exits []arch.Exit
	end := vaddr + uint64(len(code))
	for at := vaddr; at < end; {
		rest := code[at-vaddr:]
		in, err := a.Decode(rest[:min(len(rest), longestInsn)], at)
		if err != nil {
			return nil, fmt.Errorf("cannot find the exits of the function at %#x: %w", vaddr, err)
		}
		switch in.Control {
		case arch.Return:
			exits = append(exits, arch.Exit{Insn: in})
		case arch.Jump, arch.CondJump:
			if in.Target < vaddr || in.Target >= end {
				exits = append(exits, arch.Exit{Insn: in, Tail: true})
			}
		case arch.IndirJump:
			if !indexed(in) {
				exits = append(exits, arch.Exit{Insn: in, Tail: true})
			}
		}
		at += uint64(in.Len)
	}
	return exits, nil
}

// indexed reports whether a jump through memory has an index register: a SIB byte whose index is not 4, which means
// none (Intel SDM vol. 2, 2.1.5). Go's compiler never uses r12, which has the same bits, as the index of a table.
func indexed(in arch.Insn) bool {
	const jump = 0xff
	for i, b := range in.Bytes[:in.Len] {
		if b == jump && i+2 < in.Len {
			modrm, sib := in.Bytes[i+1], in.Bytes[i+2]
			return modrm>>6 != 3 && modrm&7 == 4 && sib>>3&7 != 4
		}
	}
	return false
}
