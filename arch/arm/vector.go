// # The vector unit
//
// VFP and NEON are a second decoder beside that of the core, as next to nothing is common to their encodings but the condition. decodeVector
// gets the word in A32 form, in which both instruction sets agree; the tables (neontable.go, vfptable.go) show every encoding as the
// manual draws it. The first row that fits is the instruction, and its rules say whether the fields it was given are allowed: if not, the word
// is undefined and does not decode, or is unpredictable and Prepare refuses it.
//
// An exec of NEON is put together, when the tables are, from a walk over elements (same3, longOp, narrowHigh, …) and from what
// happens to one element (laneQAdd, …). Walks read all that they need of a register before they write it, as the destination
// may be an operand. Registers are seen as doubles, a quad as two of them; where elements do not mix, the two are done one after the
// other.
//
// Floating point is gotap/arch/ieee's, on raw bits. scalarFloat gives it the modes of FPSCR, for VFP; vectorFloat those that NEON always has:
// to nearest, subnormals flushed, default NaNs. endFloat adds the exceptions to FPSCR. Both kinds work in the cpu's own
// environment, since one on the stack would escape through the calls by function value, and a hit must not allocate.
//
// A load reads its memory by one call before any register changes, and a store lays out its bytes and writes them by one call. That
// is always possible: the memory of one vector instruction is one piece.
//
// Which instructions are there is not asked: everything up to Armv8.6 is emulated, on a processor without it as well, where the program
// would have been killed. Left out, with the reason given, are:
//
//   - short vectors: arithmetic of VFP while FPSCR.LEN is not 0 (or STRIDE, for what is undefined then). Only a hit can tell.
//   - what user mode may not touch: FPSID, MVFR0 to MVFR2, FPEXC, FPINST. They do not decode.
//   - unpredictable fields: registers past d31, PC where it is no operand, two results in one register, a condition on an instruction
//     that must not have one.
//
// The bits of FPSCR that enable trapped exceptions read as 0, as on every processor that has none. An instruction that is only to be used
// outside of IT blocks, such as VSEL, obeys the condition of a block that it is in, which is one of the choices that the
// architecture leaves there.
package arm

import (
	"math/bits"

	"gotap/arch/ieee"
)

// decodeVector makes the row of an instruction of VFP or NEON. w is the instruction in its A32 form; thumb says that it
// came from a Thumb encoding, whose use of PC is narrower.
func decodeVector(w uint32, thumb bool) (row, error) {
	v := findVector(w)
	if v == nil {
		return row{}, errUndefined
	}
	r := row{mask: v.mask, value: v.value, name: v.name, exec: v.exec, vectors: true}
	switch v.verdict(w, thumb) {
	case undefined:
		return row{}, errUndefined
	case unpredictable:
		r.unpredictable = openVector
	}
	return r, nil
}

// openVector is the reason of every refusal of unpredictable fields, which findVector's rules have found.
func openVector(uint32) string { return "registers or fields that the instruction must not have" }

// findVector is the first row that matches w, or nil.
func findVector(w uint32) *vectorRow {
	rows := vectorRows(w)
	for i := range rows {
		if w&rows[i].mask == rows[i].value {
			return &rows[i]
		}
	}
	return nil
}

// vectorRows is the table that holds w, if any does: NEON's two corners of the unconditional space, and what has a
// coprocessor number, with a condition or without.
func vectorRows(w uint32) []vectorRow {
	switch {
	case w>>25 == 0b1111001:
		return neonRows
	case w>>24 == 0b11110100:
		return neonMemoryRows
	case w>>28 == 0b1111:
		return unconditionalRows
	default:
		return vfpRows
	}
}

// verdict is what the rules of a row say of one encoding.
type verdict uint8

const (
	fine verdict = iota
	undefined
	unpredictable
)

// errShortVector refuses VFP's obsolete vectors when one is met: whether an instruction is one depends on FPSCR.
const errShortVector = refusal("cannot emulate a short vector: FPSCR.LEN is not 0")

// rule looks at the fields of an encoding that matched a row.
type rule func(w uint32, thumb bool) verdict

// vectorRow is one instruction of VFP or NEON: the words w with w&mask == value. Its rules say which fields it must not have; a row that
// has no exec has the rule never.
type vectorRow struct {
	mask, value uint32
	name        string
	exec        exec
	rules       []rule
}

