package arm

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"sync"

	"gotap/arch"
)

// thumb32 is the index of the 32-bit instructions of Thumb.
var thumb32 = sync.OnceValue(func() *index {
	return indexOf(rowsOf(dataT32(), without13("ndm", plainT32), addressT32, without13("nNdm", registerT32), crcT32,
		without13("ndm", parallelT32()), without13("ndma", multiplyT32), pairT32, loadT32(), controlT32), 20)
})

// operationsT32 are the data-processing operations of Thumb by number. With r15 as the result and flags set, some
// are comparisons; with r15 as the first operand, some are moves.
var operationsT32 = []struct {
	number  uint32
	name    string
	op      uint32
	compare string
	opNoD   uint32
	move    string
	opNoN   uint32
}{
	{0, "AND", opAND, "TST", opTST, "", 0},
	{1, "BIC", opBIC, "", 0, "", 0},
	{2, "ORR", opORR, "", 0, "MOV", opMOV},
	{3, "ORN", opORN, "", 0, "MVN", opMVN},
	{4, "EOR", opEOR, "TEQ", opTEQ, "", 0},
	{8, "ADD", opADD, "CMN", opCMN, "", 0},
	{10, "ADC", opADC, "", 0, "", 0},
	{11, "SBC", opSBC, "", 0, "", 0},
	{13, "SUB", opSUB, "CMP", opCMP, "", 0},
	{14, "RSB", opRSB, "", 0, "", 0},
}

// dataT32 returns these operations with a modified immediate and with a shifted register.
func dataT32() (out []line) {
	add := func(name string, op, number uint32, s, n, d string) {
		immediate, register := stackRules(op)
		out = append(out,
			line{fmt.Sprintf("11110i 0 %04b %s %s 0 iii %s iiiiiiii", number, s, n, d), name + " (immediate)", execImmT32(op), immediate},
			line{fmt.Sprintf("1110101 %04b %s %s z iii %s iikk mmmm", number, s, n, d), name + " (register)", execRegT32(op), register})
	}
	for _, o := range operationsT32 {
		if o.compare != "" {
			add(o.compare, o.opNoD, o.number, "1", "nnnn", "1111")
		}
		if o.move != "" {
			add(o.move, o.opNoN, o.number, "S", "1111", "dddd")
		}
		add(o.name, o.op, o.number, "S", "nnnn", "dddd")
	}
	return out
}

// stackRules returns the register fields in which the two forms of an operation may name r13.
func stackRules(op uint32) (immediate, register option) {
	immediate, register = option{not13: "nd", unpredictable: zeroPattern}, option{not13: "ndm"}
	switch op {
	case opCMP, opCMN:
		immediate.not13, register.not13 = "", "m"
	case opADD, opSUB:
		immediate.not13, register.not13 = "", "m"
		immediate.unpredictable = func(w uint32) string { return cmp.Or(zeroPattern(w), badStackT32(w)) }
		register.unpredictable = badShiftedStackT32
	case opMOV:
		register.not13, register.unpredictable = "", badStackMove
	}
	return immediate, register
}

var (
	wideT32   = option{unpredictable: wideFieldT32}
	emptyT32  = option{unpredictable: emptyFieldT32}
	longT32   = option{unpredictable: oneLongT32}
	twiceT32  = option{unpredictable: sameTwice}
	doubleT32 = option{not13: "ta", unpredictable: badDoubleT32}
)

