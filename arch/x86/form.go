package x86

// form is an instruction lowered for emulation. Lowering decodes the operands once, so that a hit costs one switch
// and a few loads. In a zero form, do is notEmulated.
type form struct {
	do       action
	op       uint8 // which operation of the action: an ALU operation, a condition, a shift, a flag operation
	size     uint8 // bytes of the operands, or of the destination
	from     uint8 // bytes of the source, where it has a size of its own
	dst, src operand
	mem      address // of the operand that is in memory; an instruction has at most one besides the stack
	imm      uint64  // sign-extended
	next     uint64  // the address behind the instruction
	target   uint64  // of a direct branch
}

// action selects the routine that emulates a form.
type action uint8

const (
	notEmulated action = iota
	doNop
	doMove     // dst = src
	doExtend   // dst = src of another size; op: 0 zero, 1 sign
	doLea      // dst = address
	doExchange // two registers
	doSwap     // bytes
	doALU      // dst = dst op src, or flags only (aluCMP, aluTEST)
	doUnary    // inc, dec, not, neg
	doShift    // by an immediate
	doBitTest  // of a register
	doCmov
	doSet
	doWiden    // al to ax, ax to eax, eax to rax
	doSignFill // the sign of ax, eax, rax into dx, edx, rdx
	doFlag     // clc, stc, cmc, cld, std
	doLAHF
	doSAHF
	doPush
	doPop
	doLeave
	doPushF
	doPopF
	doJump    // to target
	doJumpIf  // op: condition
	doLoop    // op: the low two bits of the opcode
	doJumpTo  // to src
	doCall    // target
	doCallTo  // src
	doReturn  // imm: bytes released
	doBegin   // xbegin, aborted at once: to target
	numAction // how many there are
)

// operand is where a value is.
type operand struct {
	kind  operandKind
	index uint8 // in arch.Regs
}

type operandKind uint8

const (
	absent operandKind = iota
	inRegister
	inHighByte // ah, ch, dh, bh
	inMemory
	immediate
)

// none is the index of no register.
const none = 0xff

// address describes how to compute an effective address.
type address struct {
	base, index uint8 // in arch.Regs, or none
	scale       uint8 // shift
	segment     uint8 // FSBase, GSBase or none
	selector    uint8 // the segment register, in 32-bit mode; none in 64-bit mode
	disp        uint64
	mask        uint64 // of the address size
}

// stackRelative reports whether the address appears to be on the stack, which other threads do not use.
func (a *address) stackRelative() bool {
	return (a.base == RSP || a.base == RBP) && a.segment == none
}

// gprOperand returns general register n of a size. Without REX, the byte registers 4 to 7 are ah, ch, dh and bh.
func (in *inst) gprOperand(n, size uint8) operand {
	if size == 1 && n >= 4 && n < 8 && !in.hasREX() {
		return operand{inHighByte, gpr[n-4]}
	}
	return operand{inRegister, gpr[n]}
}

// hasREX reports whether there is a REX prefix, even one without any bit set.
func (p *prefixes) hasREX() bool { return p.rex != 0 }

// rmOperand returns the operand of the rm field. If it is memory, form.mem has the address.
func (in *inst) rmOperand(size uint8) operand {
	if in.memory() {
		return operand{kind: inMemory}
	}
	return in.gprOperand(in.rm(), size)
}

// address lowers the memory operand. addr is the address of the instruction.
func (in *inst) address(addr uint64) address {
	a := address{base: none, index: none, segment: none, selector: DS, disp: uint64(in.disp)}
	a.mask = ^uint64(0) >> (64 - 8*uint(in.addressSize()))
	switch {
	case in.hasRM && in.addressSize() == 2:
		in.address16(&a)
	case in.ripRel:
		a.disp += addr + uint64(in.length)
	case in.hasSIB:
		in.addressSIB(&a)
	case in.hasRM && !(in.mod() == 0 && in.modrm&7 == 5):
		a.base = gpr[in.rm()]
	}
	if a.base == RSP || a.base == RBP {
		a.selector = SS
	}
	in.addressSegment(&a)
	return a
}

// addressSIB handles base + index * scale.
func (in *inst) addressSIB(a *address) {
	base := in.sib&7 | in.rex&rexB<<3
	index := in.sib>>3&7 | in.rex&rexX<<2
	if in.sib&7 != 5 || in.mod() != 0 {
		a.base = gpr[base]
	}
	if index != 4 { // rsp cannot be one
		a.index, a.scale = gpr[index], in.sib>>6
	}
}

// address16 handles 16-bit addressing, whose registers are fixed pairs.
func (in *inst) address16(a *address) {
	base := [8]uint8{RBX, RBX, RBP, RBP, RSI, RDI, RBP, RBX}
	index := [8]uint8{RSI, RDI, RSI, RDI, none, none, none, none}
	rm := in.modrm & 7
	if in.mod() == 0 && rm == 6 {
		return
	}
	a.base, a.index = base[rm], index[rm]
}

// addressSegment applies a segment prefix. In 64-bit mode all segments but fs and gs are flat.
func (in *inst) addressSegment(a *address) {
	switch in.seg {
	case 0x64:
		a.segment, a.selector = FSBase, FS
	case 0x65:
		a.segment, a.selector = GSBase, GS
	case 0x26:
		a.selector = ES
	case 0x2e:
		a.selector = CS
	case 0x36:
		a.selector = SS
	case 0x3e:
		a.selector = DS
	}
	if in.long {
		a.selector = none
	}
}
