package arm

import "gotap/arch/ieee"

// The register files as instructions name them. All are views of arch.Vectors, whose elements are the quads, so
// there is nothing to synchronize.

// d and setD access Dn, of 0 to 31.
func (c *vectorUnit) d(n uint32) uint64       { return c.v.V[n>>1&15][n&1] }
func (c *vectorUnit) setD(n uint32, v uint64) { c.v.V[n>>1&15][n&1] = v }

// s and setS access Sn, of 0 to 31: the halves of the first sixteen doubles.
func (c *vectorUnit) s(n uint32) uint64 { return c.d(n>>1) >> (32 * (n & 1)) & 0xffffffff }
func (c *vectorUnit) setS(n uint32, v uint64) {
	shift := 32 * (n & 1)
	c.setD(n>>1, c.d(n>>1)&^(0xffffffff<<shift)|v&0xffffffff<<shift)
}

// q and setQ access the two doubles of a quad register, named by the even number of the first.
func (c *vectorUnit) q(n uint32) [2]uint64       { return [2]uint64{c.d(n), c.d(n + 1)} }
func (c *vectorUnit) setQ(n uint32, v [2]uint64) { c.setD(n, v[0]); c.setD(n+1, v[1]) }

// dq returns the operand of an instruction on one or two doubles: one, or with bit 6 (Q) two.
func (c *vectorUnit) dq(w, n uint32) [2]uint64 {
	if flag(w, 6) == 0 {
		return [2]uint64{c.d(n), 0}
	}
	return c.q(n)
}

// setDQ writes one or two doubles. Without Q, it ignores the second double of v.
func (c *vectorUnit) setDQ(w, n uint32, v [2]uint64) {
	c.setD(n, v[0])
	if flag(w, 6) == 1 {
		c.setD(n+1, v[1])
	}
}

// FPSCR (Arm ARM DDI 0487, G8.2.50; DDI 0406C, A2.5.3). fpscrWritten is what VMSR changes: all bits except those
// that enable traps and those without a meaning. A processor without short vectors or half precision ignores more
// bits when the kernel writes the value.
const (
	fpscrQC      = 1 << 27
	fpscrAHP     = 1 << 26
	fpscrDN      = 1 << 25
	fpscrFZ      = 1 << 24
	fpscrFZ16    = 1 << 19
	fpscrLen     = 7 << 16
	fpscrSticky  = 0x9f // IDC, IXC, UFC, OFC, DZC, IOC
	fpscrStride  = 3 << 20
	fpscrNZCV    = 0xf << 28
	fpscrRounds  = 22 // position of RMode
	fpscrWritten = fpscrNZCV | fpscrQC | fpscrAHP | fpscrDN | fpscrFZ | 3<<fpscrRounds | fpscrStride | fpscrFZ16 | fpscrLen | fpscrSticky
)

// roundingModes maps FPSCR.RMode to the modes of package ieee.
var roundingModes = [4]ieee.Rounding{ieee.NearestEven, ieee.Up, ieee.Down, ieee.Zero}

// scalarFloat sets up the environment of VFP from FPSCR.
func (c *vectorUnit) scalarFloat() *ieee.Env {
	s := uint32(c.v.Control)
	c.fp = ieee.Env{
		Round:       roundingModes[s>>fpscrRounds&3],
		FlushToZero: s&fpscrFZ != 0,
		FlushHalf:   s&fpscrFZ16 != 0,
		DefaultNaN:  s&fpscrDN != 0,
		AltHalf:     s&fpscrAHP != 0,
	}
	return &c.fp
}

// vectorFloat sets up the environment of NEON, in which FPSCR only affects half precision: the manual's
// StandardFPSCRValue.
func (c *vectorUnit) vectorFloat() *ieee.Env {
	s := uint32(c.v.Control)
	c.fp = ieee.Env{
		Round:       ieee.NearestEven,
		FlushToZero: true,
		FlushHalf:   s&fpscrFZ16 != 0,
		DefaultNaN:  true,
		AltHalf:     s&fpscrAHP != 0,
	}
	return &c.fp
}

// endFloat adds the exceptions of the instruction to the cumulative bits of FPSCR.
func (c *vectorUnit) endFloat() { c.v.Control |= uint64(c.fp.Flags) & fpscrSticky }
