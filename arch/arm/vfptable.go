package arm

import (
	"sync"

	"gotap/arch/ieee"
)

// vfpRows holds the instructions with a condition: cccc is not 1111 (Arm ARM DDI 0487, F4.1.8 and F4.1.16 to
// F4.1.19). In the pictures, ff is the format: 01 half, 10 single, 11 double.
var vfpRows = sync.OnceValue(func() []vectorRow {
	return []vectorRow{
		// Arithmetic. L and P of loads and stores are bits 20 and 24.
		of("cccc 1110 0D00 nnnn dddd 10ff N0M0 mmmm", "vmla", vfp3(floatMulAdd), format),
		of("cccc 1110 0D00 nnnn dddd 10ff N1M0 mmmm", "vmls", vfp3(floatMulSub), format),
		of("cccc 1110 0D01 nnnn dddd 10ff N0M0 mmmm", "vnmls", vfp3(negatedMulSub), format),
		of("cccc 1110 0D01 nnnn dddd 10ff N1M0 mmmm", "vnmla", vfp3(negatedMulAdd), format),
		of("cccc 1110 0D10 nnnn dddd 10ff N0M0 mmmm", "vmul", vfp2((*ieee.Env).Mul), format),
		of("cccc 1110 0D10 nnnn dddd 10ff N1M0 mmmm", "vnmul", vfp2(negatedMul), format),
		of("cccc 1110 0D11 nnnn dddd 10ff N0M0 mmmm", "vadd", vfp2((*ieee.Env).Add), format),
		of("cccc 1110 0D11 nnnn dddd 10ff N1M0 mmmm", "vsub", vfp2((*ieee.Env).Sub), format),
		of("cccc 1110 1D00 nnnn dddd 10ff N0M0 mmmm", "vdiv", vfp2((*ieee.Env).Div), format),
		of("cccc 1110 1D01 nnnn dddd 10ff N0M0 mmmm", "vfnms", vfpFused(negatedFusedSub), format),
		of("cccc 1110 1D01 nnnn dddd 10ff N1M0 mmmm", "vfnma", vfpFused(negatedFused), format),
		of("cccc 1110 1D10 nnnn dddd 10ff N0M0 mmmm", "vfma", vfpFused(floatFused), format),
		of("cccc 1110 1D10 nnnn dddd 10ff N1M0 mmmm", "vfms", vfpFused(floatFusedSub), format),
		of("cccc 1110 1D11 iiii dddd 10ff s0s0 iiii", "vmov.imm", execFloatImmediate, format, zeros(0xa0)),

		// Two registers.
		of("cccc 1110 1D11 0000 dddd 101f 01M0 mmmm", "vmov.f", vfp1(floatSame)),
		of("cccc 1110 1D11 0000 dddd 10ff 11M0 mmmm", "vabs", vfp1(floatAbs), format),
		of("cccc 1110 1D11 0001 dddd 10ff 01M0 mmmm", "vneg", vfp1(floatNeg), format),
		of("cccc 1110 1D11 0001 dddd 10ff 11M0 mmmm", "vsqrt", vfp1((*ieee.Env).Sqrt), format),
		of("cccc 1110 1D11 0010 dddd 101f t1M0 mmmm", "vcvt.from.f16", execFromHalf),
		of("cccc 1110 1D11 0011 dddd 101f t1M0 mmmm", "vcvt.to.f16", execToHalf),
		of("cccc 1110 1D11 0011 dddd 1001 t1M0 mmmm", "vcvt.to.bf16", execToBfloat),
		of("cccc 1110 1D11 0100 dddd 10ff E1M0 mmmm", "vcmp", execCompare, format),
		of("cccc 1110 1D11 0101 dddd 10ff E1s0 ssss", "vcmp.0", execCompareZero, format, zeros(0x2f)),
		of("cccc 1110 1D11 0110 dddd 10ff 01M0 mmmm", "vrintr", vfpPlain(roundCurrent(false)), format),
		of("cccc 1110 1D11 0110 dddd 10ff 11M0 mmmm", "vrintz", vfpPlain(rounded(ieee.Zero, false)), format),
		of("cccc 1110 1D11 0111 dddd 10ff 01M0 mmmm", "vrintx", vfpPlain(roundCurrent(true)), format),
		of("cccc 1110 1D11 0111 dddd 101f 11M0 mmmm", "vcvt.size", execConvertSize),
		of("cccc 1110 1D11 1000 dddd 10ff x1M0 mmmm", "vcvt.from.int", execFromInt, format),
		of("cccc 1110 1D11 1001 dddd 1011 11M0 mmmm", "vjcvt", execConvertJS, unconditioned),
		of("cccc 1110 1D11 101u dddd 10ff x1i0 iiii", "vcvt.from.fixed", execFromFixed, format, fixedRule),
		of("cccc 1110 1D11 110x dddd 10ff x1M0 mmmm", "vcvt.to.int", execToInt, format),
		of("cccc 1110 1D11 111u dddd 10ff x1i0 iiii", "vcvt.to.fixed", execToFixed, format, fixedRule),

		// Moves between the register files.
		of("cccc 1110 000L nnnn tttt 1001 Nss1 ssss", "vmov.core.f16", execMoveHalf, target, zeros(0x6f), unconditioned),
		of("cccc 1110 000L nnnn tttt 1010 Nss1 ssss", "vmov.core.s", execMoveSingle, target, zeros(0x6f)),
		of("cccc 1110 1110 0001 tttt 1010 sss1 ssss", "vmsr", execWriteStatus, target, zeros(0xef)),
		of("cccc 1110 1111 0001 tttt 1010 sss1 ssss", "vmrs", execReadStatus, notStack, zeros(0xef)),
		of("cccc 1110 0oo0 nnnn tttt 1011 Noo1 ssss", "vmov.to.scalar", execToScalar, scalarRule, target, zeros(0xf)),
		of("cccc 1110 1bQ0 nnnn tttt 1011 N0e1 ssss", "vdup.core", execDupCore, dupCoreRule, target, zeros(0xf)),
		of("cccc 1110 uoo1 nnnn tttt 1011 Noo1 ssss", "vmov.from.scalar", execFromScalar, scalarRule, target, zeros(0xf)),
		of("cccc 1100 010L rrrr tttt 1010 00M1 mmmm", "vmov.core.ss", execMoveTwoSingles, targets, consecutive),
		of("cccc 1100 010L rrrr tttt 1011 00M1 mmmm", "vmov.core.d", execMoveDouble, targets),

		// Loads and stores.
		of("cccc 1101 uD00 nnnn dddd 1001 iiii iiii", "vstr.f16", execStore, literal, unconditioned),
		of("cccc 1101 uD01 nnnn dddd 1001 iiii iiii", "vldr.f16", execLoad, unconditioned),
		of("cccc 1101 uD00 nnnn dddd 101f iiii iiii", "vstr", execStore, literal),
		of("cccc 1101 uD01 nnnn dddd 101f iiii iiii", "vldr", execLoad),
		of("cccc 1100 1Dw0 nnnn dddd 101f iiii iiii", "vstmia", execStoreRun, vfpRunRule),
		of("cccc 1100 1Dw1 nnnn dddd 101f iiii iiii", "vldmia", execLoadRun, vfpRunRule),
		of("cccc 1101 0D10 nnnn dddd 101f iiii iiii", "vstmdb", execStoreRun, vfpRunRule),
		of("cccc 1101 0D11 nnnn dddd 101f iiii iiii", "vldmdb", execLoadRun, vfpRunRule),
	}
})

