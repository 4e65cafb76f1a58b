package arm64

import (
	"hash/crc32"
	"math/bits"
)

// registerRows holds data processing of registers (Arm ARM DDI 0487, C4.1.95).
var registerRows = []row{
	{mask: 0x7f200000, value: 0x0a000000, name: "and (shifted register)", exec: doAnd, undefined: badShiftAmount},
	{mask: 0x7f200000, value: 0x0a200000, name: "bic (shifted register)", exec: doBic, undefined: badShiftAmount},
	{mask: 0x7f200000, value: 0x2a000000, name: "orr (shifted register)", exec: doOrr, undefined: badShiftAmount},
	{mask: 0x7f200000, value: 0x2a200000, name: "orn (shifted register)", exec: doOrn, undefined: badShiftAmount},
	{mask: 0x7f200000, value: 0x4a000000, name: "eor (shifted register)", exec: doEor, undefined: badShiftAmount},
	{mask: 0x7f200000, value: 0x4a200000, name: "eon (shifted register)", exec: doEon, undefined: badShiftAmount},
	{mask: 0x7f200000, value: 0x6a000000, name: "ands (shifted register)", exec: doAnds, undefined: badShiftAmount},
	{mask: 0x7f200000, value: 0x6a200000, name: "bics (shifted register)", exec: doBics, undefined: badShiftAmount},

	{mask: 0x7f200000, value: 0x0b000000, name: "add (shifted register)", exec: doAddShifted, undefined: badAddShift},
	{mask: 0x7f200000, value: 0x2b000000, name: "adds (shifted register)", exec: doAddsShifted, undefined: badAddShift},
	{mask: 0x7f200000, value: 0x4b000000, name: "sub (shifted register)", exec: doSubShifted, undefined: badAddShift},
	{mask: 0x7f200000, value: 0x6b000000, name: "subs (shifted register)", exec: doSubsShifted, undefined: badAddShift},
	{mask: 0x7fe00000, value: 0x0b200000, name: "add (extended register)", exec: doAddExtended, undefined: badExtend},
	{mask: 0x7fe00000, value: 0x2b200000, name: "adds (extended register)", exec: doAddsExtended, undefined: badExtend},
	{mask: 0x7fe00000, value: 0x4b200000, name: "sub (extended register)", exec: doSubExtended, undefined: badExtend},
	{mask: 0x7fe00000, value: 0x6b200000, name: "subs (extended register)", exec: doSubsExtended, undefined: badExtend},

	{mask: 0x7fe0fc00, value: 0x1a000000, name: "adc", exec: doADC},
	{mask: 0x7fe0fc00, value: 0x3a000000, name: "adcs", exec: doADCS},
	{mask: 0x7fe0fc00, value: 0x5a000000, name: "sbc", exec: doSBC},
	{mask: 0x7fe0fc00, value: 0x7a000000, name: "sbcs", exec: doSBCS},
	{mask: 0xffe07c10, value: 0xba000400, name: "rmif", exec: doRMIF},
	{mask: 0xfffffc1f, value: 0x3a00080d, name: "setf8", exec: doSETF8},
	{mask: 0xfffffc1f, value: 0x3a00480d, name: "setf16", exec: doSETF16},

	{mask: 0x7fe00c10, value: 0x3a400000, name: "ccmn (register)", exec: doCCMN},
	{mask: 0x7fe00c10, value: 0x3a400800, name: "ccmn (immediate)", exec: doCCMN},
	{mask: 0x7fe00c10, value: 0x7a400000, name: "ccmp (register)", exec: doCCMP},
	{mask: 0x7fe00c10, value: 0x7a400800, name: "ccmp (immediate)", exec: doCCMP},
	{mask: 0x7fe00c00, value: 0x1a800000, name: "csel", exec: doCSEL},
	{mask: 0x7fe00c00, value: 0x1a800400, name: "csinc", exec: doCSINC},
	{mask: 0x7fe00c00, value: 0x5a800000, name: "csinv", exec: doCSINV},
	{mask: 0x7fe00c00, value: 0x5a800400, name: "csneg", exec: doCSNEG},

	{mask: 0x7fe0fc00, value: 0x1ac00800, name: "udiv", exec: doUDIV},
	{mask: 0x7fe0fc00, value: 0x1ac00c00, name: "sdiv", exec: doSDIV},
	{mask: 0x7fe0fc00, value: 0x1ac02000, name: "lslv", exec: doShiftVariable},
	{mask: 0x7fe0fc00, value: 0x1ac02400, name: "lsrv", exec: doShiftVariable},
	{mask: 0x7fe0fc00, value: 0x1ac02800, name: "asrv", exec: doShiftVariable},
	{mask: 0x7fe0fc00, value: 0x1ac02c00, name: "rorv", exec: doShiftVariable},
	{mask: 0xffe0fc00, value: 0x1ac04000, name: "crc32b", exec: doCRC32},
	{mask: 0xffe0fc00, value: 0x1ac04400, name: "crc32h", exec: doCRC32},
	{mask: 0xffe0fc00, value: 0x1ac04800, name: "crc32w", exec: doCRC32},
	{mask: 0xffe0fc00, value: 0x9ac04c00, name: "crc32x", exec: doCRC32},
	{mask: 0xffe0fc00, value: 0x1ac05000, name: "crc32cb", exec: doCRC32},
	{mask: 0xffe0fc00, value: 0x1ac05400, name: "crc32ch", exec: doCRC32},
	{mask: 0xffe0fc00, value: 0x1ac05800, name: "crc32cw", exec: doCRC32},
	{mask: 0xffe0fc00, value: 0x9ac05c00, name: "crc32cx", exec: doCRC32},
	{mask: 0x7fe0fc00, value: 0x1ac06000, name: "smax (register)", exec: minMaxRegister(smaxInteger)},
	{mask: 0x7fe0fc00, value: 0x1ac06400, name: "umax (register)", exec: minMaxRegister(umaxInteger)},
	{mask: 0x7fe0fc00, value: 0x1ac06800, name: "smin (register)", exec: minMaxRegister(sminInteger)},
	{mask: 0x7fe0fc00, value: 0x1ac06c00, name: "umin (register)", exec: minMaxRegister(uminInteger)},

	{mask: 0x7ffffc00, value: 0x5ac00000, name: "rbit", exec: doRBIT},
	{mask: 0x7ffffc00, value: 0x5ac00400, name: "rev16", exec: doREV16},
	{mask: 0xfffffc00, value: 0x5ac00800, name: "rev (32-bit)", exec: doREV},
	{mask: 0xfffffc00, value: 0xdac00800, name: "rev32", exec: doREV32},
	{mask: 0xfffffc00, value: 0xdac00c00, name: "rev (64-bit)", exec: doREV},
	{mask: 0x7ffffc00, value: 0x5ac01000, name: "clz", exec: doCLZ},
	{mask: 0x7ffffc00, value: 0x5ac01400, name: "cls", exec: doCLS},
	{mask: 0x7ffffc00, value: 0x5ac01800, name: "ctz", exec: doCTZ},
	{mask: 0x7ffffc00, value: 0x5ac01c00, name: "cnt", exec: doCNT},
	{mask: 0x7ffffc00, value: 0x5ac02000, name: "abs", exec: doABS},

	{mask: 0x7fe08000, value: 0x1b000000, name: "madd", exec: doMADD},
	{mask: 0x7fe08000, value: 0x1b008000, name: "msub", exec: doMSUB},
	{mask: 0xffe08000, value: 0x9b200000, name: "smaddl", exec: doSMADDL},
	{mask: 0xffe08000, value: 0x9b208000, name: "smsubl", exec: doSMSUBL},
	{mask: 0xffe08000, value: 0x9b400000, name: "smulh", exec: doSMULH},
	{mask: 0xffe08000, value: 0x9ba00000, name: "umaddl", exec: doUMADDL},
	{mask: 0xffe08000, value: 0x9ba08000, name: "umsubl", exec: doUMSUBL},
	{mask: 0xffe08000, value: 0x9bc00000, name: "umulh", exec: doUMULH},
}

