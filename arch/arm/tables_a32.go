package arm

import (
	"fmt"
	"hash/crc32"
	"sync"

	"gotap/arch"
)

// The indexes of A32: instructions with a condition, and those without (1111 in its place). They are built at first
// use, because most runs of the program never decode ARM.
var (
	a32 = sync.OnceValue(func() *index {
		return indexOf(rowsOf(dataA32(), miscA32, multiplyA32, mediaA32, parallelA32(), loadA32, exclusiveA32, flowA32), 20)
	})
	a32Always = sync.OnceValue(func() *index { return indexOf(rowsOf(alwaysA32), 20) })
)

// dataNames are the data-processing operations in the order of their numbers.
var dataNames = [...]string{
	"AND", "EOR", "SUB", "RSB", "ADD", "ADC", "SBC", "RSC", "TST", "TEQ", "CMP", "CMN", "ORR", "MOV", "BIC", "MVN",
}

// dataA32 returns the data-processing instructions with their three kinds of second operand. Comparisons have no
// result and moves no first operand.
func dataA32() []line {
	var out []line
	for op, name := range dataNames {
		s, n, d := "S", "NNNN", "DDDD"
		if op >= opTST && op <= opCMN {
			s, d = "1", "zzzz"
		}
		if op == opMOV || op == opMVN {
			n = "zzzz"
		}
		lower := map[string]string{"NNNN": "nnnn", "DDDD": "dddd", "zzzz": "zzzz"}
		out = append(out,
			line{fmt.Sprintf("cccc 000 %04b %s %s %s iiiii tt 0 MMMM", op, s, n, d), name, execDataReg, option{flow: dataFlow, unpredictable: returnsException}},
			line{fmt.Sprintf("cccc 000 %04b %s %s %s ssss 0 tt 1 mmmm", op, s, lower[n], lower[d]), name + " (shifted by register)", execDataShift, option{}},
			line{fmt.Sprintf("cccc 001 %04b %s %s %s iiiiiiiiiiii", op, s, n, d), name + " (immediate)", execDataImm, option{flow: dataFlow, unpredictable: returnsException}})
	}
	return out
}

// returnsException reports SUBS PC, LR and similar instructions.
func returnsException(w uint32) string {
	if bit(w, 20) && field(w, 12, 4) == 15 && operation4(w)&12 != 8 {
		return "an exception return in user mode"
	}
	return ""
}

var (
	trap        = option{class: Trap, control: arch.Trap}
	privileged  = option{class: Privileged}
	coprocessor = option{class: Coprocessor}
	endian      = option{class: Endian}
	always      = option{unpredictable: conditional}
	outsideIT   = option{notInIT: true}
)

// conditional returns the reason to refuse a condition on an instruction that must not have one.
func conditional(w uint32) string {
	if w>>28 != 14 {
		return "an instruction that cannot be conditional"
	}
	return ""
}

