package arm64

import (
	"sync"

	"gotap/arch/ieee"
)

// Conversions of scalars between formats and to and from integers and fixed-point numbers in general registers
// (Arm ARM DDI 0487, C4.1.96).

var convertRows = sync.OnceValue(convertTable)

// roundingOf maps the rmode field of a conversion to its rounding.
var roundingOf = [4]ieee.Rounding{ieee.NearestEven, ieee.Up, ieee.Down, ieee.Zero}

var convertNames = [4]string{"fcvtn", "fcvtp", "fcvtm", "fcvtz"}

// convertTable has the conversions by rmode and opcode, then moves and changes of precision.
func convertTable() (out []row) {
	for mode, name := range convertNames {
		x := toInteger(roundingOf[mode])
		out = append(out, vrow("x 0 0 11110 xx 1 "+bitsText(mode, 2)+" 00x 000000 xxxxx xxxxx", name+"s, "+name+"u", x, noPtype))
	}
	return append(out,
		vrow("x 0 0 11110 xx 1 00 10x 000000 xxxxx xxxxx", "fcvtas, fcvtau", toInteger(ieee.NearestAway), noPtype),
		vrow("x 0 0 11110 xx 1 00 01x 000000 xxxxx xxxxx", "scvtf, ucvtf", withFP(fromInteger), noPtype),
		vrow("x 0 0 11110 xx 0 11 00x xxxxxx xxxxx xxxxx", "fcvtzs, fcvtzu (fixed point)", withFP(toFixed), noPtype, badScale),
		vrow("x 0 0 11110 xx 0 00 01x xxxxxx xxxxx xxxxx", "scvtf, ucvtf (fixed point)", withFP(fromFixed), noPtype, badScale),
		vrow("0 0 0 11110 01 1 11 110 000000 xxxxx xxxxx", "fjcvtzs", withFP(toJavaScript)),
		vrow("x 0 0 11110 xx 1 00 110 000000 xxxxx xxxxx", "fmov (to general)", moveOut, badMove),
		vrow("x 0 0 11110 xx 1 00 111 000000 xxxxx xxxxx", "fmov (from general)", moveIn, badMove),
		vrow("1 0 0 11110 10 1 01 110 000000 xxxxx xxxxx", "fmov (top half to general)", moveTopOut),
		vrow("1 0 0 11110 10 1 01 111 000000 xxxxx xxxxx", "fmov (top half from general)", moveTopIn),
		vrow("000 11110 xx 1 000100 10000 xxxxx xxxxx", "fcvt (to single)", convertScalar(ieee.Single), noPtype, toItself(0)),
		vrow("000 11110 xx 1 000101 10000 xxxxx xxxxx", "fcvt (to double)", convertScalar(ieee.Double), noPtype, toItself(1)),
		vrow("000 11110 xx 1 000111 10000 xxxxx xxxxx", "fcvt (to half)", convertScalar(ieee.Half), noPtype, toItself(3)),
		vrow("000 11110 01 1 000110 10000 xxxxx xxxxx", "bfcvt", withFP(toBrain)),
	)
}

// badScale reports more fraction bits than a 32-bit register has.
func badScale(w uint32) bool { return !wide(w) && w>>15&1 == 0 }

// toItself reports a conversion to the format that it comes from.
func toItself(ptype uint32) func(uint32) bool {
	return func(w uint32) bool { return w>>22&3 == ptype }
}

// badMove reports moves between registers of different widths. Halves move to and from both.
func badMove(w uint32) bool {
	switch w >> 22 & 3 {
	case 0:
		return wide(w)
	case 1:
		return !wide(w)
	}
	return noPtype(w)
}

// widthOf returns the width of the general register.
func widthOf(w uint32) int {
	if wide(w) {
		return 64
	}
	return 32
}

// isSigned reports a clear lowest bit of opcode.
func isSigned(w uint32) bool { return w>>16&1 == 0 }

// toInteger rounds as the instruction says, not by FPCR.
func toInteger(r ieee.Rounding) exec {
	return withFP(func(c *cpu, w uint32) error {
		c.set(rd(w), c.fp.ToFixed(ptype(w), c.scalar(rn(w)), 0, widthOf(w), isSigned(w), r))
		return nil
	})
}

// fromInteger rounds by FPCR.
func fromInteger(c *cpu, w uint32) error { return c.fixedToFP(w, 0) }

// scaleOf returns the number of fraction bits.
func scaleOf(w uint32) int { return 64 - int(field(w, 10, 6)) }

// fromFixed converts a fixed-point number; it rounds by FPCR.
func fromFixed(c *cpu, w uint32) error { return c.fixedToFP(w, scaleOf(w)) }

// fixedToFP converts the general register Rn.
func (c *cpu) fixedToFP(w uint32, fracBits int) error {
	c.setScalar(rd(w), c.fp.FromFixed(ptype(w), c.reg(rn(w)), fracBits, widthOf(w), isSigned(w)))
	return nil
}

// toFixed rounds towards zero.
func toFixed(c *cpu, w uint32) error {
	c.set(rd(w), c.fp.ToFixed(ptype(w), c.scalar(rn(w)), scaleOf(w), widthOf(w), isSigned(w), ieee.Zero))
	return nil
}

// toJavaScript sets Z for an exact conversion, and clears the other flags.
func toJavaScript(c *cpu, w uint32) error {
	v, exact := c.fp.ToInt32JS(c.scalar(rn(w)))
	c.set(rd(w), uint64(v))
	flags := uint32(0)
	if exact {
		flags = 4
	}
	c.setFlags(flags)
	return nil
}

// moveOut zero-extends.
func moveOut(c *cpu, w uint32) error {
	c.set(rd(w), ptype(w).Trim(c.scalar(rn(w))))
	return nil
}

// moveIn clears the rest of the vector register.
func moveIn(c *cpu, w uint32) error {
	c.setScalar(rd(w), ptype(w).Trim(c.reg(rn(w))))
	return nil
}

// moveTopOut and moveTopIn move the upper half and keep the lower one.
func moveTopOut(c *cpu, w uint32) error {
	c.set(rd(w), c.v.V[rn(w)][1])
	return nil
}

func moveTopIn(c *cpu, w uint32) error {
	c.v.V[rd(w)][1] = c.reg(rn(w))
	return nil
}

// convertScalar changes the precision.
func convertScalar(to ieee.Format) exec {
	return withFP(func(c *cpu, w uint32) error {
		c.setScalar(rd(w), c.fp.Convert(ptype(w), to, c.scalar(rn(w))))
		return nil
	})
}

// toBrain rounds a single to BFloat16.
func toBrain(c *cpu, w uint32) error {
	c.setScalar(rd(w), c.fp.Convert(ieee.Single, ieee.BFloat16, c.scalar(rn(w))))
	return nil
}