// bitSize returns the number of bits of an instruction with an sf bit.
func bitSize(w uint32) uint {
	if wide(w) {
		return 64
	}
	return 32
}

// asSigned returns v of the size of w as a signed number.
func asSigned(w uint32, v uint64) int64 {
	if wide(w) {
		return int64(v)
	}
	return int64(int32(v))
}

func badShiftAmount(w uint32) bool { return !wide(w) && field(w, 15, 1) == 1 }
func badAddShift(w uint32) bool    { return badShiftAmount(w) || field(w, 22, 2) == 3 }
func badExtend(w uint32) bool      { return field(w, 10, 3) > 4 }

// shift shifts v, of the size of w, by less than that size: left, right, right with the sign, or rotating.
func shift(w uint32, v uint64, kind uint32, by uint) uint64 {
	v = sized(w, v)
	switch kind {
	case 0:
		v <<= by
	case 1:
		v >>= by
	case 2:
		v = uint64(asSigned(w, v) >> by)
	case 3:
		v = rotateRight(v, by, bitSize(w))
	}
	return sized(w, v)
}

// shifted returns the second operand of a shifted-register instruction.
func (c *core) shifted(w uint32) uint64 {
	return shift(w, c.reg(rm(w)), field(w, 22, 2), uint(field(w, 10, 6)))
}

