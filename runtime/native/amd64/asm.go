package amd64

import (
	"encoding/binary"
	"errors"
	"math"
)

// asm assembles instructions: forms.go and vectorforms.go have one method for each form.
type asm struct{ vectorForms }

// newAsm returns an assembler for code at an address.
func newAsm(at uint64) *asm { return &asm{vectorForms{encoder{at: at}}} }

// encoder encodes instructions for a fixed address. One that cannot be encoded is recorded in err, which finish returns.
type encoder struct {
	code   []byte
	at     uint64 // address of the first byte
	labels []int  // offsets; unbound until the label is placed
	fixups []fixup
	err    error
}

// label names a place in the code, before or after it is known.
type label int

const unbound = -1

// fixup is a displacement of 1 or 4 bytes at offset at, to be filled in when the label is known.
type fixup struct {
	at   int
	to   label
	size int
}

var (
	errReach   = errors.New("an address is not within 2 GiB of the code")
	errForward = errors.New("a short jump does not reach its label")
)

// newLabel returns a label that has no place yet.
func (e *encoder) newLabel() label {
	e.labels = append(e.labels, unbound)
	return label(len(e.labels) - 1)
}

// place gives a label its place here. A jump to it that would be the instruction before is removed.
func (e *encoder) place(l label) {
	if e.jumpsTo(l) {
		e.code = e.code[:len(e.code)-longJump]
		e.fixups = e.fixups[:len(e.fixups)-1]
		for i, at := range e.labels {
			if at > len(e.code) {
				e.labels[i] = len(e.code)
			}
		}
	}
	e.labels[l] = len(e.code)
}

// longJump is the size of a jump with a displacement of 4 bytes.
const longJump = 5

// jumpsTo reports whether the last instruction is a long jump to a label.
func (e *encoder) jumpsTo(l label) bool {
	n := len(e.fixups)
	if n == 0 {
		return false
	}
	f := e.fixups[n-1]
	return f.to == l && f.size == 4 && f.at == len(e.code)-4 && f.at > 0 && e.code[f.at-1] == 0xe9
}

func (e *encoder) jmp(l label) {
	e.bytes(0xe9)
	e.long(l)
}

func (e *encoder) jcc(c cond, l label) {
	e.bytes(0x0f, 0x80|byte(c))
	e.long(l)
}

func (e *encoder) long(l label) {
	e.fixups = append(e.fixups, fixup{len(e.code), l, 4})
	e.imm32(0)
}

// jmpNear and jccNear reach 127 bytes, for what is known to be close.
func (e *encoder) jmpNear(l label) {
	e.bytes(0xeb)
	e.short(l)
}

func (e *encoder) jccNear(c cond, l label) {
	e.bytes(0x70 | byte(c))
	e.short(l)
}

func (e *encoder) short(l label) {
	e.fixups = append(e.fixups, fixup{len(e.code), l, 1})
	e.bytes(0)
}

// finish fills in all labels and returns the code.
func (e *encoder) finish() ([]byte, error) {
	for _, f := range e.fixups {
		d := e.labels[f.to] - (f.at + f.size)
		switch {
		case e.labels[f.to] == unbound:
			e.fail(errors.New("a label has no place"))
		case f.size == 4:
			binary.LittleEndian.PutUint32(e.code[f.at:], uint32(d))
		case d == int(int8(d)):
			e.code[f.at] = byte(d)
		default:
			e.fail(errForward)
		}
	}
	return e.code, e.err
}

// fail records the first error.
func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

func (e *encoder) bytes(b ...byte) { e.code = append(e.code, b...) }
func (e *encoder) imm32(v int32)   { e.code = binary.LittleEndian.AppendUint32(e.code, uint32(v)) }
func (e *encoder) imm64(v uint64)  { e.code = binary.LittleEndian.AppendUint64(e.code, v) }

