package arm64

import (
	"sync"

	"gotap/arch/ieee"
)

// Floating-point instructions of two vector registers, and their scalar forms (Arm ARM DDI 0487, C4.1.95, "Advanced
// SIMD two-register miscellaneous" and "(FP16)").

var fpMiscRows = sync.OnceValue(fpMiscTable)

// fpMiscKind is an opcode that the classes of half and of wider precision share, and the scalar classes too if
// scalar is set; a is size<1>.
type fpMiscKind struct {
	u, a         int
	opcode, name string
	op           laneOp
	half, scalar bool
}

var fpMiscKinds = []fpMiscKind{
	{0, 0, "11000", "frintn", fpOne(rounder(ieee.NearestEven)), true, false}, {0, 0, "11001", "frintm", fpOne(rounder(ieee.Down)), true, false},
	{0, 1, "11000", "frintp", fpOne(rounder(ieee.Up)), true, false}, {0, 1, "11001", "frintz", fpOne(rounder(ieee.Zero)), true, false},
	{1, 0, "11000", "frinta", fpOne(rounder(ieee.NearestAway)), true, false}, {1, 0, "11001", "frintx", fpOne(roundExact), true, false},
	{1, 1, "11001", "frinti", fpOne(roundCurrent), true, false},
	{0, 0, "11110", "frint32z", fpOne(sizedRounders[0].op), false, false}, {1, 0, "11110", "frint32x", fpOne(sizedRounders[1].op), false, false},
	{0, 0, "11111", "frint64z", fpOne(sizedRounders[2].op), false, false}, {1, 0, "11111", "frint64x", fpOne(sizedRounders[3].op), false, false},
	{0, 0, "11010", "fcvtns", laneToInt(ieee.NearestEven, true), true, true}, {1, 0, "11010", "fcvtnu", laneToInt(ieee.NearestEven, false), true, true},
	{0, 0, "11011", "fcvtms", laneToInt(ieee.Down, true), true, true}, {1, 0, "11011", "fcvtmu", laneToInt(ieee.Down, false), true, true},
	{0, 0, "11100", "fcvtas", laneToInt(ieee.NearestAway, true), true, true}, {1, 0, "11100", "fcvtau", laneToInt(ieee.NearestAway, false), true, true},
	{0, 1, "11010", "fcvtps", laneToInt(ieee.Up, true), true, true}, {1, 1, "11010", "fcvtpu", laneToInt(ieee.Up, false), true, true},
	{0, 1, "11011", "fcvtzs", laneToInt(ieee.Zero, true), true, true}, {1, 1, "11011", "fcvtzu", laneToInt(ieee.Zero, false), true, true},
	{0, 0, "11101", "scvtf", laneFromInt(true), true, true}, {1, 0, "11101", "ucvtf", laneFromInt(false), true, true},
	{0, 1, "01100", "fcmgt (zero)", withZero(fcmgt), true, true}, {1, 1, "01100", "fcmge (zero)", withZero(fcmge), true, true},
	{0, 1, "01101", "fcmeq (zero)", withZero(fcmeq), true, true}, {1, 1, "01101", "fcmle (zero)", fcmle, true, true},
	{0, 1, "01110", "fcmlt (zero)", fcmlt, true, true},
	{0, 1, "01111", "fabs", fpOne(absolute), true, false}, {1, 1, "01111", "fneg", fpOne(negate), true, false},
	{0, 1, "11101", "frecpe", fpOne((*ieee.Env).RecipEstimate), true, true}, {1, 1, "11101", "frsqrte", fpOne((*ieee.Env).RsqrtEstimate), true, true},
	{1, 1, "11111", "fsqrt", fpOne((*ieee.Env).Sqrt), true, false},
}

// fpMiscTable returns the kinds, and the conversions between lanes of different sizes.
func fpMiscTable() (out []row) {
	for _, k := range fpMiscKinds {
		out = append(out, k.rows()...)
	}
	recpx := fpMiscKind{0, 1, "11111", "frecpx", fpOne((*ieee.Env).RecipX), true, true}
	out = append(out, recpx.scalarRows()...)
	return append(out,
		vrow("0x0 01110 10 10000 11100 10 xxxxx xxxxx", "urecpe", lanewise(urecpe, fpSize)),
		vrow("0x1 01110 10 10000 11100 10 xxxxx xxxxx", "ursqrte", lanewise(ursqrte, fpSize)),
		vrow("0x0 01110 0x 10000 10110 10 xxxxx xxxxx", "fcvtn", withFP(narrowFP)),
		vrow("0x0 01110 0x 10000 10111 10 xxxxx xxxxx", "fcvtl", withFP(lengthen)),
		vrow("0x0 01110 10 10000 10110 10 xxxxx xxxxx", "bfcvtn", withFP(narrowBrain)),
		vrow("0x1 01110 01 10000 10110 10 xxxxx xxxxx", "fcvtxn", withFP(narrowOdd)),
		vrow("011 11110 01 10000 10110 10 xxxxx xxxxx", "fcvtxn (scalar)", withFP(narrowOddScalar)))
}

