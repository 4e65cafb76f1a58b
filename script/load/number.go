package load

import (
	"math"
	"math/big"
	"path"
	"regexp"
	"strconv"
	"sync"

	"github.com/dop251/goja/ast"
)

// OriginalNumbers sets the text of numbers to what the user wrote. esbuild prints values, 1000000 as 1e6 and 2.0 as 2.
// For programs the text of a number means more than its value: all 64 bits of an integer count, and a point or an
// exponent makes a float.
func (f *File) OriginalNumbers(literals []*ast.NumberLiteral) {
	if f.back == nil {
		return
	}
	for _, lit := range literals {
		src, at := f.Origin(int(lit.Idx) - Base)
		text, ok := "", false
		if path.Ext(src.Name) != ".json" { // in JSON 2.0 is the same number as 2
			text, ok = writtenNumber(src.Text[at:], lit.Value)
		}
		if !ok {
			text = plainNumber(lit)
		}
		lit.Literal = text
	}
}

// beforeNumber matches what may be between the place that a source map gives for a number and its digits: esbuild
// computes signs, and drops brackets, comments and types.
var beforeNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[-+(\s]|//[^\n]*\n|/\*(?s:.*?)\*/|<[^<>=]*>)*`) })

var numberText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9_]+)?)n?`)
})

// writtenNumber finds a number at the beginning of a text; ok is false if its value differs.
func writtenNumber(text string, value any) (written string, ok bool) {
	written = numberText().FindString(text[len(beforeNumber().FindString(text)):])
	if written == "" {
		return "", false
	}
	if _, isBig := value.(*big.Int); isBig {
		return written, written[len(written)-1] == 'n'
	}
	parsed, _, err := big.ParseFloat(written, 0, 256, big.ToNearestEven)
	if err != nil {
		return "", false
	}
	got, _ := parsed.Float64()
	return written, got == floatOf(value)
}

// floatOf returns a number as JavaScript represents it.
func floatOf(value any) float64 {
	switch v := value.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

// plainNumber returns the text of a number that the user did not write there, such as a member of an enum. The text
// depends on the value: an integer has no exponent.
func plainNumber(lit *ast.NumberLiteral) string {
	if v := floatOf(lit.Value); v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return lit.Literal
}
