package asm

import (
	"encoding/binary"
	"errors"
	"math"
)

// Assembler assembles instructions: forms.go and vectorforms.go have one method for each form.
type Assembler struct{ vectorForms }

// New returns an assembler for code at an address.
func New(at uint64) *Assembler { return &Assembler{vectorForms{encoder{at: at}}} }

// encoder encodes instructions for a fixed address. One that cannot be encoded is recorded in err, which Finish
// returns.
type encoder struct {
	code   []byte
	at     uint64 // address of the first byte
	labels []int  // offsets; unbound until the label is placed
	fixups []fixup
	err    error
}

// Label names a place in the code, before or after it is known.
type Label int

const unbound = -1

// fixup is a displacement of 1 or 4 bytes at offset at, to be filled in when the label is known.
type fixup struct {
	at   int
	to   Label
	size int
}

var (
	// ErrReach reports an address that is too far from the code.
	ErrReach   = errors.New("an address is not within 2 GiB of the code")
	errForward = errors.New("a short jump does not reach its label")
)

// Len returns the size of the code so far in bytes.
func (e *encoder) Len() int { return len(e.code) }

// Offset returns the place of a label in the code in bytes, or a negative number if it has none.
func (e *encoder) Offset(l Label) int { return e.labels[l] }

// NewLabel returns a label that has no place yet.
func (e *encoder) NewLabel() Label {
	e.labels = append(e.labels, unbound)
	return Label(len(e.labels) - 1)
}

