package arm64

import (
	"math/bits"
	"sync"
)

// Integer instructions of two registers (Arm ARM DDI 0487, C4.1.95, "Advanced SIMD two-register miscellaneous"),
// and those across lanes.

var miscRows = sync.OnceValue(miscTable)

// miscTable has operations on lanes, then those that change the size of lanes.
func miscTable() (out []row) {
	for _, k := range []sameKind{
		{0, "00000", "rev64", reverse(3), "012", ""}, {1, "00000", "rev32", reverse(2), "01", ""}, {0, "00001", "rev16", reverse(1), "0", ""},
	} {
		out = append(out, miscRow(k.u, k.opcode, k.name, reverseLanes(k.op), notSizes(k.sizes)))
	}
	for _, k := range []sameKind{
		{0, "00011", "suqadd", satMixed(signed), "0123", "0123"}, {1, "00011", "usqadd", satMixed(unsigned), "0123", "0123"},
		{0, "00100", "cls", cls, "012", ""}, {1, "00100", "clz", clz, "012", ""}, {0, "00101", "cnt", cnt, "0", ""},
		{0, "00111", "sqabs", sqabs, "0123", "0123"}, {1, "00111", "sqneg", sqneg, "0123", "0123"},
		{0, "01000", "cmgt (zero)", withZero(cmgt), "0123", "3"}, {1, "01000", "cmge (zero)", withZero(cmge), "0123", "3"},
		{0, "01001", "cmeq (zero)", withZero(cmeq), "0123", "3"}, {1, "01001", "cmle (zero)", cmle, "0123", "3"},
		{0, "01010", "cmlt (zero)", cmlt, "0123", "3"},
		{0, "01011", "abs", abs, "0123", "3"}, {1, "01011", "neg", neg, "0123", "3"},
	} {
		x := lanewise(k.op, size)
		out = append(out, miscRow(k.u, k.opcode, k.name, x, notSizes(k.sizes), oneDouble))
		if k.scalar != "" {
			out = append(out, vrow("01"+bitText(k.u)+" 11110 xx 10000 "+k.opcode+" 10 xxxxx xxxxx", k.name+" (scalar)", x, notSizes(k.scalar)))
		}
	}
	out = append(out,
		vrow("0x1 01110 00 10000 00101 10 xxxxx xxxxx", "not", lanewise(not, wholeSize)),
		vrow("0x1 01110 01 10000 00101 10 xxxxx xxxxx", "rbit", lanewise(rbit, byteSize)),
		miscRow(0, "00010", "saddlp", addPairs(plain), size3), miscRow(1, "00010", "uaddlp", addPairs(plain), size3),
		miscRow(0, "00110", "sadalp", addPairs(accumulating), size3), miscRow(1, "00110", "uadalp", addPairs(accumulating), size3),
		miscRow(0, "10010", "xtn", narrow(cut), size3), miscRow(1, "10011", "shll", shll, size3))
	for _, k := range []sameKind{
		{1, "10010", "sqxtun", satNarrow(signed | toUnsigned), "", ""}, {0, "10100", "sqxtn", satNarrow(signed), "", ""},
		{1, "10100", "uqxtn", satNarrow(unsigned), "", ""},
	} {
		out = append(out, miscRow(k.u, k.opcode, k.name, narrow(k.op), size3),
			vrow("01"+bitText(k.u)+" 11110 xx 10000 "+k.opcode+" 10 xxxxx xxxxx", k.name+" (scalar)", narrow(k.op), size3))
	}
	return out
}

// miscRow returns a row of the class.
func miscRow(u int, opcode, name string, x exec, undefined ...func(uint32) bool) row {
	return vrow("0x"+bitText(u)+" 01110 xx 10000 "+opcode+" 10 xxxxx xxxxx", name, x, undefined...)
}

// byteSize returns the lanes of operations on bytes.
func byteSize(uint32) uint { return 0 }