// verdict is what the first rule says that has something against an encoding.
func (r *vectorRow) verdict(w uint32, thumb bool) verdict {
	for _, rule := range r.rules {
		if v := rule(w, thumb); v != fine {
			return v
		}
	}
	return fine
}

// of makes a row of a picture of the encoding, as the manual draws it: 32 characters besides spaces, of which 0 and 1
// are fixed and every letter is a field.
func of(picture, name string, e exec, rules ...rule) vectorRow {
	r := vectorRow{name: name, exec: e, rules: rules}
	n := 0
	for _, ch := range picture {
		if ch == ' ' {
			continue
		}
		r.mask, r.value, n = r.mask<<1, r.value<<1, n+1
		if ch == '0' || ch == '1' {
			r.mask |= 1
			r.value |= uint32(ch - '0')
		}
	}
	if n != 32 {
		panic("arm: the picture of " + name + " is not 32 bits")
	}
	return r
}

// Fields. Every vector instruction keeps its registers in the same places: D:Vd, N:Vn and M:Vm for doubles and quads,
// Vd:D, Vn:N and Vm:M for singles.

// flag is one bit of an instruction as a number.
func flag(w uint32, n int) uint32 { return w >> n & 1 }

func doubleD(w uint32) uint32 { return flag(w, 22)<<4 | field(w, 12, 4) }
func doubleN(w uint32) uint32 { return flag(w, 7)<<4 | field(w, 16, 4) }
func doubleM(w uint32) uint32 { return flag(w, 5)<<4 | field(w, 0, 4) }
func singleD(w uint32) uint32 { return field(w, 12, 4)<<1 | flag(w, 22) }
func singleN(w uint32) uint32 { return field(w, 16, 4)<<1 | flag(w, 7) }
func singleM(w uint32) uint32 { return field(w, 0, 4)<<1 | flag(w, 5) }

// d and setD are Dn, of 0 to 31.
func (c *cpu) d(n uint32) uint64       { return c.v.V[n>>1&15][n&1] }
func (c *cpu) setD(n uint32, v uint64) { c.v.V[n>>1&15][n&1] = v }

// s and setS are Sn, of 0 to 31: the halves of the first sixteen doubles.
func (c *cpu) s(n uint32) uint64 { return c.d(n>>1) >> (32 * (n & 1)) & 0xffffffff }
func (c *cpu) setS(n uint32, v uint64) {
	shift := 32 * (n & 1)
	c.setD(n>>1, c.d(n>>1)&^(0xffffffff<<shift)|v&0xffffffff<<shift)
}

// q and setQ are the two doubles of a quad register, named by the even number of the first.
func (c *cpu) q(n uint32) [2]uint64       { return [2]uint64{c.d(n), c.d(n + 1)} }
func (c *cpu) setQ(n uint32, v [2]uint64) { c.setD(n, v[0]); c.setD(n+1, v[1]) }

// dq is what an instruction of one or two doubles works on: one, or with bit 6 (Q) two.
func (c *cpu) dq(w, n uint32) [2]uint64 {
	if flag(w, 6) == 0 {
		return [2]uint64{c.d(n), 0}
	}
	return c.q(n)
}

// setDQ writes what dq read. Without Q the second double of v is dropped.
func (c *cpu) setDQ(w, n uint32, v [2]uint64) {
	c.setD(n, v[0])
	if flag(w, 6) == 1 {
		c.setD(n+1, v[1])
	}
}

// FPSCR (Arm ARM DDI 0487, G8.2.50; DDI 0406C, A2.5.3).
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

// rounding is FPSCR.RMode as the arithmetic names it.
var rounding = [4]ieee.Rounding{ieee.NearestEven, ieee.Up, ieee.Down, ieee.Zero}

// scalarFloat prepares the environment of VFP, by all of FPSCR.
func (c *cpu) scalarFloat() *ieee.Env {
	s := uint32(c.v.Control)
	c.fp = ieee.Env{
		Round:       rounding[s>>fpscrRounds&3],
		FlushToZero: s&fpscrFZ != 0,
		FlushHalf:   s&fpscrFZ16 != 0,
		DefaultNaN:  s&fpscrDN != 0,
		AltHalf:     s&fpscrAHP != 0,
	}
	return &c.fp
}