// unconditionalRows holds the instructions with 1111 as the condition (F4.1.9 to F4.1.11, F4.1.17). Those of VFP
// come last, because they would also match a format of 00.
var unconditionalRows = sync.OnceValue(func() []vectorRow {
	return []vectorRow{
		of("1111 110r 1D0f nnnn dddd 1000 NQM0 mmmm", "vcadd", execComplexAdd, quad3),
		of("1111 110r rD1f nnnn dddd 1000 NQM0 mmmm", "vcmla", execComplexMul, quad3),
		of("1111 1110 fDrr nnnn dddd 1000 NQM0 mmmm", "vcmla.s", execComplexMulBy, quad(lowD, lowN)),
		of("1111 1100 xD10 nnnn dddd 1000 NQM1 mmmm", "vfmal", execWidenMul, quad1),
		of("1111 1110 0D0x nnnn dddd 1000 NQM1 mmmm", "vfmal.s", execWidenMulBy, quad1),
		of("1111 1100 0D11 nnnn dddd 1000 NQM1 mmmm", "vfma.bf16", execBfloatMulAdd, evenRegisters(lowD, lowN, lowM)),
		of("1111 1110 0D11 nnnn dddd 1000 NQM1 mmmm", "vfma.bf16.s", execBfloatMulAddBy, evenRegisters(lowD, lowN)),
		of("1111 1100 0D00 nnnn dddd 1100 N1M0 mmmm", "vmmla.bf16", execBfloatMatrix, evenRegisters(lowD, lowN, lowM)),
		of("1111 1100 0D10 nnnn dddd 1100 N1M0 mmmm", "vsmmla", matrix(signedByte, signedByte), evenRegisters(lowD, lowN, lowM)),
		of("1111 1100 0D10 nnnn dddd 1100 N1M1 mmmm", "vummla", matrix(unsignedByte, unsignedByte), evenRegisters(lowD, lowN, lowM)),
		of("1111 1100 1D10 nnnn dddd 1100 N1M0 mmmm", "vusmmla", matrix(unsignedByte, signedByte), evenRegisters(lowD, lowN, lowM)),
		of("1111 1100 0D00 nnnn dddd 1101 NQM0 mmmm", "vdot.bf16", execBfloatDot, quad3),
		of("1111 1100 0D10 nnnn dddd 1101 NQM0 mmmm", "vsdot", dot(signedByte, signedByte), quad3),
		of("1111 1100 0D10 nnnn dddd 1101 NQM1 mmmm", "vudot", dot(unsignedByte, unsignedByte), quad3),
		of("1111 1100 1D10 nnnn dddd 1101 NQM0 mmmm", "vusdot", dot(unsignedByte, signedByte), quad3),
		of("1111 1110 0D00 nnnn dddd 1101 NQM0 mmmm", "vdot.bf16.s", execBfloatDotBy, quad(lowD, lowN)),
		of("1111 1110 0D10 nnnn dddd 1101 NQM0 mmmm", "vsdot.s", dotBy(signedByte, signedByte), quad(lowD, lowN)),
		of("1111 1110 0D10 nnnn dddd 1101 NQM1 mmmm", "vudot.s", dotBy(unsignedByte, unsignedByte), quad(lowD, lowN)),
		of("1111 1110 1D00 nnnn dddd 1101 NQM0 mmmm", "vusdot.s", dotBy(unsignedByte, signedByte), quad(lowD, lowN)),
		of("1111 1110 1D00 nnnn dddd 1101 NQM1 mmmm", "vsudot.s", dotBy(signedByte, unsignedByte), quad(lowD, lowN)),

		of("1111 1110 0Dcc nnnn dddd 10ff N0M0 mmmm", "vsel", execSelect, format),
		of("1111 1110 1D00 nnnn dddd 10ff N0M0 mmmm", "vmaxnm.f", vfp2((*ieee.Env).MaxNum), format),
		of("1111 1110 1D00 nnnn dddd 10ff N1M0 mmmm", "vminnm.f", vfp2((*ieee.Env).MinNum), format),
		of("1111 1110 1D11 10rr dddd 10ff 01M0 mmmm", "vrint.f", execRoundDirected, format),
		of("1111 1110 1D11 11rr dddd 10ff x1M0 mmmm", "vcvt.f", execConvertDirected, format),
		of("1111 1110 1D11 0000 dddd 1010 01M0 mmmm", "vmovx", execMoveUpper),
		of("1111 1110 1D11 0000 dddd 1010 11M0 mmmm", "vins", execInsertUpper),
	}
})

