package isa

import (
	"strconv"
	"strings"
)

// Words of the floating-point state of a thread. The numbers are the same for all instruction sets: half h (0: lower)
// of vector register n is word 2n+h, and behind the vectors follow the stack of x86's floating-point unit, from its top
// on, and the control registers. On 32-bit ARM, where double words are the registers, word n is d<n>.
const (
	FloatStack   = 64 // fr0's 64 bits of significand, then its 16 of sign and exponent, fr1's, …
	FloatControl = 80
)

// The control registers of x86, from FloatControl on: those of the floating-point unit as FXSAVE has them in its 64-bit
// form (Intel SDM, volume 1, 10.5.1: the tag word is the abridged one of 8 bits; selectors are not kept), and that of
// the vector unit.
const (
	FCW = FloatControl + iota
	FSW
	FTW
	FIP
	FDP
	MXCSR
)

// The control registers of ARM. 32-bit ARM has one for both, which is FPCR here.
const (
	FPCR = FloatControl + iota
	FPSR
)

// floatNames are the registers with floating-point state of one instruction set.
type floatNames struct {
	vector  string // before the number of a vector register; an h behind it selects the upper half
	vectors int    // number of them
	halves  int    // words in one
	stack   bool   // fr0 to fr7 exist
	control map[string]int
}

var controlX86 = map[string]int{"fcw": FCW, "fsw": FSW, "ftw": FTW, "fip": FIP, "fdp": FDP, "mxcsr": MXCSR}

var (
	floats64  = floatNames{"xmm", 16, 2, true, controlX86}
	floats32  = floatNames{"xmm", 8, 2, true, controlX86}
	floatsA64 = floatNames{"v", 32, 2, false, map[string]int{"fpcr": FPCR, "fpsr": FPSR}}
	floatsARM = floatNames{"d", 32, 1, false, map[string]int{"fpscr": FPCR}}
)

// FloatWord returns the number of the word of floating-point state that a register name stands for: xmm3 and v3 are the
// lower half of a vector register, xmm3h and v3h the upper half; fr0 to fr7 and fr0h to fr7h of x86 are significand and
// the rest; control registers have their own names.
func (a *ISA) FloatWord(name string) (word int, ok bool) {
	if word, ok := a.floatRegs.control[name]; ok {
		return word, true
	}
	if n, half, ok := numbered(name, a.floatRegs.vector, a.floatRegs.vectors); ok && half < a.floatRegs.halves {
		return n*a.floatRegs.halves + half, true
	}
	if n, half, ok := numbered(name, "fr", 8); ok && a.floatRegs.stack {
		return FloatStack + 2*n + half, true
	}
	return 0, false
}

// numbered splits the name of a register: a prefix, a number below a limit, and an h for the upper half.
func numbered(name, prefix string, limit int) (n, half int, ok bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || prefix == "" {
		return 0, 0, false
	}
	if lower, upper := strings.CutSuffix(digits, "h"); upper {
		digits, half = lower, 1
	}
	n, err := strconv.Atoi(digits)
	return n, half, err == nil && n >= 0 && n < limit && strconv.Itoa(n) == digits
}