// vectorFloat prepares the environment of NEON, which hears of FPSCR only about half precision: the manual's
// StandardFPSCRValue.
func (c *cpu) vectorFloat() *ieee.Env {
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

// endFloat gathers the exceptions of the instruction in the cumulative bits of FPSCR.
func (c *cpu) endFloat() { c.v.Control |= uint64(c.fp.Flags) & fpscrSticky }

// elem is a kind of element: its width in bits, and whether it counts as unsigned.
type elem struct {
	bits     uint
	unsigned bool
}

// mask is the bits of an element.
func (e elem) mask() uint64 { return ^uint64(0) >> (64 - e.bits) }

// wide is the element of twice the width.
func (e elem) wide() elem { return elem{2 * e.bits, e.unsigned} }

// half is the element of half the width.
func (e elem) half() elem { return elem{e.bits / 2, e.unsigned} }

// value is an element as a number, extended by its sign if it has one.
func (e elem) value(a uint64) int64 {
	if e.unsigned {
		return int64(a & e.mask())
	}
	return e.signed(a)
}

// signed is an element as a number with a sign, whatever its kind.
func (e elem) signed(a uint64) int64 { return int64(a<<(64-e.bits)) >> (64 - e.bits) }

// saturate clamps a number of fewer than 64 bits into an element and notes in QC if that changed it.
func (c *cpu) saturate(e elem, v int64) uint64 {
	low, high := int64(0), int64(e.mask())
	if !e.unsigned {
		high >>= 1
		low = ^high
	}
	switch {
	case v < low:
		v = low
	case v > high:
		v = high
	default:
		return uint64(v) & e.mask()
	}
	c.setQC()
	return uint64(v) & e.mask()
}

// setQC notes a saturation. Nothing but VMSR ever clears the flag.
func (c *cpu) setQC() { c.v.Control |= fpscrQC }

// extreme is the largest or the smallest number of an element.
func (e elem) extreme(negative bool) uint64 {
	switch {
	case e.unsigned && negative:
		return 0
	case e.unsigned:
		return e.mask()
	case negative:
		return 1 << (e.bits - 1)
	default:
		return e.mask() >> 1
	}
}

// unaryOp, binaryOp and ternaryOp are what happens to one element of each operand. Operands come zero-extended; of a result
// only the low bits count.
type (
	unaryOp   func(c *cpu, e elem, a uint64) uint64
	binaryOp  func(c *cpu, e elem, a, b uint64) uint64
	ternaryOp func(c *cpu, e elem, d, a, b uint64) uint64
)

// each1 applies op to the elements of a.
func each1(c *cpu, e elem, op unaryOp, a uint64) (r uint64) {
	for i := uint(0); i < 64; i += e.bits {
		r |= op(c, e, a>>i&e.mask()) & e.mask() << i
	}
	return r
}

// each2 applies op to the pairs of elements of a and b.
func each2(c *cpu, e elem, op binaryOp, a, b uint64) (r uint64) {
	for i := uint(0); i < 64; i += e.bits {
		r |= op(c, e, a>>i&e.mask(), b>>i&e.mask()) & e.mask() << i
	}
	return r
}

// each3 applies op to the triples of elements of d, a and b.
func each3(c *cpu, e elem, op ternaryOp, d, a, b uint64) (r uint64) {
	for i := uint(0); i < 64; i += e.bits {
		r |= op(c, e, d>>i&e.mask(), a>>i&e.mask(), b>>i&e.mask()) & e.mask() << i
	}
	return r
}

// element is element i of a vector of up to two doubles.
func element(e elem, v [2]uint64, i uint) uint64 {
	at := i * e.bits
	return v[at/64] >> (at % 64) & e.mask()
}

// withElement is v with element i replaced.
func withElement(e elem, v [2]uint64, i uint, x uint64) [2]uint64 {
	at := i * e.bits
	v[at/64] = v[at/64]&^(e.mask()<<(at%64)) | x&e.mask()<<(at%64)
	return v
}

// replicate fills 64 bits with an element.
func replicate(e elem, x uint64) uint64 {
	x &= e.mask()
	for n := e.bits; n < 64; n *= 2 {
		x |= x << n
	}
	return x
}

// leading counts the zeros before the first one of an element.
func leading(e elem, a uint64) uint64 {
	return uint64(bits.LeadingZeros64(a&e.mask())) - uint64(64-e.bits)
}
