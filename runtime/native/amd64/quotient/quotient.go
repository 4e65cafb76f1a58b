// Package quotient makes code that divides by a constant without a division, which takes 42 to 95 cycles on Intel's
// processors before Ice Lake (Agner Fog, "Instruction tables"), and a multiplication 4. On an EPYC a count keyed by a
// remainder took the same time with both. The method is that of Granlund and Montgomery, "Division by Invariant
// Integers using Multiplication" (1994), for signed words.
//
// Its functions are pure and may be called from any goroutine.
package quotient

import (
	"math/big"

	"gotap/runtime/native/amd64/asm"
)

// Multiplies reports whether Divide can divide by a constant: not by 0, 1, -1, and the smallest integer.
func Multiplies(divisor int64) bool {
	m := magnitude(divisor)
	return m >= 2 && m < 1<<63
}

// Divide makes code that divides rcx by a divisor which Multiplies accepts. The quotient, rounded towards 0, is in
// rdx and the remainder in rcx; rax and the flags change.
func Divide(a *asm.Assembler, divisor int64) {
	factor, shift := reciprocal(divisor)
	a.MovImm(asm.RAX, uint64(factor))
	a.MulWide(asm.R(asm.RCX), true)
	switch { // the factor takes 65 bits and is 2^64 too small or too large
	case divisor > 0 && factor < 0:
		a.Alu(asm.Add, asm.R(asm.RDX), asm.R(asm.RCX))
	case divisor < 0 && factor > 0:
		a.Alu(asm.Sub, asm.R(asm.RDX), asm.R(asm.RCX))
	}
	if shift > 0 {
		a.Shift(asm.Sar, asm.R(asm.RDX), shift)
	}
	a.Mov(asm.R(asm.RAX), asm.R(asm.RDX)) // rounded down so far: 1 more if it is negative
	a.Shift(asm.Shr, asm.R(asm.RAX), 63)
	a.Alu(asm.Add, asm.R(asm.RDX), asm.R(asm.RAX))
	if asm.Fits32(uint64(divisor)) {
		a.ImulImm(asm.RAX, asm.R(asm.RDX), int32(divisor))
	} else {
		a.MovImm(asm.RAX, uint64(divisor))
		a.Imul(asm.RAX, asm.R(asm.RDX))
	}
	a.Alu(asm.Sub, asm.R(asm.RCX), asm.R(asm.RAX))
}

// reciprocal returns the low 64 bits of factor, and the shift, with which for every n
//
//	n / divisor = floor(n * factor / 2^(64+shift)) + (1 if that is negative)
//
// The factor is the next integer above 2^(64+shift) / divisor, and the shift the smallest with which the error of that,
// multiplied by n, nowhere reaches the next quotient.
func reciprocal(divisor int64) (factor int64, shift byte) {
	d := new(big.Int).SetUint64(magnitude(divisor))
	last := farthest(divisor)
	for shift = 0; ; shift++ {
		power := new(big.Int).Lsh(big.NewInt(1), 64+uint(shift))
		lacks := new(big.Int).Sub(d, new(big.Int).Mod(power, d)) // to the next multiple of d
		if new(big.Int).Mul(last, lacks).Cmp(power) >= 0 {
			continue
		}
		power.Add(power, lacks).Div(power, d)
		factor = int64(power.Uint64())
		if divisor < 0 {
			factor = -factor
		}
		return factor, shift
	}
}

// farthest returns the largest magnitude of an n which is a multiple of the divisor, minus 1, and for which the
// quotient has the sign of the divisor: where the error is largest.
func farthest(divisor int64) *big.Int {
	beyond := uint64(1) << 63
	if divisor < 0 {
		beyond++
	}
	return new(big.Int).SetUint64(beyond - 1 - beyond%magnitude(divisor))
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}
