package x86

import (
	"encoding/binary"

	"gotap/arch"
)

// Branches calls visit for the branches in code, and for lea with a RIP-relative operand, which is how code finds a
// table of its own.
func (m windows) Branches(code []byte, start uint64, visit func(arch.Branch)) (skipped int) {
	d := decoder{in: inst{long: true}}
	for off := 0; off < len(code); {
		in, err := d.instruction(code[off:])
		if err != nil {
			skipped++
			off++
			continue
		}
		if kind, found := in.branchKind(); found {
			b := arch.Branch{Addr: start + uint64(off), Len: int(in.length), Kind: kind}
			next := b.Addr + uint64(b.Len)
			switch kind {
			case arch.BranchDirect, arch.BranchCall:
				b.Target = next + uint64(in.imm)
			case arch.BranchAddress:
				b.Target = next + uint64(in.disp)
			case arch.BranchIndirect:
				b.Target = in.absoluteTable()
			}
			visit(b)
		}
		off += int(in.length)
	}
	return skipped
}

// absoluteTable returns the address of the table of a jump through memory with an index and no base, or 0.
func (in *inst) absoluteTable() uint64 {
	if in.memory() && in.hasSIB && in.mod() == 0 && in.sib&7 == 5 {
		return uint64(in.disp)
	}
	return 0
}

// Stray calls visit for every address that a direct branch leads to if instructions start at all bytes.
func (windows) Stray(code []byte, start uint64, visit func(target uint64)) {
	for off := range code {
		b, rest := code[off], code[off+1:]
		switch {
		case (b >= 0x70 && b <= 0x7f || b == 0xeb || b >= 0xe0 && b <= 0xe3) && len(rest) >= 1:
			visit(start + uint64(off) + 2 + uint64(int8(rest[0])))
		case (b == 0xe8 || b == 0xe9 || b >= 0x80 && b <= 0x8f && off > 0 && code[off-1] == 0x0f) && len(rest) >= 4:
			visit(start + uint64(off) + 5 + uint64(int32(binary.LittleEndian.Uint32(rest))))
		}
	}
}

// IndirectJumps visits the instructions of a function, and counts the indirect jumps that are not tail calls.
func (m windows) IndirectJumps(code []byte, start uint64, visit func(addr uint64)) (tables, unclear int, err error) {
	s := scanner{}
	err = arch.Sweep(m, code, start, func(in arch.Insn) error {
		visit(in.Addr)
		op := in.Op.(*inst)
		if in.Control == arch.IndirJump {
			switch s.indirect(op) {
			case arch.TableJump:
				tables++
			case arch.UnclearJump:
				unclear++
			}
		}
		s.remember(op)
		return nil
	})
	return tables, unclear, err
}

// branchKind classifies what Branches looks for.
func (in *inst) branchKind() (kind arch.BranchKind, found bool) {
	if in.enc != legacy || in.opmap > map0F {
		return 0, false
	}
	switch {
	case in.relLen == 0 && in.opmap == mapLegacy && in.opcode == 0xff && (in.regField() == 4 || in.regField() == 5):
		return arch.BranchIndirect, true
	case in.ripRel && in.opmap == mapLegacy && in.opcode == 0x8d:
		return arch.BranchAddress, true
	case in.relLen == 0:
		return 0, false
	case in.opmap == mapLegacy && in.opcode == 0xe8:
		return arch.BranchCall, true
	}
	return arch.BranchDirect, true
}
