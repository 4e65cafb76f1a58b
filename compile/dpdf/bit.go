package dpdf

import "gotap/runtime/opcode"

// bitCommands are those that spread or clear bits from bit i on, which counts from 1. DProbes
// fixed their width at 32 bits, also on machines with 64. Here it is that of a word. None of
// them is worth an operation of its own: with a constant they are one to nine commands of the
// machine.
func bitCommands() {
	commands["pbl"] = bits(func(e *emitter, i uint) {
		if i < 64 {
			e.b.A(opcode.Ext, uint32(i))
		}
	}, func(e *emitter, t uint32) {
		leftPart(e, t, opcode.Sar)
	})
	commands["pzl"] = bits(func(e *emitter, i uint) {
		if i < 64 {
			e.b.A(opcode.Zext, uint32(i))
		}
	}, func(e *emitter, t uint32) {
		leftPart(e, t, opcode.Shr)
	})
	commands["pzr"] = bits(func(e *emitter, i uint) {
		e.and(^(uint64(1)<<(i-1) - 1))
	}, func(e *emitter, t uint32) {
		e.below(t, opcode.Shr)
		e.below(t, opcode.Shl)
	})
	commands["pbr"] = bits(func(e *emitter, i uint) {
		low := uint64(1)<<(i-1) - 1
		e.b.Op(opcode.Dup)
		e.b.Push(uint64(i - 1))
		e.spread()
		e.and(low)
		e.b.Op(opcode.Xchg)
		e.and(^low)
		e.b.Op(opcode.Or)
	}, func(e *emitter, t uint32) {
		e.b.Op(opcode.Dup)
		e.pushBelow(t)
		e.spread()
		e.b.Push(1)
		e.below(t, opcode.Shl)
		e.b.Push(1)
		e.b.Op(opcode.Sub)
		e.b.Op(opcode.And)
		e.b.Op(opcode.Xchg)
		e.below(t, opcode.Shr)
		e.below(t, opcode.Shl)
		e.b.Op(opcode.Or)
	})
}

// bits is a command with the number of a bit after it, or on the stack: then it is kept in a
// scratch word, and counts modulo 64, 0 being bit 64. The number lies above the value here, in
// the order of all other commands.
func bits(constant func(e *emitter, i uint), variable func(e *emitter, t uint32)) *command {
	return &command{0, 1, func(e *emitter, s statement) {
		if len(s.operands) == 1 {
			if i, ok := e.number(s.operands[0], 1, 64); ok {
				constant(e, uint(i))
			}
			return
		}
		t := e.b.Temp()
		defer e.b.Release(t)
		e.b.A(opcode.PopTV, t)
		variable(e, t)
	}}
}

// leftPart shifts left until bit i is the highest, and back: ( v -- r ).
// 64-i is taken modulo 64 by the shift, so that bit 64 needs no case of its own.
func leftPart(e *emitter, t uint32, back opcode.Op) {
	for _, op := range []opcode.Op{opcode.Shl, back} {
		e.b.Push(64)
		e.b.A(opcode.PushTV, t)
		e.b.Op(opcode.Sub)
		e.b.Op(op)
	}
}

// pushBelow pushes how many bits there are below bit i.
func (e *emitter) pushBelow(t uint32) {
	e.b.A(opcode.PushTV, t)
	e.b.Push(1)
	e.b.Op(opcode.Sub)
}

// below shifts by as many bits as there are below bit i.
func (e *emitter) below(t uint32, op opcode.Op) {
	e.pushBelow(t)
	e.b.Op(op)
}

// spread makes all bits equal to bit n: ( v n -- 0 or -1 ).
// Bit n is moved to the lowest place, cut out, and negated: 0 stays 0, 1 becomes all ones.
func (e *emitter) spread() {
	e.b.Op(opcode.Shr)
	e.and(1)
	e.b.Op(opcode.Neg)
}

// and masks the top word.
func (e *emitter) and(mask uint64) {
	e.b.Push(mask)
	e.b.Op(opcode.And)
}
