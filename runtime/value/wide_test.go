package value

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// TestWideIntegers compares with package big, and says which integers fit into a word.
func TestWideIntegers(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	parts := []uint64{0, 1, 2, 9999999999999999999, 10000000000000000000, 1<<63 - 1, 1 << 63, 1<<63 + 1, math.MaxUint64}
	for range 2000 {
		parts = append(parts, rnd.Uint64()>>rnd.Intn(64))
	}
	for i, low := range parts {
		high := parts[(i*7+i/9)%len(parts)]
		n := new(big.Int).Lsh(new(big.Int).SetUint64(high), 64)
		n.Or(n, new(big.Int).SetUint64(low))
		checkWideInt(t, WideUint, low, high, n.String(), n.IsUint64())
		if high>>63 != 0 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
		}
		checkWideInt(t, WideInt, low, high, n.String(), n.IsInt64())
	}
	for _, high := range []uint64{0, math.MaxUint64} {
		checkWideInt(t, WideInt, 1<<63, high, map[uint64]string{0: "9223372036854775808", math.MaxUint64: "-9223372036854775808"}[high], high != 0)
	}
}

func checkWideInt(t *testing.T, w Wide, low, high uint64, want string, fits bool) {
	t.Helper()
	text := string(w.Append(nil, low, high))
	if text != want || len(text) > MaxWideText {
		t.Errorf("%d: %#x %#x is %s, want %s", w, high, low, text, want)
	}
	if word, ok := w.Word(low, high); ok != fits || ok && word != low {
		t.Errorf("%d: %s as a word: %#x, %v", w, want, word, ok)
	}
}

// TestWideFloats has the numbers at the bounds of both encodings (Intel SDM, volume 1, 4.2.2 and 8.2.2; IEEE 754, 3.4).
func TestWideFloats(t *testing.T) {
	const top = 1 << 63
	for _, c := range []struct {
		w         Wide
		low, high uint64
		want      string
		near      float64
	}{
		{WideX87, 0, 0, "0", 0},
		{WideX87, 0, 0x8000, "0", math.Copysign(0, -1)},
		{WideX87, top, 0x3fff, "1", 1},
		{WideX87, top, 0xdead_0000_0000_bfff, "-1", -1}, // padding is not read
		{WideX87, 0xcccccccccccccccd, 0x3ffb, "0.1", 0.1},
		{WideX87, 0xaaaaaaaaaaaaaaab, 0x3ffd, "0.33333333333333333334", 1.0 / 3},
		{WideX87, math.MaxUint64, 0x7ffe, "1.189731495357231765e+4932", math.Inf(1)},
		{WideX87, 1, 0, "4e-4951", 0},
		{WideX87, top, 0, "3.3621031431120935063e-4932", 0}, // a number that the unit does not make, and reads as 2^-16382
		{WideX87, top, 0x7fff, "Infinity", math.Inf(1)},
		{WideX87, top, 0xffff, "-Infinity", math.Inf(-1)},
		{WideX87, 3 << 62, 0x7fff, "NaN", math.NaN()},
		{WideX87, 1, 0x3fff, "NaN", math.NaN()}, // without the uppermost bit
		{WideX87, 0, 0x7fff, "NaN", math.NaN()},
		{WideX87, top + 1<<10, 0x3fff, "1.000000000000000111", 1},                          // half of a double's last bit: to even
		{WideX87, top + 1<<10 + 1, 0x3fff, "1.0000000000000001111", 1.0000000000000002},    // above the half
		{WideX87, top, 0x3fff - 1074, "4.940656458412465442e-324", 5e-324},                 // the smallest double
		{WideX87, 0x8000000000000001, 0x3fff - 1075, "2.4703282292062327212e-324", 5e-324}, // above its half
		{WideX87, top, 0x3fff - 1075, "2.470328229206232721e-324", 0},                      // its half: to even
		{WideQuad, 0, 0x3fff << 48, "1", 1},
		{WideQuad, 0x999999999999999a, 0x3ffb999999999999, "0.1", 0.1},
		{WideQuad, 0, 1 << 63, "0", math.Copysign(0, -1)},
		{WideQuad, 1, 0, "6e-4966", 0},
		{WideQuad, math.MaxUint64, 0x7ffe_ffff_ffff_ffff, "1.189731495357231765085759326628007e+4932", math.Inf(1)},
		{WideQuad, 0, 0x7fff << 48, "Infinity", math.Inf(1)},
		{WideQuad, 1, 0xffff << 48, "NaN", math.NaN()},
		{WideQuad, 0, 0xc000_8000_0000_0000, "-3", -3},
	} {
		text := string(c.w.Append(nil, c.low, c.high))
		if text != c.want {
			t.Errorf("%d: %#x %#x is %s, want %s", c.w, c.high, c.low, text, c.want)
		}
		word, ok := c.w.Word(c.low, c.high)
		got := math.Float64frombits(word)
		if !ok || got != c.near && !(math.IsNaN(got) && math.IsNaN(c.near)) || math.Signbit(got) != math.Signbit(c.near) && !math.IsNaN(got) {
			t.Errorf("%d: %s as a float: %v, want %v", c.w, c.want, got, c.near)
		}
	}
}
