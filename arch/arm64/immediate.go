package arm64

import "math/bits"

// immediateRows holds data processing with an immediate (Arm ARM DDI 0487, C4.1.92).
var immediateRows = []row{
	{mask: 0x9f000000, value: 0x10000000, name: "adr", exec: doADR},
	{mask: 0x9f000000, value: 0x90000000, name: "adrp", exec: doADRP},

	{mask: 0x7f800000, value: 0x11000000, name: "add (immediate)", exec: doAddImmediate},
	{mask: 0x7f800000, value: 0x31000000, name: "adds (immediate)", exec: doAddsImmediate},
	{mask: 0x7f800000, value: 0x51000000, name: "sub (immediate)", exec: doSubImmediate},
	{mask: 0x7f800000, value: 0x71000000, name: "subs (immediate)", exec: doSubsImmediate},

	{mask: 0x7ffc0000, value: 0x11c00000, name: "smax (immediate)", exec: minMaxImmediate(smaxInteger)},
	{mask: 0x7ffc0000, value: 0x11c40000, name: "umax (immediate)", exec: minMaxImmediate(umaxInteger)},
	{mask: 0x7ffc0000, value: 0x11c80000, name: "smin (immediate)", exec: minMaxImmediate(sminInteger)},
	{mask: 0x7ffc0000, value: 0x11cc0000, name: "umin (immediate)", exec: minMaxImmediate(uminInteger)},

	{mask: 0xffc0c000, value: 0x91800000, name: "addg", exec: notEmulated, class: MemoryTag},
	{mask: 0xffc0c000, value: 0xd1800000, name: "subg", exec: notEmulated, class: MemoryTag},

	{mask: 0x7f800000, value: 0x12000000, name: "and (immediate)", exec: doAndImmediate, undefined: badBitmask},
	{mask: 0x7f800000, value: 0x32000000, name: "orr (immediate)", exec: doOrrImmediate, undefined: badBitmask},
	{mask: 0x7f800000, value: 0x52000000, name: "eor (immediate)", exec: doEorImmediate, undefined: badBitmask},
	{mask: 0x7f800000, value: 0x72000000, name: "ands (immediate)", exec: doAndsImmediate, undefined: badBitmask},

	{mask: 0x7f800000, value: 0x12800000, name: "movn", exec: doMOVN, undefined: badMoveWide},
	{mask: 0x7f800000, value: 0x52800000, name: "movz", exec: doMOVZ, undefined: badMoveWide},
	{mask: 0x7f800000, value: 0x72800000, name: "movk", exec: doMOVK, undefined: badMoveWide},

	{mask: 0x7f800000, value: 0x13000000, name: "sbfm", exec: doSBFM, undefined: badBitfield},
	{mask: 0x7f800000, value: 0x33000000, name: "bfm", exec: doBFM, undefined: badBitfield},
	{mask: 0x7f800000, value: 0x53000000, name: "ubfm", exec: doUBFM, undefined: badBitfield},
	{mask: 0x7fa00000, value: 0x13800000, name: "extr", exec: doEXTR, undefined: badBitfield},
}

// addressOffset returns the immediate of adr and adrp.
func addressOffset(w uint32) uint64 { return uint64(signedField(w, 5, 19)<<2 | int64(field(w, 29, 2))) }

func doADR(c *cpu, w uint32) error {
	c.set(rd(w), c.r[regPC]+addressOffset(w))
	return nil
}

func doADRP(c *cpu, w uint32) error {
	c.set(rd(w), c.r[regPC]&^0xfff+addressOffset(w)<<12)
	return nil
}

// immediate12 returns the immediate of add and sub, shifted by 12 bits if so encoded.
func immediate12(w uint32) uint64 { return uint64(field(w, 10, 12)) << (field(w, 22, 1) * 12) }

func doAddImmediate(c *cpu, w uint32) error {
	c.setSP(rd(w), sized(w, c.regSP(rn(w))+immediate12(w)))
	return nil
}

func doSubImmediate(c *cpu, w uint32) error {
	c.setSP(rd(w), sized(w, c.regSP(rn(w))-immediate12(w)))
	return nil
}

func doAddsImmediate(c *cpu, w uint32) error {
	c.set(rd(w), c.addFlags(w, c.regSP(rn(w)), immediate12(w), 0))
	return nil
}

func doSubsImmediate(c *cpu, w uint32) error {
	c.set(rd(w), c.addFlags(w, c.regSP(rn(w)), ^immediate12(w), 1))
	return nil
}

// addFlags returns a + b + carry in the size of w, and sets the flags by it (shared pseudocode AddWithCarry).
func (c *core) addFlags(w uint32, a, b, carry uint64) uint64 {
	shift := uint(32)
	if wide(w) {
		shift = 0
	}
	// A 32-bit sum is computed in the upper half, with the carry filling the lower one, so that both sizes have
	// their flags in one place.
	x, y := a<<shift, b<<shift
	low := uint64(0)
	if shift != 0 {
		low = 0xffffffff // added to x's empty half, it passes a carry on and does not change the upper half otherwise
	}
	sum, out := bits.Add64(x, y|low*carry, carry)
	nzcv := uint32(sum>>63) << 3
	if sum>>shift == 0 {
		nzcv |= 4
	}
	nzcv |= uint32(out)<<1 | uint32((x^sum)&(y^sum)>>63)
	c.setFlags(nzcv)
	return sum >> shift
}

