package asm

// The forms of instructions that are used, all with 64-bit operands unless the name says otherwise. Operands are in the
// order of Intel's manuals, the destination first.

// Reg is a general register, by its number in instructions.
type Reg uint8

// The general registers.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	NumRegs
)

// AluOp is an operation of the group that shares its encodings.
type AluOp uint8

// The operations.
const (
	Add AluOp = 0
	Or  AluOp = 1
	Adc AluOp = 2
	And AluOp = 4
	Sub AluOp = 5
	Xor AluOp = 6
	Cmp AluOp = 7
)

// ShiftOp is a shift or rotation.
type ShiftOp uint8

// The shifts and rotations.
const (
	Rol ShiftOp = 0
	Ror ShiftOp = 1
	Shl ShiftOp = 4
	Shr ShiftOp = 5
	Sar ShiftOp = 7
)

// Cond is a condition of jumps, sets and moves.
type Cond uint8

// The conditions.
const (
	O  Cond = 0x0
	B  Cond = 0x2
	AE Cond = 0x3
	E  Cond = 0x4
	NE Cond = 0x5
	BE Cond = 0x6
	A  Cond = 0x7
	S  Cond = 0x8
	NS Cond = 0x9
	P  Cond = 0xa
	NP Cond = 0xb
	L  Cond = 0xc
	GE Cond = 0xd
	LE Cond = 0xe
	G  Cond = 0xf
)

// Not returns the opposite condition.
func (c Cond) Not() Cond { return c ^ 1 }

func wide(code ...byte) instruction  { return instruction{wide: true, code: code} }
func dword(code ...byte) instruction { return instruction{code: code} }

// Mov copies between registers and memory; at most one of the operands is in memory.
func (a *Assembler) Mov(to, from Operand) {
	switch {
	case to.IsReg() && from.Is(to.Reg):
	case to.IsReg():
		a.encode(wide(0x8b), to.Reg, from)
	default:
		a.encode(wide(0x89), from.Reg, to)
	}
}

// Mov32 copies the low 32 bits of a register or of memory and clears the upper ones.
func (a *Assembler) Mov32(to Reg, from Operand) { a.encode(dword(0x8b), to, from) }

// Store32 stores the low 32 bits of a register.
func (a *Assembler) Store32(to Operand, from Reg) { a.encode(dword(0x89), from, to) }

// Store8 stores the low byte of a register.
func (a *Assembler) Store8(to Operand, from Reg) {
	a.encode(instruction{byteOp: true, code: []byte{0x88}}, from, to)
}

// StoreImm32 stores a constant in 32 bits of memory.
func (a *Assembler) StoreImm32(to Operand, v uint32) {
	a.encode(instruction{code: []byte{0xc7}, imm: 4}, 0, to)
	a.Imm32(int32(v))
}

// CmpImm32 compares 32 bits of memory with a constant.
func (a *Assembler) CmpImm32(o Operand, v uint32) {
	a.encode(instruction{code: []byte{0x81}, imm: 4}, 7, o)
	a.Imm32(int32(v))
}

// MovImm loads a constant, in the shortest form that leaves the flags alone.
func (a *Assembler) MovImm(to Reg, v uint64) {
	switch {
	case v < 1<<32:
		if to >= R8 {
			a.Bytes(0x41)
		}
		a.Bytes(0xb8 | byte(to&7))
		a.Imm32(int32(v))
	case Fits32(v):
		a.encode(wide(0xc7), 0, R(to))
		a.Imm32(int32(v))
	default:
		a.Bytes(0x48|byte(to>>3), 0xb8|byte(to&7))
		a.imm64(v)
	}
}

// StoreImm stores a constant of 32 bits, which is sign-extended.
func (a *Assembler) StoreImm(to Operand, v int32) {
	a.encode(instruction{wide: true, code: []byte{0xc7}, imm: 4}, 0, to)
	a.Imm32(v)
}

// Lea computes an address; the flags stay.
func (a *Assembler) Lea(to Reg, o Operand) { a.encode(wide(0x8d), to, o) }

// LeaSum computes base+index+disp.
func (a *Assembler) LeaSum(to, base, index Reg, disp int8) {
	a.Bytes(0x48|byte(to>>3)<<2|byte(index>>3)<<1|byte(base>>3), 0x8d)
	a.modRM(1, to, RSP)
	a.Bytes(byte(index&7)<<3|byte(base&7), byte(disp))
}

// LeaSumWide is leaSum with a displacement of 32 bits.
func (a *Assembler) LeaSumWide(to, base, index Reg, disp int32) {
	a.Bytes(0x48|byte(to>>3)<<2|byte(index>>3)<<1|byte(base>>3), 0x8d)
	a.modRM(2, to, RSP)
	a.Bytes(byte(index&7)<<3 | byte(base&7))
	a.Imm32(disp)
}

