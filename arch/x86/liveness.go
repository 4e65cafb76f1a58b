package x86

import "gotap/arch"

// Whether code in front of an instruction may change the arithmetic flags. What is not certain counts as a use of them.

// livenessReach is the number of instructions behind a window that are examined.
const livenessReach = 8

// flagsDead reports whether the instructions of a window, or those behind it in code, write all arithmetic flags before
// one reads any or control may go elsewhere.
func flagsDead(w *arch.Window, code []byte) bool {
	live := uint64(flagsStatus)
	for _, in := range w.Insns {
		if dead, known := in.Op.(*inst).kills(&live); known {
			return dead
		}
	}
	for at, n := w.Len, 0; at < len(code) && n < livenessReach; n++ {
		in, err := decodeInst(code[at:], true)
		if err != nil {
			return false
		}
		if dead, known := in.kills(&live); known {
			return dead
		}
		at += int(in.length)
	}
	return false
}

// kills removes the flags from live that an instruction writes. known is true when the question is decided: dead is
// true if no flag is left, and false if the instruction may use a flag that is.
func (in *inst) kills(live *uint64) (dead, known bool) {
	reads, writes := in.statusFlags()
	if reads&*live != 0 {
		return false, true
	}
	*live &^= writes
	return *live == 0, *live == 0
}

// statusFlags returns the arithmetic flags that an instruction may read, and those that it certainly writes. An
// instruction that is not known here reads all.
func (in *inst) statusFlags() (reads, writes uint64) {
	f := in.lower(0)
	switch f.do {
	case doNop, doMove, doExtend, doLea, doExchange, doSwap, doWiden, doSignFill, doPush, doPop, doLeave:
		return 0, 0
	case doALU:
		switch f.op {
		case aluADC, aluSBB:
			return flagCF, flagsStatus
		}
		return 0, flagsStatus // AF is undefined after and, or, xor and test; no processor keeps it
	case doUnary:
		return 0, unaryFlags(f.op)
	}
	if in.movesVector() {
		return 0, 0
	}
	return flagsStatus, 0
}

// unaryFlags returns the flags that inc, dec, not and neg write.
func unaryFlags(op uint8) uint64 {
	switch op {
	case unaryNOT:
		return 0
	case unaryNEG:
		return flagsStatus
	}
	return flagsStatus &^ flagCF
}

// movesVector reports common instructions of the vector unit that leave the flags alone: moves, and operations bit by
// bit.
func (in *inst) movesVector() bool {
	if in.opmap != map0F || in.enc != legacy && in.enc != vex2 && in.enc != vex3 {
		return false
	}
	switch in.opcode {
	case 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x28, 0x29, 0x54, 0x55, 0x56, 0x57, 0x6e, 0x6f, 0x7e, 0x7f, 0xd6, 0xef:
		return true
	}
	return false
}
