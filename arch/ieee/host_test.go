package ieee

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// The host's arithmetic, which rounds to nearest with ties to even, is the reference for one mode. The exact result
// of math/big, rounded by the oracle below, is the reference for all.

var special64 = []uint64{
	0, 1 << 63, 1, 1<<63 | 1, 0x000fffffffffffff, 0x0010000000000000, 0x3ff0000000000000, 0xbff0000000000000,
	0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x3fefffffffffffff, 0x4340000000000000,
}

// random64 returns a double that is often special or near another one.
func random64(r *rand.Rand, near uint64) uint64 {
	switch r.Intn(6) {
	case 0:
		return special64[r.Intn(len(special64))]
	case 1:
		return near ^ uint64(r.Intn(8)) ^ uint64(r.Intn(2))<<63
	case 2:
		return near ^ r.Uint64()>>12
	case 3:
		return near&0x7ff0000000000000 + uint64(r.Intn(6)-3)<<52 + r.Uint64()>>12 | uint64(r.Intn(2))<<63
	}
	return r.Uint64()
}

func same64(got uint64, want float64) bool {
	if math.IsNaN(want) {
		return Double.IsNaN(got)
	}
	return got == math.Float64bits(want)
}

func TestHostDouble(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 200000 {
		a := random64(r, r.Uint64())
		b := random64(r, a)
		c := random64(r, b)
		x, y, z := math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)
		var e Env
		for _, k := range []struct {
			name string
			got  uint64
			want float64
		}{
			{"add", e.Add(Double, a, b), x + y},
			{"sub", e.Sub(Double, a, b), x - y},
			{"mul", e.Mul(Double, a, b), x * y},
			{"div", e.Div(Double, a, b), x / y},
			{"sqrt", e.Sqrt(Double, a), math.Sqrt(x)},
			{"fma", e.MulAdd(Double, c, a, b), math.FMA(x, y, z)},
			{"floor", e.RoundToInt(Double, a, Down, false), math.Floor(x)},
			{"ceil", e.RoundToInt(Double, a, Up, false), math.Ceil(x)},
			{"trunc", e.RoundToInt(Double, a, Zero, false), math.Trunc(x)},
			{"even", e.RoundToInt(Double, a, NearestEven, false), math.RoundToEven(x)},
			{"away", e.RoundToInt(Double, a, NearestAway, false), math.Round(x)},
		} {
			if !same64(k.got, k.want) {
				t.Fatalf("%s(%#x, %#x, %#x) = %#x, want %#x", k.name, a, b, c, k.got, math.Float64bits(k.want))
			}
		}
		if got, want := e.Convert(Double, Single, a), float32(x); want == want && got != uint64(math.Float32bits(want)) {
			t.Fatalf("narrow(%#x) = %#x, want %#x", a, got, math.Float32bits(want))
		}
		if x == x && y == y {
			want := Relation(1)
			if x < y {
				want = 0
			} else if x > y {
				want = 2
			}
			if got := e.Compare(Double, a, b, false); got != want {
				t.Fatalf("compare(%#x, %#x) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestHostSingle(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	var e Env
	for range 200000 {
		a, b := uint64(r.Uint32()), uint64(r.Uint32())
		if r.Intn(3) == 0 {
			b = a ^ uint64(r.Intn(64)) ^ uint64(r.Intn(2))<<31
		}
		x, y := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))
		for name, k := range map[string]struct {
			got  uint64
			want float32
		}{
			"add": {e.Add(Single, a, b), x + y}, "sub": {e.Sub(Single, a, b), x - y},
			"mul": {e.Mul(Single, a, b), x * y}, "div": {e.Div(Single, a, b), x / y},
			"sqrt": {e.Sqrt(Single, a), float32(math.Sqrt(float64(x)))},
		} {
			if k.want == k.want && k.got != uint64(math.Float32bits(k.want)) || k.want != k.want && !Single.IsNaN(k.got) {
				t.Fatalf("%s(%#x, %#x) = %#x, want %#x", name, a, b, k.got, math.Float32bits(k.want))
			}
		}
		if want := float64(x); want == want && e.Convert(Single, Double, a) != math.Float64bits(want) {
			t.Fatalf("widen(%#x)", a)
		}
	}
}

func TestHostIntegers(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	var e Env
	for range 100000 {
		v := r.Uint64() >> r.Intn(64)
		if r.Intn(2) == 0 {
			v = -v
		}
		if got, want := e.FromFixed(Double, v, 0, 64, true), math.Float64bits(float64(int64(v))); got != want {
			t.Fatalf("scvtf %#x = %#x, want %#x", v, got, want)
		}
		if got, want := e.FromFixed(Single, v, 0, 64, false), math.Float32bits(float32(v)); got != uint64(want) {
			t.Fatalf("ucvtf %#x = %#x, want %#x", v, got, want)
		}
		x := float64(int64(v)) / 1024
		if got, want := e.ToFixed(Double, math.Float64bits(x), 0, 64, true, Zero), uint64(int64(x)); got != want {
			t.Fatalf("fcvtzs %v = %#x, want %#x", x, got, want)
		}
		if got, want := e.ToFixed(Double, math.Float64bits(x), 10, 64, true, Zero), uint64(int64(x*1024)); got != want && x*1024 < 1<<63 {
			t.Fatalf("fcvtzs %v, #10 = %#x, want %#x", x, got, want)
		}
	}
}

// value returns the exact value of a finite raw value.
func value(f Format, a uint64) *big.Float {
	s := f.shape()
	exp := int(a >> s.frac & (1<<s.exp - 1))
	m := int64(a & s.fracOf())
	if exp != 0 {
		m |= 1 << s.frac
	} else {
		exp = 1
	}
	if a&s.sign() != 0 {
		m = -m
	}
	v := new(big.Float).SetPrec(6000).SetInt64(m)
	return v.SetMantExp(v, exp-int(s.bias)-int(s.frac))
}

var bigMode = map[Rounding]big.RoundingMode{
	NearestEven: big.ToNearestEven, Up: big.ToPositiveInf, Down: big.ToNegativeInf, Zero: big.ToZero, NearestAway: big.ToNearestAway,
}

// oracle rounds an exact value other than zero and returns the flags. Unlike pack, it scales to an integer number
// of units in the last place, which math/big rounds.
func oracle(f Format, v *big.Float, r Rounding) (uint64, Flags) {
	s := f.shape()
	exp := v.MantExp(nil) - 1
	tiny := exp < int(1-s.bias)
	if tiny {
		exp = int(1 - s.bias)
	}
	scaled := new(big.Float).SetMantExp(v, int(s.frac)-exp)
	rounded, acc := roundInt(scaled, bigMode[r])
	var flags Flags
	if acc {
		flags |= IXC
		if tiny {
			flags |= UFC
		}
	}
	raw := uint64(exp+int(s.bias)-1)<<s.frac + rounded
	neg := v.Signbit()
	if raw >= s.inf() {
		raw = s.largest()
		if r == NearestEven || r == NearestAway || r == Up && !neg || r == Down && neg {
			raw++
		}
		flags |= OFC | IXC
	}
	return s.signed(neg, raw), flags
}

// roundInt returns the magnitude of x rounded to an integer.
func roundInt(x *big.Float, m big.RoundingMode) (v uint64, inexact bool) {
	whole, acc := x.Int(nil)
	if acc == big.Exact {
		return whole.Abs(whole).Uint64(), false
	}
	prec := uint(max(x.MantExp(nil), 0))
	if prec == 0 { // below 1: the choice is between 0 and 1
		half := new(big.Float).Abs(x).Cmp(big.NewFloat(0.5))
		up := m == big.ToPositiveInf && !x.Signbit() || m == big.ToNegativeInf && x.Signbit() ||
			half > 0 && (m == big.ToNearestEven || m == big.ToNearestAway) || half == 0 && m == big.ToNearestAway
		return bit(up), true
	}
	y := new(big.Float).SetMode(m).SetPrec(prec).Set(x)
	whole, _ = y.Int(nil)
	return whole.Abs(whole).Uint64(), true
}

func TestExact(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	for range 60000 {
		f := Format(r.Intn(3))
		s := f.shape()
		var v [3]uint64
		for i := range v {
			v[i] = random64(r, v[max(i-1, 0)]<<(64-s.bits)) >> (64 - s.bits)
			if f.Abs(v[i]) >= s.inf() {
				v[i] ^= 1 << (s.bits - 2)
			}
		}
		mode := Rounding(r.Intn(5))
		a, b, c := value(f, v[0]), value(f, v[1]), value(f, v[2])
		fresh := func() *big.Float { return new(big.Float).SetPrec(6000) }
		check := func(name string, exact *big.Float, do func(*Env) uint64) {
			if exact.Sign() == 0 {
				return
			}
			e := Env{Round: mode}
			want, flags := oracle(f, exact, mode)
			if got := do(&e); got != want || e.Flags != flags {
				t.Fatalf("format %d mode %d %s(%#x) = %#x flags %#x, want %#x flags %#x", f, mode, name, v, got, e.Flags, want, flags)
			}
		}
		check("add", fresh().Add(a, b), func(e *Env) uint64 { return e.Add(f, v[0], v[1]) })
		check("sub", fresh().Sub(a, b), func(e *Env) uint64 { return e.Sub(f, v[0], v[1]) })
		check("mul", fresh().Mul(a, b), func(e *Env) uint64 { return e.Mul(f, v[0], v[1]) })
		p := fresh().Mul(a, b)
		check("fma", fresh().Add(p, c), func(e *Env) uint64 { return e.MulAdd(f, v[2], v[0], v[1]) })
		if b.Sign() != 0 { // 6000 bits represent an infinite fraction
			check("div", fresh().Quo(a, b), func(e *Env) uint64 { return e.Div(f, v[0], v[1]) })
		}
		if a.Sign() > 0 && r.Intn(20) == 0 {
			check("sqrt", new(big.Float).SetPrec(400).Sqrt(a), func(e *Env) uint64 { return e.Sqrt(f, v[0]) })
		}
	}
}
