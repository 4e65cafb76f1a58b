package arm64

import (
	"math"
	"math/rand/v2"

	"gotap/runtime"
	"gotap/runtime/opcode"
)

var (
	floatBinary  = []opcode.Op{opcode.Fadd, opcode.Fsub, opcode.Fmul, opcode.Fdiv}
	floatUnary   = []opcode.Op{opcode.Fneg, opcode.Itof, opcode.Utof, opcode.F32}
	floatCompare = []opcode.Op{opcode.Feq, opcode.Fne, opcode.Flt, opcode.Fle}
	floatEnds    = []opcode.Op{opcode.Fbool, opcode.Ftoi, opcode.ToF32}
)

// edgeFloats are where operations on floats change their behaviour.
var edgeFloats = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 1e6, 1e-6, 3.999999, math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64,
	math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022, 0x1.fffffffffffffp-1023, 0x1p63, -0x1p63, 0x1p63 - 1024, -0x1p63 - 2048, 0x1p64, 0x1p53, 0x1p53 + 2,
	0x1p52 - 0.5, -0x1p52 + 0.5, math.MaxFloat32, 0x1p128, 0x1p-149, 0x1p-150, 0x1.8p-150, 0x1.000001p0, 0x1.0000010000001p0, 10, -100, 5.5}

// oddFloats are no numbers, quiet ones and signalling ones, and halves that are floats of 32 bits.
var oddFloats = []uint64{0x7ff8000000000000, 0x7ff8000000000001, 0xfff8000000000000, 0x7ff0000000000001, 0xfff4000000001234, 0x7fffffffffffffff, 0x7fc00000, 0x7f800001,
	0xffa00001, 0x7f800000, 0x80000001, 0x3f800000, 0x4f000000_3fc00000}

// anyFloat returns the word of a float.
func anyFloat(r *rand.Rand) uint64 {
	switch r.IntN(10) {
	case 0:
		return pick(r, oddFloats...)
	case 2:
		return r.Uint64()
	case 3:
		return math.Float64bits(float64(r.IntN(40)-20) / 4)
	case 4:
		return math.Float64bits(math.Ldexp(r.Float64()*2-1, r.IntN(140)-10))
	}
	return math.Float64bits(pick(r, edgeFloats...))
}

// float pushes a word that is a float.
func (g *generator) float() {
	switch g.IntN(10) {
	case 0:
		g.op(opcode.ArgF, g.Uint32N(8))
	case 1:
		g.op(opcode.PushR, 0)
		g.code[len(g.code)-1].V = (runtime.FloatWords+2*g.Uint64N(uint64(vectorA)))<<16 | 64
	case 2:
		g.address()
		g.op(opcode.LoadF32, 0)
	case 3, 4:
		g.push()
		g.op(pick(g.Rand, floatUnary...), 0)
	case 5:
		g.push()
	default:
		g.constant(anyFloat(g.Rand))
	}
}

// calculatedFloat pushes a float that is calculated.
func (g *generator) calculatedFloat() {
	g.float()
	for range g.IntN(4) {
		if g.IntN(4) == 0 || !g.room() {
			g.op(pick(g.Rand, floatUnary...), 0)
			continue
		}
		g.float()
		g.op(pick(g.Rand, floatBinary...), 0)
	}
}

// floats calculates with floats, and pops the result.
func (g *generator) floats() {
	g.calculatedFloat()
	switch g.IntN(6) {
	case 0:
		if g.room() {
			g.float()
			g.op(pick(g.Rand, floatCompare...), 0)
		}
	case 1, 2:
		if g.IntN(4) == 0 {
			g.constant(pick(g.Rand, anyFloat(g.Rand), anyFloat(g.Rand), math.Float64bits(math.Copysign(0, -1))))
		}
		g.object(opcode.AggFloat, g.world.aggregations)
		return
	case 3:
		g.op(pick(g.Rand, floatEnds...), 0)
	}
	g.sink()
}
