package x86

import "gotap/arch"

// Branches calls visit for the branches in code, and for lea with a RIP-relative operand, which is how code finds a table
// of its own.
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
			}
			visit(b)
		}
		off += int(in.length)
	}
	return skipped
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