// The rules of VFP.

// format requires bits 9:8 to name a format, and no condition on an instruction in half precision.
func format(w uint32, thumb bool) verdict {
	switch field(w, 8, 2) {
	case 0:
		return undefined
	case 1:
		if w>>28 == 15 {
			return fine
		}
		return unconditioned(w, thumb)
	}
	return fine
}

// unconditioned requires an A32 instruction to have no condition. (In Thumb it has none, and an IT block decides.)
func unconditioned(w uint32, _ bool) verdict {
	return conditioned.when(w>>28 != 14)
}

// zeros requires the bits that the manual shows as (0) to be 0.
func zeros(mask uint32) rule {
	return func(w uint32, _ bool) verdict { return notFixed.when(w&mask != 0) }
}

// target requires Rt not to be PC, nor SP in Thumb.
func target(w uint32, thumb bool) verdict {
	if field(w, 12, 4) == 15 {
		return pcOperand
	}
	return notStack(w, thumb)
}

// notStack requires Rt not to be SP in Thumb.
func notStack(w uint32, thumb bool) verdict {
	return spOperand.when(thumb && field(w, 12, 4) == regSP)
}

// targets is target for two registers, which must differ if they are written.
func targets(w uint32, thumb bool) verdict {
	t, t2 := field(w, 12, 4), field(w, 16, 4)
	switch {
	case t == 15 || t2 == 15:
		return pcOperand
	case thumb && (t == regSP || t2 == regSP):
		return spOperand
	}
	return sameRegister.when(t == t2 && flag(w, 20) == 1)
}

// consecutive requires a single to have a successor.
func consecutive(w uint32, _ bool) verdict {
	return pastLast.when(singleM(w) == 31)
}

// literal refuses stores relative to PC in Thumb.
func literal(w uint32, thumb bool) verdict {
	return pcOperand.when(thumb && field(w, 16, 4) == 15)
}
