package x86

// The rotates of group 2 by reg field.
const (
	rotateROL = iota
	rotateROR
	rotateRCL
	rotateRCR
)

// shiftCount returns the count of a shift or rotate: the low five bits, or six for operands of eight bytes.
func shiftCount(n uint64, size uint8) uint {
	if size == 8 {
		return uint(n & 63)
	}
	return uint(n & 31)
}

// shiftAny emulates group 2 with any count: one, an immediate, or cl. A count of zero changes no flags.
func shiftAny(x *execution) error {
	x.resize()
	n := x.form.imm
	switch x.in.opcode {
	case 0xd0, 0xd1:
		n = 1
	case 0xd2, 0xd3:
		n = x.regs[RCX]
	}
	size := x.form.size
	count, op := shiftCount(n, size), x.in.regField()
	var flags uint64
	err := x.modify(func(v uint64) (r uint64) {
		switch {
		case count == 0:
			return v
		case op < 4:
			r, flags = rotate(op, v, count, size, x.regs[EFLAGS])
		default:
			r, flags = shiftFar(op, v, count, size)
		}
		return r
	})
	if err == nil && count != 0 {
		setStatus(x.regs, flags)
	}
	return err
}

// shiftFar is shift with counts up to 31 for operands of any size.
func shiftFar(op uint8, a uint64, n uint, size uint8) (r, flags uint64) {
	if n < 8*uint(size) {
		return shift(op, a, n, size)
	}
	a &= sizeMask(size)
	top := 8*uint(size) - 1
	switch op {
	case shiftSHR:
		r, flags = 0, a>>(n-1)&1
	case shiftSAR:
		r = uint64(int64(signExtend(a, size)) >> 63)
		flags = r & 1
	default:
		flags = a << n >> (top + 1) & 1
		flags |= flags << 11
	}
	return r, resultFlags(r, size) | flagAF | flags
}

// rotate rotates by 1 to 63 bits. OF is defined for one bit; for others it follows from the result by the same
// rule, as on AMD's processors.
func rotate(op uint8, a uint64, n uint, size uint8, flags uint64) (r, newFlags uint64) {
	top := 8*uint(size) - 1
	carry := flags & flagCF
	switch op {
	case rotateROL, rotateROR:
		n &= top
		if op == rotateROR {
			n = (top + 1 - n) & top
		}
		r = (a<<n | a>>(top+1-n)) & sizeMask(size)
		carry = r & 1
		if op == rotateROR {
			carry = r >> top
		}
	default:
		r, carry = rotateCarry(op, a, n%(top+2), size, carry)
	}
	overflow := r>>top ^ carry
	if op == rotateROR || op == rotateRCR {
		overflow = r>>top ^ r>>(top-1)&1
	}
	return r, flags&flagsStatus&^(flagCF|flagOF) | carry | overflow<<11
}

// rotateCarry rotates through the carry flag, bit by bit.
func rotateCarry(op uint8, a uint64, n uint, size uint8, carry uint64) (r, out uint64) {
	top := 8*uint(size) - 1
	for range n {
		if op == rotateRCL {
			a, carry = (a<<1|carry)&sizeMask(size), a>>top
		} else {
			a, carry = a>>1|carry<<top, a&1
		}
	}
	return a, carry
}

// shiftDouble emulates shld and shrd. For 16-bit operands, counts above 16 have an undefined result. OF is defined
// for one bit only, AF never.
func shiftDouble(x *execution) error {
	n := x.form.imm
	if x.in.opcode&1 != 0 {
		n = x.regs[RCX]
	}
	size := x.form.size
	width, count := 8*uint(size), shiftCount(n, size)
	if count > width {
		return errResult
	}
	from := x.gpr(x.reg().index)
	var carry, overflow, r uint64
	err := x.modify(func(v uint64) uint64 {
		switch {
		case count == 0:
			r = v
		case x.in.opcode < 0xa8:
			r, carry = v<<count|from>>(width-count), v>>(width-count)&1
			overflow = v<<count>>(width-1)&1 ^ carry
		default:
			r, carry = v>>count|from<<(width-count), v>>(count-1)&1
			overflow = (r>>(width-1) ^ r>>(width-2)) & 1
		}
		return r
	})
	if err == nil && count != 0 {
		setStatus(x.regs, resultFlags(r, size)|flagAF|carry|overflow<<11)
	}
	return err
}

// vexSize sets the operand size under VEX: in 64-bit mode, W means 8 bytes.
func (x *execution) vexSize() {
	x.form.size = 4
	if x.in.long && x.in.rex&rexW != 0 {
		x.form.size = 8
	}
}

// rotateTo emulates rorx.
func rotateTo(x *execution) error {
	x.vexSize()
	v, err := x.read(x.rm())
	if err != nil {
		return err
	}
	r, _ := rotate(rotateROR, v, shiftCount(x.form.imm, x.form.size), x.form.size, 0)
	x.setGPR(x.reg().index, r)
	return nil
}

// shiftTo emulates shlx, sarx and shrx, by prefix.
func shiftTo(x *execution) error {
	x.vexSize()
	v, err := x.read(x.rm())
	if err != nil {
		return err
	}
	n := shiftCount(x.regs[x.extra()], x.form.size)
	switch x.in.rep {
	case 0x66:
		v <<= n
	case 0xf2:
		v >>= n
	default:
		v = uint64(int64(signExtend(v, x.form.size)) >> n)
	}
	x.setGPR(x.reg().index, v)
	return nil
}
