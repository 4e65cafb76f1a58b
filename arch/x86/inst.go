package x86

// inst is one decoded instruction: where its parts lie in the encoding and which fields they hold. Insn.Op carries
// a pointer to it. It never changes after decoding.
type inst struct {
	long   bool     // 64-bit mode
	length uint8    // bytes in all
	code   [15]byte // the bytes

	prefixes
	enc    encoding
	opmap  uint8 // map0F …
	opcode uint8
	opOff  uint8 // offset of the opcode
	modRM
	constants
}

// prefixes are what stands in front of the opcode.
type prefixes struct {
	rex      uint8 // 0 without a REX prefix; VEX, EVEX and XOP hold the same bits inverted
	rep      uint8 // 0xF2, 0xF3 or 0; the last one wins
	seg      uint8 // the segment prefix byte, or 0
	lock     bool
	opsize   bool  // 66
	addrsize bool  // 67
	notrack  bool  // 3E, which marks a compiler's jump table when it precedes an indirect branch
	prefix   uint8 // offset of the REX, VEX, EVEX or XOP byte, or of the opcode without one
	vvvv     uint8 // the extra register of VEX, EVEX and XOP, not inverted, 0 to 31
}

// modRM is the ModRM byte, the SIB byte and the displacement. Without ModRM, disp is an absolute address.
type modRM struct {
	hasRM   bool
	rmOff   uint8
	modrm   uint8
	hasSIB  bool
	sib     uint8
	ripRel  bool
	dispOff uint8
	dispLen uint8 // 0, 1, 2 or 4; of an absolute address 2, 4 or 8
	disp    int64
}

// constants are the immediates and the branch displacement, the last bytes of an instruction.
type constants struct {
	immOff uint8
	immLen uint8 // all immediates together
	relLen uint8 // 1, 2 or 4: the immediate is a branch displacement
	imm    int64 // the first immediate, sign-extended
}

// encoding tells the prefix schemes apart.
type encoding uint8

const (
	legacy encoding = iota
	vex2
	vex3
	evex
	xop
)

// REX bits.
const (
	rexB = 1 << iota
	rexX
	rexR
	rexW
)

func (m *modRM) mod() uint8 { return m.modrm >> 6 }

// regField is the reg field without its extension, which is the opcode's fourth part in groups.
func (m *modRM) regField() uint8 { return m.modrm >> 3 & 7 }

// reg is the register of the reg field, with REX.R.
func (in *inst) reg() uint8 { return in.regField() | in.rex&rexR<<1 }

// rm is the register of the rm field when mod is 3, with REX.B.
func (in *inst) rm() uint8 { return in.modrm&7 | in.rex&rexB<<3 }

// low is the register in the low three bits of the opcode, with REX.B.
func (in *inst) low() uint8 { return in.opcode&7 | in.rex&rexB<<3 }

// memory reports whether ModRM names memory.
func (m *modRM) memory() bool { return m.hasRM && m.mod() != 3 }

// operandSize is the size in bytes of an operand that follows the operand-size attribute.
func (in *inst) operandSize() uint8 {
	switch {
	case in.rex&rexW != 0:
		return 8
	case in.opsize:
		return 2
	}
	return 4
}

// stackSize is the size in bytes of what push, pop, call and ret move.
func (in *inst) stackSize() uint8 {
	switch {
	case in.opsize && in.rex&rexW == 0:
		return 2
	case in.long:
		return 8
	}
	return 4
}

// is reports whether the instruction is the legacy encoding of an opcode of a map.
func (in *inst) is(opmap, opcode uint8) bool {
	return in.enc == legacy && in.opmap == opmap && in.opcode == opcode
}

// bytes is the instruction as it stands in memory.
func (in *inst) bytes() []byte { return in.code[:in.length] }
