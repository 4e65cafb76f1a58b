package location

import (
	"debug/dwarf"

	"gotap/compile"
	"gotap/engine/image/debuginfo/entry"
)

// op executes one operation. Opcodes are those of DWARF 5, 7.7.1; below 0x94 they are in the order of that table.
func (l *locator) op(op uint8, c *entry.Cursor) error {
	switch {
	case op >= 0x30 && op <= 0x4f: // lit0 …
		return l.push(Constant(int64(op - 0x30)))
	case op >= 0x50 && op <= 0x6f: // reg0 …
		return l.register(uint64(op - 0x50))
	case op >= 0x70 && op <= 0x8f: // breg0 …
		return l.based(uint64(op-0x70), c.SLEB())
	case op >= 0x08 && op <= 0x11:
		return l.push(Constant(constOperand(op, c)))
	}
	switch op {
	case 0x03: // addr
		return l.push(Place{Base: compile.BaseAddr, Value: int64(c.Word(l.fn.Unit.Addr))})
	case 0xa1, 0xfb: // addrx, GNU_addr_index
		return l.push(Place{Base: compile.BaseAddr, Value: int64(l.fd.entries.Indexed(l.fn.Unit, c.ULEB()))})
	case 0xa2, 0xfc: // constx, GNU_const_index
		return l.push(Constant(int64(l.fd.entries.Indexed(l.fn.Unit, c.ULEB()))))
	case 0x90: // regx
		return l.register(c.ULEB())
	case 0x92: // bregx
		reg := c.ULEB()
		return l.based(reg, c.SLEB())
	case 0x91: // fbreg
		return l.frameBase(c.SLEB())
	case 0x9c: // call_frame_cfa
		p, err := l.fd.FrameAddress(l.fn, l.pc)
		l.stack = append(l.stack, p)
		return err
	case 0x93: // piece
		return l.piece(int64(c.ULEB()))
	case 0x9e: // implicit_value
		return l.implicit(c.Bytes(int(c.ULEB())))
	case 0x9f: // stack_value
		l.value = true
		return nil
	case 0xa3, 0xf3: // entry_value
		return l.entryValue(c.Bytes(int(c.ULEB())))
	case 0xa0, 0xf2: // implicit_pointer
		return ErrPointee
	case 0x9b, 0xe0: // form_tls_address, GNU_push_tls_address
		p, err := l.pop()
		if err != nil || !p.isConst() && p.Base != compile.BaseAddr {
			return errComplex
		}
		return l.push(Place{Base: compile.BaseThread, Value: p.Value})
	case 0xa8, 0xf7: // convert, GNU_convert
		return l.convert(c.ULEB())
	case 0x96: // nop
		return nil
	}
	return l.arith(op, c)
}

// constOperand reads the operand of const1u to consts.
func constOperand(op uint8, c *entry.Cursor) int64 {
	switch op {
	case 0x10:
		return int64(c.ULEB())
	case 0x11:
		return c.SLEB()
	}
	size := 1 << ((op - 0x08) / 2)
	if op%2 == 0 {
		return int64(c.Word(size))
	}
	return c.Signed(size)
}

// piece ends the description of one part of the value.
func (l *locator) piece(size int64) error {
	p := Piece{Size: size, Absent: len(l.stack) == 0}
	if !p.Absent {
		var err error
		if p.Place, err = l.top(); err != nil {
			return err
		}
	}
	l.stack, l.value = l.stack[:0], false
	l.done.Pieces = append(l.done.Pieces, p)
	return nil
}

// Implicit returns the place of a value that the debug information contains itself.
func Implicit(b []byte) (Place, error) {
	if len(b) > 8 {
		return Place{}, errComplex
	}
	var v uint64
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return Constant(int64(v)), nil
}

// implicit pushes a value that the debug information contains itself.
func (l *locator) implicit(b []byte) error {
	p, err := Implicit(b)
	if err != nil {
		return err
	}
	l.value = true
	return l.push(p)
}

// arith executes the operations that an access can represent: adding a constant, loading, and masking.
func (l *locator) arith(op uint8, c *entry.Cursor) error {
	switch op {
	case 0x23: // plus_uconst
		p, err := l.pop()
		if err != nil {
			return err
		}
		return l.push(p.Add(int64(c.ULEB())))
	case 0x06, 0x94: // deref, deref_size
		size := int(l.fd.entries.Word())
		if op == 0x94 {
			size = int(c.U8())
		}
		p, err := l.pop()
		if err != nil || size != 1 && size != 2 && size != 4 && size != 8 {
			return errComplex
		}
		return l.push(p.Load(size, false, false))
	case 0x1a, 0x1c, 0x22: // and, minus, plus
		return l.withConstant(op)
	}
	return errComplex
}

// DWARF's encodings of integers (DWARF 5, table 7.11).
const (
	encSigned       = 0x05
	encSignedChar   = 0x06
	encUnsigned     = 0x07
	encUnsignedChar = 0x08
)

// convert converts the top of the stack to the integer type at an offset in the unit; 0 stands for that of an address.
func (l *locator) convert(off uint64) error {
	if off == 0 {
		return nil
	}
	u := l.fn.Unit
	if off >= uint64(u.End-u.Start) {
		return errComplex
	}
	t, err := l.fd.entries.At(u.Start + dwarf.Offset(off))
	if err != nil {
		return err
	}
	encoding, _ := t.Val(dwarf.AttrEncoding).(int64)
	size, _ := t.Val(dwarf.AttrByteSize).(int64)
	p, err := l.pop()
	if err != nil || encoding < encSigned || encoding > encUnsignedChar || size != 1 && size != 2 && size != 4 && size != 8 {
		return errComplex
	}
	signed := encoding == encSigned || encoding == encSignedChar
	switch {
	case p.isConst():
		p.Value = Extend(p.Value, 8*size, signed)
	case size < 8:
		p = p.clone()
		p.steps = append(p.steps, compile.AccessStep{Op: compile.OpTruncate, Size: int(size), Signed: signed})
	}
	return l.push(p)
}

// withConstant executes an operation with one constant operand. The only bitwise operation that an access can represent
// is GCC's "register and mask", which describes a value narrower than the register.
func (l *locator) withConstant(op uint8) error {
	b, errB := l.pop()
	a, errA := l.pop()
	if errA != nil || errB != nil {
		return errComplex
	}
	if op != 0x1c && a.isConst() {
		a, b = b, a
	}
	if !b.isConst() {
		return errComplex
	}
	switch op {
	case 0x1c:
		return l.push(a.Add(-b.Value))
	case 0x22:
		return l.push(a.Add(b.Value))
	}
	sizes := map[int64]int{0xff: 1, 0xffff: 2, 0xffffffff: 4}
	size, ok := sizes[b.Value]
	if !ok {
		return errComplex
	}
	a = a.clone()
	a.steps = append(a.steps, compile.AccessStep{Op: compile.OpTruncate, Size: size})
	return l.push(a)
}