func doAnd(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(rn(w))&c.shifted(w)))
	return nil
}

func doBic(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(rn(w))&^c.shifted(w)))
	return nil
}

func doOrr(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(rn(w))|c.shifted(w)))
	return nil
}

func doOrn(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(rn(w))|^c.shifted(w)))
	return nil
}

func doEor(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(rn(w))^c.shifted(w)))
	return nil
}

func doEon(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(rn(w))^^c.shifted(w)))
	return nil
}

func doAnds(c *cpu, w uint32) error {
	c.set(rd(w), c.logicFlags(w, c.reg(rn(w))&c.shifted(w)))
	return nil
}

func doBics(c *cpu, w uint32) error {
	c.set(rd(w), c.logicFlags(w, c.reg(rn(w))&^c.shifted(w)))
	return nil
}

func doAddShifted(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(rn(w))+c.shifted(w)))
	return nil
}

func doSubShifted(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(rn(w))-c.shifted(w)))
	return nil
}

func doAddsShifted(c *cpu, w uint32) error {
	c.set(rd(w), c.addFlags(w, c.reg(rn(w)), c.shifted(w), 0))
	return nil
}

func doSubsShifted(c *cpu, w uint32) error {
	c.set(rd(w), c.addFlags(w, c.reg(rn(w)), ^c.shifted(w), 1))
	return nil
}

// extend widens v from a byte, halfword, word or doubleword, without or with its sign (shared pseudocode ExtendReg).
func extend(v uint64, option uint32) uint64 {
	switch option {
	case 0:
		return uint64(uint8(v))
	case 1:
		return uint64(uint16(v))
	case 2:
		return uint64(uint32(v))
	case 4:
		return uint64(int8(v))
	case 5:
		return uint64(int16(v))
	case 6:
		return uint64(int32(v))
	}
	return v
}

// extended returns the second operand of an extended-register instruction.
func (c *core) extended(w uint32) uint64 {
	return extend(c.reg(rm(w)), field(w, 13, 3)) << field(w, 10, 3)
}

func doAddExtended(c *cpu, w uint32) error {
	c.setSP(rd(w), sized(w, c.regSP(rn(w))+c.extended(w)))
	return nil
}

func doSubExtended(c *cpu, w uint32) error {
	c.setSP(rd(w), sized(w, c.regSP(rn(w))-c.extended(w)))
	return nil
}

func doAddsExtended(c *cpu, w uint32) error {
	c.set(rd(w), c.addFlags(w, c.regSP(rn(w)), c.extended(w), 0))
	return nil
}

func doSubsExtended(c *cpu, w uint32) error {
	c.set(rd(w), c.addFlags(w, c.regSP(rn(w)), ^c.extended(w), 1))
	return nil
}

// carry returns the C flag as a number.
func (c *core) carry() uint64 { return c.r[regPState] >> 29 & 1 }

func doADC(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(rn(w))+c.reg(rm(w))+c.carry()))
	return nil
}

func doSBC(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(rn(w))+^c.reg(rm(w))+c.carry()))
	return nil
}

func doADCS(c *cpu, w uint32) error {
	c.set(rd(w), c.addFlags(w, c.reg(rn(w)), c.reg(rm(w)), c.carry()))
	return nil
}

func doSBCS(c *cpu, w uint32) error {
	c.set(rd(w), c.addFlags(w, c.reg(rn(w)), ^c.reg(rm(w)), c.carry()))
	return nil
}

// doRMIF rotates a register and copies the flags in the mask from its low bits.
func doRMIF(c *cpu, w uint32) error {
	v := uint32(bits.RotateLeft64(c.reg(rn(w)), -int(field(w, 15, 6))))
	mask := field(w, 0, 4)
	c.setFlags(c.flags()&^mask | v&mask)
	return nil
}