var plainT32 = []line{
	{"11110i 100100 iiii 0 iii dddd iiiiiiii", "MOVW", execMOVWT32, option{}},
	{"11110i 101100 iiii 0 iii dddd iiiiiiii", "MOVT", execMOVTT32, option{}},
	{"11110z 110010 nnnn 0 000 dddd 00zz iiii", "SSAT16", execSAT16T32, option{}},
	{"11110z 111010 nnnn 0 000 dddd 00zz iiii", "USAT16", execSAT16T32, option{}},
	{"11110z 1100r0 nnnn 0 iii dddd iiz iiiii", "SSAT", execSATT32, option{}},
	{"11110z 1110r0 nnnn 0 iii dddd iiz iiiii", "USAT", execSATT32, option{}},
	{"11110z 110100 nnnn 0 iii dddd iiz wwwww", "SBFX", execBFXT32, wideT32},
	{"11110z 111100 nnnn 0 iii dddd iiz wwwww", "UBFX", execBFXT32, wideT32},
	{"11110z 110110 1111 0 iii dddd iiz wwwww", "BFC", execBFIT32, emptyT32},
	{"11110z 110110 nnnn 0 iii dddd iiz wwwww", "BFI", execBFIT32, emptyT32},
	{"1110101 01100 nnnn z iii dddd ii00 mmmm", "PKHBT", execPKHT32, option{}},
	{"1110101 01100 nnnn z iii dddd ii10 mmmm", "PKHTB", execPKHT32, option{}},
}

// addressT32 holds sums without flags. A sum of r13 may go to r13, and a sum of r15 is ADR.
var addressT32 = []line{
	{"11110i 100000 NNNN 0 iii dddd iiiiiiii", "ADDW", execADDW, option{unpredictable: badStackT32}},
	{"11110i 101010 NNNN 0 iii dddd iiiiiiii", "SUBW", execADDW, option{unpredictable: badStackT32}},
}

var registerT32 = []line{
	{"11111010 0kkS nnnn 1111 dddd 0000 mmmm", "LSL, LSR, ASR, ROR", execShiftT32, option{}},
	{"11111010 0000 NNNN 1111 dddd 1zrr mmmm", "SXTAH", regT32(sxth), option{}},
	{"11111010 0001 NNNN 1111 dddd 1zrr mmmm", "UXTAH", regT32(uxth), option{}},
	{"11111010 0010 NNNN 1111 dddd 1zrr mmmm", "SXTAB16", regT32(sxtb16), option{}},
	{"11111010 0011 NNNN 1111 dddd 1zrr mmmm", "UXTAB16", regT32(uxtb16), option{}},
	{"11111010 0100 NNNN 1111 dddd 1zrr mmmm", "SXTAB", regT32(sxtb), option{}},
	{"11111010 0101 NNNN 1111 dddd 1zrr mmmm", "UXTAB", regT32(uxtb), option{}},
	{"11111010 1000 nnnn 1111 dddd 1000 mmmm", "QADD", regT32(qadd(plain)), option{}},
	{"11111010 1000 nnnn 1111 dddd 1001 mmmm", "QDADD", regT32(qadd(doubling)), option{}},
	{"11111010 1000 nnnn 1111 dddd 1010 mmmm", "QSUB", regT32(qadd(subtracting)), option{}},
	{"11111010 1000 nnnn 1111 dddd 1011 mmmm", "QDSUB", regT32(qadd(doubling | subtracting)), option{}},
	{"11111010 1001 nnnn 1111 dddd 1000 mmmm", "REV", regT32(rev), twiceT32},
	{"11111010 1001 nnnn 1111 dddd 1001 mmmm", "REV16", regT32(rev16), twiceT32},
	{"11111010 1001 nnnn 1111 dddd 1010 mmmm", "RBIT", regT32(rbit), twiceT32},
	{"11111010 1001 nnnn 1111 dddd 1011 mmmm", "REVSH", regT32(revsh), twiceT32},
	{"11111010 1010 nnnn 1111 dddd 1000 mmmm", "SEL", regT32(sel), option{}},
	{"11111010 1011 nnnn 1111 dddd 1000 mmmm", "CLZ", regT32(clz), twiceT32},
}

