package ieee

// Add returns a + b (FPAdd).
func (e *Env) Add(f Format, a, b uint64) uint64 { return e.addSub(f, a, b, false) }

// Sub returns a - b (FPSub). A NaN operand b keeps its sign.
func (e *Env) Sub(f Format, a, b uint64) uint64 { return e.addSub(f, a, b, true) }

// addSub changes the sign of the second operand after NaNs have been handled.
func (e *Env) addSub(f Format, a, b uint64, sub bool) uint64 {
	x, y := e.unpack(f, a), e.unpack(f, b)
	if x.nan() || y.nan() {
		return e.pick(f, a, b, x, y)
	}
	y.neg = y.neg != sub
	if x.class == infinite && y.class == infinite && x.neg != y.neg {
		return e.invalid(f)
	}
	return e.pack(f, e.add(x, y))
}

// add adds two numbers that are neither NaNs nor opposite infinities.
func (e *Env) add(x, y number) number {
	switch {
	case x.class == infinite:
		return x
	case y.class == infinite:
		return y
	case x.class == zero && y.class == zero:
		if x.neg != y.neg {
			x.neg = e.Round == Down
		}
		return x
	case x.class == zero:
		return y
	case y.class == zero:
		return x
	}
	return e.addWide(x.widen(), y.widen())
}

// addWide adds two finite numbers. The rounding mode determines the sign of an exact zero.
func (e *Env) addWide(x, y wide) number {
	r, ok := sum(x, y)
	if !ok {
		return number{neg: e.Round == Down}
	}
	return r.narrow()
}

// Mul returns a × b (FPMul).
func (e *Env) Mul(f Format, a, b uint64) uint64 {
	x, y := e.unpack(f, a), e.unpack(f, b)
	if x.nan() || y.nan() {
		return e.pick(f, a, b, x, y)
	}
	if zeroTimesInfinity(x, y) {
		return e.invalid(f)
	}
	return e.pack(f, mul(x, y))
}

// MulX returns a × b, with 0 × ∞ being 2 (FPMulX).
func (e *Env) MulX(f Format, a, b uint64) uint64 {
	x, y := e.unpack(f, a), e.unpack(f, b)
	if x.nan() || y.nan() {
		return e.pick(f, a, b, x, y)
	}
	if zeroTimesInfinity(x, y) {
		return e.pack(f, number{class: finite, neg: x.neg != y.neg, exp: 1, frac: 1 << 63})
	}
	return e.pack(f, mul(x, y))
}

// zeroTimesInfinity reports the invalid product.
func zeroTimesInfinity(x, y number) bool {
	return x.class == infinite && y.class == zero || x.class == zero && y.class == infinite
}

// mul multiplies numbers that are neither NaNs nor zero and infinity.
func mul(x, y number) number {
	r := number{neg: x.neg != y.neg}
	switch {
	case x.class == infinite || y.class == infinite:
		r.class = infinite
	case x.class == finite && y.class == finite:
		r = product(x, y).narrow()
	}
	return r
}

// MulAdd returns addend + a × b, rounded once (FPMulAdd).
func (e *Env) MulAdd(f Format, addend, a, b uint64) uint64 {
	n := [3]number{e.unpack(f, addend), e.unpack(f, a), e.unpack(f, b)}
	if n[0].nan() || n[1].nan() || n[2].nan() {
		r := e.pick3(f, [3]uint64{addend, a, b}, n)
		// An invalid product raises its exception even if the addend is a quiet NaN.
		if n[0].class == quietNaN && zeroTimesInfinity(n[1], n[2]) {
			return e.invalid(f)
		}
		return r
	}
	return e.mulAdd(f, n[0], n[1], n[2])
}

// mulAdd returns MulAdd of numbers that are no NaNs.
func (e *Env) mulAdd(f Format, addend, x, y number) uint64 {
	opposite := addend.neg != (x.neg != y.neg)
	product := x.class == infinite || y.class == infinite
	if zeroTimesInfinity(x, y) || addend.class == infinite && product && opposite {
		return e.invalid(f)
	}
	return e.pack(f, e.fused(addend, x, y))
}

// fused returns the exact addend + x × y, except for the sticky bit, of valid operands.
func (e *Env) fused(addend, x, y number) number {
	if addend.class != finite || x.class != finite || y.class != finite {
		return e.add(mul(x, y), addend)
	}
	return e.addWide(product(x, y), addend.widen())
}
