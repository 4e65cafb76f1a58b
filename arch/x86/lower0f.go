package x86

// escape handles the 0F map. A mandatory prefix changes the meaning of most opcodes, so only endbr and bnd jcc are
// lowered with one.
func (l *lowering) escape() {
	op := l.opcode
	if op >= 0x80 && op < 0x90 {
		l.form.do, l.form.op = doJumpIf, op&15
		return
	}
	if l.rep != 0 {
		if l.endbr() {
			l.form.do = doNop
		}
		return
	}
	switch {
	case op == 0x1f || (op == 0x0d || op == 0x18) && l.memory(): // long nop, prefetches
		l.form.do = doNop
	case op >= 0x40 && op < 0x50:
		l.form.do, l.form.op = doCmov, op&15
		l.form.dst, l.form.src = l.gprOperand(l.reg(), l.form.size), l.rmOperand(l.form.size)
	case op >= 0x90 && op < 0xa0:
		l.form.do, l.form.op, l.form.size, l.form.dst = doSet, op&15, 1, l.rmOperand(1)
	case op == 0xb6 || op == 0xb7 || op == 0xbe || op == 0xbf:
		l.form.do, l.form.op, l.form.from = doExtend, op>>3&1, l.byteOr(2)
		l.form.dst, l.form.src = l.gprOperand(l.reg(), l.form.size), l.rmOperand(l.form.from)
	case op >= 0xc8 && l.form.size != 2 && op < 0xd0: // bswap of 16 bits is undefined
		l.form.do, l.form.dst = doSwap, l.gprOperand(l.low(), l.form.size)
	case op == 0xa3 || op == 0xab || op == 0xb3 || op == 0xbb || op == 0xba:
		l.bitTest()
	}
}

// endbr reports endbr64 and endbr32. They are nops if indirect branch tracking is off or satisfied, and they would
// not execute otherwise.
func (in *inst) endbr() bool {
	return in.is(map0F, 0x1e) && in.rep == 0xf3 && (in.modrm == 0xfa || in.modrm == 0xfb)
}

// bitTest handles bt, bts, btr and btc of a register. In memory, the bit may be far from the address.
func (l *lowering) bitTest() {
	if l.memory() {
		return
	}
	l.form.do, l.form.op = doBitTest, l.opcode>>3&3
	l.form.dst, l.form.src = l.rmOperand(l.form.size), l.gprOperand(l.reg(), l.form.size)
	if l.opcode == 0xba {
		l.form.op, l.form.src = l.regField()&3, operand{kind: immediate}
	}
}