// crcT32 holds instructions of Armv8, in which r13 may be an operand.
var crcT32 = []line{
	{"11111010 1100 nnnn 1111 dddd 1000 mmmm", "CRC32B", regT32(checksum(crc32.IEEETable, 1)), outsideIT},
	{"11111010 1100 nnnn 1111 dddd 1001 mmmm", "CRC32H", regT32(checksum(crc32.IEEETable, 2)), outsideIT},
	{"11111010 1100 nnnn 1111 dddd 1010 mmmm", "CRC32W", regT32(checksum(crc32.IEEETable, 4)), outsideIT},
	{"11111010 1101 nnnn 1111 dddd 1000 mmmm", "CRC32CB", regT32(checksum(castagnoli, 1)), outsideIT},
	{"11111010 1101 nnnn 1111 dddd 1001 mmmm", "CRC32CH", regT32(checksum(castagnoli, 2)), outsideIT},
	{"11111010 1101 nnnn 1111 dddd 1010 mmmm", "CRC32CW", regT32(checksum(castagnoli, 4)), outsideIT},
}

func parallelT32() (out []line) {
	eachParallel(func(name string, p parallel, unsigned, kind int, _, number uint32) {
		picture := fmt.Sprintf("11111010 1%03b nnnn 1111 dddd 0%b%02b mmmm", number, unsigned, kind)
		out = append(out, line{picture, name, regT32(p.operation()), option{}})
	})
	return out
}

