package arm64

import (
	"strings"
	"sync"

	"gotap/arch"
	"gotap/arch/ieee"
)

// The instructions of floating point and SIMD. Tables of rows, in files of their own by class of encoding (Arm ARM
// DDI 0487, C4.1.94 to C4.1.96), map encodings to executors. Most executors consist of two parts: one applies an
// operation to the lanes of registers, depending on the shape of the instruction (lanewise, long, narrow, pairwise
// …), and one computes a lane, a laneOp. The vector form of an operation, its scalar form and its form by element
// share the laneOp.

// laneOp computes one lane of 8<<s bits. Operands are zero-extended unless the shape says otherwise; only the low
// bits of the result count. d is the destination's lane, for operations that accumulate.
type laneOp func(c *cpu, s uint, d, x, y uint64) uint64

// vec is a vector register, low half first.
type vec = [2]uint64

// vectorTables are searched in order, so that a row may stand before a wider one.
var vectorTables = sync.OnceValue(func() [][]row {
	return [][]row{
		simdLoadRows(), structRows(), scalarRows(), convertRows(), sameRows(), fpSameRows(), extraRows(), miscRows(), fpMiscRows(), acrossRows(), longRows(),
		shiftRows(), elementRows(), immediateVectorRows(), copyRows(), permuteRows(), cryptoRows(),
	}
})

// vectorIndex holds the rows of the vector tables by top byte of the instruction, like index.
var vectorIndex = sync.OnceValue(buildVectorIndex)

// buildVectorIndex sorts the rows of all tables by top byte.
func buildVectorIndex() *[256][]*row {
	out := new([256][]*row)
	for _, table := range vectorTables() {
		for i := range table {
			r := &table[i]
			for top := range out {
				if uint32(top)&(r.mask>>24) == r.value>>24 {
					out[top] = append(out[top], r)
				}
			}
		}
	}
	return out
}

// decodeVector returns the row of an instruction of floating point or SIMD: data processing with op0 x111, loads
// and stores with V set.
func decodeVector(w uint32) (row, error) {
	for _, r := range vectorIndex()[w>>24] {
		if w&r.mask == r.value && (r.undefined == nil || !r.undefined(w)) {
			return *r, nil
		}
	}
	return row{}, errUndefined
}

// vrow makes a row from a pattern of 32 characters 0, 1 and x, ignoring blanks. Encodings that one of undefined
// reports are not this instruction.
func vrow(pattern, name string, x exec, undefined ...func(w uint32) bool) row {
	r := row{name: name, exec: x, vectors: true}
	for _, ch := range strings.ReplaceAll(pattern, " ", "") {
		r.mask, r.value = r.mask<<1, r.value<<1
		if ch != 'x' {
			r.mask |= 1
			r.value |= uint32(ch - '0')
		}
	}
	switch len(undefined) {
	case 0:
	case 1:
		r.undefined = undefined[0]
	default:
		r.undefined = func(w uint32) bool {
			for _, f := range undefined {
				if f(w) {
					return true
				}
			}
			return false
		}
	}
	return r
}

// Fields that SIMD instructions share.
func q(w uint32) bool          { return w>>30&1 == 1 }
func u(w uint32) bool          { return w>>29&1 == 1 }
func scalarForm(w uint32) bool { return w>>28&1 == 1 }

// size returns log2 of the bytes of a lane, from the size field.
func size(w uint32) uint { return uint(w >> 22 & 3) }

// fpSize returns log2 of the bytes of a lane from the sz bit of single and double precision.
func fpSize(w uint32) uint { return uint(2 + w>>22&1) }

// halfSize returns log2 of the bytes of a half.
func halfSize(uint32) uint { return 1 }

// Conditions under which an encoding is undefined.
func size3(w uint32) bool    { return size(w) == 3 }
func size0or3(w uint32) bool { return size(w) == 0 || size(w) == 3 }

// oneDouble reports a vector of a single 64-bit lane, which has a scalar encoding instead.
func oneDouble(w uint32) bool { return size(w) == 3 && !q(w) && !scalarForm(w) }

// oneFPDouble does so by the sz bit.
func oneFPDouble(w uint32) bool { return fpSize(w) == 3 && !q(w) && !scalarForm(w) }

// ones returns the mask of a lane.
func ones(s uint) uint64 { return ^uint64(0) >> (64 - 8<<s) }

// signedLane returns a lane's value as a signed number of 64 bits.
func signedLane(x uint64, s uint) int64 {
	n := 64 - 8<<s
	return int64(x<<n) >> n
}

