package arm64

import (
	"math/bits"
	"sync"

	"gotap/arch/ieee"
)

// Immediates, copies between lanes and general registers, permutations and table look-ups (Arm ARM DDI 0487, C4.1.95).

var immediateVectorRows = sync.OnceValue(func() []row {
	return []row{
		vrow("0xx 0111100000 xxx xxxx 01 xxxxx xxxxx", "movi, mvni, orr, bic, fmov (immediate)", modifiedImmediate, func(w uint32) bool {
			return w>>12&15 == 15 && u(w) && !q(w)
		}),
		vrow("0x0 0111100000 xxx 1111 11 xxxxx xxxxx", "fmov (immediate, half)", modifiedImmediate),
	}
})

// modifiedImmediate expands abcdefgh by cmode and op (AdvSIMDExpandImm), and moves it, or combines it with Rd.
func modifiedImmediate(c *cpu, w uint32) error {
	imm := uint64(field(w, 16, 3)<<5 | field(w, 5, 5))
	cmode := field(w, 12, 4)
	v := expandImmediate(imm, cmode, u(w), w>>11&1 == 1)
	old := c.v.V[rd(w)]
	switch {
	case cmode < 12 && cmode&1 == 1 && u(w): // bic
		c.setVector(w, vec{old[0] &^ v, old[1] &^ v})
	case cmode < 12 && cmode&1 == 1: // orr
		c.setVector(w, vec{old[0] | v, old[1] | v})
	case cmode < 14 && u(w): // mvni
		c.setVector(w, vec{^v, ^v})
	default:
		c.setVector(w, vec{v, v})
	}
	return nil
}

const (
	every16 = 0x0001000100010001
	every32 = 0x0000000100000001
	every8  = 0x0101010101010101
)

// expandImmediate repeats a lane through 64 bits.
func expandImmediate(imm uint64, cmode uint32, op, half bool) uint64 {
	switch {
	case half:
		return expandFP(ieee.Half, imm) * every16
	case cmode < 8:
		return imm << (cmode >> 1 * 8) * every32
	case cmode < 12:
		return imm << (cmode >> 1 & 1 * 8) * every16
	case cmode == 12:
		return (imm<<8 | 0xff) * every32
	case cmode == 13:
		return (imm<<16 | 0xffff) * every32
	case cmode == 14 && !op:
		return imm * every8
	case cmode == 14:
		return byteMask(imm)
	case op:
		return expandFP(ieee.Double, imm)
	}
	return expandFP(ieee.Single, imm) * every32
}

// byteMask makes a byte of ones for each bit set.
func byteMask(imm uint64) (v uint64) {
	for i := range 8 {
		v |= imm >> i & 1 * 0xff << (8 * i)
	}
	return v
}

var copyRows = sync.OnceValue(func() []row {
	return []row{
		vrow("0x0 01110000 xxxxx 0 0000 1 xxxxx xxxxx", "dup (element)", dupElement, noLane, wideLaneNoQ),
		vrow("010 11110000 xxxxx 0 0000 1 xxxxx xxxxx", "dup (scalar)", dupScalar, noLane),
		vrow("0x0 01110000 xxxxx 0 0001 1 xxxxx xxxxx", "dup (general)", dupGeneral, noLane, wideLaneNoQ),
		vrow("0x0 01110000 xxxxx 0 0101 1 xxxxx xxxxx", "smov", signedMove, noLane, func(w uint32) bool { return laneSize(w) > 1 && !q(w) || laneSize(w) == 3 }),
		vrow("0x0 01110000 xxxxx 0 0111 1 xxxxx xxxxx", "umov", unsignedMove, noLane, func(w uint32) bool { return (laneSize(w) == 3) != q(w) }),
		vrow("010 01110000 xxxxx 0 0011 1 xxxxx xxxxx", "ins (general)", insertGeneral, noLane),
		vrow("011 01110000 xxxxx 0 xxxx 1 xxxxx xxxxx", "ins (element)", insertElement, noLane),
	}
})

// laneSize returns the position of the lowest bit set in imm5; the bits above it are the index.
func laneSize(w uint32) uint  { return uint(bits.TrailingZeros32(field(w, 16, 5))) }
func laneIndex(w uint32) uint { return uint(field(w, 16, 5)) >> (laneSize(w) + 1) }

// noLane reports an imm5 that selects no lane.
func noLane(w uint32) bool      { return field(w, 16, 4) == 0 }
func wideLaneNoQ(w uint32) bool { return laneSize(w) == 3 && !q(w) }

// fill copies a value to all lanes.
func (c *vectorUnit) fill(w uint32, s uint, x uint64) {
	var out vec
	for i := range lanes(w, s) {
		put(&out, s, i, x)
	}
	c.v.V[rd(w)] = out
}