// withZero compares with zero.
func withZero(op laneOp) laneOp {
	return func(c *cpu, s uint, _, x, _ uint64) uint64 { return op(c, s, 0, x, 0) }
}

func cmle(_ *cpu, s uint, _, x, _ uint64) uint64 { return all(signedLane(x, s) <= 0) }
func cmlt(_ *cpu, s uint, _, x, _ uint64) uint64 { return all(signedLane(x, s) < 0) }
func not(_ *cpu, _ uint, _, x, _ uint64) uint64  { return ^x }
func neg(_ *cpu, _ uint, _, x, _ uint64) uint64  { return -x }
func cut(_ *cpu, _ uint, _, x, _ uint64) uint64  { return x }

// abs of the smallest number is itself; sqabs saturates.
func abs(_ *cpu, s uint, _, x, _ uint64) uint64 {
	if signedLane(x, s) < 0 {
		return -x
	}
	return x
}

// cls counts the bits below the sign that equal it.
func cls(_ *cpu, s uint, _, x, _ uint64) uint64 {
	v := signedLane(x, s)
	return uint64(bits.LeadingZeros64(uint64(v^v>>63))) - (64 - 8<<s) - 1
}

// clz counts within the lane: x has zeros above it.
func clz(_ *cpu, s uint, _, x, _ uint64) uint64 { return uint64(bits.LeadingZeros64(x)) - (64 - 8<<s) }
func cnt(_ *cpu, _ uint, _, x, _ uint64) uint64 { return uint64(bits.OnesCount64(x)) }
func rbit(_ *cpu, _ uint, _, x, _ uint64) uint64 {
	return uint64(bits.Reverse8(uint8(x)))
}

// reverse reverses the lane's position within its container of 1<<container bytes. x is the index of the lane.
func reverse(container uint) laneOp {
	return func(_ *cpu, s uint, _, x, _ uint64) uint64 { return x ^ (1<<(container-s) - 1) }
}