var miscA32 = []line{
	{"cccc 0011 0000 iiii dddd iiiiiiiiiiii", "MOVW", execMOVW, option{}},
	{"cccc 0011 0100 iiii dddd iiiiiiiiiiii", "MOVT", execMOVT, option{}},
	{"cccc 0001 0000 oooo dddd zz0z 0000 zzzz", "MRS", execMRSA32, option{}},
	{"cccc 0001 0100 oooo dddd zz0z 0000 zzzz", "MRS (SPSR)", nil, privileged},
	{"cccc 0001 0r00 .... .... ..1. 0000 ....", "MRS (banked)", nil, privileged},
	{"cccc 0001 0010 mmmm oooo zz0z 0000 nnnn", "MSR", execMSRReg, option{unpredictable: noFields}},
	{"cccc 0001 0110 .... .... ..0. 0000 ....", "MSR (SPSR)", nil, privileged},
	{"cccc 0001 0r10 .... .... ..1. 0000 ....", "MSR (banked)", nil, privileged},
	{"cccc 0011 0010 0000 oooo zzzz hhhhhhhh", "hint", execNOP, option{}},
	{"cccc 0011 0010 .... oooo iiiiiiiiiiii", "MSR (immediate)", execMSRImm, option{}},
	{"cccc 0011 0110 .... .... ............", "MSR (SPSR, immediate)", nil, privileged},
	{"cccc 0001 0010 oooo oooo oooo 0001 MMMM", "BX", execBXA32, option{flow: exchangeFlow}},
	{"cccc 0001 0010 oooo oooo oooo 0010 mmmm", "BXJ", execBXA32, option{flow: exchangeFlow}},
	{"cccc 0001 0010 oooo oooo oooo 0011 mmmm", "BLX", execBLXReg, option{control: arch.IndirCall}},
	{"cccc 0001 0110 oooo dddd oooo 0001 mmmm", "CLZ", regA32(clz), option{}},
	{"cccc 0001 0000 nnnn dddd zzzz 0101 mmmm", "QADD", regA32(qadd(plain)), option{}},
	{"cccc 0001 0010 nnnn dddd zzzz 0101 mmmm", "QSUB", regA32(qadd(subtracting)), option{}},
	{"cccc 0001 0100 nnnn dddd zzzz 0101 mmmm", "QDADD", regA32(qadd(doubling)), option{}},
	{"cccc 0001 0110 nnnn dddd zzzz 0101 mmmm", "QDSUB", regA32(qadd(doubling | subtracting)), option{}},
	{"cccc 0001 0000 .... .... .... 0111 ....", "HLT", nil, trap},
	{"cccc 0001 0010 .... .... .... 0111 ....", "BKPT", nil, trap},
	{"cccc 0001 0100 .... .... .... 0111 ....", "HVC", nil, privileged},
	{"cccc 0001 0110 .... .... .... 0111 ....", "SMC", nil, privileged},
	{"cccc 0001 0110 .... .... .... 0110 ....", "ERET", nil, option{class: Privileged, control: arch.Return}},
	{"cccc 0001 0000 nnnn dddd zz0z 0100 mmmm", "CRC32B", regA32(checksum(crc32.IEEETable, 1)), always},
	{"cccc 0001 0010 nnnn dddd zz0z 0100 mmmm", "CRC32H", regA32(checksum(crc32.IEEETable, 2)), always},
	{"cccc 0001 0100 nnnn dddd zz0z 0100 mmmm", "CRC32W", regA32(checksum(crc32.IEEETable, 4)), always},
	{"cccc 0001 0000 nnnn dddd zz1z 0100 mmmm", "CRC32CB", regA32(checksum(castagnoli, 1)), always},
	{"cccc 0001 0010 nnnn dddd zz1z 0100 mmmm", "CRC32CH", regA32(checksum(castagnoli, 2)), always},
	{"cccc 0001 0100 nnnn dddd zz1z 0100 mmmm", "CRC32CW", regA32(checksum(castagnoli, 4)), always},
}

// noFields returns the reason to refuse MSR that writes nothing.
func noFields(w uint32) string {
	if field(w, 16, 4) == 0 {
		return "no field to write"
	}
	return ""
}

// oneLong returns the reason to refuse long multiplications with both results in one register.
func oneLong(w uint32) string {
	if field(w, 16, 4) == field(w, 12, 4) {
		return "two results in one register"
	}
	return ""
}

var longA32 = option{unpredictable: oneLong}

