package arm64

import (
	"sync"

	"gotap/arch/ieee"
)

// Floating-point instructions of three registers of one shape (Arm ARM DDI 0487, C4.1.95, "Advanced SIMD three
// same", "three same (FP16)" and their scalar forms).

var fpSameRows = sync.OnceValue(fpSameTable)

// fpSameKinds share U, a bit that is size<1> or a, and three bits of opcode between the classes of half and of
// wider precision.
var fpSameKinds = []struct {
	u, a         int
	opcode, name string
	op           laneOp
	pair, scalar bool
}{
	{0, 0, "000", "fmaxnm", fpLane((*ieee.Env).MaxNum), false, false},
	{0, 0, "001", "fmla", fmla, false, false},
	{0, 0, "010", "fadd", fpLane((*ieee.Env).Add), false, false},
	{0, 0, "011", "fmulx", fpLane((*ieee.Env).MulX), false, true},
	{0, 0, "100", "fcmeq", fcmeq, false, true},
	{0, 0, "110", "fmax", fpLane((*ieee.Env).Max), false, false},
	{0, 0, "111", "frecps", fpLane((*ieee.Env).RecipStep), false, true},
	{0, 1, "000", "fminnm", fpLane((*ieee.Env).MinNum), false, false},
	{0, 1, "001", "fmls", fmls, false, false},
	{0, 1, "010", "fsub", fpLane((*ieee.Env).Sub), false, false},
	{0, 1, "110", "fmin", fpLane((*ieee.Env).Min), false, false},
	{0, 1, "111", "frsqrts", fpLane((*ieee.Env).RsqrtStep), false, true},
	{1, 0, "000", "fmaxnmp", fpLane((*ieee.Env).MaxNum), true, false},
	{1, 0, "010", "faddp", fpLane((*ieee.Env).Add), true, false},
	{1, 0, "011", "fmul", fpLane((*ieee.Env).Mul), false, false},
	{1, 0, "100", "fcmge", fcmge, false, true},
	{1, 0, "101", "facge", facge, false, true},
	{1, 0, "110", "fmaxp", fpLane((*ieee.Env).Max), true, false},
	{1, 0, "111", "fdiv", fpLane((*ieee.Env).Div), false, false},
	{1, 1, "000", "fminnmp", fpLane((*ieee.Env).MinNum), true, false},
	{1, 1, "010", "fabd", fabd, false, true},
	{1, 1, "100", "fcmgt", fcmgt, false, true},
	{1, 1, "101", "facgt", facgt, false, true},
	{1, 1, "110", "fminp", fpLane((*ieee.Env).Min), true, false},
}

// fpSameTable returns up to four rows of a kind: two precisions of vectors and of scalars.
func fpSameTable() (out []row) {
	for _, k := range fpSameKinds {
		x, h := withFP(lanewise(k.op, fpSize)), withFP(lanewise(k.op, halfSize))
		if k.pair {
			x, h = withFP(pairwise(k.op, fpSize)), withFP(pairwise(k.op, halfSize))
		}
		u, a := bitText(k.u), bitText(k.a)
		out = append(out,
			vrow("0x"+u+" 01110 "+a+"x 1 xxxxx 11"+k.opcode+" 1 xxxxx xxxxx", k.name, x, oneFPDouble),
			vrow("0x"+u+" 01110 "+a+"10 xxxxx 00"+k.opcode+" 1 xxxxx xxxxx", k.name+" (half)", h))
		if k.scalar {
			out = append(out,
				vrow("01"+u+" 11110 "+a+"x 1 xxxxx 11"+k.opcode+" 1 xxxxx xxxxx", k.name+" (scalar)", x),
				vrow("01"+u+" 11110 "+a+"10 xxxxx 00"+k.opcode+" 1 xxxxx xxxxx", k.name+" (scalar, half)", h))
		}
	}
	for _, k := range []struct {
		u, a, opcode, name string
		v                  variant
	}{
		{"0", "0", "11101", "fmlal", plain}, {"0", "1", "11101", "fmlsl", subtracting},
		{"1", "0", "11001", "fmlal2", upperHalf}, {"1", "1", "11001", "fmlsl2", upperHalf | subtracting},
	} {
		out = append(out, vrow("0x"+k.u+" 01110 "+k.a+"01 xxxxx "+k.opcode+" 1 xxxxx xxxxx", k.name, withFP(widenAdd(k.v))))
	}
	return append(out, pairRows()...)
}

