package debuginfo_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"slices"
	"strconv"
	"strings"

	"gotap/compile"
	"gotap/compile/shape"
	rtvalue "gotap/runtime/value"
)

// Numbers of more than 8 bytes and complex numbers in generated functions. They are compared with all their digits.

// wideScalars are their types in C with the functions below that make them.
var wideScalars = map[string]func(g *cLanguage, path []string) (literal string){
	"long double": func(g *cLanguage, path []string) string { return g.wideFloat(path, 64) + "L" },
	"__float128":  func(g *cLanguage, path []string) string { return "(__float128)" + g.wideFloat(path, 64) + "L" },
	"__int128":    func(g *cLanguage, path []string) string { return "(__int128)" + g.wideInt(path, true) },
	"unsigned __int128": func(g *cLanguage, path []string) string {
		return "(unsigned __int128)" + g.wideInt(path, false)
	},
	"_Complex float":       func(g *cLanguage, path []string) string { return g.complex(path, "makef", 24) },
	"_Complex double":      func(g *cLanguage, path []string) string { return g.complex(path, "maked", 53) },
	"_Complex long double": func(g *cLanguage, path []string) string { return g.complex(path, "makel", 64) },
}

// wideText declares what makes complex numbers in C and in C++.
const wideText = `
static inline _Complex float makef(float r, float i) { _Complex float z; __real__ z = r; __imag__ z = i; return z; }
static inline _Complex double maked(double r, double i) { _Complex double z; __real__ z = r; __imag__ z = i; return z; }
static inline _Complex long double makel(long double r, long double i) { _Complex long double z; __real__ z = r; __imag__ z = i; return z; }
`

// wideFloat makes a floating-point number with so many bits of significand, some of them of extreme size.
func (g *cLanguage) wideFloat(path []string, bits uint) (literal string) {
	f := new(big.Float).SetPrec(bits).SetInt(new(big.Int).Rand(g.rnd, new(big.Int).Lsh(big.NewInt(1), bits)))
	switch n := g.rnd.Intn(8); {
	case n == 0 && bits > 53:
		f.SetMantExp(f, 16000-g.rnd.Intn(32000))
	case n < 3: // whole
	default:
		f.SetMantExp(f, -g.rnd.Intn(90))
	}
	if g.rnd.Intn(2) == 0 {
		f.Neg(f)
	}
	g.values = append(g.values, wideFloatAt(path, f, bits))
	return f.Text('p', 0)
}

// wideFloatAt is a floating-point number that is read as it was written.
func wideFloatAt(path []string, f *big.Float, bits uint) value {
	return value{path: slices.Clone(path), want: f.Text('g', 40), bits: bits}
}

// wideInt makes an integer of 128 bits.
func (g *cLanguage) wideInt(path []string, signed bool) (literal string) {
	low, high := wideWords(g.rnd)
	g.values = append(g.values, scalarAt(slices.Clone(path), wideIntText(low, high, signed)))
	return fmt.Sprintf("((unsigned __int128)%#xULL << 64 | %#xULL)", high, low)
}

// wideWords are those of an integer, which fits into 64 bits from time to time.
func wideWords(r *rand.Rand) (low, high uint64) {
	low, high = r.Uint64(), r.Uint64()
	switch r.Intn(4) {
	case 0:
		high = 0
	case 1:
		high = math.MaxUint64
	}
	return low, high
}

// wideIntText is an integer of 128 bits in decimal digits.
func wideIntText(low, high uint64, signed bool) string {
	n := new(big.Int).Lsh(new(big.Int).SetUint64(high), 64)
	n.Or(n, new(big.Int).SetUint64(low))
	if signed && high>>63 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return n.String()
}

// complex makes a complex number by a function of wideText.
func (g *cLanguage) complex(path []string, make string, bits uint) (literal string) {
	re := g.wideFloat(append(slices.Clone(path), rtvalue.RealPart), bits)
	im := g.wideFloat(append(slices.Clone(path), rtvalue.ImaginaryPart), bits)
	suffix := ""
	if bits > 53 {
		suffix = "L"
	}
	return fmt.Sprintf("%s(%s%s, %s%s)", make, re, suffix, im, suffix)
}

// same compares what was read with what was written.
func (v *value) same(got string) bool {
	if v.bits == 0 {
		return sameNumber(got, v.want)
	}
	a, _, err := big.ParseFloat(got, 10, v.bits, big.ToNearestEven)
	b, _, err2 := big.ParseFloat(v.want, 10, v.bits, big.ToNearestEven)
	return err == nil && err2 == nil && a.Cmp(b) == 0
}

// evalText carries out an access and writes the value with all digits.
func (s *stop) evalText(a compile.Access) (string, error) {
	if a.Wide == nil {
		return s.eval(a)
	}
	high := a.Wide.High
	low := a
	low.Type, high.Type = compile.TypeInt, compile.TypeInt
	var words [2]uint64
	for i, half := range []compile.Access{low, high} {
		text, err := s.eval(half)
		if err != nil {
			return "", err
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return "", err
		}
		words[i] = uint64(n)
	}
	return string(a.Wide.Encoding.Append(nil, words[0], words[1])), nil
}

// isNumber reports whether an access is to a number, not to the address of something.
func isNumber(a compile.Access) bool {
	return a.Shape == nil || a.Shape.Kind < shape.Chars || a.Shape.Kind == shape.Wide
}

// inC is the value as gdb is asked for it, below a name: "" for an argument.
func (v *value) inC(name string) string {
	path := v.path
	if name != "" {
		path = append([]string{name}, path...)
	}
	return strings.Join(indexed(path), "")
}