var multiplyA32 = []line{
	{"cccc 0000 000S dddd zzzz mmmm 1001 nnnn", "MUL", flagged(mul), option{}},
	{"cccc 0000 001S dddd aaaa mmmm 1001 nnnn", "MLA", flagged(mla), option{}},
	{"cccc 0000 0100 dddd aaaa mmmm 1001 nnnn", "UMAAL", mulA32(umaal), longA32},
	{"cccc 0000 0110 dddd aaaa mmmm 1001 nnnn", "MLS", mulA32(mls), option{}},
	{"cccc 0000 100S dddd aaaa mmmm 1001 nnnn", "UMULL", flaggedLong(umull), longA32},
	{"cccc 0000 101S dddd aaaa mmmm 1001 nnnn", "UMLAL", flaggedLong(umlal), longA32},
	{"cccc 0000 110S dddd aaaa mmmm 1001 nnnn", "SMULL", flaggedLong(smull), longA32},
	{"cccc 0000 111S dddd aaaa mmmm 1001 nnnn", "SMLAL", flaggedLong(smlal), longA32},
	{"cccc 0001 0000 dddd aaaa mmmm 1000 nnnn", "SMLABB", mulA32(smlaHalf(0, 0)), option{}},
	{"cccc 0001 0000 dddd aaaa mmmm 1010 nnnn", "SMLATB", mulA32(smlaHalf(1, 0)), option{}},
	{"cccc 0001 0000 dddd aaaa mmmm 1100 nnnn", "SMLABT", mulA32(smlaHalf(0, 1)), option{}},
	{"cccc 0001 0000 dddd aaaa mmmm 1110 nnnn", "SMLATT", mulA32(smlaHalf(1, 1)), option{}},
	{"cccc 0001 0010 dddd aaaa mmmm 1000 nnnn", "SMLAWB", mulA32(smlaw(0)), option{}},
	{"cccc 0001 0010 dddd aaaa mmmm 1100 nnnn", "SMLAWT", mulA32(smlaw(1)), option{}},
	{"cccc 0001 0010 dddd zzzz mmmm 1010 nnnn", "SMULWB", mulA32(smulw(0)), option{}},
	{"cccc 0001 0010 dddd zzzz mmmm 1110 nnnn", "SMULWT", mulA32(smulw(1)), option{}},
	{"cccc 0001 0100 dddd aaaa mmmm 1000 nnnn", "SMLALBB", mulA32(smlalHalf(0, 0)), longA32},
	{"cccc 0001 0100 dddd aaaa mmmm 1010 nnnn", "SMLALTB", mulA32(smlalHalf(1, 0)), longA32},
	{"cccc 0001 0100 dddd aaaa mmmm 1100 nnnn", "SMLALBT", mulA32(smlalHalf(0, 1)), longA32},
	{"cccc 0001 0100 dddd aaaa mmmm 1110 nnnn", "SMLALTT", mulA32(smlalHalf(1, 1)), longA32},
	{"cccc 0001 0110 dddd zzzz mmmm 1000 nnnn", "SMULBB", mulA32(smulHalf(0, 0)), option{}},
	{"cccc 0001 0110 dddd zzzz mmmm 1010 nnnn", "SMULTB", mulA32(smulHalf(1, 0)), option{}},
	{"cccc 0001 0110 dddd zzzz mmmm 1100 nnnn", "SMULBT", mulA32(smulHalf(0, 1)), option{}},
	{"cccc 0001 0110 dddd zzzz mmmm 1110 nnnn", "SMULTT", mulA32(smulHalf(1, 1)), option{}},
	{"cccc 0111 0000 dddd 1111 mmmm 0001 nnnn", "SMUAD", mulA32(dualMul(plain)), option{}},
	{"cccc 0111 0000 dddd 1111 mmmm 0011 nnnn", "SMUADX", mulA32(dualMul(crossed)), option{}},
	{"cccc 0111 0000 dddd 1111 mmmm 0101 nnnn", "SMUSD", mulA32(dualMul(subtracting)), option{}},
	{"cccc 0111 0000 dddd 1111 mmmm 0111 nnnn", "SMUSDX", mulA32(dualMul(crossed | subtracting)), option{}},
	{"cccc 0111 0000 dddd aaaa mmmm 0001 nnnn", "SMLAD", mulA32(dualMul(accumulating)), option{}},
	{"cccc 0111 0000 dddd aaaa mmmm 0011 nnnn", "SMLADX", mulA32(dualMul(crossed | accumulating)), option{}},
	{"cccc 0111 0000 dddd aaaa mmmm 0101 nnnn", "SMLSD", mulA32(dualMul(subtracting | accumulating)), option{}},
	{"cccc 0111 0000 dddd aaaa mmmm 0111 nnnn", "SMLSDX", mulA32(dualMul(crossed | subtracting | accumulating)), option{}},
	{"cccc 0111 0100 dddd aaaa mmmm 0001 nnnn", "SMLALD", mulA32(dualLong(plain)), longA32},
	{"cccc 0111 0100 dddd aaaa mmmm 0011 nnnn", "SMLALDX", mulA32(dualLong(crossed)), longA32},
	{"cccc 0111 0100 dddd aaaa mmmm 0101 nnnn", "SMLSLD", mulA32(dualLong(subtracting)), longA32},
	{"cccc 0111 0100 dddd aaaa mmmm 0111 nnnn", "SMLSLDX", mulA32(dualLong(crossed | subtracting)), longA32},
	{"cccc 0111 0101 dddd 1111 mmmm 0001 nnnn", "SMMUL", mulA32(smmul(0)), option{}},
	{"cccc 0111 0101 dddd 1111 mmmm 0011 nnnn", "SMMULR", mulA32(smmul(1)), option{}},
	{"cccc 0111 0101 dddd aaaa mmmm 0001 nnnn", "SMMLA", mulA32(smmla(0)), option{}},
	{"cccc 0111 0101 dddd aaaa mmmm 0011 nnnn", "SMMLAR", mulA32(smmla(1)), option{}},
	{"cccc 0111 0101 dddd aaaa mmmm 1101 nnnn", "SMMLS", mulA32(smmls(0)), option{}},
	{"cccc 0111 0101 dddd aaaa mmmm 1111 nnnn", "SMMLSR", mulA32(smmls(1)), option{}},
	{"cccc 0111 0001 dddd oooo mmmm 0001 nnnn", "SDIV", mulA32(sdiv), option{}},
	{"cccc 0111 0011 dddd oooo mmmm 0001 nnnn", "UDIV", mulA32(udiv), option{}},
	{"cccc 0111 1000 dddd 1111 mmmm 0001 nnnn", "USAD8", mulA32(usad8), option{}},
	{"cccc 0111 1000 dddd aaaa mmmm 0001 nnnn", "USADA8", mulA32(usada8), option{}},
}

