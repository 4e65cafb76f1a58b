package js

import "testing"

func TestParseNumber(t *testing.T) {
	for _, c := range []struct {
		text    string
		v       uint64
		f       float64
		isFloat bool
		ok      bool
	}{
		{"0", 0, 0, false, true}, {"1_000", 1000, 0, false, true}, {"0x10", 16, 0, false, true}, {"0b11n", 3, 0, false, true},
		{"010", 8, 0, false, true}, {"089", 89, 0, false, true}, {"18446744073709551615", 1<<64 - 1, 0, false, true},
		{"18446744073709551616", 1<<64 - 1, 0, false, false}, {"1.5", 0, 1.5, true, true}, {"1e3", 0, 1000, true, true}, {"0xe", 14, 0, false, true},
	} {
		v, f, isFloat, ok := ParseNumber(c.text)
		if ok != c.ok || isFloat != c.isFloat || f != c.f || ok && v != c.v {
			t.Errorf("%s: %d %v %v %v", c.text, v, f, isFloat, ok)
		}
		if IsFloat(c.text) != c.isFloat {
			t.Errorf("IsFloat(%s) = %v", c.text, !c.isFloat)
		}
	}
}

func TestHandlerNames(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		seen[k.String()] = true
	}
	if len(seen) != int(NumHandlers) {
		t.Errorf("%d handlers have %d names", NumHandlers, len(seen))
	}
}
