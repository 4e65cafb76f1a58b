package emulate

import (
	"strings"
	"testing"
)

// TestFlagsForms: the flags of arm64 are answered in the form that the lines have them in.
func TestFlagsForms(t *testing.T) {
	const (
		adds = `{"hex":"200000ab","pc":0,"regs":{"x1":18446744073709551615,"x0":1,"nzcv":%}}` + "\n" // adds x0, x1, x0: Z and C
		adc  = `{"hex":"2000009a","pc":0,"regs":{"x1":7,"nzcv":%}}` + "\n"                           // adc x0, x1, x0
	)
	for _, c := range []struct{ lines, given, adds, adc string }{
		{"high", "536870912", `"nzcv":1610612736`, `"x0":8,`},
		{"high, as text", `"0x20000000"`, `"nzcv":1610612736`, `"x0":8,`},
		{"low", "2", `"nzcv":6`, `"x0":8,`},
		{"low, as text", ` "0x2"`, `"nzcv":6`, `"x0":8,`},
		{"nothing", "0", `"nzcv":1610612736`, `"x0":7,`},
	} {
		zero := strings.ReplaceAll(adds, "%", "0")
		got := answers(t, "arm64", zero+strings.ReplaceAll(adc+adds, "%", c.given)+zero)
		lines := strings.Split(got, "\n")
		if !strings.Contains(lines[1], c.adc) || !strings.Contains(lines[2], c.adds+"}") || !strings.Contains(lines[3], c.adds+"}") {
			t.Errorf("%s: %s, want %s, %s", c.lines, got, c.adc, c.adds)
		}
	}
}
