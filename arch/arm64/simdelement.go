package arm64

import (
	"sync"

	"gotap/arch/ieee"
)

// Instructions whose second operand is one lane of Rm (Arm ARM DDI 0487, C4.1.95, "Advanced SIMD vector x indexed
// element").

var elementRows = sync.OnceValue(elementTable)

// elementTable has "v" if a result is as wide as its operands, "l" if it is twice as wide, and "s" if there is a
// scalar form.
func elementTable() (out []row) {
	for _, k := range []sameKind{
		{1, "0000", "mla", mla, "v", ""}, {1, "0100", "mls", mls, "v", ""}, {0, "1000", "mul", mul, "v", ""},
		{0, "1100", "sqdmulh", sqdmulh(plain), "v", "s"}, {0, "1101", "sqrdmulh", sqdmulh(rounded), "v", "s"},
		{1, "1101", "sqrdmlah", sqrdmla(plain), "v", "s"}, {1, "1111", "sqrdmlsh", sqrdmla(subtracting), "v", "s"},
		{0, "0010", "smlal", mla, "l", ""}, {1, "0010", "umlal", mla, "l", ""}, {0, "0110", "smlsl", mls, "l", ""},
		{1, "0110", "umlsl", mls, "l", ""}, {0, "1010", "smull", mul, "l", ""}, {1, "1010", "umull", mul, "l", ""},
		{0, "0011", "sqdmlal", sqdmlal, "l", "s"}, {0, "0111", "sqdmlsl", sqdmlsl, "l", "s"}, {0, "1011", "sqdmull", sqdmull, "l", "s"},
	} {
		x := byElement(k.op, size)
		if k.sizes == "l" {
			x = longByElement(k.op)
		}
		out = append(out, elementRow("0x"+bitText(k.u)+" 01111", "xx", k.opcode, k.name, x, size0or3))
		if k.scalar == "s" {
			out = append(out, elementRow("01"+bitText(k.u)+" 11111", "xx", k.opcode, k.name+" (scalar)", x, size0or3))
		}
	}
	for _, k := range []sameKind{
		{0, "0001", "fmla", fmla, "", ""}, {0, "0101", "fmls", fmls, "", ""}, {0, "1001", "fmul", fpLane((*ieee.Env).Mul), "", ""},
		{1, "1001", "fmulx", fpLane((*ieee.Env).MulX), "", ""},
	} {
		x, h := withFP(byElement(k.op, fpSize)), withFP(byElement(k.op, halfSize))
		vector, scalar := "0x"+bitText(k.u)+" 01111", "01"+bitText(k.u)+" 11111"
		out = append(out,
			elementRow(vector, "1x", k.opcode, k.name, x, badDouble, oneFPDouble), elementRow(scalar, "1x", k.opcode, k.name+" (scalar)", x, badDouble),
			elementRow(vector, "00", k.opcode, k.name+" (half)", h), elementRow(scalar, "00", k.opcode, k.name+" (scalar, half)", h))
	}
	for _, k := range []struct {
		u, opcode, name string
		v               variant
	}{
		{"0", "0000", "fmlal", plain}, {"0", "0100", "fmlsl", subtracting},
		{"1", "1000", "fmlal2", upperHalf}, {"1", "1100", "fmlsl2", upperHalf | subtracting},
	} {
		out = append(out, elementRow("0x"+k.u+" 01111", "10", k.opcode, k.name, withFP(widenByElement(k.v))))
	}
	return out
}

// elementRow returns a row of the class. head is everything above the size field.
func elementRow(head, size, opcode, name string, x exec, undefined ...func(uint32) bool) row {
	return vrow(head+" "+size+" xx xxxx "+opcode+" x 0 xxxxx xxxxx", name+" (element)", x, undefined...)
}

// badDouble reports doubles with an index bit that they do not have.
func badDouble(w uint32) bool { return fpSize(w) == 3 && w>>21&1 == 1 }

// element returns the register and index of the lane of size s. The index is H, H:L or H:L:M. M is the register's
// top bit unless the index uses it.
func element(w uint32, s uint) (reg uint32, index uint) {
	h, l, m := uint(w>>11&1), uint(w>>21&1), uint(w>>20&1)
	switch s {
	case 1:
		return rm(w) & 15, h<<2 | l<<1 | m
	case 2:
		return rm(w), h<<1 | l
	}
	return rm(w), h
}

// byElement is lanewise with y the same for all lanes.
func byElement(op laneOp, size func(uint32) uint) exec {
	return func(c *cpu, w uint32) error {
		s := size(w)
		m, index := element(w, s)
		x, y, d := &c.v.V[rn(w)], get(&c.v.V[m], s, index), &c.v.V[rd(w)]
		var out vec
		for i := range lanes(w, s) {
			put(&out, s, i, op(c, s, get(d, s, i), get(x, s, i), y))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// longByElement is long with y the same for all lanes.
func longByElement(op laneOp) exec {
	return func(c *cpu, w uint32) error {
		s := size(w)
		m, index := element(w, s)
		x, y, d := c.half(rn(w), w), number(w, get(&c.v.V[m], s, index), s), &c.v.V[rd(w)]
		var out vec
		for i := range longLanes(w, s) {
			put(&out, s+1, i, op(c, s+1, get(d, s+1, i), number(w, get(&x, s, i), s), y))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}

// widenByElement is widenAdd with y the same for all lanes.
func widenByElement(v variant) exec {
	return func(c *cpu, w uint32) error {
		m, index := element(w, 1)
		x, y, d := &c.v.V[rn(w)], get(&c.v.V[m], 1, index), &c.v.V[rd(w)]
		n := lanes(w, 2)
		from := v.firstHalf(n)
		var out vec
		for i := range n {
			put(&out, 2, i, c.widenAdd(get(d, 2, i), get(x, 1, from+i), y, v))
		}
		c.v.V[rd(w)] = out
		return nil
	}
}
