package arm

import "gotap/arch"

// control returns the effect of the instruction on the flow of control.
func (in *inst) control() arch.Control {
	if in.row.flow != nil {
		return in.row.flow(in.word)
	}
	return in.row.control
}

// target returns the target of a direct branch, and 0 for other instructions.
func (in *inst) target(addr uint64, how arch.Control) uint64 {
	if how != arch.Jump && how != arch.CondJump && how != arch.Call {
		return 0
	}
	offset, exchange := in.offset()
	pc := uint32(addr) + 8
	if in.thumb {
		pc = uint32(addr) + 4
		if exchange {
			pc &^= 3
		}
	}
	return uint64(pc + offset)
}

// offset returns the distance of a direct branch from r15, and whether the branch changes the instruction set.
func (in *inst) offset() (offset uint32, exchange bool) {
	w := in.word
	switch {
	case !in.thumb && w>>28 == 15:
		return offsetA32(w) + field(w, 24, 1)*2, true
	case !in.thumb:
		return offsetA32(w), false
	case in.size == 4 && !bit(w, 12) && !bit(w, 14):
		return offsetCondT32(w), false
	case in.size == 4:
		return offsetT32(w), !bit(w, 12)
	case w>>12 == 11:
		return offsetCBZ(w), false
	case w>>12 == 13:
		return signed(w<<1, 9), false
	}
	return signed(w<<1, 12), false
}

// Instructions whose effect on the flow of control depends on their operands.

func jumpFlow(w uint32) arch.Control {
	if w>>28 != 14 {
		return arch.CondJump
	}
	return arch.Jump
}

// returnTo classifies a jump to the value of a register: a jump to lr is a return.
func returnTo(m uint32) arch.Control {
	if m == regLR {
		return arch.Return
	}
	return arch.IndirJump
}

func exchangeFlow(w uint32) arch.Control   { return returnTo(w & 15) }
func exchangeFlow16(w uint32) arch.Control { return returnTo(field(w, 3, 4)) }
func exchangeFlow32(w uint32) arch.Control { return returnTo(field(w, 16, 4)) }

// dataFlow classifies data processing in A32. Only a plain move from lr is a return; Go's compiler writes it as an
// addition of zero.
func dataFlow(w uint32) arch.Control {
	op := operation4(w)
	switch {
	case field(w, 12, 4) != 15 || op >= opTST && op <= opCMN:
		return arch.Plain
	case op == opMOV && w&0x02000ff0 == 0:
		return returnTo(w & 15)
	case addsZero(w):
		return returnTo(field(w, 16, 4))
	}
	return arch.IndirJump
}

// addsZero reports ADD of the constant 0.
func addsZero(w uint32) bool { return w&0x0ff00fff == 0x02800000 }

func highFlow(w uint32) arch.Control {
	switch {
	case high4(w) != 15:
		return arch.Plain
	case field(w, 8, 2) == 2: // MOV
		return returnTo(field(w, 3, 4))
	}
	return arch.IndirJump
}

// loadFlow and wordFlow classify loads. A word popped into r15 is a return address.
func loadFlow(w uint32) arch.Control {
	switch {
	case field(w, 12, 4) != 15:
		return arch.Plain
	case field(w, 16, 4) == regSP && writesBackA32(w):
		return arch.Return
	}
	return arch.IndirJump
}

func wordFlow(k access) func(w uint32) arch.Control {
	return func(w uint32) arch.Control {
		switch {
		case k != wordLoad || field(w, 12, 4) != 15:
			return arch.Plain
		case field(w, 16, 4) == regSP && w>>23&1 == 0 && bit(w, 11) && bit(w, 8):
			return arch.Return
		}
		return arch.IndirJump
	}
}

// blockFlow classifies LDM. With r15 in the list, it restores what a function saved.
func blockFlow(w uint32) arch.Control {
	if bit(w, 15) {
		return arch.Return
	}
	return arch.Plain
}

func popFlow(w uint32) arch.Control {
	if bit(w, 8) {
		return arch.Return
	}
	return arch.Plain
}