// operand is a register or a place in memory.
type operand struct {
	kind  operandKind
	reg   reg    // the register; the base of an address
	index reg    // of an element
	half  bool   // the index counts halves of elements
	disp  int32  // added to the base
	addr  uint64 // absolute
}

type operandKind uint8

const (
	inReg     operandKind = iota
	inMemory              // [reg+disp]
	inElement             // [reg+index*8], or *4
	absolute              // addr, encoded relative to rip
)

func r(x reg) operand                 { return operand{kind: inReg, reg: x} }
func at(base reg, disp int32) operand { return operand{kind: inMemory, reg: base, disp: disp} }
func element(base, index reg) operand { return operand{kind: inElement, reg: base, index: index} }
func address(a uint64) operand        { return operand{kind: absolute, addr: a} }
func (o operand) isReg() bool         { return o.kind == inReg }
func (o operand) is(x reg) bool       { return o.kind == inReg && o.reg == x }
func fits8(v int64) bool              { return v == int64(int8(v)) }
func fits32(v uint64) bool            { return int64(v) == int64(int32(v)) }

// opcode bytes of an instruction, with what precedes them.
type instruction struct {
	lock   bool
	prefix byte // in front of it, which selects an instruction on vector registers; 0: none
	wide   bool // 64-bit operands
	byteOp bool // 8-bit operands: the low bytes of registers
	code   []byte
	imm    int // bytes of immediate that follow, which a displacement from rip counts
}

// encode encodes an instruction with a register or extension in the reg field and an operand in r/m.
func (e *encoder) encode(in instruction, field reg, o operand) {
	if in.lock {
		e.bytes(0xf0)
	}
	if in.prefix != 0 {
		e.bytes(in.prefix)
	}
	e.rex(in, field, o)
	e.bytes(in.code...)
	switch o.kind {
	case inReg:
		e.modRM(3, field, o.reg)
	case inMemory:
		e.based(field, o)
	case inElement:
		// A base of rbp or r13 needs a displacement.
		scale := byte(3)
		if o.half {
			scale = 2
		}
		sib := scale<<6 | byte(o.index&7)<<3 | byte(o.reg&7)
		if o.reg&7 == rbp {
			e.modRM(1, field, rsp)
			e.bytes(sib, 0)
			return
		}
		e.modRM(0, field, rsp)
		e.bytes(sib)
	case absolute:
		e.modRM(0, field, rbp)
		next := e.at + uint64(len(e.code)) + 4 + uint64(in.imm)
		d := int64(o.addr - next)
		if d < math.MinInt32 || d > math.MaxInt32 {
			e.fail(errReach)
		}
		e.imm32(int32(d))
	}
}

// rex writes the prefix that selects 64-bit operands and the upper registers, if it is needed.
func (e *encoder) rex(in instruction, field reg, o operand) {
	b := byte(field>>3) << 2
	if o.kind != absolute {
		b |= byte(o.reg >> 3)
	}
	if o.kind == inElement {
		b |= byte(o.index>>3) << 1
	}
	if in.wide {
		b |= 8
	}
	// Without a prefix the numbers 4 to 7 would be ah, ch, dh and bh.
	if b != 0 || in.byteOp && (field >= rsp || o.kind == inReg && o.reg >= rsp) {
		e.bytes(0x40 | b)
	}
}

func (e *encoder) modRM(mod byte, field, rm reg) { e.bytes(mod<<6 | byte(field&7)<<3 | byte(rm&7)) }

// based encodes a base with the shortest displacement. A base of rsp or r12 needs a SIB byte, one of rbp or r13 a
// displacement.
func (e *encoder) based(field reg, o operand) {
	mod := byte(2)
	switch {
	case o.disp == 0 && o.reg&7 != rbp:
		mod = 0
	case fits8(int64(o.disp)):
		mod = 1
	}
	e.modRM(mod, field, o.reg)
	if o.reg&7 == rsp {
		e.bytes(0x24)
	}
	switch mod {
	case 1:
		e.bytes(byte(o.disp))
	case 2:
		e.imm32(o.disp)
	}
}
