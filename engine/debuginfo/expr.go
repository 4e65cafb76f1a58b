package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strconv"

	"gotap/compile"
	"gotap/engine/unwind"
)

// errEntryOnly is a value of which only the one at the function's entry is described.
var errEntryOnly = errors.New("the compiler describes only the value it had when the function was entered")

// errPointee is a pointer that was optimised away while what it points to is still known.
var errPointee = errors.New("the pointer itself was optimised away")

// errComplex is a location that takes more than an access can say.
var errComplex = errors.New("its location is a computation that an access cannot express")

// locator turns location expressions (DWARF 5, 2.5 and 2.6) into places: it runs them on places in the place of
// numbers. What depends on more than one register or load is refused.
type locator struct {
	in    *Info
	fn    *function
	pc    uint64
	stack []place
	done  place // pieces gathered so far
	value bool  // the place on top is a value, not an address
	base  bool  // it is the frame base that is computed, which cannot be counted from itself
}

// maxExpr bounds an expression, in bytes. Compilers write up to some fifty; each operation may copy what the ones before it made, and
// expressions stand in expressions.
const maxExpr = 1 << 12

// locate evaluates expr.
func (in *Info) locate(fn *function, pc uint64, expr []byte) (place, error) {
	return (&locator{in: in, fn: fn, pc: pc}).locate(expr)
}

// locate evaluates expr on an empty stack.
func (l *locator) locate(expr []byte) (place, error) {
	if len(expr) > maxExpr {
		return place{}, errComplex
	}
	c := &cursor{data: expr}
	for c.more() {
		if err := l.op(c.u8(), c); err != nil {
			return place{}, err
		}
	}
	if c.err != nil {
		return place{}, c.err
	}
	if len(l.done.pieces) > 0 { // once there is one piece, everything is in pieces
		return l.done, nil
	}
	return l.top()
}

// top is the result: an address unless the expression said that it is the value.
func (l *locator) top() (place, error) {
	if len(l.stack) == 0 {
		return place{}, errNowhere
	}
	p := l.stack[len(l.stack)-1]
	if !l.value {
		p.memory = true
	}
	return p, nil
}

// push never fails; the error lets operations end in it.
func (l *locator) push(p place) error {
	l.stack = append(l.stack, p)
	return nil
}

// pop refuses an expression that takes more than it pushed, instead of making a value up.
func (l *locator) pop() (place, error) {
	n := len(l.stack) - 1
	if n < 0 {
		return place{}, errComplex
	}
	p := l.stack[n]
	l.stack = l.stack[:n]
	return p, nil
}

// op executes one operation. Numbers are those of DWARF 5, 7.7.1; below 0x94 in the order of that table.
func (l *locator) op(op uint8, c *cursor) error {
	switch {
	case op >= 0x30 && op <= 0x4f: // lit0 …
		return l.push(constant(int64(op - 0x30)))
	case op >= 0x50 && op <= 0x6f: // reg0 …
		return l.register(uint64(op - 0x50))
	case op >= 0x70 && op <= 0x8f: // breg0 …
		return l.based(uint64(op-0x70), c.sleb())
	case op >= 0x08 && op <= 0x11:
		return l.push(constant(constOperand(op, c)))
	}
	switch op {
	case 0x03: // addr
		return l.push(place{base: compile.BaseAddr, value: int64(c.word(l.fn.unit.addr))})
	case 0xa1, 0xfb: // addrx, GNU_addr_index
		return l.push(place{base: compile.BaseAddr, value: int64(l.in.indexed(l.fn.unit, c.uleb()))})
	case 0xa2, 0xfc: // constx, GNU_const_index
		return l.push(constant(int64(l.in.indexed(l.fn.unit, c.uleb()))))
	case 0x90: // regx
		return l.register(c.uleb())
	case 0x92: // bregx
		reg := c.uleb()
		return l.based(reg, c.sleb())
	case 0x91: // fbreg
		return l.frameBase(c.sleb())
	case 0x9c: // call_frame_cfa
		p, err := l.in.frameAddress(l.fn, l.pc)
		l.stack = append(l.stack, p)
		return err
	case 0x93: // piece
		return l.piece(int64(c.uleb()))
	case 0x9e: // implicit_value
		return l.implicit(c.bytes(int(c.uleb())))
	case 0x9f: // stack_value
		l.value = true
		return nil
	case 0xa3, 0xf3: // entry_value
		return l.entryValue(c.bytes(int(c.uleb())))
	case 0xa0, 0xf2: // implicit_pointer
		return errPointee
	case 0x96: // nop
		return nil
	}
	return l.arith(op, c)
}

// constOperand reads the operand of const1u … consts.
func constOperand(op uint8, c *cursor) int64 {
	switch op {
	case 0x10:
		return int64(c.uleb())
	case 0x11:
		return c.sleb()
	}
	size := 1 << ((op - 0x08) / 2)
	if op%2 == 0 {
		return int64(c.word(size))
	}
	return c.signed(size)
}

// registerName names the register that DWARF numbers reg (System V ABI, x86-64 figure 3.36 and i386 table 2.14).
func (in *Info) registerName(reg uint64) (string, bool) {
	switch {
	case in.machine == machineAMD64 && reg >= 17 && reg <= 32:
		return "xmm" + strconv.FormatUint(reg-17, 10), true
	case in.machine == machine386 && reg >= 21 && reg <= 28:
		return "xmm" + strconv.FormatUint(reg-21, 10), true
	}
	return unwind.RegisterName(in.machine, reg)
}

