// Package ieee is IEEE 754 binary arithmetic with the rules of ARM processors, in integers only.
//
// A program that is being emulated has to get the bits, and the exception flags, that its processor would have given it. The floating
// point of the machine that does the emulating cannot be asked: it may be another architecture, it rounds as its own control register says,
// and it keeps no flags that Go shows. So every operation here is computed from raw bits to raw bits.
//
// # How it works
//
// An operation goes through four steps. Operands are unpacked (number.go) into a sign, an exponent and a 64-bit significand whose top
// bit is set; this is where input denormals are flushed. NaN operands end the operation there (nan.go). The exact result is computed,
// or as much of it as rounding can tell apart: bits that fall off the low end are kept as one sticky bit (wide.go). Last, pack rounds the
// number into the format, and raises overflow, underflow and inexact.
//
// An Env carries the modes in and the cumulative flags out. It is a plain value; nothing allocates, there are no variables, and any
// number of goroutines may compute with Envs of their own.
//
// # ARM's rules
//
// The source is the Arm ARM, DDI 0487, shared pseudocode (FPUnpack, FPRound, FPProcessNaNs and the functions named at each operation).
// Where IEEE 754 leaves a choice:
//
//   - A signalling NaN operand wins over a quiet one, then the first over the second; for a fused multiply-add the addend is first. The
//     propagated NaN is made quiet. With DefaultNaN every NaN result is the positive quiet NaN without payload.
//   - Underflow is detected before rounding, and raised only when the result is inexact as well.
//   - FlushToZero turns denormal operands into zeros of their sign, raising IDC, and results that are tiny before rounding into zeros,
//     raising UFC and not IXC. Half precision has a switch of its own, FlushHalf, which raises no IDC and does not apply to conversions.
//   - The alternative half precision (AltHalf, conversions only) has no infinities and no NaNs: its top exponent is one more binade.
//
// BFloat16 is a format of Convert and of the number functions; the dot products that use it set rounding to OddInf, FlushToZero and
// DefaultNaN.
//
// # Limits
//
// Trapped exceptions (the enable bits of FPCR) and the alternate handling of FPCR.AH are not known here.
package ieee
