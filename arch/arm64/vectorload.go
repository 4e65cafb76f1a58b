package arm64

import (
	"encoding/binary"
	"sync"
)

// Loads and stores of SIMD and floating-point registers (Arm ARM DDI 0487, C4.1.93).

var simdLoadRows = sync.OnceValue(func() []row {
	return []row{
		vrow("xx 011 1 00 xxxxxxxxxxxxxxxxxxx xxxxx", "ldr (literal)", simdLiteral, pairSize3),
		simdPair("xx 101 1 000 x xxxxxxx xxxxx xxxxx xxxxx", "ldnp, stnp", simdPairOffset),
		simdPair("xx 101 1 001 x xxxxxxx xxxxx xxxxx xxxxx", "ldp, stp (post-index)", simdPairPost),
		simdPair("xx 101 1 010 x xxxxxxx xxxxx xxxxx xxxxx", "ldp, stp (offset)", simdPairOffset),
		simdPair("xx 101 1 011 x xxxxxxx xxxxx xxxxx xxxxx", "ldp, stp (pre-index)", simdPairPre),
		vrow("xx 111 1 00 xx 0 xxxxxxxxx 00 xxxxx xxxxx", "ldur, stur", simdUnscaled, noRegisterSize),
		vrow("xx 111 1 00 xx 0 xxxxxxxxx 01 xxxxx xxxxx", "ldr, str (post-index)", simdPost, noRegisterSize),
		vrow("xx 111 1 00 xx 0 xxxxxxxxx 11 xxxxx xxxxx", "ldr, str (pre-index)", simdPre, noRegisterSize),
		vrow("xx 111 1 00 xx 1 xxxxx x1x x 10 xxxxx xxxxx", "ldr, str (register)", simdRegister, noRegisterSize),
		vrow("xx 111 1 01 xx xxxxxxxxxxxx xxxxx xxxxx", "ldr, str (unsigned offset)", simdUnsigned, noRegisterSize),
		beyondRow("xx 011 1 01 xx 0 xxxxxxxxx 10 xxxxx xxxxx", "ldapur, stlur", Beyond, noRegisterSize),
		beyondRow("0 x 0011010 x 0 00001 1000 01 xxxxx xxxxx", "ldap1, stl1", Beyond),
		beyondRow("00 011 1 01 xx 0 xxxxx xxxx 01 xxxxx xxxxx", "cpy or set", MemoryCopy, badMemoryCopy),
	}
})

// beyondRow returns a row of an instruction that is decoded but not emulated. Some of the memory copies have the V
// bit set.
func beyondRow(pattern, name string, class Class, undefined ...func(uint32) bool) row {
	r := vrow(pattern, name, notEmulated, undefined...)
	r.class, r.vectors = class, false
	return r
}

// simdPair returns a row of pairs. Loading both values into one register is unpredictable.
func simdPair(pattern, name string, x exec) row {
	r := vrow(pattern, name, x, pairSize3)
	r.unpredictable = func(w uint32) bool { return isLoadPair(w) && rd(w) == ra(w) }
	return r
}

// pairSize3 reports the size of pairs and literals that does not exist.
func pairSize3(w uint32) bool { return w>>30 == 3 }

// isLoadPair tests the L bit of pairs, isLoadOne that of single registers.
func isLoadPair(w uint32) bool { return w>>22&1 == 1 }
func isLoadOne(w uint32) bool  { return w>>22&1 == 1 }

// noRegisterSize reports sizes beyond 16 bytes.
func noRegisterSize(w uint32) bool { return w>>23&1 == 1 && w>>30 != 0 }

// registerScale returns log2 of the bytes of a single register.
func registerScale(w uint32) uint { return uint(w>>30 | w>>23&1<<2) }

// loadVector returns a register of 1<<scale bytes, zero-extended.
func (c *cpu) loadVector(addr uint64, scale uint) (vec, error) {
	p, err := c.read(addr, 1<<scale)
	if err != nil {
		return vec{}, err
	}
	return vecOf(p), nil
}

