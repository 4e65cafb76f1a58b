package ieee

// Convert converts between formats with the rounding of e (FPConvert). FlushHalf does not apply; AltHalf does.
func (e *Env) Convert(from, to Format, a uint64) uint64 {
	return e.ConvertRounded(from, to, a, e.Round)
}

// ConvertRounded is Convert with a given rounding, as for FCVTXN.
func (e *Env) ConvertRounded(from, to Format, a uint64, r Rounding) uint64 {
	altTo := to == Half && e.AltHalf
	n := e.unpackAs(from, a, from != Half && e.FlushToZero, from == Half && e.AltHalf)
	switch {
	case n.nan():
		return e.convertSpecial(from, to, a, n, altTo)
	case n.class == infinite && altTo:
		return e.overflow(to.shape(), n.neg, r, true)
	}
	return e.packAs(to, n, r, to != Half && e.FlushToZero, altTo)
}

// convertSpecial converts a NaN.
func (e *Env) convertSpecial(from, to Format, a uint64, n number, altTo bool) uint64 {
	if altTo || n.class == signallingNaN {
		e.raise(IOC)
	}
	switch {
	case altTo:
		return to.shape().signed(n.neg, 0)
	case e.DefaultNaN:
		return to.DefaultNaN()
	}
	return convertNaN(from, to, a)
}

// Widen converts a half-precision operand of a widening multiply-add to single precision. It is exact and raises
// nothing, so a signalling NaN stays one. FlushHalf flushes denormals (FPMulAddH).
func (e *Env) Widen(a uint64) uint64 {
	quiet := Env{}
	n := quiet.unpackAs(Half, a, e.FlushHalf, false)
	if n.nan() {
		s := Single.shape()
		return s.signed(n.neg, s.inf()|(a&Half.shape().fracOf())<<(s.frac-Half.shape().frac))
	}
	return quiet.pack(Single, n)
}