// pairRows returns the scalar instructions that combine the two lanes of one register.
func pairRows() (out []row) {
	out = append(out, vrow("010 11110 11 11000 11011 10 xxxxx xxxxx", "addp (scalar)", lanePair(add, size)))
	for _, k := range []struct {
		a, opcode, name string
		op              laneOp
	}{
		{"0", "01100", "fmaxnmp", fpLane((*ieee.Env).MaxNum)}, {"0", "01101", "faddp", fpLane((*ieee.Env).Add)},
		{"0", "01111", "fmaxp", fpLane((*ieee.Env).Max)}, {"1", "01100", "fminnmp", fpLane((*ieee.Env).MinNum)},
		{"1", "01111", "fminp", fpLane((*ieee.Env).Min)},
	} {
		out = append(out,
			vrow("011 11110 "+k.a+"x 11000 "+k.opcode+" 10 xxxxx xxxxx", k.name+" (scalar)", withFP(lanePair(k.op, fpSize))),
			vrow("010 11110 "+k.a+"0 11000 "+k.opcode+" 10 xxxxx xxxxx", k.name+" (scalar, half)", withFP(lanePair(k.op, halfSize))))
	}
	return out
}

// lanePair combines lanes 0 and 1 of Rn.
func lanePair(op laneOp, size func(uint32) uint) exec {
	return func(c *cpu, w uint32) error {
		s, x := size(w), &c.v.V[rn(w)]
		var out vec
		put(&out, s, 0, op(c, s, 0, get(x, s, 0), get(x, s, 1)))
		c.v.V[rd(w)] = out
		return nil
	}
}

// fpLane makes a laneOp of an operation of package ieee.
func fpLane(op fpBinary) laneOp {
	return func(c *cpu, s uint, _, x, y uint64) uint64 { return op(&c.fp, format(s), x, y) }
}

// fmla and fmls round once. fmls negates the factor from Rn, which is visible in NaNs.
func fmla(c *cpu, s uint, d, x, y uint64) uint64 { return c.fp.MulAdd(format(s), d, x, y) }

func fmls(c *cpu, s uint, d, x, y uint64) uint64 {
	return c.fp.MulAdd(format(s), d, format(s).Neg(x), y)
}

// fabd clears the sign of the difference, also of a NaN.
func fabd(c *cpu, s uint, _, x, y uint64) uint64 { return format(s).Abs(c.fp.Sub(format(s), x, y)) }

// fcmeq raises an exception only for signalling NaNs, the comparisons of order for all NaNs.
func fcmeq(c *cpu, s uint, _, x, y uint64) uint64 {
	return all(c.fp.Compare(format(s), x, y, false) == ieee.Equal)
}

func fcmge(c *cpu, s uint, _, x, y uint64) uint64 {
	r := c.fp.Compare(format(s), x, y, true)
	return all(r == ieee.Equal || r == ieee.Greater)
}

func fcmgt(c *cpu, s uint, _, x, y uint64) uint64 {
	return all(c.fp.Compare(format(s), x, y, true) == ieee.Greater)
}

// facge and facgt compare magnitudes.
func facge(c *cpu, s uint, _, x, y uint64) uint64 {
	return fcmge(c, s, 0, format(s).Abs(x), format(s).Abs(y))
}

func facgt(c *cpu, s uint, _, x, y uint64) uint64 {
	return fcmgt(c, s, 0, format(s).Abs(x), format(s).Abs(y))
}

// widenAdd multiplies halves of the lower or upper part of two registers and accumulates in single precision.
func widenAdd(v variant) exec {
	return func(c *cpu, w uint32) error {
		x, y, d := &c.v.V[rn(w)], &c.v.V[rm(w)], &c.v.V[rd(w)]
		n := lanes(w, 2)
		from := v.firstHalf(n)
		var out vec
		for i := range n {
			put(&out, 2, i, c.widenAdd(get(d, 2, i), get(x, 1, from+i), get(y, 1, from+i), v))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// firstHalf returns the first of n narrow lanes that are widened.
func (v variant) firstHalf(n uint) uint {
	if v.has(upperHalf) {
		return n
	}
	return 0
}

// widenAdd returns d ± xy of two halves (FPMulAddH).
func (c *vectorUnit) widenAdd(d, x, y uint64, v variant) uint64 {
	if v.has(subtracting) {
		x = ieee.Half.Neg(x)
	}
	return c.fp.MulAdd(ieee.Single, d, c.fp.Widen(x), c.fp.Widen(y))
}