// vecOf returns a register from up to 16 bytes of memory.
func vecOf(p []byte) vec {
	var b [16]byte
	copy(b[:], p)
	return vec{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

// bytesOf lays a register out in memory order.
func bytesOf(p []byte, v vec) {
	binary.LittleEndian.PutUint64(p, v[0])
	binary.LittleEndian.PutUint64(p[8:], v[1])
}

// moveOne loads or stores a single register at base+offset, and writes base+after to the base register if writeBack
// is set.
func (c *cpu) moveOne(w uint32, offset, after uint64, writeBack bool) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	base, scale := c.regSP(rn(w)), registerScale(w)
	if isLoadOne(w) {
		v, err := c.loadVector(base+offset, scale)
		if err != nil {
			return err
		}
		c.v.V[rd(w)] = v
	} else {
		bytesOf(c.buf[:], c.v.V[rd(w)])
		if err := c.write(base+offset, c.buf[:1<<scale]); err != nil {
			return err
		}
	}
	if writeBack {
		c.setSP(rn(w), base+after)
	}
	return nil
}

// simdUnscaled has an offset of nine bits.
func simdUnscaled(c *cpu, w uint32) error {
	return c.moveOne(w, uint64(signedField(w, 12, 9)), 0, false)
}

// simdPost accesses memory at the base, then changes the base.
func simdPost(c *cpu, w uint32) error {
	return c.moveOne(w, 0, uint64(signedField(w, 12, 9)), true)
}

// simdPre changes the base, then accesses memory there.
func simdPre(c *cpu, w uint32) error {
	offset := uint64(signedField(w, 12, 9))
	return c.moveOne(w, offset, offset, true)
}

// simdUnsigned handles an offset in units of the access size.
func simdUnsigned(c *cpu, w uint32) error {
	return c.moveOne(w, uint64(field(w, 10, 12))<<registerScale(w), 0, false)
}

// simdRegister handles an index register, extended by option and shifted by the size if S is set.
func simdRegister(c *cpu, w uint32) error {
	index := c.reg(rm(w))
	switch field(w, 13, 3) {
	case 2:
		index = uint64(uint32(index))
	case 6:
		index = uint64(int32(index))
	}
	if w>>12&1 == 1 {
		index <<= registerScale(w)
	}
	return c.moveOne(w, index, 0, false)
}

// simdLiteral loads relative to the program counter.
func simdLiteral(c *cpu, w uint32) error {
	v, err := c.loadVector(c.r[regPC]+uint64(signedField(w, 5, 19)*4), uint(2+w>>30))
	if err == nil {
		c.v.V[rd(w)] = v
	}
	return err
}

// movePair loads or stores two adjacent registers at base+offset.
func (c *cpu) movePair(w uint32, offset, after uint64, writeBack bool) error {
	if err := c.checkSP(rn(w)); err != nil {
		return err
	}
	base, n := c.regSP(rn(w)), 4<<(w>>30)
	if isLoadPair(w) {
		p, err := c.read(base+offset, 2*n)
		if err != nil {
			return err
		}
		c.v.V[rd(w)], c.v.V[ra(w)] = vecOf(p[:n]), vecOf(p[n:])
	} else {
		bytesOf(c.buf[:], c.v.V[rd(w)])
		bytesOf(c.buf[n:], c.v.V[ra(w)])
		if err := c.write(base+offset, c.buf[:2*n]); err != nil {
			return err
		}
	}
	if writeBack {
		c.setSP(rn(w), base+after)
	}
	return nil
}

// simdPairStep returns the offset of a pair in bytes.
func simdPairStep(w uint32) uint64 { return uint64(signedField(w, 15, 7) << (2 + w>>30)) }

// simdPairOffset keeps the base; simdPairPost changes it after the access and simdPairPre before.
func simdPairOffset(c *cpu, w uint32) error { return c.movePair(w, simdPairStep(w), 0, false) }
func simdPairPost(c *cpu, w uint32) error   { return c.movePair(w, 0, simdPairStep(w), true) }
func simdPairPre(c *cpu, w uint32) error {
	return c.movePair(w, simdPairStep(w), simdPairStep(w), true)
}
