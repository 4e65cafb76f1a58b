package ptrace

import (
	"encoding/binary"
	"math"
)

// FPRegs are the floating-point and vector registers of a thread in the kernel's format: the FXSAVE image on x86,
// struct user_fpsimd_state of 64-bit ARM, struct user_vfp of 32-bit ARM.
type FPRegs [528]byte

// The lengths of the three.
const (
	SizeFXSAVE = 512
	SizeFPSIMD = 528
	SizeVFP    = 260
)

// XMM returns the low 8 bytes of vector register n (0 to 15) of x86.
func (f *FPRegs) XMM(n int) uint64 { return binary.LittleEndian.Uint64(f[160+16*n:]) }

// ST0 returns the top of the x87 stack, rounded to a double (Intel SDM, volume 1, 8.1.2 and 10.5.1: FXSAVE stores the
// stack from its top, 80 bits in 16 bytes each, with an explicit integer bit).
func (f *FPRegs) ST0() float64 { return Extended(f[32:]) }

// Extended returns an x87 number of 80 bits, rounded to a double.
func Extended(p []byte) float64 {
	const bias, fraction = 16383, 63
	mantissa, head := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint16(p[8:])
	sign := 1.0
	if head>>15 != 0 {
		sign = -1
	}
	exponent := int(head & 0x7fff)
	switch {
	case exponent == 0x7fff && mantissa<<1 == 0:
		return math.Inf(int(sign))
	case exponent == 0x7fff:
		return math.NaN()
	}
	return math.Copysign(math.Ldexp(float64(mantissa), exponent-bias-fraction), sign)
}

// V returns the low 8 bytes of vector register n (0 to 31) of 64-bit ARM.
func (f *FPRegs) V(n int) uint64 { return binary.LittleEndian.Uint64(f[16*n:]) }

// D returns double-word register n (0 to 31) of 32-bit ARM.
func (f *FPRegs) D(n int) uint64 { return binary.LittleEndian.Uint64(f[8*n:]) }