// Alu computes to op from; at most one operand is in memory.
func (a *Assembler) Alu(op AluOp, to, from Operand) {
	if to.IsReg() {
		a.encode(wide(byte(op)<<3|3), to.Reg, from)
		return
	}
	a.encode(wide(byte(op)<<3|1), from.Reg, to)
}

// AluImm computes to op v.
func (a *Assembler) AluImm(op AluOp, to Operand, v int32) { a.immediate(false, op, to, v) }

func (a *Assembler) immediate(lock bool, op AluOp, to Operand, v int32) {
	if fits8(int64(v)) {
		a.encode(instruction{lock: lock, wide: true, code: []byte{0x83}, imm: 1}, Reg(op), to)
		a.Bytes(byte(v))
		return
	}
	a.encode(instruction{lock: lock, wide: true, code: []byte{0x81}, imm: 4}, Reg(op), to)
	a.Imm32(v)
}

// Test sets the flags of a register.
func (a *Assembler) Test(x Reg) { a.encode(wide(0x85), x, R(x)) }

// TestBits32 sets the flags of the bits of a 32-bit word in memory.
func (a *Assembler) TestBits32(o Operand, bits int32) {
	a.encode(instruction{code: []byte{0xf7}, imm: 4}, 0, o)
	a.Imm32(bits)
}

// TestAL sets the flags of bits of the low byte of rax.
func (a *Assembler) TestAL(bits byte) { a.Bytes(0xa8, bits) }

// Imul multiplies a register by an operand.
func (a *Assembler) Imul(to Reg, from Operand) { a.encode(wide(0x0f, 0xaf), to, from) }

// ImulImm computes to = from*v.
func (a *Assembler) ImulImm(to Reg, from Operand, v int32) {
	a.encode(instruction{wide: true, code: []byte{0x69}, imm: 4}, to, from)
	a.Imm32(v)
}

// Neg negates.
func (a *Assembler) Neg(o Operand) { a.encode(wide(0xf7), 3, o) }

// Not inverts all bits.
func (a *Assembler) Not(o Operand) { a.encode(wide(0xf7), 2, o) }

// Div divides rdx:rax, without signs.
func (a *Assembler) Div(o Operand) { a.encode(wide(0xf7), 6, o) }

// Idiv divides rdx:rax.
func (a *Assembler) Idiv(o Operand) { a.encode(wide(0xf7), 7, o) }

// Cqo extends the sign of rax to rdx.
func (a *Assembler) Cqo() { a.Bytes(0x48, 0x99) }

// Div32 divides edx:eax.
func (a *Assembler) Div32(o Operand) { a.encode(dword(0xf7), 6, o) }

// Clear sets a register to 0; the flags change.
func (a *Assembler) Clear(x Reg) { a.encode(dword(0x33), x, R(x)) }

// Inc adds 1.
func (a *Assembler) Inc(o Operand) { a.encode(wide(0xff), 0, o) }

// Dec subtracts 1.
func (a *Assembler) Dec(o Operand) { a.encode(wide(0xff), 1, o) }

// Shift shifts by a constant of 1 to 63.
func (a *Assembler) Shift(op ShiftOp, o Operand, n byte) {
	a.encode(instruction{wide: true, code: []byte{0xc1}, imm: 1}, Reg(op), o)
	a.Bytes(n)
}

// ShiftCL shifts by the low 6 bits of rcx.
func (a *Assembler) ShiftCL(op ShiftOp, o Operand) { a.encode(wide(0xd3), Reg(op), o) }

// Set stores a condition as the words 0 and 1.
func (a *Assembler) Set(c Cond, to Reg) {
	a.encode(instruction{byteOp: true, code: []byte{0x0f, 0x90 | byte(c)}}, 0, R(to))
	a.encode(instruction{byteOp: true, code: []byte{0x0f, 0xb6}}, to, R(to))
}

// Cmov moves if a condition holds.
func (a *Assembler) Cmov(c Cond, to Reg, from Operand) { a.encode(wide(0x0f, 0x40|byte(c)), to, from) }

// Extend copies the low 8, 16 or 32 bits with their sign, or with zeros.
func (a *Assembler) Extend(to Reg, from Operand, bits int, signed bool) {
	switch {
	case bits == 32 && signed:
		a.encode(wide(0x63), to, from)
	case bits == 32:
		a.Mov32(to, from)
	case bits == 16 && signed:
		a.encode(wide(0x0f, 0xbf), to, from)
	case bits == 16:
		a.encode(dword(0x0f, 0xb7), to, from)
	case signed:
		a.encode(wide(0x0f, 0xbe), to, from)
	default:
		a.encode(instruction{byteOp: true, code: []byte{0x0f, 0xb6}}, to, from)
	}
}

