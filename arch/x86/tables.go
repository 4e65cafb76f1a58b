package x86

// The opcode maps, one letter per opcode, sixteen rows of sixteen. A letter says what follows the opcode
// (Intel SDM vol. 2, appendix A; AMD APM vol. 3, appendix A):
//
//	.  nothing                     m  ModRM
//	b  imm8                        M  ModRM and imm8
//	w  imm16                       Z  ModRM and imm16 or imm32 by operand size
//	z  imm16/32 by operand size    G  ModRM, and an immediate of operand size if reg is 0 or 1 (test)
//	v  imm16/32/64 by operand size g  the same with imm8
//	e  imm16 and imm8 (enter)      c  ModRM whose mod is taken for 3 (control and debug registers)
//	o  address of address size     r  branch displacement of 8 bits
//	f  far pointer                 R  branch displacement by operand size
//	D  ModRM and imm32             p  a prefix or an escape
//	x  no instruction
//
// A table of attributes beside the letter maps would be mostly empty. Functions test the few other properties of
// opcodes (valid, control, lower, repairOf).
const (
	mapLegacy = 0 // one byte
	map0F     = 1
	map0F38   = 2
	map0F3A   = 3
	mapFP5    = 5 // EVEX only: half precision
	mapFP6    = 6 // EVEX only: half precision
	mapXOP8   = 8 // XOP only (AMD family 15h): imm8
	mapXOP9   = 9
	mapXOPA   = 10 // imm32
)

// legacyMap is the one-byte map of 32-bit mode; long64Gone lists what 64-bit mode lacks.
const legacyMap = "" +
	"mmmmbz..mmmmbz.p" + // 00
	"mmmmbz..mmmmbz.." + // 10
	"mmmmbzp.mmmmbzp." + // 20
	"mmmmbzp.mmmmbzp." + // 30
	"................" + // 40
	"................" + // 50
	"..mmppppzZbM...." + // 60
	"rrrrrrrrrrrrrrrr" + // 70
	"MZMMmmmmmmmmmmmm" + // 80
	"..........f....." + // 90
	"oooo....bz......" + // A0
	"bbbbbbbbvvvvvvvv" + // B0
	"MMw.mmMZe.w..b.." + // C0
	"mmmmbb..mmmmmmmm" + // D0
	"rrrrbbbbRRfr...." + // E0
	"p.pp..gG......mm" //   F0

// long64Gone lists the one-byte opcodes that are not instructions in 64-bit mode. (C4, C5 and 62 are prefixes
// there.)
const long64Gone = "\x06\x07\x0e\x16\x17\x1e\x1f\x27\x2f\x37\x3f\x60\x61\x62\x82\x9a\xc4\xc5\xce\xd4\xd5\xd6\xea"

const escape0F = "" +
	"mmmmx.....x.xm.M" + // 00
	"mmmmmmmmmmmmmmmm" + // 10
	"ccccxxxxmmmmmmmm" + // 20
	"......x.pxpxxxxx" + // 30
	"mmmmmmmmmmmmmmmm" + // 40
	"mmmmmmmmmmmmmmmm" + // 50
	"mmmmmmmmmmmmmmmm" + // 60
	"MMMMmmm.mmxxmmmm" + // 70
	"RRRRRRRRRRRRRRRR" + // 80
	"mmmmmmmmmmmmmmmm" + // 90
	"...mMmmm...mMmmm" + // A0
	"mmmmmmmmmmMmmmmm" + // B0
	"mmMmMMMm........" + // C0
	"mmmmmmmmmmmmmmmm" + // D0
	"mmmmmmmmmmmmmmmm" + // E0
	"mmmmmmmmmmmmmmmm" //   F0

// escape0F38 and escape0F3A say only which opcodes exist without VEX, under any mandatory prefix.
const escape0F38 = "" +
	"mmmmmmmmmmmmxxxx" + // 00
	"mxxxmmxmxxxxmmmx" + // 10
	"mmmmmmxxmmmmxxxx" + // 20
	"mmmmmmxmmmmmmmmm" + // 30
	"mmxxxxxxxxxxxxxx" + // 40
	"xxxxxxxxxxxxxxxx" + // 50
	"xxxxxxxxxxxxxxxx" + // 60
	"xxxxxxxxxxxxxxxx" + // 70
	"mmmxxxxxxxxxxxxx" + // 80
	"xxxxxxxxxxxxxxxx" + // 90
	"xxxxxxxxxxxxxxxx" + // A0
	"xxxxxxxxxxxxxxxx" + // B0
	"xxxxxxxxmmmmmmxm" + // C0
	"xxxxxxxxmxxmmmmm" + // D0
	"xxxxxxxxxxxxxxxx" + // E0
	"mmxxxmmxmmmmmxxx" //   F0

const escape0F3A = "" +
	"xxxxxxxxMMMMMMMM" + // 00
	"xxxxMMMMxxxxxxxx" + // 10
	"MMMxxxxxxxxxxxxx" + // 20
	"xxxxxxxxxxxxxxxx" + // 30
	"MMMxMxxxxxxxxxxx" + // 40
	"xxxxxxxxxxxxxxxx" + // 50
	"MMMMxxxxxxxxxxxx" + // 60
	"xxxxxxxxxxxxxxxx" + // 70
	"xxxxxxxxxxxxxxxx" + // 80
	"xxxxxxxxxxxxxxxx" + // 90
	"xxxxxxxxxxxxxxxx" + // A0
	"xxxxxxxxxxxxxxxx" + // B0
	"xxxxxxxxxxxxMxMM" + // C0
	"xxxxxxxxxxxxxxxM" + // D0
	"xxxxxxxxxxxxxxxx" + // E0
	"Mxxxxxxxxxxxxxxx" //   F0

// vex0F is map 0F under VEX and EVEX: the vector instructions, and the operations on mask registers.
const vex0F = "" +
	"xxxxxxxxxxxxxxxx" + // 00
	"mmmmmmmmxxxxxxxx" + // 10
	"xxxxxxxxmmmmmmmm" + // 20
	"xxxxxxxxxxxxxxxx" + // 30
	"xmmxmmmmxxmmxxxx" + // 40
	"mmmmmmmmmmmmmmmm" + // 50
	"mmmmmmmmmmmmmmmm" + // 60
	"MMMMmmm.mmmmmmmm" + // 70
	"xxxxxxxxxxxxxxxx" + // 80
	"mmmmxxxxmmxxxxxx" + // 90
	"xxxxxxxxxxxxxxmx" + // A0
	"xxxxxxxxxxxxxxxx" + // B0
	"xxMxMMMxxxxxxxxx" + // C0
	"mmmmmmmmmmmmmmmm" + // D0
	"mmmmmmmmmmmmmmmm" + // E0
	"mmmmmmmmmmmmmmmx" //   F0
