package x86

// The VEX, EVEX and XOP prefixes (Intel SDM vol. 2, 2.3 and 2.7; AMD APM vol. 3, 1.2). They store register bits
// inverted. The decoder converts them to REX's form, so the rest of the package sees one kind of register number.

// vector reports whether b starts a VEX, EVEX or XOP prefix. In 32-bit mode, C4, C5 and 62 are les, lds and bound
// if the next byte is a ModRM that names memory. 8F is pop unless the map field is one of XOP's.
func (d *decoder) vector(b byte) bool {
	switch b {
	case 0xc4, 0xc5, 0x62:
		return d.in.long || d.peek() >= 0xc0
	case 0x8f:
		return d.peek()&0x1f >= mapXOP8
	}
	return false
}

// vectorOpcode reads the rest of the prefix and the opcode, and returns the opcode's letter.
func (d *decoder) vectorOpcode(b byte) byte {
	in := &d.in
	if in.opsize || in.rep != 0 || in.lock || in.rex != 0 {
		d.fail(errUnknown)
	}
	in.prefix = uint8(d.pos - 1)
	switch b {
	case 0xc5:
		d.vex2()
	case 0xc4:
		in.enc = vex3
		d.vex3()
	case 0x8f:
		in.enc = xop
		d.vex3()
	default:
		d.evex()
	}
	if !in.long { // eight registers
		in.rex, in.vvvv = in.rex&rexW, in.vvvv&7
	}
	in.opOff = uint8(d.pos)
	in.opcode = d.next()
	return in.vectorLetter()
}

// vectorLetter returns the letter of an opcode. In the maps other than 0F, the same follows every opcode.
func (in *inst) vectorLetter() byte {
	switch {
	case in.enc == xop:
		return "MmD"[in.opmap-mapXOP8]
	case in.opmap == map0F && in.enc == evex && in.opcode == 0x77:
		return 'x' // vzeroupper has no EVEX form
	case in.opmap == map0F:
		return vex0F[in.opcode]
	case in.opmap == map0F38:
		return 'm'
	case in.opmap == map0F3A:
		return 'M'
	case in.enc == evex && (in.opmap == mapFP5 || in.opmap == mapFP6):
		return 'm'
	}
	return 'x'
}

// vex2 reads R vvvv L pp.
func (d *decoder) vex2() {
	in := &d.in
	p := ^d.next()
	in.enc, in.opmap = vex2, map0F
	in.rex = p >> 7 << 2 & rexR
	in.vvvv = p >> 3 & 15
	in.pp(^p)
}

// vex3 reads R X B mmmmm, W vvvv L pp, of VEX or XOP.
func (d *decoder) vex3() {
	in := &d.in
	p0, p1 := d.next(), d.next()
	in.rex = ^p0 >> 5 & 7
	in.opmap = p0 & 0x1f
	in.wideAndExtra(p1)
	if in.enc == xop && in.opmap > mapXOPA || in.enc == vex3 && in.opmap > map0F3A {
		d.fail(errUnknown)
		in.opmap = mapXOP8
	}
}

// evex reads R X B R' 0 mmm, W vvvv 1 pp, z L'L b V' aaa. APX uses the fixed bits.
func (d *decoder) evex() {
	in := &d.in
	p0, p1, p2 := d.next(), d.next(), d.next()
	in.enc = evex
	in.rex = ^p0 >> 5 & 7
	in.opmap = p0 & 7
	in.wideAndExtra(p1)
	in.vvvv |= ^p2 >> 3 & 1 << 4
	if p0&8 != 0 || p1&4 == 0 || in.opmap == 4 {
		d.fail(errAPX)
	}
}

// wideAndExtra decodes the byte that holds W, vvvv and pp.
func (x *prefixes) wideAndExtra(p byte) {
	if p&0x80 != 0 {
		x.rex |= rexW
	}
	x.vvvv = ^p >> 3 & 15
	x.pp(p)
}

// pp sets rep to the mandatory prefix of the legacy encoding, which distinguishes instructions. It does not set
// opsize: no operand of a vector instruction follows the operand-size attribute.
func (x *prefixes) pp(p byte) { x.rep = [4]uint8{0, 0x66, 0xf3, 0xf2}[p&3] }
