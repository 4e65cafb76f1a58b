package x86

// Instructions that access the stack more than once, and xlat, bound and arpl.

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

// popWord pops a value of the form's size.
func (x *execution) popWord() (uint64, error) {
	size := x.form.size
	v, err := load(x.regs, x.mem, x.regs[RSP], size)
	if err == nil {
		x.regs[RSP] = x.isa.wrap(x.regs[RSP] + uint64(size))
	}
	return v, err
}

// popInto emulates pop into memory or a register. The address is computed with the stack pointer after the pop.
func popInto(x *execution) error {
	x.form.size = x.in.stackSize()
	v, err := x.popWord()
	if err != nil {
		return err
	}
	return x.write(x.rm(), v)
}

// popFlags emulates popf in a program without I/O privilege.
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

// enter creates a frame with the given number of bytes and copies the frame pointers of outer procedures into it.
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
	return ofWrite(err) // the end of the frame has to be writable
}

// pushAll emulates pusha.
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

// popAll emulates popa, which skips the stack pointer.
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

// translate emulates xlat: it loads a byte of the table at rbx.
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

// checkBounds emulates bound, which does nothing if the index is within the bounds.
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

// adjustPrivilege emulates arpl, which requests write access only after it has read.
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

// overflowTrap emulates into.
func overflowTrap(x *execution) error {
	if x.regs[EFLAGS]&flagOF != 0 {
		return errOverflow
	}
	return nil
}
