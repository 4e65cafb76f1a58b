package amd64

import (
	"encoding/binary"
	"errors"
	"math"
)

// asm assembles instructions for a fixed address. A form that cannot be encoded is recorded in err, which finish returns.
type asm struct {
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
func (a *asm) newLabel() label {
	a.labels = append(a.labels, unbound)
	return label(len(a.labels) - 1)
}

// place gives a label its place here. A jump to it that would be the instruction before is removed.
func (a *asm) place(l label) {
	if a.jumpsTo(l) {
		a.code = a.code[:len(a.code)-longJump]
		a.fixups = a.fixups[:len(a.fixups)-1]
		for i, at := range a.labels {
			if at > len(a.code) {
				a.labels[i] = len(a.code)
			}
		}
	}
	a.labels[l] = len(a.code)
}

// longJump is the size of a jump with a displacement of 4 bytes.
const longJump = 5

// jumpsTo reports whether the last instruction is a long jump to a label.
func (a *asm) jumpsTo(l label) bool {
	n := len(a.fixups)
	if n == 0 {
		return false
	}
	f := a.fixups[n-1]
	return f.to == l && f.size == 4 && f.at == len(a.code)-4 && f.at > 0 && a.code[f.at-1] == 0xe9
}

// finish fills in all labels and returns the code.
func (a *asm) finish() ([]byte, error) {
	for _, f := range a.fixups {
		d := a.labels[f.to] - (f.at + f.size)
		switch {
		case a.labels[f.to] == unbound:
			a.fail(errors.New("a label has no place"))
		case f.size == 4:
			binary.LittleEndian.PutUint32(a.code[f.at:], uint32(d))
		case d == int(int8(d)):
			a.code[f.at] = byte(d)
		default:
			a.fail(errForward)
		}
	}
	return a.code, a.err
}

// fail records the first error.
func (a *asm) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

func (a *asm) bytes(b ...byte) { a.code = append(a.code, b...) }
func (a *asm) imm32(v int32)   { a.code = binary.LittleEndian.AppendUint32(a.code, uint32(v)) }
func (a *asm) imm64(v uint64)  { a.code = binary.LittleEndian.AppendUint64(a.code, v) }

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
	wide   bool // 64-bit operands
	byteOp bool // 8-bit operands: the low bytes of registers
	code   []byte
	imm    int // bytes of immediate that follow, which a displacement from rip counts
}

// encode encodes an instruction with a register or extension in the reg field and an operand in r/m.
func (a *asm) encode(in instruction, field reg, o operand) {
	if in.lock {
		a.bytes(0xf0)
	}
	a.rex(in, field, o)
	a.bytes(in.code...)
	switch o.kind {
	case inReg:
		a.modRM(3, field, o.reg)
	case inMemory:
		a.based(field, o)
	case inElement:
		// A base of rbp or r13 needs a displacement.
		scale := byte(3)
		if o.half {
			scale = 2
		}
		sib := scale<<6 | byte(o.index&7)<<3 | byte(o.reg&7)
		if o.reg&7 == rbp {
			a.modRM(1, field, rsp)
			a.bytes(sib, 0)
			return
		}
		a.modRM(0, field, rsp)
		a.bytes(sib)
	case absolute:
		a.modRM(0, field, rbp)
		next := a.at + uint64(len(a.code)) + 4 + uint64(in.imm)
		d := int64(o.addr - next)
		if d < math.MinInt32 || d > math.MaxInt32 {
			a.fail(errReach)
		}
		a.imm32(int32(d))
	}
}

// rex writes the prefix that selects 64-bit operands and the upper registers, if it is needed.
func (a *asm) rex(in instruction, field reg, o operand) {
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
		a.bytes(0x40 | b)
	}
}

func (a *asm) modRM(mod byte, field, rm reg) { a.bytes(mod<<6 | byte(field&7)<<3 | byte(rm&7)) }

// based encodes a base with the shortest displacement. A base of rsp or r12 needs a SIB byte, one of rbp or r13 a
// displacement.
func (a *asm) based(field reg, o operand) {
	mod := byte(2)
	switch {
	case o.disp == 0 && o.reg&7 != rbp:
		mod = 0
	case fits8(int64(o.disp)):
		mod = 1
	}
	a.modRM(mod, field, o.reg)
	if o.reg&7 == rsp {
		a.bytes(0x24)
	}
	switch mod {
	case 1:
		a.bytes(byte(o.disp))
	case 2:
		a.imm32(o.disp)
	}
}
