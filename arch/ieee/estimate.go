package ieee

// The estimates are defined bit by bit, from a table of 8-bit fractions that is computed here (Arm ARM,
// RecipEstimate and RecipSqrtEstimate). Every processor returns the same ones.

// recipEstimate estimates 2^17/a for the 9-bit fixed-point number 256 ≤ a < 512; the result is in the same range.
func recipEstimate(a uint64) uint64 {
	b := uint64(1<<19) / (a*2 + 1)
	return (b + 1) / 2
}

// rsqrtEstimate estimates the reciprocal square root of 128 ≤ a < 512; the result is in 256…511.
func rsqrtEstimate(a uint64) uint64 {
	if a < 256 {
		a = a*2 + 1
	} else {
		a = (a&^1 + 1) * 2
	}
	// The smallest b ≥ 512 with a(b+1)² ≥ 2^28, bit by bit: at most 511 steps above 512.
	b := uint64(512)
	for step := uint64(256); step != 0; step >>= 1 {
		if next := b + step; a*next*next < 1<<28 {
			b = next
		}
	}
	return (b + 1) / 2
}

// RecipEstimateFixed returns the estimate of the reciprocal of a 32-bit fraction (UnsignedRecipEstimate).
func RecipEstimateFixed(a uint32) uint32 {
	if a>>31 == 0 {
		return ^uint32(0)
	}
	return uint32(recipEstimate(uint64(a>>23)) << 23)
}

// RsqrtEstimateFixed returns the estimate of the reciprocal square root of a 32-bit fraction (UnsignedRSqrtEstimate).
func RsqrtEstimateFixed(a uint32) uint32 {
	if a>>30 == 0 {
		return ^uint32(0)
	}
	return uint32(rsqrtEstimate(uint64(a>>23)) << 23)
}

// RecipEstimate estimates 1/a to 8 bits (FPRecipEstimate). BFloat16 is not supported.
func (e *Env) RecipEstimate(f Format, a uint64) uint64 {
	s := f.shape()
	n := e.unpack(f, a)
	switch {
	case n.nan():
		return e.propagate(f, a, n.class)
	case n.class == infinite:
		return s.signed(n.neg, 0)
	case n.class == zero:
		e.raise(DZC)
		return s.signed(n.neg, s.inf())
	case n.exp < -s.bias-1:
		return e.overflow(s, n.neg, e.Round, false)
	case e.flushes(f) && n.exp >= s.bias-1:
		e.raise(UFC)
		return s.signed(n.neg, 0)
	}
	// The estimate has its leading one in bit 8. It is truncated, not rounded, if the reciprocal is denormal.
	sig := recipEstimate(n.frac>>55) << (s.frac - 8)
	exp := s.bias - 1 - n.exp
	if exp <= 0 {
		return s.signed(n.neg, sig>>(1-exp))
	}
	return s.signed(n.neg, uint64(exp-1)<<s.frac+sig)
}

// RsqrtEstimate estimates 1/√a to 8 bits (FPRSqrtEstimate). BFloat16 is not supported.
func (e *Env) RsqrtEstimate(f Format, a uint64) uint64 {
	s := f.shape()
	n := e.unpack(f, a)
	switch {
	case n.nan():
		return e.propagate(f, a, n.class)
	case n.class == zero:
		e.raise(DZC)
		return s.signed(n.neg, s.inf())
	case n.neg:
		return e.invalid(f)
	case n.class == infinite:
		return 0
	}
	scaled := n.frac >> 55 // an odd power of two of the value halves it
	if n.exp&1 == 0 {
		scaled >>= 1
	}
	exp := (3*s.bias - 1 - (n.exp + s.bias)) >> 1
	return uint64(exp)<<s.frac | (rsqrtEstimate(scaled)&0xff)<<(s.frac-8)
}

// RecipX returns the reciprocal exponent of a: its power of two inverted (FPRecpX).
func (e *Env) RecipX(f Format, a uint64) uint64 {
	s := f.shape()
	n := e.unpack(f, a)
	if n.nan() {
		return e.propagate(f, a, n.class)
	}
	exp := a & s.inf()
	if exp == 0 {
		return s.signed(n.neg, s.inf()-1<<s.frac)
	}
	return s.signed(n.neg, ^exp&s.inf())
}

// RecipStep returns 2 - a×b, rounded once, with 0 × ∞ being 0 (FPRecipStepFused). A NaN a is propagated with its
// sign changed.
func (e *Env) RecipStep(f Format, a, b uint64) uint64 { return e.step(f, a, b, 1, 1<<63, 0) }

// RsqrtStep returns (3 - a×b)/2, rounded once, with 0 × ∞ being 0 (FPRSqrtStepFused). A NaN a is propagated with
// its sign changed.
func (e *Env) RsqrtStep(f Format, a, b uint64) uint64 { return e.step(f, a, b, 1, 3<<62, 1) }

// step returns (c - a×b) / 2^halve, for the constant c with exponent exp and significand frac.
func (e *Env) step(f Format, a, b uint64, exp int32, frac uint64, halve int32) uint64 {
	a = f.Neg(a)
	x, y := e.unpack(f, a), e.unpack(f, b)
	if x.nan() || y.nan() {
		return e.pick(f, a, b, x, y)
	}
	c := number{class: finite, exp: exp, frac: frac}
	r := c
	if !zeroTimesInfinity(x, y) {
		r = e.fused(c, x, y)
	}
	r.exp -= halve
	return e.pack(f, r)
}

// RecipStepChained returns 2 - a×b with a rounded product, as the 32-bit instructions do (FPRecipStep).
func (e *Env) RecipStepChained(f Format, a, b uint64) uint64 {
	return e.chained(f, a, b, number{class: finite, exp: 1, frac: 1 << 63}, 0)
}

// RsqrtStepChained returns (3 - a×b)/2 with a rounded product, as the 32-bit instructions do (FPRSqrtStep).
func (e *Env) RsqrtStepChained(f Format, a, b uint64) uint64 {
	return e.chained(f, a, b, number{class: finite, exp: 1, frac: 3 << 62}, 1)
}

// chained returns (c - a×b) / 2^halve with two roundings.
func (e *Env) chained(f Format, a, b uint64, c number, halve int32) uint64 {
	x, y := e.unpack(f, a), e.unpack(f, b)
	if x.nan() || y.nan() {
		return e.pick(f, a, b, x, y)
	}
	r := c
	if !zeroTimesInfinity(x, y) {
		p := e.unpack(f, e.pack(f, mul(x, y)))
		p.neg = !p.neg
		r = e.add(c, p)
	}
	r.exp -= halve
	return e.pack(f, r)
}