// get returns lane i of a register.
func get(v *vec, s, i uint) uint64 {
	at := i << (s + 3)
	return v[at>>6] >> (at & 63) & ones(s)
}

// put writes lane i.
func put(v *vec, s, i uint, x uint64) {
	at := i << (s + 3)
	p := &v[at>>6]
	*p = *p&^(ones(s)<<(at&63)) | (x&ones(s))<<(at&63)
}

// lanes returns the number of lanes that an instruction uses: one in the scalar form, otherwise those of 64 or 128
// bits.
func lanes(w uint32, s uint) uint {
	switch {
	case scalarForm(w):
		return 1
	case q(w):
		return 16 >> s
	}
	return 8 >> s
}

// lanewise makes the executor that computes each lane of Rd from the same lanes of Rn and Rm. One-operand
// instructions have opcode bits in the place of Rm, and ignore y.
func lanewise(op laneOp, size func(uint32) uint) exec {
	return func(c *cpu, w uint32) error {
		s := size(w)
		x, y, d := &c.v.V[rn(w)], &c.v.V[rm(w)], &c.v.V[rd(w)]
		var out vec
		for i := range lanes(w, s) {
			put(&out, s, i, op(c, s, get(d, s, i), get(x, s, i), get(y, s, i)))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// pairwise makes the executor that computes lanes from neighbours in Rn, then from neighbours in Rm.
func pairwise(op laneOp, size func(uint32) uint) exec {
	return func(c *cpu, w uint32) error {
		s := size(w)
		n := lanes(w, s)
		var out vec
		for i := range n {
			from := &c.v.V[rn(w)]
			at := 2 * i
			if at >= n {
				from, at = &c.v.V[rm(w)], at-n
			}
			put(&out, s, i, op(c, s, 0, get(from, s, at), get(from, s, at+1)))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// setVector writes a register. It clears the upper half unless the instruction has 128 bits.
func (c *vectorUnit) setVector(w uint32, v vec) {
	if !q(w) {
		v[1] = 0
	}
	c.v.V[rd(w)] = v
}

// The bits of FPCR and FPSR that the package uses.
const (
	fpcrNewer = 7       // FIZ, AH and NEP, which change the rules
	fpcrTraps = 0x9f00  // the enable bits of the exceptions, 8 above their flags
	fpcrEBF   = 1 << 13 // a different arithmetic of BFloat16
	fpcrFZ16  = 1 << 19
	fpcrFZ    = 1 << 24
	fpcrDN    = 1 << 25
	fpcrAHP   = 1 << 26
	fpsrQC    = 1 << 27
	fpcrRMode = 22
)

// saturated records that an integer operation saturated.
func (c *vectorUnit) saturated() { c.v.Status |= fpsrQC }

const (
	errNewerFP       = arch.Refusal("cannot emulate floating point with FPCR.FIZ, AH or NEP set")
	errTrappedFP     = arch.Refusal("cannot emulate a trapped floating-point exception")
	errExtendedBrain = arch.Refusal("cannot emulate BFloat16 dot products with FPCR.EBF set")
)

// startFP sets the modes of c.fp from FPCR.
func (c *vectorUnit) startFP() error {
	fpcr := c.v.Control
	if fpcr&fpcrNewer != 0 {
		return errNewerFP
	}
	c.fp = ieee.Env{
		Round:       ieee.Rounding(fpcr >> fpcrRMode & 3),
		FlushToZero: fpcr&fpcrFZ != 0,
		FlushHalf:   fpcr&fpcrFZ16 != 0,
		DefaultNaN:  fpcr&fpcrDN != 0,
		AltHalf:     fpcr&fpcrAHP != 0,
	}
	return nil
}

// endFP adds the raised flags to FPSR. A processor that has enable bits traps instead; otherwise these bits read as
// zero.
func (c *vectorUnit) endFP() error {
	flags := uint64(c.fp.Flags)
	if flags<<8&c.v.Control&fpcrTraps != 0 {
		return errTrappedFP
	}
	c.v.Status |= flags
	return nil
}

// withFP makes an executor that computes with c.fp.
func withFP(x exec) exec {
	return func(c *cpu, w uint32) error {
		if err := c.startFP(); err != nil {
			return err
		}
		if err := x(c, w); err != nil {
			return err
		}
		return c.endFP()
	}
}

// format returns the floating-point format of a lane: half, single or double.
func format(s uint) ieee.Format { return ieee.Format(s - 1) }
