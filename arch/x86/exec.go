package x86

import (
	"gotap/arch"
)

// exec.go executes single instructions completely. That includes those that are never emulated in a live program,
// because emulation would not be atomic, would take too long at a stop, or would have to raise an exception. An
// instruction that needs more state than general registers, flags and memory is refused.

// execution is one instruction being executed. Its site holds the parts of the form that operands need: memory,
// immediate and size.
type execution struct {
	site
	regs *arch.Regs
	mem  arch.Memory
	kept arch.Regs // the registers to restore on an error
}

// routine executes an instruction, except for advancing the program counter.
type routine func(x *execution) error

const (
	errDivide    = arch.Refusal("the processor raises a divide error")
	errBound     = arch.Refusal("the processor raises an exception: bound range exceeded")
	errOverflow  = arch.Refusal("the processor raises an exception: overflow")
	errProtected = arch.Refusal("the processor raises an exception: general protection")
	errAlignment = arch.Refusal("the processor checks alignment, and the operand is not aligned")
	errLock      = arch.Refusal("the instruction cannot have a lock prefix")
	errResult    = arch.Refusal("the result is undefined")
)

// Exec executes one instruction that New64 or New32 decoded. Segments are flat, except for fs and gs. Flags that
// the architecture leaves undefined are set as AMD's processors set them; an instruction with an undefined result
// is refused. The trap flag is treated as data: Exec does not raise the trap after the instruction.
//
// On error, regs are unchanged, and so is memory if the instruction writes it once. Of a repeated string
// instruction, the iterations before the error are complete, as on a processor. Errors other than those of mem
// match arch.ErrUnsupported.
func Exec(insn arch.Insn, regs *arch.Regs, mem arch.Memory) error {
	in, ok := insn.Op.(*inst)
	if !ok {
		return &arch.RefusedError{Addr: insn.Addr, Reason: "not decoded as x86"}
	}
	if err := in.exec(insn, regs, mem); err != nil {
		if r, ok := err.(arch.Refusal); ok {
			return &arch.RefusedError{Addr: insn.Addr, Reason: string(r)}
		}
		return err
	}
	return nil
}

func (in *inst) exec(insn arch.Insn, regs *arch.Regs, mem arch.Memory) error {
	if regs[EFLAGS]&flagAC != 0 {
		mem = aligned{mem}
	}
	if r := in.refusal(); r != "" {
		return r
	}
	if in.lock {
		if !in.lockable() {
			return errLock
		}
		unlocked := *in
		unlocked.lock = false
		in = &unlocked
	}
	x := execution{site: site{isa: mode32, insn: insn, in: in, form: in.lower(insn.Addr)}, regs: regs, mem: mem}
	if in.long {
		x.isa = mode64
	}
	if in.enc != legacy && in.memory() {
		x.form.mem = in.address(insn.Addr)
	}
	if do := routineOf(in); do != nil {
		return x.run(do)
	}
	if x.form.do == notEmulated {
		return whyNot(in)
	}
	return x.complete(regs, mem)
}

// run runs a routine and advances the program counter.
func (x *execution) run(do routine) error {
	x.kept = *x.regs
	if x.in.memory() && x.form.mem.selector == CS || !x.isa.long && ownSegment(x.regs[SS]) {
		return errSegment
	}
	if err := do(x); err != nil {
		*x.regs = x.kept
		return err
	}
	x.regs[RIP] = x.form.next
	return nil
}

// aligned is the memory of a program whose accesses are checked for alignment.
type aligned struct{ arch.Memory }

func (m aligned) ReadMemory(addr uint64, p []byte) error {
	if addr&(uint64(len(p))-1) != 0 {
		return errAlignment
	}
	return m.Memory.ReadMemory(addr, p)
}

func (m aligned) WriteMemory(addr uint64, p []byte) error {
	if addr&(uint64(len(p))-1) != 0 {
		return errAlignment
	}
	return m.Memory.WriteMemory(addr, p)
}

// lockable reports whether the instruction may have a lock prefix: only some that read and write memory may.
func (in *inst) lockable() bool {
	if in.enc != legacy || !in.memory() {
		return false
	}
	op, reg := in.opcode, in.regField()
	switch in.opmap {
	case mapLegacy:
		switch {
		case op < 0x38: // add … xor, into memory
			return op&7 < 2
		case op >= 0x80 && op < 0x84:
			return reg != aluCMP
		case op == 0xf6 || op == 0xf7:
			return reg == 2 || reg == 3
		}
		return op == 0x86 || op == 0x87 || op >= 0xfe && reg < 2
	case map0F:
		switch op {
		case 0xab, 0xb3, 0xbb, 0xb0, 0xb1, 0xc0, 0xc1:
			return true
		case 0xba:
			return reg > 4
		case 0xc7:
			return reg == 1
		}
	}
	return false
}

// resize sets the operand size to one byte if the opcode says so.
func (x *execution) resize() { x.form.size = x.in.byteOr(x.form.size) }

// rm returns the operand of the rm field, reg that of the reg field.
func (x *execution) rm() operand  { return x.in.rmOperand(x.form.size) }
func (x *execution) reg() operand { return x.in.gprOperand(x.in.reg(), x.form.size) }

// read returns the value of an operand of the form's size; the bits beyond are zero.
func (x *execution) read(o operand) (uint64, error) {
	v, err := x.get(o, x.form.size, x.regs, x.mem)
	return v & sizeMask(x.form.size), err
}

// write sets an operand of the form's size.
func (x *execution) write(o operand, v uint64) error { return x.put(o, v, x.regs, x.mem) }

// gpr returns a general register, cut to the form's size.
func (x *execution) gpr(index uint8) uint64 { return x.regs[index] & sizeMask(x.form.size) }

// setGPR sets a general register, of the form's size.
func (x *execution) setGPR(index uint8, v uint64) {
	setReg(x.regs, operand{inRegister, index}, v, x.form.size)
}

// setFlags copies the flags in mask from v.
func (x *execution) setFlags(mask, v uint64) {
	x.regs[EFLAGS] = x.regs[EFLAGS]&^mask | v&mask
}

// modify changes the operand of the rm field.
func (x *execution) modify(change func(v uint64) uint64) error {
	v, err := x.read(x.rm())
	if err != nil {
		return ofWrite(err)
	}
	return x.write(x.rm(), change(v))
}

// bit returns mask if the condition holds, and 0 otherwise.
func bit(condition bool, mask uint64) uint64 {
	if condition {
		return mask
	}
	return 0
}