var multiplyT32 = []line{
	{"11111011 0000 nnnn 1111 dddd 0000 mmmm", "MUL", regT32(mul), option{}},
	{"11111011 0000 nnnn aaaa dddd 0000 mmmm", "MLA", regT32(mla), option{}},
	{"11111011 0000 nnnn aaaa dddd 0001 mmmm", "MLS", regT32(mls), option{}},
	{"11111011 0001 nnnn 1111 dddd 0000 mmmm", "SMULBB", regT32(smulHalf(0, 0)), option{}},
	{"11111011 0001 nnnn 1111 dddd 0001 mmmm", "SMULBT", regT32(smulHalf(0, 1)), option{}},
	{"11111011 0001 nnnn 1111 dddd 0010 mmmm", "SMULTB", regT32(smulHalf(1, 0)), option{}},
	{"11111011 0001 nnnn 1111 dddd 0011 mmmm", "SMULTT", regT32(smulHalf(1, 1)), option{}},
	{"11111011 0001 nnnn aaaa dddd 0000 mmmm", "SMLABB", regT32(smlaHalf(0, 0)), option{}},
	{"11111011 0001 nnnn aaaa dddd 0001 mmmm", "SMLABT", regT32(smlaHalf(0, 1)), option{}},
	{"11111011 0001 nnnn aaaa dddd 0010 mmmm", "SMLATB", regT32(smlaHalf(1, 0)), option{}},
	{"11111011 0001 nnnn aaaa dddd 0011 mmmm", "SMLATT", regT32(smlaHalf(1, 1)), option{}},
	{"11111011 0010 nnnn 1111 dddd 0000 mmmm", "SMUAD", regT32(dualMul(plain)), option{}},
	{"11111011 0010 nnnn 1111 dddd 0001 mmmm", "SMUADX", regT32(dualMul(crossed)), option{}},
	{"11111011 0010 nnnn aaaa dddd 0000 mmmm", "SMLAD", regT32(dualMul(accumulating)), option{}},
	{"11111011 0010 nnnn aaaa dddd 0001 mmmm", "SMLADX", regT32(dualMul(crossed | accumulating)), option{}},
	{"11111011 0011 nnnn 1111 dddd 0000 mmmm", "SMULWB", regT32(smulw(0)), option{}},
	{"11111011 0011 nnnn 1111 dddd 0001 mmmm", "SMULWT", regT32(smulw(1)), option{}},
	{"11111011 0011 nnnn aaaa dddd 0000 mmmm", "SMLAWB", regT32(smlaw(0)), option{}},
	{"11111011 0011 nnnn aaaa dddd 0001 mmmm", "SMLAWT", regT32(smlaw(1)), option{}},
	{"11111011 0100 nnnn 1111 dddd 0000 mmmm", "SMUSD", regT32(dualMul(subtracting)), option{}},
	{"11111011 0100 nnnn 1111 dddd 0001 mmmm", "SMUSDX", regT32(dualMul(crossed | subtracting)), option{}},
	{"11111011 0100 nnnn aaaa dddd 0000 mmmm", "SMLSD", regT32(dualMul(subtracting | accumulating)), option{}},
	{"11111011 0100 nnnn aaaa dddd 0001 mmmm", "SMLSDX", regT32(dualMul(crossed | subtracting | accumulating)), option{}},
	{"11111011 0101 nnnn 1111 dddd 0000 mmmm", "SMMUL", regT32(smmul(0)), option{}},
	{"11111011 0101 nnnn 1111 dddd 0001 mmmm", "SMMULR", regT32(smmul(1)), option{}},
	{"11111011 0101 nnnn aaaa dddd 0000 mmmm", "SMMLA", regT32(smmla(0)), option{}},
	{"11111011 0101 nnnn aaaa dddd 0001 mmmm", "SMMLAR", regT32(smmla(1)), option{}},
	{"11111011 0110 nnnn aaaa dddd 0000 mmmm", "SMMLS", regT32(smmls(0)), option{}},
	{"11111011 0110 nnnn aaaa dddd 0001 mmmm", "SMMLSR", regT32(smmls(1)), option{}},
	{"11111011 0111 nnnn 1111 dddd 0000 mmmm", "USAD8", regT32(usad8), option{}},
	{"11111011 0111 nnnn aaaa dddd 0000 mmmm", "USADA8", regT32(usada8), option{}},
	{"11111011 1000 nnnn aaaa dddd 0000 mmmm", "SMULL", regT32(smull), longT32},
	{"11111011 1001 nnnn oooo dddd 1111 mmmm", "SDIV", regT32(sdiv), option{}},
	{"11111011 1010 nnnn aaaa dddd 0000 mmmm", "UMULL", regT32(umull), longT32},
	{"11111011 1011 nnnn oooo dddd 1111 mmmm", "UDIV", regT32(udiv), option{}},
	{"11111011 1100 nnnn aaaa dddd 0000 mmmm", "SMLAL", regT32(smlal), longT32},
	{"11111011 1100 nnnn aaaa dddd 1000 mmmm", "SMLALBB", regT32(smlalHalf(0, 0)), longT32},
	{"11111011 1100 nnnn aaaa dddd 1001 mmmm", "SMLALBT", regT32(smlalHalf(0, 1)), longT32},
	{"11111011 1100 nnnn aaaa dddd 1010 mmmm", "SMLALTB", regT32(smlalHalf(1, 0)), longT32},
	{"11111011 1100 nnnn aaaa dddd 1011 mmmm", "SMLALTT", regT32(smlalHalf(1, 1)), longT32},
	{"11111011 1100 nnnn aaaa dddd 1100 mmmm", "SMLALD", regT32(dualLong(plain)), longT32},
	{"11111011 1100 nnnn aaaa dddd 1101 mmmm", "SMLALDX", regT32(dualLong(crossed)), longT32},
	{"11111011 1101 nnnn aaaa dddd 1100 mmmm", "SMLSLD", regT32(dualLong(subtracting)), longT32},
	{"11111011 1101 nnnn aaaa dddd 1101 mmmm", "SMLSLDX", regT32(dualLong(crossed | subtracting)), longT32},
	{"11111011 1110 nnnn aaaa dddd 0000 mmmm", "UMLAL", regT32(umlal), longT32},
	{"11111011 1110 nnnn aaaa dddd 0110 mmmm", "UMAAL", regT32(umaal), longT32},
}

