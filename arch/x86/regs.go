package x86

// Indices of registers in arch.Regs, in the order of the kernel's struct user_regs_struct for 64-bit tracers. A
// 64-bit tracer sees a 32-bit tracee in the same layout.
const (
	R15 = iota
	R14
	R13
	R12
	RBP
	RBX
	R11
	R10
	R9
	R8
	RAX
	RCX
	RDX
	RSI
	RDI
	OrigRAX
	RIP
	CS
	EFLAGS
	RSP
	SS
	FSBase
	GSBase
	DS
	ES
	FS
	GS
	NumRegs // number of registers in arch.Regs
)

// gpr maps register numbers of the encoding to indices.
var gpr = [16]uint8{RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15}

// Bits of EFLAGS (Intel SDM vol. 1, 3.4.3).
const (
	flagCF = 1 << 0
	flagPF = 1 << 2
	flagAF = 1 << 4
	flagZF = 1 << 6
	flagSF = 1 << 7
	flagTF = 1 << 8
	flagDF = 1 << 10
	flagOF = 1 << 11
	flagNT = 1 << 14
	flagRF = 1 << 16
	flagVM = 1 << 17
	flagAC = 1 << 18
	flagID = 1 << 21

	flagsStatus = flagCF | flagPF | flagAF | flagZF | flagSF | flagOF
	// flagsPopped are the flags that popf may change in a program without I/O privilege.
	flagsPopped = flagsStatus | flagTF | flagDF | flagNT | flagAC | flagID
	// flagsAlways is bit 1 and IF, which are set in every user program. A state given to Exec may omit them.
	flagsAlways = 1<<1 | 1<<9
)

// register is the meaning of a register name.
type register struct {
	index       int
	bits, shift int
}

// names64 and names32 are the registers by name, including sub-registers and common aliases.
var names64, names32 = names(true), names(false)

// names returns the table of a mode. "pc", "sp", "fp", "ip" and "flags" are whole registers; every other name means
// what it means to an assembler.
func names(long bool) map[string]register {
	word := 32
	m := map[string]register{
		"eip": {RIP, 32, 0}, "eflags": {EFLAGS, 32, 0}, "flags": {EFLAGS, 32, 0}, "orig_eax": {OrigRAX, 32, 0},
		"cs": {CS, 16, 0}, "ss": {SS, 16, 0}, "ds": {DS, 16, 0}, "es": {ES, 16, 0}, "fs": {FS, 16, 0}, "gs": {GS, 16, 0},
	}
	for i, n := range []string{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"} {
		x := int(gpr[i])
		m["e"+n], m[n] = register{x, 32, 0}, register{x, 16, 0}
		if i < 4 {
			m[n[:1]+"l"], m[n[:1]+"h"] = register{x, 8, 0}, register{x, 8, 8}
		}
		if long {
			m["r"+n] = register{x, 64, 0}
			if i >= 4 {
				m[n+"l"] = register{x, 8, 0}
			}
		}
	}
	if long {
		word = 64
		names64Only(m)
	}
	m["pc"], m["ip"] = register{RIP, word, 0}, register{RIP, word, 0}
	m["sp"], m["fp"] = register{RSP, word, 0}, register{RBP, word, 0}
	m["fs_base"], m["gs_base"] = register{FSBase, word, 0}, register{GSBase, word, 0}
	return m
}

func names64Only(m map[string]register) {
	for i, n := range []string{"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"} {
		x := int(gpr[8+i])
		m[n], m[n+"d"], m[n+"w"], m[n+"b"] = register{x, 64, 0}, register{x, 32, 0}, register{x, 16, 0}, register{x, 8, 0}
	}
	m["rip"], m["rflags"], m["orig_rax"] = register{RIP, 64, 0}, register{EFLAGS, 64, 0}, register{OrigRAX, 64, 0}
}
