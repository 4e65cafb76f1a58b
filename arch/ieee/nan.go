package ieee

// invalid raises an invalid operation and returns its result.
func (e *Env) invalid(f Format) uint64 {
	e.raise(IOC)
	return f.DefaultNaN()
}

// propagate returns the result of an operation whose operand a is a NaN that was selected as the result
// (FPProcessNaN).
func (e *Env) propagate(f Format, a uint64, c class) uint64 {
	s := f.shape()
	if c == signallingNaN {
		e.raise(IOC)
	}
	if e.DefaultNaN {
		return s.nan()
	}
	return a&s.mask() | s.quiet()
}

// pick selects among two operands, at least one of which is a NaN (FPProcessNaNs).
func (e *Env) pick(f Format, a, b uint64, x, y number) uint64 {
	switch {
	case x.class == signallingNaN:
		return e.propagate(f, a, x.class)
	case y.class == signallingNaN:
		return e.propagate(f, b, y.class)
	case x.class == quietNaN:
		return e.propagate(f, a, x.class)
	}
	return e.propagate(f, b, y.class)
}

// pick3 selects among three operands, at least one of which is a NaN (FPProcessNaNs3).
func (e *Env) pick3(f Format, v [3]uint64, n [3]number) uint64 {
	for _, c := range [2]class{signallingNaN, quietNaN} {
		for i := range n {
			if n[i].class == c {
				return e.propagate(f, v[i], c)
			}
		}
	}
	return f.DefaultNaN()
}

// convertNaN converts the sign and the leading payload bits of a NaN between formats (FPConvertNaN).
func convertNaN(from, to Format, a uint64) uint64 {
	s, d := from.shape(), to.shape()
	payload := (a & s.fracOf()) << (63 - s.frac) >> (63 - d.frac)
	return d.signed(a&s.sign() != 0, d.nan()|payload)
}