// pairT32 holds transfers of several registers, exclusives and ordered accesses, and branches by a table.
var pairT32 = []line{
	{"1110 1000 0100 nnnn tttt dddd iiiiiiii", "STREX", execSTREXWord, option{class: Exclusive, unpredictable: badSTREXWord}},
	{"1110 1000 0101 nnnn tttt oooo iiiiiiii", "LDREX", execLDREXWord, exclusive},
	{"1110 1000 1100 nnnn tttt oooo 0100 dddd", "STREXB", execSTREXT32, option{class: Exclusive, unpredictable: badSTREXT32}},
	{"1110 1000 1100 nnnn tttt oooo 0101 dddd", "STREXH", execSTREXT32, option{class: Exclusive, unpredictable: badSTREXT32}},
	{"1110 1000 1100 nnnn tttt aaaa 0111 dddd", "STREXD", execSTREXT32, option{class: Exclusive, unpredictable: badSTREXDT32}},
	{"1110 1000 1101 nnnn tttt oooo 0100 oooo", "LDREXB", execLDREXT32(1), exclusive},
	{"1110 1000 1101 nnnn tttt oooo 0101 oooo", "LDREXH", execLDREXT32(2), exclusive},
	{"1110 1000 1101 nnnn tttt aaaa 0111 oooo", "LDREXD", execLDREXT32(8), option{class: Exclusive, unpredictable: badLDREXDT32}},
	{"1110 1000 1100 nnnn tttt oooo 1100 dddd", "STLEXB", execSTREXT32, option{class: Exclusive, unpredictable: badSTREXT32}},
	{"1110 1000 1100 nnnn tttt oooo 1101 dddd", "STLEXH", execSTREXT32, option{class: Exclusive, unpredictable: badSTREXT32}},
	{"1110 1000 1100 nnnn tttt oooo 1110 dddd", "STLEX", execSTREXT32, option{class: Exclusive, unpredictable: badSTREXT32}},
	{"1110 1000 1100 nnnn tttt aaaa 1111 dddd", "STLEXD", execSTREXT32, option{class: Exclusive, unpredictable: badSTREXDT32}},
	{"1110 1000 1101 nnnn tttt oooo 1100 oooo", "LDAEXB", execLDREXT32(1), exclusive},
	{"1110 1000 1101 nnnn tttt oooo 1101 oooo", "LDAEXH", execLDREXT32(2), exclusive},
	{"1110 1000 1101 nnnn tttt oooo 1110 oooo", "LDAEX", execLDREXT32(4), exclusive},
	{"1110 1000 1101 nnnn tttt aaaa 1111 oooo", "LDAEXD", execLDREXT32(8), option{class: Exclusive, unpredictable: badLDREXDT32}},
	{"1110 1000 1100 nnnn tttt oooo 1000 oooo", "STLB", execOrderedT32(byteStore), option{}},
	{"1110 1000 1100 nnnn tttt oooo 1001 oooo", "STLH", execOrderedT32(halfStore), option{}},
	{"1110 1000 1100 nnnn tttt oooo 1010 oooo", "STL", execOrderedT32(wordStore), option{}},
	{"1110 1000 1101 nnnn tttt oooo 1000 oooo", "LDAB", execOrderedT32(byteLoad), option{}},
	{"1110 1000 1101 nnnn tttt oooo 1001 oooo", "LDAH", execOrderedT32(halfLoad), option{}},
	{"1110 1000 1101 nnnn tttt oooo 1010 oooo", "LDA", execOrderedT32(wordLoad), option{}},
	{"1110 1000 1101 NNNN oooo zzzz 000H mmmm", "TBB, TBH", execTB, option{control: arch.IndirJump, not13: "Nm"}},
	{"1110 1000 U110 NNNN tttt aaaa iiiiiiii", "STRD (post-indexed)", execDoubleT32, doubleT32},
	{"1110 1000 U111 NNNN tttt aaaa iiiiiiii", "LDRD (post-indexed)", execDoubleT32, doubleT32},
	{"1110 1001 U1W0 NNNN tttt aaaa iiiiiiii", "STRD", execDoubleT32, doubleT32},
	{"1110 1001 U1W1 NNNN tttt aaaa iiiiiiii", "LDRD", execDoubleT32, doubleT32},
	{"1110 1000 10W0 nnnn ll z lllllllllllll", "STM", execSTMT32, option{unpredictable: badBlockT32}},
	{"1110 1001 00W0 nnnn ll z lllllllllllll", "STMDB", execSTMT32, option{unpredictable: badBlockT32}},
	{"1110 1000 10W1 nnnn ll z lllllllllllll", "LDM", execLDMT32, option{flow: blockFlow, unpredictable: badBlockT32}},
	{"1110 1001 00W1 nnnn ll z lllllllllllll", "LDMDB", execLDMT32, option{flow: blockFlow, unpredictable: badBlockT32}},
	{"1110 1000 00W0 .... .... .... .... ....", "SRS", nil, privileged},
	{"1110 1001 10W0 .... .... .... .... ....", "SRS", nil, privileged},
	{"1110 1000 00W1 .... .... .... .... ....", "RFE", nil, option{class: Privileged, control: arch.Return}},
	{"1110 1001 10W1 .... .... .... .... ....", "RFE", nil, option{class: Privileged, control: arch.Return}},
}