// rows returns the rows of single and double precision, of half precision, and of the scalar forms.
func (k fpMiscKind) rows() []row {
	u, a := bitText(k.u), bitText(k.a)
	out := []row{vrow("0x"+u+" 01110 "+a+"x 10000 "+k.opcode+" 10 xxxxx xxxxx", k.name, withFP(lanewise(k.op, fpSize)), oneFPDouble)}
	if k.half {
		out = append(out, vrow("0x"+u+" 01110 "+a+" 111100 "+k.opcode+" 10 xxxxx xxxxx", k.name+" (half)", withFP(lanewise(k.op, halfSize))))
	}
	if k.scalar {
		out = append(out, k.scalarRows()...)
	}
	return out
}

// scalarRows returns the rows of the scalar forms.
func (k fpMiscKind) scalarRows() []row {
	u, a := bitText(k.u), bitText(k.a)
	return []row{
		vrow("01"+u+" 11110 "+a+"x 10000 "+k.opcode+" 10 xxxxx xxxxx", k.name+" (scalar)", withFP(lanewise(k.op, fpSize))),
		vrow("01"+u+" 11110 "+a+" 111100 "+k.opcode+" 10 xxxxx xxxxx", k.name+" (scalar, half)", withFP(lanewise(k.op, halfSize))),
	}
}

// fpOne makes a laneOp of an operation with one operand.
func fpOne(op fpUnary) laneOp {
	return func(c *cpu, s uint, _, x, _ uint64) uint64 { return op(&c.fp, format(s), x) }
}

// laneToInt rounds as the instruction says, laneFromInt by FPCR.
func laneToInt(r ieee.Rounding, signed bool) laneOp {
	return func(c *cpu, s uint, _, x, _ uint64) uint64 { return c.fp.ToFixed(format(s), x, 0, 8<<s, signed, r) }
}

func laneFromInt(signed bool) laneOp {
	return func(c *cpu, s uint, _, x, _ uint64) uint64 { return c.fp.FromFixed(format(s), x, 0, 8<<s, signed) }
}

// fcmle and fcmlt compare with exchanged operands.
func fcmle(c *cpu, s uint, _, x, _ uint64) uint64 { return fcmge(c, s, 0, 0, x) }
func fcmlt(c *cpu, s uint, _, x, _ uint64) uint64 { return fcmgt(c, s, 0, 0, x) }

// The estimates of fixed-point numbers raise no exceptions.
func urecpe(_ *cpu, _ uint, _, x, _ uint64) uint64 {
	return uint64(ieee.RecipEstimateFixed(uint32(x)))
}

func ursqrte(_ *cpu, _ uint, _, x, _ uint64) uint64 {
	return uint64(ieee.RsqrtEstimateFixed(uint32(x)))
}

// narrowWith converts lanes to ones of half the size s.
func (c *vectorUnit) narrowWith(w uint32, s uint, op func(x uint64) uint64) {
	x := &c.v.V[rn(w)]
	var out vec
	for i := range uint(8) >> s {
		put(&out, s, i, op(get(x, s+1, i)))
	}
	c.narrowTo(w, out[0])
}

// narrowFP converts to half precision with sz clear, and to single with sz set.
func narrowFP(c *cpu, w uint32) error {
	s := uint(1 + w>>22&1)
	c.narrowWith(w, s, func(x uint64) uint64 { return c.fp.Convert(format(s+1), format(s), x) })
	return nil
}

// narrowBrain converts single precision to BFloat16.
func narrowBrain(c *cpu, w uint32) error {
	c.narrowWith(w, 1, func(x uint64) uint64 { return c.fp.Convert(ieee.Single, ieee.BFloat16, x) })
	return nil
}

// narrowOdd converts double to single precision so that a second rounding, to half, is as accurate as a single one.
func narrowOdd(c *cpu, w uint32) error {
	c.narrowWith(w, 2, c.odd)
	return nil
}

// narrowOddScalar does the same for one number.
func narrowOddScalar(c *cpu, w uint32) error {
	c.setScalar(rd(w), c.odd(c.scalar(rn(w))))
	return nil
}

// odd rounds to odd, whatever FPCR says.
func (c *vectorUnit) odd(x uint64) uint64 {
	return c.fp.ConvertRounded(ieee.Double, ieee.Single, x, ieee.Odd)
}

// lengthen converts the lanes of one half of Rn to lanes of twice the size.
func lengthen(c *cpu, w uint32) error {
	s, x := uint(1+w>>22&1), c.upper(rn(w), w)
	var out vec
	for i := range uint(8) >> s {
		put(&out, s+1, i, c.fp.Convert(format(s), format(s+1), get(&x, s, i)))
	}
	c.v.V[rd(w)] = out
	return nil
}
