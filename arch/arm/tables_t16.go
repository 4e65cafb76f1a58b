package arm

import (
	"sync"

	"gotap/arch"
)

// thumb16 is the index of the 16-bit instructions of Thumb.
var thumb16 = sync.OnceValue(func() *index { return indexOf(rowsOf(dataT16, loadT16, miscT16), 8) })

var dataT16 = []line{
	{"000 00 iiiii mmm ddd", "LSL (immediate)", execShiftT16, option{}},
	{"000 01 iiiii mmm ddd", "LSR (immediate)", execShiftT16, option{}},
	{"000 10 iiiii mmm ddd", "ASR (immediate)", execShiftT16, option{}},
	{"000 1100 mmm nnn ddd", "ADD (register)", execAdd3, option{}},
	{"000 1101 mmm nnn ddd", "SUB (register)", execAdd3, option{}},
	{"000 1110 iii nnn ddd", "ADD (3-bit immediate)", execAdd3, option{}},
	{"000 1111 iii nnn ddd", "SUB (3-bit immediate)", execAdd3, option{}},
	{"001 00 ddd iiiiiiii", "MOV (immediate)", execImm8(opMOV), option{}},
	{"001 01 nnn iiiiiiii", "CMP (immediate)", execImm8(opCMP), option{}},
	{"001 10 ddd iiiiiiii", "ADD (8-bit immediate)", execImm8(opADD), option{}},
	{"001 11 ddd iiiiiiii", "SUB (8-bit immediate)", execImm8(opSUB), option{}},
	{"010000 0000 mmm ddd", "AND", execData16(opAND), option{}},
	{"010000 0001 mmm ddd", "EOR", execData16(opEOR), option{}},
	{"010000 0010 mmm ddd", "LSL", execShiftReg16(lsl), option{}},
	{"010000 0011 mmm ddd", "LSR", execShiftReg16(lsr), option{}},
	{"010000 0100 mmm ddd", "ASR", execShiftReg16(asr), option{}},
	{"010000 0101 mmm ddd", "ADC", execData16(opADC), option{}},
	{"010000 0110 mmm ddd", "SBC", execData16(opSBC), option{}},
	{"010000 0111 mmm ddd", "ROR", execShiftReg16(ror), option{}},
	{"010000 1000 mmm nnn", "TST", execData16(opTST), option{}},
	{"010000 1001 nnn ddd", "RSB", execRSB16, option{}},
	{"010000 1010 mmm nnn", "CMP", execData16(opCMP), option{}},
	{"010000 1011 mmm nnn", "CMN", execData16(opCMN), option{}},
	{"010000 1100 mmm ddd", "ORR", execData16(opORR), option{}},
	{"010000 1101 nnn ddd", "MUL", execMUL16, option{}},
	{"010000 1110 mmm ddd", "BIC", execData16(opBIC), option{}},
	{"010000 1111 mmm ddd", "MVN", execData16(opMVN), option{}},
	{"010001 00 D MMMM DDD", "ADD (high registers)", execHigh(opADD), option{flow: highFlow, unpredictable: badHighPair}},
	{"010001 01 N MMMM NNN", "CMP (high registers)", execHigh(opCMP), option{unpredictable: badCompare}},
	{"010001 10 D MMMM DDD", "MOV (register)", execHigh(opMOV), option{flow: highFlow}},
	{"010001 110 MMMM zzz", "BX", execBXT16, option{flow: exchangeFlow16}},
	{"010001 111 MMMM zzz", "BLX", execBLXT16, option{control: arch.IndirCall, unpredictable: badCallee}},
	{"10100 ddd iiiiiiii", "ADR", execADR16, option{}},
	{"10101 ddd iiiiiiii", "ADD (SP)", execAddSP16, option{}},
}

var (
	wordStore = access{size: 4}
	wordLoad  = access{size: 4, load: true}
	byteLoad  = access{size: 1, load: true}
)

