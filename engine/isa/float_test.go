package isa

import "testing"

func TestFloatWord(t *testing.T) {
	for _, c := range []struct {
		isa  *ISA
		name string
		word int // -1: there is no such register
	}{
		{AMD64, "xmm0", 0}, {AMD64, "xmm15h", 31}, {AMD64, "xmm16", -1}, {I386, "xmm7h", 15}, {I386, "xmm8", -1}, {AMD64, "xmm01", -1},
		{AMD64, "xmm", -1}, {AMD64, "xmm-1", -1}, {AMD64, "fr0", FloatStack}, {I386, "fr7h", FloatStack + 15}, {AMD64, "fr8", -1},
		{AMD64, "fcw", FCW}, {AMD64, "mxcsr", MXCSR}, {AMD64, "fpsr", -1}, {ARM64, "fr0", -1}, {ARM64, "xmm0", -1},
		{ARM64, "v31h", 63}, {ARM64, "fpsr", FPSR}, {ARM, "d31", 31}, {ARM, "d3h", -1}, {ARM, "fpscr", FPCR}, {ARM, "fpsr", -1},
	} {
		word, ok := c.isa.FloatWord(c.name)
		if ok != (c.word >= 0) || ok && word != c.word {
			t.Errorf("%s of %s is %d, %v", c.name, c.isa.Title, word, ok)
		}
	}
}