// The extensions with addition. r15 as n means without addition.
var (
	sxtb16 = extension(signBytes, addHalves)
	sxtb   = extension(signByte, addWords)
	sxth   = extension(signHalf, addWords)
	uxtb16 = extension(zeroBytes, addHalves)
	uxtb   = extension(zeroByte, addWords)
	uxth   = extension(zeroHalf, addWords)
)

var mediaA32 = []line{
	{"cccc 0110 1000 nnnn dddd iiiii t01 mmmm", "PKH", execPKHA32, option{}},
	{"cccc 0110 1000 nnnn dddd oooo 1011 mmmm", "SEL", regA32(sel), option{}},
	{"cccc 0110 101i iiii dddd iiiii r01 nnnn", "SSAT", execSATA32, option{}},
	{"cccc 0110 111i iiii dddd iiiii r01 nnnn", "USAT", execSATA32, option{}},
	{"cccc 0110 1010 iiii dddd oooo 0011 nnnn", "SSAT16", execSAT16A32, option{}},
	{"cccc 0110 1110 iiii dddd oooo 0011 nnnn", "USAT16", execSAT16A32, option{}},
	{"cccc 0110 1000 NNNN dddd rrzz 0111 mmmm", "SXTAB16", regA32(sxtb16), option{}},
	{"cccc 0110 1010 NNNN dddd rrzz 0111 mmmm", "SXTAB", regA32(sxtb), option{}},
	{"cccc 0110 1011 NNNN dddd rrzz 0111 mmmm", "SXTAH", regA32(sxth), option{}},
	{"cccc 0110 1100 NNNN dddd rrzz 0111 mmmm", "UXTAB16", regA32(uxtb16), option{}},
	{"cccc 0110 1110 NNNN dddd rrzz 0111 mmmm", "UXTAB", regA32(uxtb), option{}},
	{"cccc 0110 1111 NNNN dddd rrzz 0111 mmmm", "UXTAH", regA32(uxth), option{}},
	{"cccc 0110 1011 oooo dddd oooo 0011 mmmm", "REV", regA32(rev), option{}},
	{"cccc 0110 1011 oooo dddd oooo 1011 mmmm", "REV16", regA32(rev16), option{}},
	{"cccc 0110 1111 oooo dddd oooo 0011 mmmm", "RBIT", regA32(rbit), option{}},
	{"cccc 0110 1111 oooo dddd oooo 1011 mmmm", "REVSH", regA32(revsh), option{}},
	{"cccc 0111 101w wwww dddd iiiii 101 nnnn", "SBFX", execBFXA32, option{unpredictable: wideFieldA32}},
	{"cccc 0111 111w wwww dddd iiiii 101 nnnn", "UBFX", execBFXA32, option{unpredictable: wideFieldA32}},
	{"cccc 0111 110w wwww dddd iiiii 001 NNNN", "BFI", execBFIA32, option{unpredictable: emptyFieldA32}},
	{"cccc 0111 1111 .... .... .... 1111 ....", "UDF", nil, trap},
}

// wideFieldA32 refuses bit fields that go beyond bit 31, and emptyFieldA32 those that end before they begin.
func wideFieldA32(w uint32) string {
	if field(w, 7, 5)+field(w, 16, 5) > 31 {
		return "a field beyond bit 31"
	}
	return ""
}

func emptyFieldA32(w uint32) string {
	if field(w, 16, 5) < field(w, 7, 5) {
		return "a field that ends before it begins"
	}
	return ""
}

