// Package ieee implements IEEE 754 binary arithmetic with the rules of ARM processors, using integers only.
//
// An emulated program has to get the bits and exception flags that its processor would have given it. The floating
// point of the emulating machine cannot provide them: it may be another architecture, it rounds as its own control
// register says, and Go does not expose its flags. So every operation is computed from raw bits to raw bits.
//
// # How it works
//
// An operation has four steps. Operands are unpacked (number.go) into a sign, an exponent and a 64-bit significand
// whose top bit is set; this step flushes input denormals. An operation with a NaN operand ends there (nan.go). The
// result is computed exactly, or with enough bits for rounding: the bits below are kept as one sticky bit
// (wide.go). Last, pack rounds the number to the format, and raises overflow, underflow and inexact.
//
// An Env holds the modes and accumulates the flags. It is a plain value; nothing allocates, there are no variables,
// and any number of goroutines may compute with Envs of their own.
//
// # ARM's rules
//
// The source is the Arm ARM, DDI 0487, shared pseudocode (FPUnpack, FPRound, FPProcessNaNs and the functions named
// at each operation). Where IEEE 754 leaves a choice:
//
//   - A signalling NaN operand takes precedence over a quiet one, then the first over the second; for a fused
//     multiply-add the addend is first. The propagated NaN is made quiet. With DefaultNaN, every NaN result is the
//     positive quiet NaN without payload.
//   - Underflow is detected before rounding, and raised only if the result is also inexact.
//   - FlushToZero turns denormal operands into zeros of their sign, raising IDC, and results that are tiny before
//     rounding into zeros, raising UFC and not IXC. Half precision has a mode of its own, FlushHalf, which raises no IDC
//     and does not apply to conversions.
//   - The alternative half precision (AltHalf, conversions only) has no infinities and no NaNs: its top exponent is one
//     more binade.
//
// BFloat16 is a format of Convert and of the number functions; the dot products that use it set rounding to OddInf,
// FlushToZero and DefaultNaN.
//
// # Limits
//
// The package knows no trapped exceptions (the enable bits of FPCR) and no alternate handling (FPCR.AH). Package arm64
// refuses to emulate arithmetic while a thread has these bits set (arch.ErrUnsupported), so the processor executes it.
package ieee
