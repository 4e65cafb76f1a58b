package value

import (
	"math"
	"testing"
)

// TestNumbersAsJavaScript: ECMA-262, Number::toString.
func TestNumbersAsJavaScript(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", -1.5: "-1.5", 123456789012345680000: "123456789012345680000", 1e21: "1e+21", 1e-6: "0.000001",
		1e-7: "1e-7", 1.5e-10: "1.5e-10", 1e100: "1e+100", 5e-324: "5e-324", math.Inf(1): "Infinity", math.Inf(-1): "-Infinity",
		0.1: "0.1", 1e300: "1e+300", -1e-9: "-1e-9", math.MaxFloat64: "1.7976931348623157e+308", 4.35: "4.35",
	} {
		if got := string(AppendNumber(nil, f)); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	if got := string(AppendNumber(nil, math.NaN())); got != "NaN" {
		t.Error(got)
	}
	if got := string(AppendNumber(nil, math.Copysign(0, -1))); got != "0" {
		t.Error(got)
	}
}
