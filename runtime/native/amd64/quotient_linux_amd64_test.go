package amd64

import (
	"math"
	"math/rand/v2"
	"testing"

	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
)

// TestConstantDivisors divides by constants: numbers close to the limits and to multiples of the divisor, and others.
// None of that rings.
func TestConstantDivisors(t *testing.T) {
	w := newWorld(t)
	w.c.setControl(1)
	results, _ := w.object(object.Object{Kind: object.KindArray, Size: 4})
	r := rand.New(rand.NewPCG(1, 3))
	divisors := []int64{1, -1, 2, -2, 3, -3, 7, -7, 10, 641, 1000, -1000, 1 << 31, 1<<32 - 1, 1 << 62, -1 << 62, math.MaxInt64, -math.MaxInt64, math.MinInt64}
	for range textTrials() / 30 {
		divisors = append(divisors, anyMagnitude(r))
	}
	for _, d := range divisors {
		var list []runtime.Inst
		for i, o := range []opcode.Op{opcode.Quo, opcode.Rem} {
			list = append(list, opA(opcode.Arg, 0), push(d), op(o), push(int64(i)), opV(opcode.PopLV, results))
		}
		list = append(list, opA(opcode.Arg, 0), push(d), op(opcode.Sdivmod), push(2), opV(opcode.PopLV, results), push(3), opV(opcode.PopLV, results),
			op(opcode.Exit))
		programs, site := []native.Program{{Run: w.plan(list...)}}, Site{Addr: codeAddr}
		stub := w.place(w.c, programs, site)
		for _, n := range dividends(r, d) {
			regs := w.anyRegs(r)
			regs[fileIndex[asm.RDI]] = uint64(n)
			var err error
			w.c.do(func() { err = w.compare(stub, programs, site, &regs) })
			if err != nil {
				t.Fatalf("%d / %d: %v", n, d, err)
			}
		}
	}
	if w.counts.bells > 0 {
		t.Errorf("%d doorbells", w.counts.bells)
	}
}

// dividends returns numbers for which a wrong reciprocal of a divisor shows.
func dividends(r *rand.Rand, d int64) []int64 {
	list := []int64{0, 1, -1, d, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1}
	last := math.MaxInt64 / d * d // the multiples with the largest magnitudes, and their neighbours
	if q := int64(math.MinInt64) / d; d != -1 {
		list = append(list, q*d, q*d+1)
	}
	list = append(list, last, last-1, -last, 1-last)
	for range 4 {
		n := anyMagnitude(r)
		list = append(list, n, n/d*d, n/d*d-1, n/d*d+1)
	}
	return list
}

// anyMagnitude returns a number that has as likely few bits as many, never 0.
func anyMagnitude(r *rand.Rand) int64 {
	return int64(r.Uint64()|1)>>r.IntN(64) | 1
}
