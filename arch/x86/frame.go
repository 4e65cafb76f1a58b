package x86

// Instructions of the stack that touch more than one place, and xlat, bound and arpl.

// pushWord pushes a value of the form's size.
func (x *execution) pushWord(v uint64) error {
	size := x.form.size
	sp := x.isa.wrap(x.regs[RSP] - uint64(size))
	if err := store(x.regs, x.mem, sp, v, size); err != nil {
		return err
	}
	x.regs[RSP] = sp
	return nil
}

// popWord pops one.
func (x *execution) popWord() (uint64, error) {
	size := x.form.size
	v, err := load(x.regs, x.mem, x.regs[RSP], size)
	if err == nil {
		x.regs[RSP] = x.isa.wrap(x.regs[RSP] + uint64(size))
	}
	return v, err
}

// popInto is pop into an operand, whose address is made with the stack pointer after the pop.
func popInto(x *execution) error {
	x.form.size = x.in.stackSize()
	v, err := x.popWord()
	if err != nil {
		return err
	}
	return x.write(x.rm(), v)
}

// popFlags is popf of a program without I/O privilege.
func popFlags(x *execution) error {
	x.form.size = x.in.stackSize()
	v, err := x.popWord()
	if err != nil {
		return err
	}
	x.setFlags(flagsPopped&sizeMask(x.form.size), v)
	x.regs[EFLAGS] &^= flagRF
	return nil
}

// enter makes a frame: bytes of it, and frame pointers of outer procedures that are copied into it.
func enter(x *execution) error {
	x.form.size = x.in.stackSize()
	bytes, level := x.form.imm&0xffff, x.in.code[x.in.immOff+2]&31
	frame := x.regs[RBP]
	if err := x.pushWord(frame); err != nil {
		return err
	}
	top := x.regs[RSP]
	for range int(level) - 1 {
		frame = x.isa.wrap(frame - uint64(x.form.size))
		v, err := load(x.regs, x.mem, frame, x.form.size)
		if err == nil {
			err = x.pushWord(v)
		}
		if err != nil {
			return err
		}
	}
	if level > 0 {
		if err := x.pushWord(top); err != nil {
			return err
		}
	}
	x.setGPR(RBP, top)
	x.regs[RSP] = x.isa.wrap(x.regs[RSP] - bytes)
	_, err := load(x.regs, x.mem, x.regs[RSP], x.form.size)
	return ofWrite(err) // the end of the frame has to be there
}

// pushAll is pusha.
func pushAll(x *execution) error {
	sp := x.regs[RSP]
	for _, index := range gpr[:8] {
		v := x.regs[index]
		if index == RSP {
			v = sp
		}
		if err := x.pushWord(v); err != nil {
			return err
		}
	}
	return nil
}

// popAll is popa, which skips the stack pointer.
func popAll(x *execution) error {
	for i := range 8 {
		v, err := x.popWord()
		if err != nil {
			return err
		}
		if index := gpr[7-i]; index != RSP {
			x.setGPR(index, v)
		}
	}
	return nil
}

// translate is xlat: a byte of a table that rbx points to.
func translate(x *execution) error {
	a := address{base: RBX, index: none, segment: none, selector: DS, disp: x.regs[RAX] & 0xff, mask: sizeMask(x.in.addressSize())}
	x.in.addressSegment(&a)
	x.form.mem, x.form.size = a, 1
	v, err := x.read(operand{kind: inMemory})
	if err != nil {
		return err
	}
	x.setGPR(RAX, v)
	return nil
}

// checkBounds is bound, which does nothing within them.
func checkBounds(x *execution) error {
	addr, err := x.linear(x.regs)
	if err != nil {
		return err
	}
	size := x.form.size
	low, err := load(x.regs, x.mem, addr, size)
	if err != nil {
		return err
	}
	high, err := load(x.regs, x.mem, x.isa.wrap(addr+uint64(size)), size)
	if err != nil {
		return err
	}
	n := int64(signExtend(x.regs[x.reg().index], size))
	if n < int64(signExtend(low, size)) || n > int64(signExtend(high, size)) {
		return errBound
	}
	return nil
}

// adjustPrivilege is arpl, which does not ask for the right to write until it has read.
func adjustPrivilege(x *execution) error {
	x.form.size = 2
	v, err := x.read(x.rm())
	if err != nil {
		return err
	}
	asked := x.gpr(x.reg().index) & 3
	raises := v&3 < asked
	if raises {
		if err := x.write(x.rm(), v&^3|asked); err != nil {
			return err
		}
	}
	x.setFlags(flagZF, bit(raises, flagZF))
	return nil
}

// overflowTrap is into.
func overflowTrap(x *execution) error {
	if x.regs[EFLAGS]&flagOF != 0 {
		return errOverflow
	}
	return nil
}