// accessesT32 are the accesses of one register, with the number of their size and sign.
var accessesT32 = []struct {
	name   string
	signed uint32
	size   uint32
	load   uint32
	k      access
	t      string // r15 may only be loaded from words; other encodings with it are hints
}{
	{"STRB", 0, 0, 0, byteStore, "tttt"},
	{"STRH", 0, 1, 0, halfStore, "tttt"},
	{"STR", 0, 2, 0, wordStore, "tttt"},
	{"LDRB", 0, 0, 1, byteLoad, "tttt"},
	{"LDRH", 0, 1, 1, halfLoad, "tttt"},
	{"LDR", 0, 2, 1, wordLoad, "TTTT"},
	{"LDRSB", 1, 0, 1, sbyteLoad, "tttt"},
	{"LDRSH", 1, 1, 1, shalfLoad, "tttt"},
}

// loadT32 returns the accesses of one register. Hints come first, then literals, whose base is r15, then those with
// other bases.
func loadT32() []line {
	out := append([]line{}, hintLoadsT32...)
	for _, a := range accessesT32 {
		narrow := "t" // r13 must not be a byte or halfword
		if a.size == 2 {
			narrow = ""
		}
		if a.load == 1 {
			out = append(out, line{fmt.Sprintf("1111100%b U%02b1 1111 %s iiiiiiiiiiii", a.signed, a.size, a.t), a.name + " (literal)", execLiteralT32(a.k), option{flow: wordFlow(a.k), not13: narrow}})
		} else {
			out = append(out, line{fmt.Sprintf("1111100%b U%02b0 1111 .... ............", a.signed, a.size), "undefined", nil, option{class: hole}})
		}
		forms := func(high, low, t, name string, f exec, o option) {
			out = append(out, line{fmt.Sprintf("1111100%b %s%02b%b nnnn %s %s", a.signed, high, a.size, a.load, t, low), a.name + name, f, o})
		}
		forms("1", "iiiiiiiiiiii", a.t, "", execLongOffset(a.k), option{flow: wordFlow(a.k), not13: narrow})
		forms("0", "1110 iiiiiiii", "tttt", "T", execShortOffset(a.k), option{not13: "t"})
		forms("0", "1PU1 iiiiiiii", a.t, " (write-back)", execShortOffset(a.k), option{flow: wordFlow(a.k), not13: narrow, unpredictable: badShort})
		forms("0", "1100 iiiiiiii", a.t, " (negative offset)", execShortOffset(a.k), option{flow: wordFlow(a.k), not13: narrow})
		forms("0", "000000 ii mmmm", a.t, " (register)", execRegOffset(a.k), option{flow: wordFlow(a.k), not13: narrow + "m"})
	}
	return out
}

// hintLoadsT32 are loads of bytes and halfwords into r15: preloads, and unallocated hints without effect.
var hintLoadsT32 = []line{
	{"1111100 s x0h1 1111 1111 iiiiiiiiiiii", "PLD, PLI (literal)", execNOP, option{}},
	{"1111100 s 10h1 nnnn 1111 iiiiiiiiiiii", "PLD, PLI", execNOP, option{}},
	{"1111100 s 00h1 nnnn 1111 1100 iiiiiiii", "PLD, PLI (negative offset)", execNOP, option{}},
	{"1111100 s 00h1 nnnn 1111 000000 ii mmmm", "PLD, PLI (register)", execNOP, option{not13: "m"}},
}

