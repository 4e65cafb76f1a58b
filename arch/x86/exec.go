package x86

import (
	"gotap/arch"
)

// exec.go executes single instructions whole, also of those that are never emulated in a live program: because that would not be
// atomic, would take too long at a stop, or because an exception would have to be raised. What a state of general registers,
// flags and memory cannot tell stays refused.

// execution is one instruction on its way. Its site holds the parts of the form that operands need: memory, immediate, size.
type execution struct {
	site
	regs *arch.Regs
	mem  arch.Memory
	kept arch.Regs // what regs are on an error
}

// routine does all that an instruction does, but for going on with the next one.
type routine func(x *execution) error

const (
	errDivide    = refusal("the processor raises a divide error")
	errBound     = refusal("the processor raises an exception: bound range exceeded")
	errOverflow  = refusal("the processor raises an exception: overflow")
	errProtected = refusal("the processor raises an exception: general protection")
	errAlignment = refusal("the processor checks alignment, and the operand is not aligned")
	errLock      = refusal("a lock prefix where there is none")
	errResult    = refusal("the result is undefined")
)

// Exec executes one instruction that New64 or New32 decoded. Segments are flat, but for fs and gs. Flags that the architecture leaves
// undefined are set as AMD's processors set them; an undefined result is refused. A trap flag is data to it: the trap after the
// instruction is not its business. On error regs are as before, and so is memory if the instruction writes it once; of a repeated string
// instruction the iterations before the error have been done, as on a processor. Errors other than the memory's own match
// arch.ErrUnsupported.
func Exec(insn arch.Insn, regs *arch.Regs, mem arch.Memory) error {
	in, ok := insn.Op.(*inst)
	if !ok {
		return &arch.RefusedError{Addr: insn.Addr, Reason: "not decoded as x86"}
	}
	if err := in.exec(insn, regs, mem); err != nil {
		if r, ok := err.(refusal); ok {
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
	if do := in.routine(); do != nil {
		return x.run(do)
	}
	if x.form.do == notEmulated {
		return in.whyNot()
	}
	return x.complete(regs, mem)
}

// run runs a routine and goes on behind the instruction.
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

// aligned is memory of a program that has its accesses checked for alignment.
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

// lockable reports an instruction that may have a lock prefix: one of a few that read and write memory.
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

// resize makes the operands bytes if the opcode says so.
func (x *execution) resize() { x.form.size = x.in.byteOr(x.form.size) }

// rm is the operand of the rm field, reg that of the reg field.
func (x *execution) rm() operand  { return x.in.rmOperand(x.form.size) }
func (x *execution) reg() operand { return x.in.gprOperand(x.in.reg(), x.form.size) }

// read is the value of an operand of the form's size, without bits beyond it.
func (x *execution) read(o operand) (uint64, error) {
	v, err := x.get(o, x.form.size, x.regs, x.mem)
	return v & sizeMask(x.form.size), err
}

// write sets an operand of the form's size.
func (x *execution) write(o operand, v uint64) error { return x.put(o, v, x.regs, x.mem) }

// gpr is the value of a general register, of the form's size.
func (x *execution) gpr(index uint8) uint64 { return x.regs[index] & sizeMask(x.form.size) }

// setGPR sets one.
func (x *execution) setGPR(index uint8, v uint64) {
	setReg(x.regs, operand{inRegister, index}, v, x.form.size)
}

// flags are those of mask set to what v has of them.
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

// bit is mask if the condition holds.
func bit(condition bool, mask uint64) uint64 {
	if condition {
		return mask
	}
	return 0
}