// parallelForms are the six operations that exist signed and unsigned, and wrapping, saturating and halving, with
// their numbers in A32 and Thumb.
var parallelForms = []struct {
	name     string
	form     parallel
	a32, t32 uint32
}{
	{"ADD16", parallel{size: 16}, 0, 1},
	{"ASX", parallel{size: 16, exchange: true, subtract: 1}, 1, 2},
	{"SAX", parallel{size: 16, exchange: true, subtract: 2}, 2, 6},
	{"SUB16", parallel{size: 16, subtract: 3}, 3, 5},
	{"ADD8", parallel{size: 8}, 4, 0},
	{"SUB8", parallel{size: 8, subtract: 15}, 7, 4},
}

// parallelKinds are the first letters of their names, by signedness and kind.
var parallelKinds = [2][3]string{{"S", "Q", "SH"}, {"U", "UQ", "UH"}}

// eachParallel calls f with every parallel operation. kind is its index in parallelKinds.
func eachParallel(f func(name string, p parallel, unsigned, kind int, a32, t32 uint32)) {
	for unsigned, kinds := range parallelKinds {
		for kind, letter := range kinds {
			for _, form := range parallelForms {
				p := form.form
				p.kind, p.unsigned = uint(kind), unsigned == 1
				f(letter+form.name, p, unsigned, kind, form.a32, form.t32)
			}
		}
	}
}

func parallelA32() (out []line) {
	eachParallel(func(name string, p parallel, unsigned, kind int, number, _ uint32) {
		picture := fmt.Sprintf("cccc 0110 0%b%02b nnnn dddd oooo %03b1 mmmm", unsigned, kind+1, number)
		out = append(out, line{picture, name, regA32(p.operation()), option{}})
	})
	return out
}

var (
	byteStore = access{size: 1}
	halfStore = access{size: 2}
	halfLoad  = access{size: 2, load: true}
	sbyteLoad = access{size: 1, load: true, signed: true}
	shalfLoad = access{size: 2, load: true, signed: true}
)

