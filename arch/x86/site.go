package x86

import "gotap/arch"

// site is an instruction prepared when a probe is placed. It never changes afterwards.
type site struct {
	isa     *isa
	insn    arch.Insn
	in      *inst
	form    form
	repair  repair
	scratch uint8 // index of the register to borrow for a RIP-relative operand, or none
}

// refusal returns why an instruction cannot be displaced at all, or "".
func (in *inst) refusal() arch.Refusal {
	if in.enc != legacy {
		return ""
	}
	narrow := in.opsize && in.rex&rexW == 0
	switch {
	case in.is(mapLegacy, 0xcc), in.is(mapLegacy, 0xcd) && in.imm == 3:
		return "a breakpoint of the program's own"
	case in.is(mapLegacy, 0xf1):
		return "int1 raises the very trap that a step ends with"
	case in.is(map0F, 0x01) && in.modrm == 0xd7:
		return "enclu tells the enclave the address behind itself, to which it comes back"
	case narrow && (in.relLen != 0 && !in.begins() || in.is(mapLegacy, 0xff) && in.regField() == 2):
		return "a branch with an operand-size prefix, which processors take differently"
	}
	return ""
}

// Prepare makes a Site of an instruction that this Arch decoded.
func (m *isa) Prepare(insn arch.Insn) (arch.Site, error) {
	in, ok := insn.Op.(*inst)
	if !ok || in.long != m.long {
		return nil, &arch.RefusedError{Addr: insn.Addr, Reason: "not decoded as " + m.Name()}
	}
	if r := in.refusal(); r != "" {
		return nil, &arch.RefusedError{Addr: insn.Addr, Reason: string(r)}
	}
	s := &site{
		isa: m, insn: insn, in: in,
		form:    in.lower(insn.Addr),
		repair:  in.repairOf(),
		scratch: in.scratchRegister(),
	}
	if s.form.do == doBegin && !m.transactions {
		s.form.do = notEmulated
	}
	return s, nil
}

// Insn is the instruction that was prepared.
func (s *site) Insn() arch.Insn { return s.insn }

// Strategy returns Emulated, except for writes to memory that other threads may use. A processor writes an aligned
// word atomically and modifies it without a gap; an emulation reads and writes through the kernel.
func (s *site) Strategy() arch.Strategy {
	switch {
	case s.in.logsAddress():
		return arch.InPlace
	case s.form.do == notEmulated || s.writesShared():
		return arch.OutOfLine
	}
	return arch.Emulated
}

// writesShared reports whether the instruction writes memory that is not on the stack.
func (s *site) writesShared() bool {
	f := &s.form
	if f.dst.kind != inMemory || f.mem.stackRelative() {
		return false
	}
	return f.do != doALU || f.op != aluCMP && f.op != aluTEST
}

// Allowed reports that nearly every instruction can be stepped, out of line and in place. xbegin is an exception on a
// processor that reports transactions: a step of it would abort the transaction, and the thread stops only behind the
// next instruction, the first of the abort handler, which may have a breakpoint.
func (s *site) Allowed(how arch.Strategy) bool {
	switch how {
	case arch.Emulated:
		return s.form.do != notEmulated
	case arch.OutOfLine:
		return s.form.do != doBegin && !s.in.logsAddress()
	case arch.InPlace:
		return s.form.do != doBegin
	}
	return false
}

// logsAddress reports lwpins and lwpval, which write their address to a log that the program reads.
func (in *inst) logsAddress() bool {
	return in.enc == xop && in.opmap == mapXOPA && in.opcode == 0x12 && in.regField() < 2
}

// next returns the address of the next instruction.
func (s *site) next() uint64 { return s.isa.wrap(s.insn.Addr + uint64(s.insn.Len)) }