var loadT16 = []line{
	{"01001 ttt iiiiiiii", "LDR (literal)", execLiteral16, option{}},
	{"0101 000 mmm nnn ttt", "STR (register)", execReg16(wordStore), option{}},
	{"0101 001 mmm nnn ttt", "STRH (register)", execReg16(halfStore), option{}},
	{"0101 010 mmm nnn ttt", "STRB (register)", execReg16(byteStore), option{}},
	{"0101 011 mmm nnn ttt", "LDRSB (register)", execReg16(sbyteLoad), option{}},
	{"0101 100 mmm nnn ttt", "LDR (register)", execReg16(wordLoad), option{}},
	{"0101 101 mmm nnn ttt", "LDRH (register)", execReg16(halfLoad), option{}},
	{"0101 110 mmm nnn ttt", "LDRB (register)", execReg16(byteLoad), option{}},
	{"0101 111 mmm nnn ttt", "LDRSH (register)", execReg16(shalfLoad), option{}},
	{"011 00 iiiii nnn ttt", "STR", execOffset16(wordStore), option{}},
	{"011 01 iiiii nnn ttt", "LDR", execOffset16(wordLoad), option{}},
	{"011 10 iiiii nnn ttt", "STRB", execOffset16(byteStore), option{}},
	{"011 11 iiiii nnn ttt", "LDRB", execOffset16(byteLoad), option{}},
	{"100 00 iiiii nnn ttt", "STRH", execOffset16(halfStore), option{}},
	{"100 01 iiiii nnn ttt", "LDRH", execOffset16(halfLoad), option{}},
	{"100 10 ttt iiiiiiii", "STR (SP)", execStack16(wordStore), option{}},
	{"100 11 ttt iiiiiiii", "LDR (SP)", execStack16(wordLoad), option{}},
	{"11000 nnn llllllll", "STM", execSTM16, option{unpredictable: badStore16}},
	{"11001 nnn llllllll", "LDM", execLDM16, option{unpredictable: emptyList}},
}

var miscT16 = []line{
	{"1011 0000 x iiiiiii", "ADD, SUB (SP)", execMoveSP, option{}},
	{"1011 x0x1 iiiii nnn", "CBZ, CBNZ", execCBZ, option{control: arch.CondJump, notInIT: true}},
	{"1011 0010 00 mmm ddd", "SXTH", unary16(sxth), option{}},
	{"1011 0010 01 mmm ddd", "SXTB", unary16(sxtb), option{}},
	{"1011 0010 10 mmm ddd", "UXTH", unary16(uxth), option{}},
	{"1011 0010 11 mmm ddd", "UXTB", unary16(uxtb), option{}},
	{"1011 010 M llllllll", "PUSH", execPUSH16, option{unpredictable: emptyList9}},
	{"1011 110 P llllllll", "POP", execPOP16, option{flow: popFlow, unpredictable: emptyList9}},
	{"1011 0110 000 x x xxx", "SETPAN", nil, privileged},
	{"1011 0110 010 x x xxx", "SETEND", nil, endian},
	{"1011 0110 011 x x xxx", "CPS", nil, privileged},
	{"1011 1010 00 mmm ddd", "REV", unary16(rev), option{}},
	{"1011 1010 01 mmm ddd", "REV16", unary16(rev16), option{}},
	{"1011 1010 10 xxxxxx", "HLT", nil, trap},
	{"1011 1010 11 mmm ddd", "REVSH", unary16(revsh), option{}},
	{"1011 1110 iiiiiiii", "BKPT", nil, trap},
	{"1011 1111 hhhh 0000", "hint", execNOP, option{}},
	{"1011 1111 cccc xxxx", "IT", execIT, option{notInIT: true, unpredictable: badIT}},
	{"1101 1110 iiiiiiii", "UDF", nil, trap},
	{"1101 1111 iiiiiiii", "SVC", execSVC, option{class: SystemCall, control: arch.Syscall}},
	{"1101 cccc iiiiiiii", "B (conditional)", execBCondT16, option{control: arch.CondJump, notInIT: true}},
	{"11100 iiiiiiiiiii", "B", execBT16, option{control: arch.Jump}},
}
