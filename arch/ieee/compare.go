package ieee

// Relation is the result of a comparison.
type Relation uint8

// The relations. Zeros of both signs are equal.
const (
	Less Relation = iota
	Equal
	Greater
	Unordered
)

// Compare compares a with b. A signalling NaN is an invalid operation; if signalAll is set, a quiet one is too
// (FPCompare).
func (e *Env) Compare(f Format, a, b uint64, signalAll bool) Relation {
	x, y := e.unpack(f, a), e.unpack(f, b)
	if x.nan() || y.nan() {
		if signalAll || x.class == signallingNaN || y.class == signallingNaN {
			e.raise(IOC)
		}
		return Unordered
	}
	return order(x, y)
}

// order compares numbers other than NaNs.
func order(x, y number) Relation {
	switch {
	case x.class == zero && y.class == zero:
		return Equal
	case x.class == zero:
		return lessOrGreater(y.neg)
	case y.class == zero || x.neg != y.neg:
		return lessOrGreater(!x.neg)
	}
	m := magnitude(x, y)
	if x.neg {
		return Greater - m
	}
	return m
}

// lessOrGreater returns the relation of numbers that are not equal.
func lessOrGreater(greater bool) Relation {
	if greater {
		return Greater
	}
	return Less
}

// magnitude compares the absolute values of two numbers that are not zero.
func magnitude(x, y number) Relation {
	switch {
	case x.class != y.class:
		return lessOrGreater(x.class == infinite)
	case x.class == infinite:
		return Equal
	case x.exp != y.exp:
		return lessOrGreater(x.exp > y.exp)
	case x.frac != y.frac:
		return lessOrGreater(x.frac > y.frac)
	}
	return Equal
}

// Max returns the larger operand, a NaN if there is one; -0 is below +0 (FPMax).
func (e *Env) Max(f Format, a, b uint64) uint64 { return e.extreme(f, a, b, Greater) }

// Min returns the smaller operand, a NaN if there is one; -0 is below +0 (FPMin).
func (e *Env) Min(f Format, a, b uint64) uint64 { return e.extreme(f, a, b, Less) }

// extreme returns the operand that relates to the other as wanted, or b.
func (e *Env) extreme(f Format, a, b uint64, want Relation) uint64 {
	x, y := e.unpack(f, a), e.unpack(f, b)
	if x.nan() || y.nan() {
		return e.pick(f, a, b, x, y)
	}
	switch {
	case x.class == zero && y.class == zero:
		x.neg = x.neg && y.neg || want == Less && (x.neg || y.neg)
	case order(x, y) != want:
		x = y
	}
	return e.pack(f, x)
}

// MaxNum is Max, except that a single quiet NaN counts as missing (FPMaxNum).
func (e *Env) MaxNum(f Format, a, b uint64) uint64 {
	a, b = replaceQuiet(f, a, b, f.Neg(f.Infinity()))
	return e.Max(f, a, b)
}

// MinNum is Min, except that a single quiet NaN counts as missing (FPMinNum).
func (e *Env) MinNum(f Format, a, b uint64) uint64 {
	a, b = replaceQuiet(f, a, b, f.Infinity())
	return e.Min(f, a, b)
}

// replaceQuiet replaces a quiet NaN whose partner is not a NaN by with.
func replaceQuiet(f Format, a, b, with uint64) (uint64, uint64) {
	quiet := f.shape().quiet()
	switch {
	case f.IsNaN(a) && a&quiet != 0 && !f.IsNaN(b):
		a = with
	case f.IsNaN(b) && b&quiet != 0 && !f.IsNaN(a):
		b = with
	}
	return a, b
}