// reverseLanes moves each lane to the index that op returns.
func reverseLanes(index laneOp) exec {
	return func(c *cpu, w uint32) error {
		s, x := size(w), &c.v.V[rn(w)]
		var out vec
		for i := range lanes(w, s) {
			put(&out, s, uint(index(c, s, 0, uint64(i), 0)), get(x, s, i))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// number returns a lane extended as U says.
func number(w uint32, x uint64, s uint) uint64 {
	if u(w) {
		return x
	}
	return uint64(signedLane(x, s))
}

// addPairs adds neighbours into lanes of twice the size.
func addPairs(v variant) exec {
	return func(c *cpu, w uint32) error {
		s, x := size(w), &c.v.V[rn(w)]
		var out vec
		for i := range lanes(w, s) / 2 {
			sum := number(w, get(x, s, 2*i), s) + number(w, get(x, s, 2*i+1), s)
			if v.has(accumulating) {
				sum += get(&c.v.V[rd(w)], s+1, i)
			}
			put(&out, s+1, i, sum)
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// narrowTo writes the lower half of Rd and clears the rest; with Q set it writes only the upper half. The scalar
// form has one lane.
func (c *vectorUnit) narrowTo(w uint32, v uint64) {
	if !scalarForm(w) && q(w) {
		c.v.V[rd(w)][1] = v
		return
	}
	c.v.V[rd(w)] = vec{v}
}

// narrow makes lanes of half the size. op gets the wide lane in x and the size of the narrow one.
func narrow(op laneOp) exec {
	return func(c *cpu, w uint32) error {
		s, x := size(w), &c.v.V[rn(w)]
		n := uint(8) >> s
		if scalarForm(w) {
			n = 1
		}
		var out vec
		for i := range n {
			put(&out, s, i, op(c, s, 0, get(x, s+1, i), 0))
		}
		c.narrowTo(w, out[0])
		return nil
	}
}

// satNarrow saturates a wide lane, signed or not, to a narrow one.
func satNarrow(v variant) laneOp {
	isSigned, signedResult := v.has(signed), v.signedResult()
	return func(c *cpu, s uint, _, x, _ uint64) uint64 {
		return c.saturate(widen(x, s+1, isSigned), s, signedResult)
	}
}

// upper returns the half of a register that widening instructions use: the upper one if Q is set.
func (c *vectorUnit) upper(n, w uint32) vec {
	if q(w) {
		return vec{c.v.V[n][1]}
	}
	return vec{c.v.V[n][0]}
}

// shll shifts left by the size of a lane, into a lane twice as wide.
func shll(c *cpu, w uint32) error {
	s, x := size(w), c.upper(rn(w), w)
	var out vec
	for i := range uint(8) >> s {
		put(&out, s+1, i, get(&x, s, i)<<(8<<s))
	}
	c.v.V[rd(w)] = out
	return nil
}

var acrossRows = sync.OnceValue(acrossTable)

// acrossTable takes the floating-point operations from the table of pairs of registers.
func acrossTable() (out []row) {
	few := func(w uint32) bool { return size(w) == 3 || size(w) == 2 && !q(w) }
	for _, k := range []sameKind{
		{0, "01010", "smaxv", smax, "", ""}, {1, "01010", "umaxv", umax, "", ""}, {0, "11010", "sminv", smin, "", ""},
		{1, "11010", "uminv", umin, "", ""}, {0, "11011", "addv", add, "", ""},
	} {
		out = append(out, acrossRow(k.u, k.opcode, k.name, across(k.op, size), few))
	}
	out = append(out, acrossRow(0, "00011", "saddlv", addAcross, few), acrossRow(1, "00011", "uaddlv", addAcross, few))
	for _, k := range fpSameKinds {
		opcode := map[string]string{"fmaxnm": "01100", "fminnm": "01100", "fmax": "01111", "fmin": "01111"}[k.name]
		if opcode == "" {
			continue
		}
		a := bitText(k.a)
		out = append(out,
			vrow("011 01110 "+a+"0 11000 "+opcode+" 10 xxxxx xxxxx", k.name+"v", withFP(halve(k.op, fpSize))),
			vrow("0x0 01110 "+a+"0 11000 "+opcode+" 10 xxxxx xxxxx", k.name+"v (half)", withFP(halve(k.op, halfSize))))
	}
	return out
}

// acrossRow returns a row of the class.
func acrossRow(u int, opcode, name string, x exec, undefined func(uint32) bool) row {
	return vrow("0x"+bitText(u)+" 01110 xx 11000 "+opcode+" 10 xxxxx xxxxx", name, x, undefined)
}

// across folds the lanes of Rn into one.
func across(op laneOp, size func(uint32) uint) exec {
	return func(c *cpu, w uint32) error {
		s, x := size(w), &c.v.V[rn(w)]
		v := get(x, s, 0)
		for i := uint(1); i < lanes(w, s); i++ {
			v = op(c, s, 0, v, get(x, s, i)) & ones(s)
		}
		c.v.V[rd(w)] = vec{v}
		return nil
	}
}

// halve combines neighbouring lanes of Rn until one is left. The order determines which NaN is the result.
func halve(op laneOp, size func(uint32) uint) exec {
	return func(c *cpu, w uint32) error {
		s, x := size(w), c.v.V[rn(w)]
		for n := lanes(w, s) / 2; n > 0; n /= 2 {
			var out vec
			for i := range n {
				put(&out, s, i, op(c, s, 0, get(&x, s, 2*i), get(&x, s, 2*i+1)))
			}
			x = out
		}
		c.v.V[rd(w)] = x
		return nil
	}
}

// addAcross sums into a lane of twice the size.
func addAcross(c *cpu, w uint32) error {
	s, sum := size(w), uint64(0)
	for i := range lanes(w, s) {
		sum += number(w, get(&c.v.V[rn(w)], s, i), s)
	}
	c.v.V[rd(w)] = vec{sum & ones(s+1)}
	return nil
}