func doSETF8(c *cpu, w uint32) error  { return c.setNarrowFlags(w, 8) }
func doSETF16(c *cpu, w uint32) error { return c.setNarrowFlags(w, 16) }

// setNarrowFlags sets N, Z and V as an addition of that many bits would. It keeps C.
func (c *core) setNarrowFlags(w uint32, size uint) error {
	v := uint32(c.reg(rn(w)))
	nzcv := c.flags()&2 | v>>(size-1)&1<<3 | (v>>size^v>>(size-1))&1
	if v<<(32-size) == 0 {
		nzcv |= 4
	}
	c.setFlags(nzcv)
	return nil
}

// compared returns the second operand of a conditional compare.
func (c *core) compared(w uint32) uint64 {
	if field(w, 11, 1) == 1 {
		return uint64(rm(w))
	}
	return c.reg(rm(w))
}

func doCCMN(c *cpu, w uint32) error {
	if c.holds(field(w, 12, 4)) {
		c.addFlags(w, c.reg(rn(w)), c.compared(w), 0)
	} else {
		c.setFlags(field(w, 0, 4))
	}
	return nil
}

func doCCMP(c *cpu, w uint32) error {
	if c.holds(field(w, 12, 4)) {
		c.addFlags(w, c.reg(rn(w)), ^c.compared(w), 1)
	} else {
		c.setFlags(field(w, 0, 4))
	}
	return nil
}

// choose makes the executor of a conditional select: the first operand if the condition holds, otherwise the result
// of a function of the second.
func (c *core) choose(w uint32, otherwise uint64) error {
	if c.holds(field(w, 12, 4)) {
		otherwise = c.reg(rn(w))
	}
	c.set(rd(w), sized(w, otherwise))
	return nil
}

func doCSEL(c *cpu, w uint32) error  { return c.choose(w, c.reg(rm(w))) }
func doCSINC(c *cpu, w uint32) error { return c.choose(w, c.reg(rm(w))+1) }
func doCSINV(c *cpu, w uint32) error { return c.choose(w, ^c.reg(rm(w))) }
func doCSNEG(c *cpu, w uint32) error { return c.choose(w, -c.reg(rm(w))) }

// doUDIV divides; by zero the result is zero.
func doUDIV(c *cpu, w uint32) error {
	a, b := sized(w, c.reg(rn(w))), sized(w, c.reg(rm(w)))
	if b == 0 {
		a, b = 0, 1
	}
	c.set(rd(w), a/b)
	return nil
}

// doSDIV divides towards zero. The smallest number divided by -1 is itself, as in Go.
func doSDIV(c *cpu, w uint32) error {
	a, b := asSigned(w, c.reg(rn(w))), asSigned(w, c.reg(rm(w)))
	if b == 0 {
		a, b = 0, 1
	}
	c.set(rd(w), sized(w, uint64(a/b)))
	return nil
}