// badBitmask reports an invalid logical immediate: with 64-bit elements in a 32-bit instruction, or with all bits
// set.
func badBitmask(w uint32) bool {
	n, imms := field(w, 22, 1), field(w, 10, 6)
	if !wide(w) && n == 1 {
		return true
	}
	length := bits.Len32(n<<6|^imms&63) - 1
	if length < 1 {
		return true
	}
	levels := uint32(1)<<length - 1
	return imms&levels == levels
}

// bitmask returns a logical immediate: a run of ones, rotated, repeated (shared pseudocode DecodeBitMasks).
func bitmask(w uint32) uint64 {
	n, immr, imms := field(w, 22, 1), field(w, 16, 6), field(w, 10, 6)
	length := bits.Len32(n<<6|^imms&63) - 1
	size := uint(1) << length
	ones := uint64(1)<<(uint(imms)&(size-1)+1) - 1
	element := rotateRight(ones, uint(immr)&(size-1), size)
	for ; size < 64; size *= 2 {
		element |= element << size
	}
	return sized(w, element)
}

// rotateRight rotates the low size bits of v; the others are zero.
func rotateRight(v uint64, by, size uint) uint64 {
	if by == 0 {
		return v
	}
	out := v>>by | v<<(size-by)
	if size < 64 {
		out &= 1<<size - 1
	}
	return out
}

func doAndImmediate(c *cpu, w uint32) error {
	c.setSP(rd(w), c.reg(rn(w))&bitmask(w))
	return nil
}

func doOrrImmediate(c *cpu, w uint32) error {
	c.setSP(rd(w), sized(w, c.reg(rn(w)))|bitmask(w))
	return nil
}

func doEorImmediate(c *cpu, w uint32) error {
	c.setSP(rd(w), sized(w, c.reg(rn(w)))^bitmask(w))
	return nil
}

func doAndsImmediate(c *cpu, w uint32) error {
	c.set(rd(w), c.logicFlags(w, c.reg(rn(w))&bitmask(w)))
	return nil
}

// logicFlags sets N and Z by a result, clears C and V, and returns the result.
func (c *core) logicFlags(w uint32, v uint64) uint64 {
	v = sized(w, v)
	nzcv := uint32(v>>60) & 8
	if !wide(w) {
		nzcv = uint32(v>>28) & 8
	}
	if v == 0 {
		nzcv |= 4
	}
	c.setFlags(nzcv)
	return v
}

func badMoveWide(w uint32) bool { return !wide(w) && field(w, 22, 1) == 1 }

// moveWide returns the immediate of the wide moves and its position.
func moveWide(w uint32) (v uint64, shift uint32) {
	shift = field(w, 21, 2) * 16
	return uint64(field(w, 5, 16)) << shift, shift
}

func doMOVN(c *cpu, w uint32) error {
	v, _ := moveWide(w)
	c.set(rd(w), sized(w, ^v))
	return nil
}

func doMOVZ(c *cpu, w uint32) error {
	v, _ := moveWide(w)
	c.set(rd(w), v)
	return nil
}

func doMOVK(c *cpu, w uint32) error {
	v, shift := moveWide(w)
	c.set(rd(w), sized(w, c.reg(rd(w))&^(0xffff<<shift)|v))
	return nil
}

// badBitfield reports an N bit that differs from the size, and positions beyond it.
func badBitfield(w uint32) bool {
	if wide(w) != (field(w, 22, 1) == 1) {
		return true
	}
	extr := field(w, 23, 1) == 1
	return !wide(w) && (field(w, 10, 6) > 31 || !extr && field(w, 16, 6) > 31)
}

// bitfield returns what the bit-field moves share: the source's bits at their new position, the mask of that
// position, and the sign bit of the field. A field whose end (imms) is below its rotation (immr) is inserted,
// otherwise extracted.
func (c *core) bitfield(w uint32) (value, mask, top uint64) {
	size := uint32(32)
	if wide(w) {
		size = 64
	}
	immr, imms := field(w, 16, 6), field(w, 10, 6)
	src := sized(w, c.reg(rn(w)))
	if imms >= immr {
		width := imms - immr + 1
		mask = ^uint64(0) >> (64 - width)
		return src >> immr & mask, mask, 1 << (width - 1)
	}
	width, at := imms+1, size-immr
	mask = ^uint64(0) >> (64 - width)
	return src & mask << at, mask << at, 1 << (at + width - 1)
}

func doUBFM(c *cpu, w uint32) error {
	v, _, _ := c.bitfield(w)
	c.set(rd(w), v)
	return nil
}

func doBFM(c *cpu, w uint32) error {
	v, mask, _ := c.bitfield(w)
	c.set(rd(w), sized(w, c.reg(rd(w))&^mask|v))
	return nil
}

// doSBFM fills the bits above the field with its sign.
func doSBFM(c *cpu, w uint32) error {
	v, _, top := c.bitfield(w)
	c.set(rd(w), sized(w, (v^top)-top))
	return nil
}

func doEXTR(c *cpu, w uint32) error {
	lsb := field(w, 10, 6)
	hi, lo := c.reg(rn(w)), c.reg(rm(w))
	if wide(w) {
		c.set(rd(w), lo>>lsb|hi<<(64-lsb))
		return nil
	}
	c.set(rd(w), (hi<<32|lo&0xffffffff)>>lsb&0xffffffff)
	return nil
}
