package ieee

import (
	"math"
	"math/rand"
	"testing"
)

// The rules specific to ARM, from the Arm ARM (DDI 0487, A1.5 and the shared pseudocode). The package's callers are
// compared with processors in many more states.

const (
	nan32  = 0x7fc00000 // the default NaN
	snan32 = 0x7fa00001
	qnan32 = 0xffd12345
	inf32  = 0x7f800000
	one32  = 0x3f800000
	tiny32 = 0x00000001
	max32  = 0x7f7fffff
	neg32  = 0x80000000
)

func TestRules(t *testing.T) {
	flush := Env{FlushToZero: true}
	half := Env{FlushHalf: true}
	alt := Env{AltHalf: true}
	toDefault := Env{DefaultNaN: true}
	for _, k := range []struct {
		name  string
		env   Env
		do    func(e *Env) uint64
		want  uint64
		flags Flags
	}{
		{"a signalling NaN wins over an earlier quiet one", Env{}, func(e *Env) uint64 { return e.Add(Single, qnan32, snan32) }, snan32 | 1<<22, IOC},
		{"a quiet NaN raises nothing", Env{}, func(e *Env) uint64 { return e.Add(Single, one32, qnan32) }, qnan32, 0},
		{"subtraction keeps a NaN's sign", Env{}, func(e *Env) uint64 { return e.Sub(Single, one32, qnan32) }, qnan32, 0},
		{"the first NaN wins", Env{}, func(e *Env) uint64 { return e.Mul(Single, nan32, qnan32) }, nan32, 0},
		{"the addend is first", Env{}, func(e *Env) uint64 { return e.MulAdd(Single, qnan32, nan32, one32) }, qnan32, 0},
		{"an invalid product shows through a quiet addend", Env{}, func(e *Env) uint64 { return e.MulAdd(Single, qnan32, 0, inf32) }, nan32, IOC},
		{"default NaN", toDefault, func(e *Env) uint64 { return e.Add(Single, qnan32, one32) }, nan32, 0},
		{"default NaN of a signalling one", toDefault, func(e *Env) uint64 { return e.Sqrt(Single, snan32) }, nan32, IOC},
		{"input denormal", flush, func(e *Env) uint64 { return e.Add(Single, tiny32|neg32, 0) }, 0, IDC},
		{"flushed output is not inexact", flush, func(e *Env) uint64 { return e.Mul(Single, 0x00800001, 0x3f000000) }, 0, UFC},
		{"tiny before rounding", flush, func(e *Env) uint64 { return e.Mul(Single, 0x3f7fffff, 0x00800000) }, 0, UFC},
		{"underflow before rounding", Env{}, func(e *Env) uint64 { return e.Mul(Single, 0x3f7fffff, 0x00800000) }, 0x00800000, UFC | IXC},
		{"an exact denormal is no underflow", Env{}, func(e *Env) uint64 { return e.Mul(Single, 0x3f000000, 0x00800000) }, 0x00400000, 0},
		{"half has a switch of its own", flush, func(e *Env) uint64 { return e.Add(Half, 1, 1) }, 2, 0},
		{"half raises no input denormal", half, func(e *Env) uint64 { return e.Add(Half, 1, 1) }, 0, 0},
		{"half flushes outputs", half, func(e *Env) uint64 { return e.Mul(Half, 0x0400, 0x3800) }, 0, UFC},
		{"conversions do not flush halves", half, func(e *Env) uint64 { return e.Convert(Half, Single, 1) }, 0x33800000, 0},
		{"alternative half has no infinity", alt, func(e *Env) uint64 { return e.Convert(Single, Half, inf32|neg32) }, 0xffff, IOC},
		{"nor NaNs", alt, func(e *Env) uint64 { return e.Convert(Single, Half, qnan32) }, 0x8000, IOC},
		{"but another binade", alt, func(e *Env) uint64 { return e.Convert(Half, Single, 0x7c00) }, 0x47800000, 0},
		{"and saturates", alt, func(e *Env) uint64 { return e.Convert(Single, Half, max32) }, 0x7fff, IOC},
		{"arithmetic does not know it", alt, func(e *Env) uint64 { return e.Add(Half, 0x7c00, 0x3c00) }, 0x7c00, 0},
		{"maxNum skips a quiet NaN", Env{}, func(e *Env) uint64 { return e.MaxNum(Single, qnan32, one32) }, one32, 0},
		{"maxNum minds a signalling one", Env{}, func(e *Env) uint64 { return e.MaxNum(Single, snan32, one32) }, snan32 | 1<<22, IOC},
		{"max of zeros", Env{}, func(e *Env) uint64 { return e.Max(Single, neg32, 0) }, 0, 0},
		{"min of zeros", Env{}, func(e *Env) uint64 { return e.Min(Single, 0, neg32) }, neg32, 0},
		{"zero times infinity extended", Env{}, func(e *Env) uint64 { return e.MulX(Single, neg32, inf32) }, 0xc0000000, 0},
		{"division by zero", Env{}, func(e *Env) uint64 { return e.Div(Single, one32|neg32, 0) }, inf32 | neg32, DZC},
		{"rounding to odd", Env{}, func(e *Env) uint64 { return e.ConvertRounded(Double, Single, 0x3ff0000000000001, Odd) }, one32 + 1, IXC},
		{"odd never overflows to infinity", Env{}, func(e *Env) uint64 { return e.ConvertRounded(Double, Single, 0x7fe0000000000000, Odd) }, max32, OFC | IXC},
		{"the other odd does", Env{}, func(e *Env) uint64 { return e.ConvertRounded(Double, Single, 0x7fe0000000000000, OddInf) }, inf32, OFC | IXC},
		{"saturation", Env{}, func(e *Env) uint64 { return e.ToFixed(Single, inf32|neg32, 0, 32, true, Zero) }, neg32, IOC},
		{"no unsigned negatives", Env{}, func(e *Env) uint64 { return e.ToFixed(Single, one32|neg32, 0, 32, false, Zero) }, 0, IOC},
		{"that round to zero are fine", Env{}, func(e *Env) uint64 { return e.ToFixed(Single, 0xbf000000, 0, 32, false, Zero) }, 0, IXC},
		{"a NaN is 0", Env{}, func(e *Env) uint64 { return e.ToFixed(Double, Double.DefaultNaN(), 0, 64, true, Zero) }, 0, IOC},
		{"sized rounding", Env{}, func(e *Env) uint64 { return e.RoundToSized(Single, 0x4f000000, Zero, 32) }, 0xcf000000, IOC},
		{"and of its limit", Env{}, func(e *Env) uint64 { return e.RoundToSized(Single, 0xcf000000, Zero, 32) }, 0xcf000000, 0},
		{"estimate of 1", Env{}, func(e *Env) uint64 { return e.RecipEstimate(Single, one32) }, 0x3f7f8000, 0},
		{"estimate of 1/√1", Env{}, func(e *Env) uint64 { return e.RsqrtEstimate(Single, one32) }, 0x3f7f8000, 0},
		{"estimate of 0", Env{}, func(e *Env) uint64 { return e.RecipEstimate(Single, neg32) }, inf32 | neg32, DZC},
		{"estimate that overflows", Env{Round: Zero}, func(e *Env) uint64 { return e.RecipEstimate(Single, tiny32) }, max32, OFC | IXC},
		{"step of 0 and infinity", Env{}, func(e *Env) uint64 { return e.RecipStep(Single, 0, inf32) }, 0x40000000, 0},
		{"root step of the same", Env{}, func(e *Env) uint64 { return e.RsqrtStep(Single, 0, inf32) }, 0x3fc00000, 0},
		{"chained step of the same", Env{}, func(e *Env) uint64 { return e.RsqrtStepChained(Single, 0, inf32) }, 0x3fc00000, 0},
		{"reciprocal exponent", Env{}, func(e *Env) uint64 { return e.RecipX(Single, 0xc0490fdb) }, 0xbf800000, 0},
		{"brain float rounds to even", Env{}, func(e *Env) uint64 { return e.Convert(Single, BFloat16, 0x3f808000) }, 0x3f80, IXC},
		{"widening keeps a NaN signalling", Env{}, func(e *Env) uint64 { return e.Widen(0xfc01) }, 0xff802000, 0},
	} {
		e := k.env
		if got := k.do(&e); got != k.want || e.Flags != k.flags {
			t.Errorf("%s: %#x flags %#x, want %#x flags %#x", k.name, got, e.Flags, k.want, k.flags)
		}
	}
}