// Place gives a label its place here. A jump to it that would be the instruction before is removed.
func (e *encoder) Place(l Label) {
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
func (e *encoder) jumpsTo(l Label) bool {
	n := len(e.fixups)
	if n == 0 {
		return false
	}
	f := e.fixups[n-1]
	return f.to == l && f.size == 4 && f.at == len(e.code)-4 && f.at > 0 && e.code[f.at-1] == 0xe9
}

// Jmp jumps to a label.
func (e *encoder) Jmp(l Label) {
	e.Bytes(0xe9)
	e.long(l)
}

// Jcc jumps to a label on a condition.
func (e *encoder) Jcc(c Cond, l Label) {
	e.Bytes(0x0f, 0x80|byte(c))
	e.long(l)
}

func (e *encoder) long(l Label) {
	e.fixups = append(e.fixups, fixup{len(e.code), l, 4})
	e.Imm32(0)
}

// JmpNear jumps to a label that is close: 127 bytes at most.
func (e *encoder) JmpNear(l Label) {
	e.Bytes(0xeb)
	e.short(l)
}

// JccNear jumps on a condition to a label that is close.
func (e *encoder) JccNear(c Cond, l Label) {
	e.Bytes(0x70 | byte(c))
	e.short(l)
}

func (e *encoder) short(l Label) {
	e.fixups = append(e.fixups, fixup{len(e.code), l, 1})
	e.Bytes(0)
}

// Finish fills in all labels and returns the code.
func (e *encoder) Finish() ([]byte, error) {
	for _, f := range e.fixups {
		d := e.labels[f.to] - (f.at + f.size)
		switch {
		case e.labels[f.to] == unbound:
			e.Fail(errors.New("a label has no place"))
		case f.size == 4:
			binary.LittleEndian.PutUint32(e.code[f.at:], uint32(d))
		case d == int(int8(d)):
			e.code[f.at] = byte(d)
		default:
			e.Fail(errForward)
		}
	}
	return e.code, e.err
}

// Fail records the first error, which Finish returns.
func (e *encoder) Fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// Bytes appends bytes as they are.
func (e *encoder) Bytes(b ...byte) { e.code = append(e.code, b...) }

// Imm32 appends a number of 32 bits.
func (e *encoder) Imm32(v int32) { e.code = binary.LittleEndian.AppendUint32(e.code, uint32(v)) }

func (e *encoder) imm64(v uint64) { e.code = binary.LittleEndian.AppendUint64(e.code, v) }

// Operand is a register or a place in memory.
type Operand struct {
	kind  operandKind
	Reg   Reg    // the register; the base of an address
	index Reg    // of an element
	half  bool   // the index counts halves of elements
	Disp  int32  // added to the base, in bytes
	addr  uint64 // absolute
}

type operandKind uint8

const (
	inReg     operandKind = iota
	inMemory              // [reg+disp]
	inElement             // [reg+index*8+disp], or *4
	absolute              // addr, encoded relative to rip
)

// R returns a register as an operand.
func R(x Reg) Operand { return Operand{kind: inReg, Reg: x} }

// At returns memory at a distance from the address in a register.
func At(base Reg, disp int32) Operand { return Operand{kind: inMemory, Reg: base, Disp: disp} }

// Element returns the element of an array of words at a base, whose index is in another register.
func Element(base, index Reg) Operand { return Operand{kind: inElement, Reg: base, index: index} }

// HalfElement is Element for an index that counts half words, of 4 bytes.
func HalfElement(base, index Reg) Operand {
	return Operand{kind: inElement, Reg: base, index: index, half: true}
}

// Address returns memory at an address, which must be within 2 GiB of the code.
func Address(a uint64) Operand { return Operand{kind: absolute, addr: a} }

// Plus returns the memory behind some bytes of an operand in memory.
func (o Operand) Plus(offset int32) Operand {
	if o.kind == absolute {
		o.addr += uint64(int64(offset))
	} else {
		o.Disp += offset
	}
	return o
}

// IsReg reports whether the operand is a register.
func (o Operand) IsReg() bool { return o.kind == inReg }

// Is reports whether the operand is a certain register.
func (o Operand) Is(x Reg) bool { return o.kind == inReg && o.Reg == x }

func fits8(v int64) bool { return v == int64(int8(v)) }

// Fits32 reports whether a constant fits 32 bits that are sign-extended.
func Fits32(v uint64) bool { return int64(v) == int64(int32(v)) }

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
func (e *encoder) encode(in instruction, field Reg, o Operand) {
	if in.lock {
		e.Bytes(0xf0)
	}
	if in.prefix != 0 {
		e.Bytes(in.prefix)
	}
	e.rex(in, field, o)
	e.Bytes(in.code...)
	switch o.kind {
	case inReg:
		e.modRM(3, field, o.Reg)
	case inMemory:
		e.based(field, o)
	case inElement:
		scale := byte(3)
		if o.half {
			scale = 2
		}
		mod := displacement(o)
		e.modRM(mod, field, RSP)
		e.Bytes(scale<<6 | byte(o.index&7)<<3 | byte(o.Reg&7))
		e.disp(mod, o.Disp)
	case absolute:
		e.modRM(0, field, RBP)
		next := e.at + uint64(len(e.code)) + 4 + uint64(in.imm)
		d := int64(o.addr - next)
		if d < math.MinInt32 || d > math.MaxInt32 {
			e.Fail(ErrReach)
		}
		e.Imm32(int32(d))
	}
}

// rex writes the prefix that selects 64-bit operands and the upper registers, if it is needed.
func (e *encoder) rex(in instruction, field Reg, o Operand) {
	b := byte(field>>3) << 2
	if o.kind != absolute {
		b |= byte(o.Reg >> 3)
	}
	if o.kind == inElement {
		b |= byte(o.index>>3) << 1
	}
	if in.wide {
		b |= 8
	}
	// Without a prefix the numbers 4 to 7 would be ah, ch, dh and bh.
	if b != 0 || in.byteOp && (field >= RSP || o.kind == inReg && o.Reg >= RSP) {
		e.Bytes(0x40 | b)
	}
}

func (e *encoder) modRM(mod byte, field, rm Reg) { e.Bytes(mod<<6 | byte(field&7)<<3 | byte(rm&7)) }

// based encodes a base with the shortest displacement. A base of rsp or r12 needs a SIB byte.
func (e *encoder) based(field Reg, o Operand) {
	mod := displacement(o)
	e.modRM(mod, field, o.Reg)
	if o.Reg&7 == RSP {
		e.Bytes(0x24)
	}
	e.disp(mod, o.Disp)
}

// displacement returns the mod field for an operand with a base: whether there is a displacement, and of which length.
// A base of rbp or r13 needs one.
func displacement(o Operand) byte {
	switch {
	case o.Disp == 0 && o.Reg&7 != RBP:
		return 0
	case fits8(int64(o.Disp)):
		return 1
	}
	return 2
}

// disp writes the displacement that a mod field announces.
func (e *encoder) disp(mod byte, d int32) {
	switch mod {
	case 1:
		e.Bytes(byte(d))
	case 2:
		e.Imm32(d)
	}
}
