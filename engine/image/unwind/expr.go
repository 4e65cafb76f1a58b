package unwind

import (
	"errors"
	"fmt"
)

// Bounds of a DWARF expression in call-frame information: real ones push two values and take ten operations.
const (
	exprDepth = 32
	exprOps   = 4096
)

// errExprStack reports an expression that pops too much or pushes too much.
var errExprStack = errors.New("call-frame expression over- or underruns its stack")

// evaluator evaluates DWARF expressions (DWARF 5, 2.5) on a frame. It is part of the Walker, so that an evaluation
// allocates nothing.
type evaluator struct {
	stack [exprDepth]uint64
	n     int
	bad   bool // the stack was over- or underrun
}

func (e *evaluator) push(v uint64) {
	if e.n == exprDepth {
		e.bad = true
		return
	}
	e.stack[e.n] = v
	e.n++
}

func (e *evaluator) pop() uint64 {
	if e.n == 0 {
		e.bad = true
		return 0
	}
	e.n--
	return e.stack[e.n]
}

// pick pushes the value that lies n below the top.
func (e *evaluator) pick(n int) {
	if n >= e.n {
		e.bad = true
		return
	}
	e.push(e.stack[e.n-1-n])
}

// eval runs expr on frame f. A rule's expression starts with the canonical frame address on the stack.
func (w *Walker) eval(expr []byte, f *frame, initial ...uint64) (uint64, error) {
	e := &w.eval0
	e.n, e.bad = 0, false
	for _, v := range initial {
		e.push(v)
	}
	r := reader{data: expr}
	for ops := 0; r.more() && !e.bad; ops++ {
		if ops == exprOps {
			return 0, errors.New("call-frame expression does not end")
		}
		if err := w.evalOp(r.u8(), &r, f); err != nil {
			return 0, err
		}
	}
	v := e.pop()
	if e.bad {
		return 0, errExprStack
	}
	return w.mask(v), r.err
}

// evalOp executes one operation. Numbers are those of DWARF 5, 7.7.1.
func (w *Walker) evalOp(op uint8, r *reader, f *frame) error {
	e := &w.eval0
	switch {
	case op >= 0x30 && op <= 0x4f: // lit0 …
		e.push(uint64(op - 0x30))
	case op >= 0x50 && op <= 0x6f: // reg0 …, which some producers write instead of breg
		return w.pushReg(uint64(op-0x50), 0, f)
	case op >= 0x70 && op <= 0x8f: // breg0 …
		return w.pushReg(uint64(op-0x70), r.sleb(), f)
	case op == 0x92: // bregx
		reg := r.uleb()
		return w.pushReg(reg, r.sleb(), f)
	case op == 0x03: // addr
		e.push(r.word(w.layout.names.word))
	case op >= 0x08 && op <= 0x0f: // const1u … const8s, unsigned and signed in turn
		size := 1 << ((op - 0x08) / 2)
		if op%2 == 0 {
			e.push(r.word(size))
		} else {
			e.push(uint64(r.signed(size)))
		}
	case op == 0x10: // constu
		e.push(r.uleb())
	case op == 0x11: // consts
		e.push(uint64(r.sleb()))
	case op == 0x06: // deref
		return w.deref(w.layout.names.word)
	case op == 0x94: // deref_size
		return w.deref(int(r.u8()))
	case op >= 0x12 && op <= 0x17:
		e.shuffle(op, r)
	case op == 0x28, op == 0x2f:
		e.jump(op, r)
	case op == 0x96: // nop
	default:
		return w.arith(op, r)
	}
	return nil
}

// pushReg pushes a register's value plus an offset.
func (w *Walker) pushReg(reg uint64, off int64, f *frame) error {
	v, ok := f.get(uint8(min(reg, noReg)))
	if !ok {
		return fmt.Errorf("call-frame expression needs register %d, whose value is lost", reg)
	}
	w.eval0.push(w.mask(v + uint64(off)))
	return nil
}