// dupElement copies a lane to all lanes, dupGeneral copies a general register, and dupScalar copies to the lowest
// lane.
func dupElement(c *cpu, w uint32) error {
	c.fill(w, laneSize(w), get(&c.v.V[rn(w)], laneSize(w), laneIndex(w)))
	return nil
}

func dupScalar(c *cpu, w uint32) error {
	c.setScalar(rd(w), get(&c.v.V[rn(w)], laneSize(w), laneIndex(w)))
	return nil
}

func dupGeneral(c *cpu, w uint32) error {
	c.fill(w, laneSize(w), c.reg(rn(w)))
	return nil
}

// signedMove sign-extends to the width that Q gives the general register.
func signedMove(c *cpu, w uint32) error {
	v := uint64(signedLane(get(&c.v.V[rn(w)], laneSize(w), laneIndex(w)), laneSize(w)))
	if !q(w) {
		v &= 0xffffffff
	}
	c.set(rd(w), v)
	return nil
}

// unsignedMove zero-extends.
func unsignedMove(c *cpu, w uint32) error {
	c.set(rd(w), get(&c.v.V[rn(w)], laneSize(w), laneIndex(w)))
	return nil
}

// insertGeneral writes a lane and keeps the others.
func insertGeneral(c *cpu, w uint32) error {
	put(&c.v.V[rd(w)], laneSize(w), laneIndex(w), c.reg(rn(w)))
	return nil
}

// insertElement copies a lane. imm4 has the index of the source.
func insertElement(c *cpu, w uint32) error {
	s := laneSize(w)
	put(&c.v.V[rd(w)], s, laneIndex(w), get(&c.v.V[rn(w)], s, uint(field(w, 11, 4))>>s))
	return nil
}

var permuteRows = sync.OnceValue(func() []row {
	return []row{
		vrow("0x0 01110 xx 0 xxxxx 0 x01 10 xxxxx xxxxx", "uzp1, uzp2", permute(unzip), oneDouble),
		vrow("0x0 01110 xx 0 xxxxx 0 x10 10 xxxxx xxxxx", "trn1, trn2", permute(transpose), oneDouble),
		vrow("0x0 01110 xx 0 xxxxx 0 x11 10 xxxxx xxxxx", "zip1, zip2", permute(zip), oneDouble),
		vrow("0x1 01110 00 0 xxxxx 0 xxxx 0 xxxxx xxxxx", "ext", extract, func(w uint32) bool { return !q(w) && w>>14&1 == 1 }),
		vrow("0x0 01110 00 0 xxxxx 0 xxx 00 xxxxx xxxxx", "tbl, tbx", tableLookup),
	}
})

// permute makes the executor that copies lane from(i) of the lanes of Rn followed by those of Rm to lane i. part is
// 1 for the second of two instructions.
func permute(from func(i, n, part uint) uint) exec {
	return func(c *cpu, w uint32) error {
		s := size(w)
		n := lanes(w, s)
		var out vec
		for i := range n {
			at, reg := from(i, n, uint(w>>14&1)), rn(w)
			if at >= n {
				at, reg = at-n, rm(w)
			}
			put(&out, s, i, get(&c.v.V[reg], s, at))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// unzip copies every second lane of both registers; transpose pairs equal lanes of both; zip interleaves a half of
// each.
func unzip(i, _, part uint) uint     { return 2*i + part }
func transpose(i, n, part uint) uint { return i&^1 + part + i&1*n }
func zip(i, n, part uint) uint       { return i>>1 + part*n/2 + i&1*n }

// extract copies bytes from the middle of Rm:Rn.
func extract(c *cpu, w uint32) error {
	x, y, n := &c.v.V[rn(w)], &c.v.V[rm(w)], lanes(w, 0)
	var out vec
	for i := range n {
		if at := i + uint(field(w, 11, 4)); at < n {
			put(&out, 0, i, get(x, 0, at))
		} else {
			put(&out, 0, i, get(y, 0, at-n))
		}
	}
	c.v.V[rd(w)] = out
	return nil
}

// tableLookup looks up bytes in one to four registers. For an index outside the table, tbl gives zero and tbx keeps
// the byte of Rd.
func tableLookup(c *cpu, w uint32) error {
	limit := 16 * (uint64(field(w, 13, 2)) + 1)
	var out vec
	if w>>12&1 == 1 {
		out = c.v.V[rd(w)]
		if !q(w) {
			out[1] = 0
		}
	}
	for i := range lanes(w, 0) {
		if at := get(&c.v.V[rm(w)], 0, i); at < limit {
			put(&out, 0, i, get(&c.v.V[(rn(w)+uint32(at>>4))&31], 0, uint(at&15)))
		}
	}
	c.v.V[rd(w)] = out
	return nil
}