func TestCompareSignals(t *testing.T) {
	for _, k := range []struct {
		b     uint64
		all   bool
		flags Flags
	}{{qnan32, false, 0}, {qnan32, true, IOC}, {snan32, false, IOC}, {one32, true, 0}} {
		var e Env
		r := e.Compare(Single, one32, k.b, k.all)
		if (r == Unordered) != Single.IsNaN(k.b) || e.Flags != k.flags {
			t.Errorf("%#x %v: %d flags %#x", k.b, k.all, r, e.Flags)
		}
	}
}

// TestJavaScript checks against ECMAScript's ToInt32: the integer part modulo 2^32.
func TestJavaScript(t *testing.T) {
	for _, k := range []struct {
		v     float64
		want  int32
		exact bool
		flags Flags
	}{
		{0, 0, true, 0}, {math.Copysign(0, -1), 0, false, 0}, {-1, -1, true, 0}, {1.5, 1, false, IXC}, {-1.5, -1, false, IXC},
		{1 << 31, math.MinInt32, false, IOC}, {-1 << 31, math.MinInt32, true, 0}, {1<<32 + 5, 5, false, IOC}, {-(1<<53 + 2), -2, false, IOC},
		{1 << 60, 0, false, IOC}, {0x1p84, 0, false, IOC}, {0x1.fffffffffffffp83, math.MinInt32, false, IOC}, {math.Inf(1), 0, false, IOC},
		{math.NaN(), 0, false, IOC}, {math.MaxFloat64, 0, false, IOC},
	} {
		var e Env
		if v, exact := e.ToInt32JS(math.Float64bits(k.v)); int32(v) != k.want || exact != k.exact || e.Flags != k.flags {
			t.Errorf("%v: %d %v flags %#x, want %d %v %#x", k.v, int32(v), exact, e.Flags, k.want, k.exact, k.flags)
		}
	}
}