// deref replaces the address on top by the value of size bytes at that address.
func (w *Walker) deref(size int) error {
	if size < 1 || size > 8 {
		return fmt.Errorf("call-frame expression loads %d bytes", size)
	}
	v, err := w.pages.load(w.mask(w.eval0.pop()), size)
	w.eval0.push(v)
	return err
}

// shuffle executes the operations that move values.
func (e *evaluator) shuffle(op uint8, r *reader) {
	switch op {
	case 0x12: // dup
		e.pick(0)
	case 0x13: // drop
		e.pop()
	case 0x14: // over
		e.pick(1)
	case 0x15: // pick
		e.pick(int(r.u8()))
	case 0x16: // swap
		a, b := e.pop(), e.pop()
		e.push(a)
		e.push(b)
	case 0x17: // rot
		a, b, c := e.pop(), e.pop(), e.pop()
		e.push(a)
		e.push(c)
		e.push(b)
	}
}

// jump executes bra and skip.
func (e *evaluator) jump(op uint8, r *reader) {
	to := int(r.signed(2))
	if op == 0x28 && e.pop() == 0 {
		return
	}
	if to += r.off; to < 0 || to > len(r.data) {
		r.err = errShort
		return
	}
	r.off = to
}

// arith executes the operations on one and two values.
func (w *Walker) arith(op uint8, r *reader) error {
	e := &w.eval0
	switch op {
	case 0x19: // abs
		if v := w.extend(e.pop()); v < 0 {
			e.push(w.mask(uint64(-v)))
		} else {
			e.push(uint64(v))
		}
		return nil
	case 0x1f: // neg
		e.push(w.mask(-e.pop()))
		return nil
	case 0x20: // not
		e.push(w.mask(^e.pop()))
		return nil
	case 0x23: // plus_uconst
		e.push(w.mask(e.pop() + r.uleb()))
		return nil
	}
	b, a := e.pop(), e.pop()
	v, ok := w.binary(op, a, b)
	if !ok {
		return fmt.Errorf("call-frame expression has operation %#x, which is not supported here", op)
	}
	e.push(w.mask(v))
	return nil
}

// binary returns a op b; ok is false for an unknown operation and for division by zero.
func (w *Walker) binary(op uint8, a, b uint64) (v uint64, ok bool) {
	sa, sb := w.extend(a), w.extend(b)
	switch op {
	case 0x1a: // and
		return a & b, true
	case 0x1b: // div
		if sb == 0 {
			return 0, false
		}
		return uint64(sa / sb), true
	case 0x1c: // minus
		return a - b, true
	case 0x1d: // mod
		if b == 0 {
			return 0, false
		}
		return a % b, true
	case 0x1e: // mul
		return a * b, true
	case 0x21: // or
		return a | b, true
	case 0x22: // plus
		return a + b, true
	case 0x24: // shl
		return a << b, true
	case 0x25: // shr
		return a >> b, true
	case 0x26: // shra
		return uint64(sa >> b), true
	case 0x27: // xor
		return a ^ b, true
	}
	return compareOp(op, sa, sb)
}

// compareOp returns the result of a signed comparison.
func compareOp(op uint8, a, b int64) (v uint64, ok bool) {
	var is bool
	switch op {
	case 0x29:
		is = a == b
	case 0x2a:
		is = a >= b
	case 0x2b:
		is = a > b
	case 0x2c:
		is = a <= b
	case 0x2d:
		is = a < b
	case 0x2e:
		is = a != b
	default:
		return 0, false
	}
	if is {
		v = 1
	}
	return v, true
}

// mask truncates a value to the size of an address.
func (w *Walker) mask(v uint64) uint64 {
	if w.layout.names.word == 4 {
		return uint64(uint32(v))
	}
	return v
}

// extend returns a value as a signed number of the size of an address.
func (w *Walker) extend(v uint64) int64 {
	if w.layout.names.word == 4 {
		return int64(int32(v))
	}
	return int64(v)
}