// loadA32 begins with the unprivileged forms (P is 0, W is 1), which allow fewer registers.
var loadA32 = []line{
	{"cccc 0100 U010 nnnn TTTT iiiiiiiiiiii", "STRT", execLDRImm, option{unpredictable: sameBase}},
	{"cccc 0100 U110 nnnn tttt iiiiiiiiiiii", "STRBT", execLDRImm, option{unpredictable: sameBase}},
	{"cccc 0100 Ux11 nnnn tttt iiiiiiiiiiii", "LDRT", execLDRImm, option{unpredictable: sameBase}},
	{"cccc 0110 U010 nnnn TTTT iiiii kk 0 mmmm", "STRT (register)", execLDRReg, option{unpredictable: sameBase}},
	{"cccc 0110 U110 nnnn tttt iiiii kk 0 mmmm", "STRBT (register)", execLDRReg, option{unpredictable: sameBase}},
	{"cccc 0110 Ux11 nnnn tttt iiiii kk 0 mmmm", "LDRT (register)", execLDRReg, option{unpredictable: sameBase}},
	{"cccc 010P U0W0 NNNN TTTT iiiiiiiiiiii", "STR", execLDRImm, option{unpredictable: badBase}},
	{"cccc 010P U0W1 NNNN TTTT iiiiiiiiiiii", "LDR", execLDRImm, option{flow: loadFlow, unpredictable: badBase}},
	{"cccc 010P U1W0 NNNN tttt iiiiiiiiiiii", "STRB", execLDRImm, option{unpredictable: badBase}},
	{"cccc 010P U1W1 NNNN tttt iiiiiiiiiiii", "LDRB", execLDRImm, option{unpredictable: badBase}},
	{"cccc 011P U0W0 NNNN TTTT iiiii kk 0 mmmm", "STR (register)", execLDRReg, option{unpredictable: badBase}},
	{"cccc 011P U0W1 NNNN TTTT iiiii kk 0 mmmm", "LDR (register)", execLDRReg, option{flow: loadFlow, unpredictable: badBase}},
	{"cccc 011P U1W0 NNNN tttt iiiii kk 0 mmmm", "STRB (register)", execLDRReg, option{unpredictable: badBase}},
	{"cccc 011P U1W1 NNNN tttt iiiii kk 0 mmmm", "LDRB (register)", execLDRReg, option{unpredictable: badBase}},

	{"cccc 0000 U110 nnnn tttt iiii 1011 iiii", "STRHT", execExtra(halfStore), option{unpredictable: sameBase}},
	{"cccc 0000 U111 nnnn tttt iiii 1011 iiii", "LDRHT", execExtra(halfLoad), option{unpredictable: sameBase}},
	{"cccc 0000 U111 nnnn tttt iiii 1101 iiii", "LDRSBT", execExtra(sbyteLoad), option{unpredictable: sameBase}},
	{"cccc 0000 U111 nnnn tttt iiii 1111 iiii", "LDRSHT", execExtra(shalfLoad), option{unpredictable: sameBase}},
	{"cccc 0000 U010 nnnn tttt zzzz 1011 mmmm", "STRHT (register)", execExtra(halfStore), option{unpredictable: sameBase}},
	{"cccc 0000 U011 nnnn tttt zzzz 1011 mmmm", "LDRHT (register)", execExtra(halfLoad), option{unpredictable: sameBase}},
	{"cccc 0000 U011 nnnn tttt zzzz 1101 mmmm", "LDRSBT (register)", execExtra(sbyteLoad), option{unpredictable: sameBase}},
	{"cccc 0000 U011 nnnn tttt zzzz 1111 mmmm", "LDRSHT (register)", execExtra(shalfLoad), option{unpredictable: sameBase}},
	{"cccc 000P U1W0 NNNN tttt iiii 1011 iiii", "STRH", execExtra(halfStore), option{unpredictable: badBase}},
	{"cccc 000P U1W1 NNNN tttt iiii 1011 iiii", "LDRH", execExtra(halfLoad), option{unpredictable: badBase}},
	{"cccc 000P U1W1 NNNN tttt iiii 1101 iiii", "LDRSB", execExtra(sbyteLoad), option{unpredictable: badBase}},
	{"cccc 000P U1W1 NNNN tttt iiii 1111 iiii", "LDRSH", execExtra(shalfLoad), option{unpredictable: badBase}},
	{"cccc 000P U0W0 NNNN tttt zzzz 1011 mmmm", "STRH (register)", execExtra(halfStore), option{unpredictable: badBase}},
	{"cccc 000P U0W1 NNNN tttt zzzz 1011 mmmm", "LDRH (register)", execExtra(halfLoad), option{unpredictable: badBase}},
	{"cccc 000P U0W1 NNNN tttt zzzz 1101 mmmm", "LDRSB (register)", execExtra(sbyteLoad), option{unpredictable: badBase}},
	{"cccc 000P U0W1 NNNN tttt zzzz 1111 mmmm", "LDRSH (register)", execExtra(shalfLoad), option{unpredictable: badBase}},
	{"cccc 000P U1W0 NNNN tttt iiii 1101 iiii", "LDRD", execDouble, option{unpredictable: badPair}},
	{"cccc 000P U1W0 NNNN tttt iiii 1111 iiii", "STRD", execDouble, option{unpredictable: badPair}},
	{"cccc 000P U0W0 NNNN tttt zzzz 1101 mmmm", "LDRD (register)", execDouble, option{unpredictable: badPairReg}},
	{"cccc 000P U0W0 NNNN tttt zzzz 1111 mmmm", "STRD (register)", execDouble, option{unpredictable: badPair}},

	{"cccc 100P U1.. .... ................", "LDM, STM (user registers)", nil, privileged},
	{"cccc 100P U0W0 nnnn llllllllllllllll", "STM", execSTMA32, option{unpredictable: badStoreBlock}},
	{"cccc 100P U0W1 nnnn llllllllllllllll", "LDM", execLDMA32, option{flow: blockFlow, unpredictable: badLoadBlock}},
}

// The rules for base registers. A write-back to r15 or to a transferred register has an unpredictable result.

func sameBase(w uint32) string {
	if field(w, 16, 4) == field(w, 12, 4) {
		return "write-back to the register transferred"
	}
	return ""
}

// writesBackA32 reports whether P and W change the base.
func writesBackA32(w uint32) bool { return !bit(w, 24) || bit(w, 21) }

func badBase(w uint32) string {
	switch {
	case !writesBackA32(w):
		return ""
	case field(w, 16, 4) == 15:
		return "write-back to r15"
	}
	return sameBase(w)
}

func badPair(w uint32) string {
	t, n := field(w, 12, 4), field(w, 16, 4)
	switch {
	case t&1 == 1 || t == 14:
		return "a pair of registers that begins with an odd one, or includes r15"
	case !bit(w, 24) && bit(w, 21):
		return "a doubleword access with W after the access"
	case writesBackA32(w) && n == t+1:
		return "write-back to the register transferred"
	}
	return badBase(w)
}