// LeaLabel computes the address of a label.
func (a *Assembler) LeaLabel(to Reg, l Label) {
	a.Bytes(0x48|byte(to>>3)<<2, 0x8d)
	a.modRM(0, to, RBP)
	a.long(l)
}

// Bsf finds the lowest bit that is set; the operand must not be 0.
func (a *Assembler) Bsf(to Reg, from Operand) { a.encode(wide(0x0f, 0xbc), to, from) }

// Bsr finds the highest bit that is set; the operand must not be 0.
func (a *Assembler) Bsr(to Reg, from Operand) { a.encode(wide(0x0f, 0xbd), to, from) }

// MulWide multiplies rax, as signed or unsigned words; the product is in rdx:rax.
func (a *Assembler) MulWide(o Operand, signed bool) {
	op := Reg(4)
	if signed {
		op = 5
	}
	a.encode(wide(0xf7), op, o)
}

// Shrd shifts to right and fills it from above with the low bits of from.
func (a *Assembler) Shrd(to, from Reg, n byte) {
	a.encode(wide(0x0f, 0xac), from, R(to))
	a.Bytes(n)
}

// XchgMemory exchanges a register with memory, atomically.
func (a *Assembler) XchgMemory(o Operand, x Reg) { a.encode(wide(0x87), x, o) }

// Rdtsc reads the processor's counter into edx:eax.
func (a *Assembler) Rdtsc() { a.Bytes(0x0f, 0x31) }

// Rdfsbase reads the address of the thread's own data into rax.
func (a *Assembler) Rdfsbase() { a.Bytes(0xf3, 0x48, 0x0f, 0xae, 0xc0) }

// MovOwnData reads the first word of the thread's own data into rax.
func (a *Assembler) MovOwnData() { a.Bytes(0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0) }

// Xchg exchanges two registers.
func (a *Assembler) Xchg(x, y Reg) { a.encode(wide(0x87), x, R(y)) }

// Push pushes a register.
func (a *Assembler) Push(x Reg) {
	if x >= R8 {
		a.Bytes(0x41)
	}
	a.Bytes(0x50 | byte(x&7))
}

// Pop pops into a register.
func (a *Assembler) Pop(x Reg) {
	if x >= R8 {
		a.Bytes(0x41)
	}
	a.Bytes(0x58 | byte(x&7))
}

// Atomic additions and exchanges.

// LockInc adds 1 to memory.
func (a *Assembler) LockInc(o Operand) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0xff}}, 0, o)
}

// LockTouch writes a byte of memory without changing it.
func (a *Assembler) LockTouch(o Operand) {
	a.encode(instruction{lock: true, code: []byte{0x80}, imm: 1}, 1, o)
	a.Bytes(0)
}

// LockDec subtracts 1 from memory.
func (a *Assembler) LockDec(o Operand) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0xff}}, 1, o)
}

// LockAdd adds a register to memory.
func (a *Assembler) LockAdd(o Operand, x Reg) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0x01}}, x, o)
}

// LockAddImm adds a constant to memory.
func (a *Assembler) LockAddImm(o Operand, v int32) { a.immediate(true, Add, o, v) }

// LockXadd adds x to memory and loads x with the value before.
func (a *Assembler) LockXadd(o Operand, x Reg) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0x0f, 0xc1}}, x, o)
}

// LockCmpxchg stores x if memory equals rax; otherwise it loads rax. The zero flag says which.
func (a *Assembler) LockCmpxchg(o Operand, x Reg) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0x0f, 0xb1}}, x, o)
}

// LockCmpxchg16 stores rcx:rbx if 16 bytes of memory, at a multiple of 16, equal rdx:rax; otherwise it loads these. The
// zero flag says which.
func (a *Assembler) LockCmpxchg16(o Operand) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0x0f, 0xc7}}, 1, o)
}

// Cmpxchg is lockCmpxchg for memory that no other thread writes.
func (a *Assembler) Cmpxchg(o Operand, x Reg) { a.encode(wide(0x0f, 0xb1), x, o) }

// Flags: lahf and seto save them in ax, add and sahf restore them.

// Lahf loads ah with the flags but the overflow flag.
func (a *Assembler) Lahf() { a.Bytes(0x9f) }

// Sahf loads the flags but the overflow flag from ah.
func (a *Assembler) Sahf() { a.Bytes(0x9e) }

// SetOF loads al with the overflow flag.
func (a *Assembler) SetOF() { a.Bytes(0x0f, 0x90, 0xc0) }

// AddAL adds to the low byte of rax. 127 overflows from 1, but not from 0.
func (a *Assembler) AddAL(v byte) { a.Bytes(0x04, v) }

// Int3 is a breakpoint.
func (a *Assembler) Int3() { a.Bytes(0xcc) }

// Pause tells the processor that a loop waits.
func (a *Assembler) Pause() { a.Bytes(0xf3, 0x90) }
