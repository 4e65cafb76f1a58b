package arm64

import (
	"gotap/runtime"
	"gotap/runtime/native"
	"gotap/runtime/opcode"
)

const (
	hashStart = runtime.HashStart
	hashPrime = runtime.HashPrime
)

// calculate makes the code of operations on texts.
func (t *texts) calculate(op opcode.Op, depth int) {
	v, known := t.plan.Compared(t.pc)
	pops, _ := opcode.RowOf(op).Effect(0)
	switch {
	case known:
		t.constant(depth-pops, v)
	case op == opcode.Slen:
		t.length(depth)
	case op == opcode.Hash:
		t.hash(depth)
	case native.IsDigits(op):
		t.digits(op, depth)
	case op == opcode.Scat:
		t.join(depth)
	case op == opcode.Bytes:
		t.copyBytes(depth)
	case op != opcode.Str:
		t.compare(op, depth)
	default:
		if _, compares := t.plan.Comparison(t.pc); compares {
			t.memory.compareText(depth)
			return
		}
		t.copyText(depth)
	}
}

// compare replaces two texts by how they compare.
func (t *texts) compare(op opcode.Op, depth int) {
	bell := t.bellBefore()
	t.find(t.wordAt(depth-1), bell)
	t.mov(toReg, fromReg)
	t.mov(saved1, leftBytes)
	t.find(t.wordAt(depth-2), bell)
	switch op {
	case opcode.Seq:
		t.begins(condNE)
	case opcode.Sprefix:
		t.begins(condLO)
	default:
		t.order()
	}
	t.set(depth-2, x6)
}

// begins computes in x6 whether the text at fromReg begins with the saved1 bytes at toReg, and not if the lengths
// compare as given.
func (t *texts) begins(unless cond) {
	differs := t.newLabel()
	t.cmp(leftBytes, saved1)
	t.movImm(x6, 0)
	t.bIf(unless, differs)
	t.mov(saved2, saved1)
	t.scan(differs)
	t.movImm(x6, 1)
	t.place(differs)
}

// order computes -1, 0 or 1 in x6, as bytes.Compare does.
func (t *texts) order() {
	differs, decide := t.newLabel(), t.newLabel()
	t.cmp(leftBytes, saved1)
	t.csel(saved2, leftBytes, saved1, condLO)
	t.scan(differs)
	t.cmp(leftBytes, saved1)
	t.b(decide)
	t.place(differs)
	t.lowestBit(x8, x8)
	t.movImm(x14, 0x38) // the byte, in bits
	t.three(opAnd, x8, x8, x14)
	for _, x := range []struct{ to, at reg }{{x14, fromReg}, {x15, toReg}} {
		t.ldr(x.to, x.at, 0)
		t.three(opShr, x.to, x.to, x8)
		t.low(x.to, x.to, 8, false)
	}
	t.cmp(x14, x15)
	t.place(decide)
	t.cset(x6, condHI)
	t.cset(x7, condLO)
	t.sub(x6, x6, x7)
}

// scan compares saved2 bytes at fromReg and toReg. It jumps where they differ: then the lowest bit of x8 is in the
// first byte that does, of the words there. leftBytes, saved1 and x6 stay.
func (t *texts) scan(differs label) {
	again, tail, same := t.newLabel(), t.newLabel(), t.newLabel()
	t.place(again)
	t.cbz(saved2, same)
	t.ldr(x8, fromReg, 0)
	t.ldr(x14, toReg, 0)
	t.three(opXor, x8, x8, x14)
	t.cmpImm(saved2, 8)
	t.bIf(condLO, tail)
	t.cbnz(x8, differs)
	t.addImm(fromReg, fromReg, 8)
	t.addImm(toReg, toReg, 8)
	t.subImm(saved2, saved2, 8)
	t.b(again)
	t.place(tail)
	t.pad(x8, saved2)
	t.cbnz(x8, differs)
	t.place(same)
}

// digitsEnd is where the last digit is written before all are moved to the front. At most 20 characters are written.
const digitsEnd = 24

// digits replaces a number by its digits.
func (t *texts) digits(op opcode.Op, depth int) {
	bell := t.bellBefore()
	t.claim()
	t.room(native.MostDigits, bell)
	t.mov(x6, t.get(depth-1, x6))
	t.addImm(fromReg, toReg, digitsEnd)
	switch op {
	case opcode.Sdec:
		positive := t.newLabel()
		t.cmpZero(x6)
		t.cset(saved1, condLT)
		t.csneg(x6, x6, x6, condGE)
		t.decimal()
		t.cbz(saved1, positive)
		t.movImm(x14, '-')
		t.prepend(x14)
		t.place(positive)
	case opcode.Sudec:
		t.decimal()
	default:
		t.hexadecimal()
	}
	for i := 0; i < digitsEnd; i += 8 {
		t.ldr(x8, fromReg, i)
		t.str(x8, toReg, i)
	}
	t.addImm(x6, toReg, digitsEnd)
	t.sub(x6, x6, fromReg)
	t.movImm(x7, 0)
	t.makeRef()
	t.set(depth-1, x6)
}

// decimal writes the digits of x6 in front of fromReg, the last one first. x7, x8 and x14 are used.
func (t *texts) decimal() {
	again := t.newLabel()
	t.movImm(x8, 10)
	t.place(again)
	t.udiv(x7, x6, x8)
	t.msub(x14, x7, x8, x6)
	t.addImm(x14, x14, '0')
	t.prepend(x14)
	t.mov(x6, x7)
	t.cbnz(x6, again)
}

// hexadecimal is decimal in hexadecimal digits, behind 0x.
func (t *texts) hexadecimal() {
	again := t.newLabel()
	t.place(again)
	t.low(x7, x6, 4, false)
	t.addImm(x8, x7, '0')
	t.addImm(x14, x7, 'a'-10)
	t.cmpImm(x7, 10)
	t.csel(x14, x14, x8, condHS)
	t.prepend(x14)
	t.shr(x6, x6, 4)
	t.cbnz(x6, again)
	for _, c := range "x0" {
		t.movImm(x14, uint64(c))
		t.prepend(x14)
	}
}

// prepend writes the low byte of a register in front of what has been written.
func (t *texts) prepend(x reg) {
	t.subImm(fromReg, fromReg, 1)
	t.strb(x, fromReg, 0)
}