// TestCancellation adds the negation of a product to it, exactly or nearly: a fused operation gives a different
// result then.
func TestCancellation(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	var e Env
	for range 100000 {
		a, b := random64(r, r.Uint64()), random64(r, r.Uint64())
		c := (e.Mul(Double, a, b) ^ 1<<63) + uint64(r.Intn(5)) - 2
		x, y, z := math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)
		if got, want := e.MulAdd(Double, c, a, b), math.FMA(x, y, z); !same64(got, want) {
			t.Fatalf("fma(%#x, %#x, %#x) = %#x, want %#x", a, b, c, got, math.Float64bits(want))
		}
	}
}

// TestEstimates checks that the error of the estimates is small enough for Newton's steps to converge.
func TestEstimates(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	var e Env
	for range 50000 {
		x := math.Ldexp(1+r.Float64(), r.Intn(2000)-1000)
		a := math.Float64bits(x)
		if err := math.Abs(math.Float64frombits(e.RecipEstimate(Double, a))*x - 1); err > 1.0/256 {
			t.Fatalf("1/%v is off by %v", x, err)
		}
		if y := math.Float64frombits(e.RsqrtEstimate(Double, a)); math.Abs(y*math.Sqrt(x)-1) > 1.0/256 {
			t.Fatalf("1/√%v is %v", x, y)
		}
		v := uint32(a>>20) | 1<<31
		if got := float64(RecipEstimateFixed(v)) / (1 << 31) * (float64(v) / (1 << 32)); math.Abs(got-1) > 1.0/128 {
			t.Fatalf("fixed estimate of %#x is off: %v", v, got)
		}
	}
}

// BenchmarkOperations is the cost of the operations that take longest.
func BenchmarkOperations(b *testing.B) {
	var e Env
	const x, y, z = 0x400921fb54442d18, 0x4005bf0a8b145769, 0xbff6a09e667f3bcd
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			e.Add(Double, x, y)
		}
	})
	b.Run("fma", func(b *testing.B) {
		for b.Loop() {
			e.MulAdd(Double, z, x, y)
		}
	})
	b.Run("div", func(b *testing.B) {
		for b.Loop() {
			e.Div(Double, x, y)
		}
	})
	b.Run("sqrt", func(b *testing.B) {
		for b.Loop() {
			e.Sqrt(Double, x)
		}
	})
}