var controlT32 = []line{
	{"11110 0 1110 0 0 nnnn 10z0 ffff zz0z zzzz", "MSR", execMSRT32, option{not13: "n", unpredictable: noFieldsT32}},
	{"11110 0 1110 0 1 .... 10.0 .... .... ....", "MSR (SPSR)", nil, privileged},
	{"11110 0 1110 0 x .... 10.0 .... ..1. ....", "MSR (banked)", nil, privileged},
	{"11110 0 1111 1 0 oooo 10z0 dddd zz0z zzzz", "MRS", execMRST32, option{not13: "d"}},
	{"11110 0 1111 1 1 .... 10.0 .... .... ....", "MRS (SPSR)", nil, privileged},
	{"11110 0 1111 1 x .... 10.0 .... ..1. ....", "MRS (banked)", nil, privileged},
	{"11110 0 1110 10 oooo 10z0 z000 hhhhhhhh", "hint", execNOP, option{}},
	{"11110 0 1110 10 .... 10.0 .... .... ....", "CPS", nil, privileged},
	{"11110 0 1110 11 oooo 10z0 oooo 0010 oooo", "CLREX", execNOP, option{}},
	{"11110 0 1110 11 oooo 10z0 oooo 0100 bbbb", "DSB", execNOP, option{}},
	{"11110 0 1110 11 oooo 10z0 oooo 0101 bbbb", "DMB", execNOP, option{}},
	{"11110 0 1110 11 oooo 10z0 oooo 0110 bbbb", "ISB", execNOP, option{}},
	{"11110 0 1110 11 oooo 10z0 oooo 0111 zzzz", "SB", execNOP, option{}},
	{"11110 0 1111 00 mmmm 10z0 oooo zzzz zzzz", "BXJ", execBXJT32, option{flow: exchangeFlow32, not13: "m"}},
	{"11110 0 1111 01 .... 10.0 .... .... ....", "SUBS PC, LR", nil, option{class: Privileged, control: arch.Return}},
	{"11110 1 1110 00 .... 1000 .... .... ....", "DCPS", nil, privileged},
	{"11110 1 1111 10 .... 1000 .... .... ....", "HVC", nil, privileged},
	{"11110 1 1111 11 .... 1000 .... .... ....", "SMC", nil, privileged},
	{"11110 1 1111 11 .... 1010 .... .... ....", "UDF", nil, trap},
	{"11110 s 0ccc iiiiii 10 i 0 i iiiiiiiiiii", "B (conditional)", execBCondT32, option{control: arch.CondJump, notInIT: true}},
	{"11110 s 10cc iiiiii 10 i 0 i iiiiiiiiiii", "B (conditional)", execBCondT32, option{control: arch.CondJump, notInIT: true}},
	{"11110 s 110c iiiiii 10 i 0 i iiiiiiiiiii", "B (conditional)", execBCondT32, option{control: arch.CondJump, notInIT: true}},
	{"11110 s iiiiiiiiii 10 i 1 i iiiiiiiiiii", "B", execBT32, option{control: arch.Jump}},
	{"11110 s iiiiiiiiii 11 i 1 i iiiiiiiiiii", "BL", execBLT32, option{control: arch.Call}},
	{"11110 s iiiiiiiiii 11 i 0 i iiiiiiiiii0", "BLX (immediate)", execBLXT32, option{control: arch.Call}},
	{"1110 1110 0001 1101 tttt 1111 0111 0000", "MRC (thread pointer)", execThreadPointer, option{class: SystemRegister, not13: "t"}},
	{"1110 1110 0000 0111 tttt 1111 1011 1010", "MCR (DMB)", execNOP, option{}},
	{"1110 1110 0000 0111 tttt 1111 1001 1010", "MCR (DSB)", execNOP, option{}},
	{"1110 1110 0000 0111 tttt 1111 1001 0101", "MCR (ISB)", execNOP, option{}},
	{"111u 1110 .... .... .... .... .... ....", "CDP, MCR, MRC", nil, coprocessor},
	{"111u 1100 010. .... .... .... .... ....", "MCRR, MRRC", nil, coprocessor},
	{"111u 110x xxxx .... .... .... .... ....", "LDC, STC", nil, coprocessor},
}