// vectorRegister is a register of ARM's vector units that may hold an argument or a result: the others are not read (DWARF for the Arm
// Architecture, 4.1: s0 on from 64, d0 on from 256; for the 64-bit one v0 on from 64).
func (in *Info) vectorRegister(reg uint64) (place, bool) {
	switch {
	case in.machine == machineARM64 && reg >= 64 && reg < 72:
		return inRegister("v" + strconv.FormatUint(reg-64, 10)), true
	case in.machine == machineARM && reg >= 64 && reg < 80:
		return single(int(reg - 64)), true
	case in.machine == machineARM && reg >= 256 && reg < 264:
		return single(int(reg-256) * 2), true
	}
	return place{}, false
}

// register is a value that lies in a register.
func (l *locator) register(reg uint64) error {
	if p, ok := l.in.vectorRegister(reg); ok {
		l.value = true
		return l.push(p)
	}
	name, ok := l.in.registerName(reg)
	if !ok {
		return fmt.Errorf("it lies in register %d, which cannot be read", reg)
	}
	l.value = true
	return l.push(inRegister(name))
}

// based is the address, or with a following stack_value the value, of a register plus an offset.
func (l *locator) based(reg uint64, off int64) error {
	name, ok := l.in.registerName(reg)
	if !ok {
		return fmt.Errorf("its location depends on register %d, which cannot be read", reg)
	}
	return l.push(inRegister(name).add(off))
}

// frameBase is the function's frame base plus an offset.
func (l *locator) frameBase(off int64) error {
	f, _, err := l.in.attr(l.fn.entry, dwarf.AttrFrameBase)
	if err != nil || f == nil || l.base {
		return errComplex
	}
	loc, ok, err := l.in.locationOf(l.fn.unit, &dwarf.Entry{Field: []dwarf.Field{{Attr: dwarf.AttrLocation, Val: f.Val, Class: f.Class}}}, l.pc)
	if err != nil || !ok {
		return errComplex
	}
	base, err := (&locator{in: l.in, fn: l.fn, pc: l.pc, base: true}).locate(loc.expr)
	if err != nil {
		return err
	}
	base.memory = false // a frame base in a register is the register's value
	return l.push(base.add(off))
}

// piece ends the description of one part of the value.
func (l *locator) piece(size int64) error {
	p := piece{size: size, absent: len(l.stack) == 0}
	if !p.absent {
		var err error
		if p.place, err = l.top(); err != nil {
			return err
		}
	}
	l.stack, l.value = l.stack[:0], false
	l.done.pieces = append(l.done.pieces, p)
	return nil
}

// implicit is a value that the debug information spells out.
func (l *locator) implicit(b []byte) error {
	if len(b) > 8 {
		return errComplex
	}
	var v uint64
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	l.value = true
	return l.push(constant(int64(v)))
}

// entryValue is what an expression gave when the function was entered, which can be told only there.
func (l *locator) entryValue(expr []byte) error {
	if l.pc != l.fn.low {
		return errEntryOnly
	}
	p, err := (&locator{in: l.in, fn: l.fn, pc: l.pc, base: l.base}).locate(expr)
	if err != nil {
		return err
	}
	p.memory = false
	return l.push(p)
}

// arith executes the operations that an access can follow: adding a constant, loading, and cutting by a mask.
func (l *locator) arith(op uint8, c *cursor) error {
	switch op {
	case 0x23: // plus_uconst
		p, err := l.pop()
		if err != nil {
			return err
		}
		return l.push(p.add(int64(c.uleb())))
	case 0x06, 0x94: // deref, deref_size
		size := int(l.in.word())
		if op == 0x94 {
			size = int(c.u8())
		}
		p, err := l.pop()
		if err != nil || size != 1 && size != 2 && size != 4 && size != 8 {
			return errComplex
		}
		return l.push(p.load(size, false, false))
	case 0x1a, 0x1c, 0x22: // and, minus, plus
		return l.withConstant(op)
	}
	return errComplex
}

// GCC writes values narrower than a register as "register and mask", which is the only use of bitwise operators that an
// access can follow.

// withConstant executes an operation one of whose operands is a constant.
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
		return l.push(a.add(-b.value))
	case 0x22:
		return l.push(a.add(b.value))
	}
	sizes := map[int64]int{0xff: 1, 0xffff: 2, 0xffffffff: 4}
	size, ok := sizes[b.value]
	if !ok {
		return errComplex
	}
	a = a.clone()
	a.steps = append(a.steps, compile.AccessStep{Op: compile.OpTruncate, Size: size})
	return l.push(a)
}

func (p place) isConst() bool { return p.base == compile.BaseConst && len(p.steps) == 0 }

// frameAddress is the canonical frame address at pc. At the entry of a function that is known of old; elsewhere the
// call-frame information says how to compute it from a register.
func (in *Info) frameAddress(fn *function, pc uint64) (place, error) {
	if pc == fn.low {
		return place{base: compile.BaseFrame}, nil
	}
	if in.frames == nil {
		return place{}, errComplex
	}
	reg, off, err := in.frames.CFA(pc)
	if err != nil {
		return place{}, fmt.Errorf("cannot find the frame: %w", err)
	}
	return inRegister(reg).add(off), nil
}