func badPairReg(w uint32) string {
	if field(w, 12, 4)&^1 == w&15&^1 {
		return "an offset in the register loaded"
	}
	return badPair(w)
}

func badLoadBlock(w uint32) string {
	switch {
	case w&0xffff == 0:
		return "no registers"
	case bit(w, 21) && bit(w, int(field(w, 16, 4))):
		return "write-back to the register transferred"
	}
	return ""
}

func badStoreBlock(w uint32) string {
	n := field(w, 16, 4)
	switch {
	case w&0xffff == 0:
		return "no registers"
	case bit(w, 21) && bit(w, int(n)) && w&(1<<n-1) != 0:
		return "write-back to a stored register that is not the lowest"
	}
	return ""
}

var (
	exclusive      = option{class: Exclusive}
	exclusiveStore = option{class: Exclusive, unpredictable: badExclusiveA32}
)

// badExclusiveA32 returns the reason to refuse a status register that is also the base or the register stored.
func badExclusiveA32(w uint32) string {
	d, t := field(w, 12, 4), w&15
	switch {
	case d == t || d == field(w, 16, 4):
		return "a status in a register that the instruction reads"
	case field(w, 21, 2) == 1 && (t&1 == 1 || t == 14 || d == t+1):
		return "a pair of registers that begins with an odd one, or includes r15"
	}
	return ""
}

func badExclusivePair(w uint32) string {
	if t := field(w, 12, 4); t&1 == 1 || t == 14 {
		return "a pair of registers that begins with an odd one, or includes r15"
	}
	return ""
}

// badSwap returns the reason to refuse SWP with the base among the other registers.
func badSwap(w uint32) string {
	if n := field(w, 16, 4); n == field(w, 12, 4) || n == w&15 {
		return "the base among the registers exchanged"
	}
	return ""
}

var exclusivePair = option{class: Exclusive, unpredictable: badExclusivePair}

var exclusiveA32 = []line{
	{"cccc 0001 0B00 nnnn tttt zzzz 1001 mmmm", "SWP", execSWP, option{class: Swap, unpredictable: badSwap}},
	{"cccc 0001 1000 nnnn dddd oo11 1001 tttt", "STREX", execSTREXA32, exclusiveStore},
	{"cccc 0001 1010 nnnn dddd oo11 1001 tttt", "STREXD", execSTREXA32, exclusiveStore},
	{"cccc 0001 1100 nnnn dddd oo11 1001 tttt", "STREXB", execSTREXA32, exclusiveStore},
	{"cccc 0001 1110 nnnn dddd oo11 1001 tttt", "STREXH", execSTREXA32, exclusiveStore},
	{"cccc 0001 1001 nnnn tttt oo11 1001 oooo", "LDREX", execLDREXA32(4), exclusive},
	{"cccc 0001 1011 nnnn tttt oo11 1001 oooo", "LDREXD", execLDREXA32(8), exclusivePair},
	{"cccc 0001 1101 nnnn tttt oo11 1001 oooo", "LDREXB", execLDREXA32(1), exclusive},
	{"cccc 0001 1111 nnnn tttt oo11 1001 oooo", "LDREXH", execLDREXA32(2), exclusive},
	{"cccc 0001 1000 nnnn dddd oo10 1001 tttt", "STLEX", execSTREXA32, exclusiveStore},
	{"cccc 0001 1010 nnnn dddd oo10 1001 tttt", "STLEXD", execSTREXA32, exclusiveStore},
	{"cccc 0001 1100 nnnn dddd oo10 1001 tttt", "STLEXB", execSTREXA32, exclusiveStore},
	{"cccc 0001 1110 nnnn dddd oo10 1001 tttt", "STLEXH", execSTREXA32, exclusiveStore},
	{"cccc 0001 1001 nnnn tttt oo10 1001 oooo", "LDAEX", execLDREXA32(4), exclusive},
	{"cccc 0001 1011 nnnn tttt oo10 1001 oooo", "LDAEXD", execLDREXA32(8), exclusivePair},
	{"cccc 0001 1101 nnnn tttt oo10 1001 oooo", "LDAEXB", execLDREXA32(1), exclusive},
	{"cccc 0001 1111 nnnn tttt oo10 1001 oooo", "LDAEXH", execLDREXA32(2), exclusive},
	{"cccc 0001 1000 nnnn oooo oo00 1001 tttt", "STL", execSTLA32(4), option{}},
	{"cccc 0001 1100 nnnn oooo oo00 1001 tttt", "STLB", execSTLA32(1), option{}},
	{"cccc 0001 1110 nnnn oooo oo00 1001 tttt", "STLH", execSTLA32(2), option{}},
	{"cccc 0001 1001 nnnn tttt oo00 1001 oooo", "LDA", execLDAA32(4), option{}},
	{"cccc 0001 1101 nnnn tttt oo00 1001 oooo", "LDAB", execLDAA32(1), option{}},
	{"cccc 0001 1111 nnnn tttt oo00 1001 oooo", "LDAH", execLDAA32(2), option{}},
}