func doShiftVariable(c *cpu, w uint32) error {
	by := uint(c.reg(rm(w))) & (bitSize(w) - 1)
	c.set(rd(w), shift(w, c.reg(rn(w)), field(w, 10, 2), by))
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// doCRC32 updates a checksum by 1, 2, 4 or 8 bytes. The instruction does not invert the checksum, as the library
// does before and after.
func doCRC32(c *cpu, w uint32) error {
	table := crc32.IEEETable
	if field(w, 12, 1) == 1 {
		table = castagnoli
	}
	sum, v := uint32(c.reg(rn(w))), c.reg(rm(w))
	for range 1 << field(w, 10, 2) {
		sum = table[byte(sum)^byte(v)] ^ sum>>8
		v >>= 8
	}
	c.set(rd(w), uint64(sum))
	return nil
}

// choice is one of the minimum and maximum instructions, on values of the size of w.
type choice func(w uint32, a, b uint64) uint64

func smaxInteger(w uint32, a, b uint64) uint64 { return uint64(max(asSigned(w, a), asSigned(w, b))) }
func sminInteger(w uint32, a, b uint64) uint64 { return uint64(min(asSigned(w, a), asSigned(w, b))) }
func umaxInteger(w uint32, a, b uint64) uint64 { return max(sized(w, a), sized(w, b)) }
func uminInteger(w uint32, a, b uint64) uint64 { return min(sized(w, a), sized(w, b)) }

func minMaxRegister(f choice) exec {
	return func(c *cpu, w uint32) error {
		c.set(rd(w), sized(w, f(w, c.reg(rn(w)), c.reg(rm(w)))))
		return nil
	}
}

// minMaxImmediate has eight bits for its second operand, signed in the signed instructions.
func minMaxImmediate(f choice) exec {
	return func(c *cpu, w uint32) error {
		b := uint64(field(w, 10, 8))
		if field(w, 18, 1) == 0 {
			b = uint64(int8(b))
		}
		c.set(rd(w), sized(w, f(w, c.reg(rn(w)), b)))
		return nil
	}
}

func doRBIT(c *cpu, w uint32) error {
	c.set(rd(w), bits.Reverse64(c.reg(rn(w)))>>(64-bitSize(w)))
	return nil
}

func doREV16(c *cpu, w uint32) error {
	const odd = 0xff00ff00ff00ff00
	v := c.reg(rn(w))
	c.set(rd(w), sized(w, v&odd>>8|v&^odd<<8))
	return nil
}

func doREV(c *cpu, w uint32) error {
	c.set(rd(w), bits.ReverseBytes64(c.reg(rn(w)))>>(64-bitSize(w)))
	return nil
}

func doREV32(c *cpu, w uint32) error {
	c.set(rd(w), bits.RotateLeft64(bits.ReverseBytes64(c.reg(rn(w))), 32))
	return nil
}

func doCLZ(c *cpu, w uint32) error {
	c.set(rd(w), uint64(bits.LeadingZeros64(sized(w, c.reg(rn(w)))))-64+uint64(bitSize(w)))
	return nil
}

// doCLS counts the bits below the top one that equal it.
func doCLS(c *cpu, w uint32) error {
	v := asSigned(w, c.reg(rn(w)))
	c.set(rd(w), uint64(bits.LeadingZeros64(uint64(v^v>>63)))-65+uint64(bitSize(w)))
	return nil
}

func doCTZ(c *cpu, w uint32) error {
	c.set(rd(w), uint64(min(uint(bits.TrailingZeros64(c.reg(rn(w)))), bitSize(w))))
	return nil
}

func doCNT(c *cpu, w uint32) error {
	c.set(rd(w), uint64(bits.OnesCount64(sized(w, c.reg(rn(w))))))
	return nil
}

func doABS(c *cpu, w uint32) error {
	v := asSigned(w, c.reg(rn(w)))
	c.set(rd(w), sized(w, uint64((v^v>>63)-v>>63)))
	return nil
}

func doMADD(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(ra(w))+c.reg(rn(w))*c.reg(rm(w))))
	return nil
}

func doMSUB(c *cpu, w uint32) error {
	c.set(rd(w), sized(w, c.reg(ra(w))-c.reg(rn(w))*c.reg(rm(w))))
	return nil
}

// longProduct returns the 64-bit product of two words, with and without sign.
func (c *core) longProduct(w uint32) uint64 {
	a, b := c.reg(rn(w)), c.reg(rm(w))
	if field(w, 23, 1) == 1 {
		return uint64(uint32(a)) * uint64(uint32(b))
	}
	return uint64(int64(int32(a)) * int64(int32(b)))
}

func doSMADDL(c *cpu, w uint32) error {
	c.set(rd(w), c.reg(ra(w))+c.longProduct(w))
	return nil
}

func doSMSUBL(c *cpu, w uint32) error {
	c.set(rd(w), c.reg(ra(w))-c.longProduct(w))
	return nil
}

func doUMADDL(c *cpu, w uint32) error { return doSMADDL(c, w) }
func doUMSUBL(c *cpu, w uint32) error { return doSMSUBL(c, w) }

func doUMULH(c *cpu, w uint32) error {
	hi, _ := bits.Mul64(c.reg(rn(w)), c.reg(rm(w)))
	c.set(rd(w), hi)
	return nil
}

// doSMULH corrects the unsigned product: for a negative operand it is 2^64 times the other operand too large.
func doSMULH(c *cpu, w uint32) error {
	a, b := c.reg(rn(w)), c.reg(rm(w))
	hi, _ := bits.Mul64(a, b)
	hi -= uint64(int64(a)>>63)&b + uint64(int64(b)>>63)&a
	c.set(rd(w), hi)
	return nil
}
