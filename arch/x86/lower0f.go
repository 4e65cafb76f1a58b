package x86

// lower0F is for the 0F map. A mandatory prefix makes another instruction of most opcodes, so only endbr and bnd jcc
// are lowered with one.
func (in *inst) lower0F(f *form) {
	op := in.opcode
	if op >= 0x80 && op < 0x90 {
		f.do, f.op = doJumpIf, op&15
		return
	}
	if in.rep != 0 {
		if in.endbr() {
			f.do = doNop
		}
		return
	}
	switch {
	case op == 0x1f || (op == 0x0d || op == 0x18) && in.memory(): // long nop, prefetches
		f.do = doNop
	case op >= 0x40 && op < 0x50:
		f.do, f.op = doCmov, op&15
		f.dst, f.src = in.gprOperand(in.reg(), f.size), in.rmOperand(f.size)
	case op >= 0x90 && op < 0xa0:
		f.do, f.op, f.size, f.dst = doSet, op&15, 1, in.rmOperand(1)
	case op == 0xb6 || op == 0xb7 || op == 0xbe || op == 0xbf:
		f.do, f.op, f.from = doExtend, op>>3&1, in.byteOr(2)
		f.dst, f.src = in.gprOperand(in.reg(), f.size), in.rmOperand(f.from)
	case op >= 0xc8 && f.size != 2 && op < 0xd0: // bswap of 16 bits is undefined
		f.do, f.dst = doSwap, in.gprOperand(in.low(), f.size)
	case op == 0xa3 || op == 0xab || op == 0xb3 || op == 0xbb || op == 0xba:
		in.lowerBitTest(f)
	}
}

// endbr reports endbr64 and endbr32. Both are nops wherever indirect branch tracking is off, or has been satisfied,
// which it has when they are executed at all.
func (in *inst) endbr() bool {
	return in.is(map0F, 0x1e) && in.rep == 0xf3 && (in.modrm == 0xfa || in.modrm == 0xfb)
}

// lowerBitTest is bt, bts, btr and btc of a register. In memory the bit may lie far from the address.
func (in *inst) lowerBitTest(f *form) {
	if in.memory() {
		return
	}
	f.do, f.op = doBitTest, in.opcode>>3&3
	f.dst, f.src = in.rmOperand(f.size), in.gprOperand(in.reg(), f.size)
	if in.opcode == 0xba {
		f.op, f.src = in.regField()&3, operand{kind: immediate}
	}
}