// flowA32 has branches, the system call, and coprocessors: the thread pointer, the barriers of ARMv6, and all
// others, which are refused.
var flowA32 = []line{
	{"cccc 1010 iiiiiiiiiiiiiiiiiiiiiiii", "B", execBA32, option{flow: jumpFlow}},
	{"cccc 1011 iiiiiiiiiiiiiiiiiiiiiiii", "BL", execBLA32, option{control: arch.Call}},
	{"cccc 1111 iiiiiiiiiiiiiiiiiiiiiiii", "SVC", execSVC, option{class: SystemCall, control: arch.Syscall}},
	{"cccc 1110 0001 1101 tttt 1111 0111 0000", "MRC (thread pointer)", execThreadPointer, option{class: SystemRegister}},
	{"cccc 1110 0000 0111 tttt 1111 1011 1010", "MCR (DMB)", execNOP, option{}},
	{"cccc 1110 0000 0111 tttt 1111 1001 1010", "MCR (DSB)", execNOP, option{}},
	{"cccc 1110 0000 0111 tttt 1111 1001 0101", "MCR (ISB)", execNOP, option{}},
	{"cccc 1110 .... .... .... .... .... ....", "CDP, MCR, MRC", nil, coprocessor},
	{"cccc 1100 010. .... .... .... .... ....", "MCRR, MRRC", nil, coprocessor},
	{"cccc 110x xxxx .... .... .... .... ....", "LDC, STC", nil, coprocessor},
}

var alwaysA32 = []line{
	{"1111 0001 0000 .... .... .... 0000 ....", "SETEND", nil, endian},
	{"1111 0001 0000 .... .... .... ..0. ....", "CPS", nil, privileged},
	{"1111 0001 0001 .... .... .... 0000 ....", "SETPAN", nil, privileged},
	{"1111 0100 U101 NNNN oooo iiiiiiiiiiii", "PLI", execNOP, option{}},
	{"1111 0101 U101 NNNN oooo iiiiiiiiiiii", "PLD", execNOP, option{}},
	{"1111 0101 U001 nnnn oooo iiiiiiiiiiii", "PLDW", execNOP, option{}},
	{"1111 0110 U101 NNNN oooo iiiii tt 0 mmmm", "PLI (register)", execNOP, option{}},
	{"1111 0111 U101 NNNN oooo iiiii tt 0 mmmm", "PLD (register)", execNOP, option{}},
	{"1111 0111 U001 nnnn oooo iiiii tt 0 mmmm", "PLDW (register)", execNOP, option{}},
	{"1111 0100 x001 .... .... .... .... ....", "memory hint", execNOP, option{}},
	{"1111 0110 x001 .... .... .... ...0 ....", "memory hint (register)", execNOP, option{}},
	{"1111 0101 0111 oooo oooo zzzz 0001 oooo", "CLREX", execNOP, option{}},
	{"1111 0101 0111 oooo oooo zzzz 0100 bbbb", "DSB", execNOP, option{}},
	{"1111 0101 0111 oooo oooo zzzz 0101 bbbb", "DMB", execNOP, option{}},
	{"1111 0101 0111 oooo oooo zzzz 0110 bbbb", "ISB", execNOP, option{}},
	{"1111 0101 0111 oooo oooo zzzz 0111 zzzz", "SB", execNOP, option{}},
	{"1111 100P U1W0 .... .... .... .... ....", "SRS", nil, privileged},
	{"1111 100P U0W1 .... .... .... .... ....", "RFE", nil, option{class: Privileged, control: arch.Return}},
	{"1111 101H iiiiiiiiiiiiiiiiiiiiiiii", "BLX (immediate)", execBLXA32, option{control: arch.Call}},
	{"1111 110x xxxx .... .... .... .... ....", "LDC2, STC2", nil, coprocessor},
	{"1111 1110 .... .... .... .... .... ....", "CDP2, MCR2, MRC2", nil, coprocessor},
}
