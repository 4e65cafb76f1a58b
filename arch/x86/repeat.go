package x86

// String instructions, whose operands are at rsi and rdi.

// repeated emulates movs, cmps, stos, lods and scas, with or without a repeat prefix.
func repeated(x *execution) error {
	x.resize()
	count := x.in.addressSize()
	if x.in.rep == 0 {
		_, err := x.iterate()
		return err
	}
	for x.regs[RCX]&sizeMask(count) != 0 {
		compared, err := x.iterate()
		if err != nil {
			return err
		}
		setReg(x.regs, operand{inRegister, RCX}, x.regs[RCX]-1, count)
		x.kept = *x.regs // an error undoes only the iteration in which it occurs
		if compared && x.regs[EFLAGS]&flagZF != 0 != (x.in.rep == 0xf3) {
			break
		}
	}
	return nil
}

// iterate executes one iteration. compared reports that a comparison set the flags.
func (x *execution) iterate() (compared bool, err error) {
	switch x.in.opcode &^ 1 {
	case 0xa4:
		err = x.moveString()
	case 0xa6:
		return true, x.compareString()
	case 0xaa:
		if err = x.storeString(x.regs[RAX]); err == nil {
			x.advance(RDI)
		}
	case 0xac:
		var v uint64
		if v, err = x.loadString(RSI); err == nil {
			x.setGPR(RAX, v)
			x.advance(RSI)
		}
	case 0xae:
		var v uint64
		if v, err = x.loadString(RDI); err == nil {
			_, flags := alu(aluCMP, x.regs[RAX], v, x.form.size, 0)
			setStatus(x.regs, flags)
			x.advance(RDI)
		}
		return true, err
	}
	return false, err
}

func (x *execution) moveString() error {
	v, err := x.loadString(RSI)
	if err != nil {
		return err
	}
	if err := x.storeString(v); err != nil {
		return err
	}
	x.advance(RSI)
	x.advance(RDI)
	return nil
}

// compareString reads the operand at rdi first, as processors do: the fault shows it when both operands are
// missing. repe cmpsb is an exception, for which processors have a separate routine that reads rsi first.
func (x *execution) compareString() error {
	first, second := uint8(RDI), uint8(RSI)
	if x.in.rep == 0xf3 && x.form.size == 1 {
		first, second = second, first
	}
	b, err := x.loadString(first)
	if err != nil {
		return err
	}
	a, err := x.loadString(second)
	if err != nil {
		return err
	}
	if first == RSI {
		a, b = b, a
	}
	_, flags := alu(aluCMP, a, b, x.form.size, 0)
	setStatus(x.regs, flags)
	x.advance(RSI)
	x.advance(RDI)
	return nil
}

// pointer returns the address in rsi or rdi. Only rsi obeys a segment prefix.
func (x *execution) pointer(index uint8) (uint64, error) {
	a := address{base: index, index: none, segment: none, selector: DS, mask: sizeMask(x.in.addressSize())}
	if x.in.long {
		a.selector = none
	}
	if index == RDI {
		if !x.in.long {
			a.selector = ES
		}
	} else {
		x.in.addressSegment(&a)
	}
	x.form.mem = a
	return x.linear(x.regs)
}

func (x *execution) loadString(index uint8) (uint64, error) {
	addr, err := x.pointer(index)
	if err != nil {
		return 0, err
	}
	return load(x.regs, x.mem, addr, x.form.size)
}

func (x *execution) storeString(v uint64) error {
	addr, err := x.pointer(RDI)
	if err != nil {
		return err
	}
	return store(x.regs, x.mem, addr, v, x.form.size)
}

// advance moves a pointer forward, or back if DF is set.
func (x *execution) advance(index uint8) {
	step := uint64(x.form.size)
	if x.regs[EFLAGS]&flagDF != 0 {
		step = -step
	}
	setReg(x.regs, operand{inRegister, index}, x.regs[index]+step, x.in.addressSize())
}
