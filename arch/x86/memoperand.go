package x86

import "gotap/arch"

// Whether an instruction may raise an exception, for programs whose records must not be seen if it does.

// completes reports whether an instruction raises no exception for certain, except where the stack ends. What it
// accesses relative to its own address is the data of its module, which is there as long as its code is.
func completes(at arch.Insn) bool {
	in := at.Op.(*inst)
	switch at.Control {
	case arch.Jump, arch.CondJump, arch.Call:
		return !in.lock
	case arch.Plain:
	default:
		return false
	}
	switch f := in.lower(0); f.do {
	case doLea, doNop:
		return true
	case doMove, doExtend, doExchange, doSwap, doWiden, doSignFill, doPush, doPop, doALU, doUnary, doShift, doCmov, doSet:
		return !in.lock && (in.ripRel || !in.memory() && in.dispLen == 0 || f.mem.nearStackTop())
	}
	return false
}

// stackReach is how far from the stack pointer memory is taken for part of the stack, in bytes: less than a page, which
// is the least that may lie beyond the end of a stack.
const stackReach = 2048

// nearStackTop reports an address of 64-bit mode that is the stack pointer plus a number.
func (a *address) nearStackTop() bool {
	d := int64(a.disp)
	return a.base == RSP && a.index == none && a.segment == none && a.mask == ^uint64(0) && d >= -redZone && d < stackReach
}

// redZone is how many bytes below the stack pointer functions may use (System V).
const redZone = 128

// memOperand returns the memory that an instruction accesses, if it raises no exception once that can be accessed,
// except where the stack ends; nil if this is not known.
func memOperand(at arch.Insn) *arch.MemOperand {
	in := at.Op.(*inst)
	if at.Control != arch.Plain || !in.long || !in.memory() {
		return nil
	}
	f := in.lower(at.Addr)
	o := &arch.MemOperand{Base: regIndex(f.mem.base), Index: regIndex(f.mem.index), Scale: f.mem.scale, Disp: f.mem.disp, Size: int(f.size)}
	switch f.do {
	case doExtend:
		if o.Size = int(f.from); in.is(mapLegacy, 0x63) && o.Size < 4 { // AMD's processors read four bytes
			return nil
		}
	case doMove, doPush, doUnary, doShift, doCmov, doSet:
		o.Writes = f.dst.kind == inMemory
	case doALU:
		o.Writes = f.dst.kind == inMemory && f.op != aluCMP && f.op != aluTEST
	default:
		return nil
	}
	if f.mem.segment != none || f.mem.mask != ^uint64(0) {
		return nil
	}
	return o
}

// regIndex returns a register as an index in arch.Regs; -1: there is none.
func regIndex(r uint8) int {
	if r == none {
		return -1
	}
	return int(r)
}
