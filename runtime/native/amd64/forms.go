package amd64

// The forms of instructions that are used, all with 64-bit operands unless the name says otherwise. Operands are in the
// order of Intel's manuals, the destination first.

// aluOp is an operation of the group that shares its encodings.
type aluOp uint8

const (
	opAdd aluOp = 0
	opOr  aluOp = 1
	opAdc aluOp = 2
	opAnd aluOp = 4
	opSub aluOp = 5
	opXor aluOp = 6
	opCmp aluOp = 7
)

// shiftOp is a shift or rotation.
type shiftOp uint8

const (
	opRol shiftOp = 0
	opRor shiftOp = 1
	opShl shiftOp = 4
	opShr shiftOp = 5
	opSar shiftOp = 7
)

// cond is a condition of jumps, sets and moves.
type cond uint8

const (
	condO  cond = 0x0
	condB  cond = 0x2
	condAE cond = 0x3
	condE  cond = 0x4
	condNE cond = 0x5
	condBE cond = 0x6
	condA  cond = 0x7
	condS  cond = 0x8
	condNS cond = 0x9
	condP  cond = 0xa
	condNP cond = 0xb
	condL  cond = 0xc
	condGE cond = 0xd
	condLE cond = 0xe
	condG  cond = 0xf
)

// not returns the opposite condition.
func (c cond) not() cond { return c ^ 1 }

func wide(code ...byte) instruction  { return instruction{wide: true, code: code} }
func dword(code ...byte) instruction { return instruction{code: code} }

// mov copies between registers and memory; at most one of the operands is in memory.
func (a *asm) mov(to, from operand) {
	switch {
	case to.isReg() && from.is(to.reg):
	case to.isReg():
		a.encode(wide(0x8b), to.reg, from)
	default:
		a.encode(wide(0x89), from.reg, to)
	}
}

// mov32 copies the low 32 bits of a register or of memory and clears the upper ones.
func (a *asm) mov32(to reg, from operand) { a.encode(dword(0x8b), to, from) }

// store32 stores the low 32 bits of a register.
func (a *asm) store32(to operand, from reg) { a.encode(dword(0x89), from, to) }

// storeImm32 stores a constant in 32 bits of memory.
func (a *asm) storeImm32(to operand, v uint32) {
	a.encode(instruction{code: []byte{0xc7}, imm: 4}, 0, to)
	a.imm32(int32(v))
}

// cmpImm32 compares 32 bits of memory with a constant.
func (a *asm) cmpImm32(o operand, v uint32) {
	a.encode(instruction{code: []byte{0x81}, imm: 4}, 7, o)
	a.imm32(int32(v))
}

// movImm loads a constant, in the shortest form that leaves the flags alone.
func (a *asm) movImm(to reg, v uint64) {
	switch {
	case v < 1<<32:
		if to >= r8 {
			a.bytes(0x41)
		}
		a.bytes(0xb8 | byte(to&7))
		a.imm32(int32(v))
	case fits32(v):
		a.encode(wide(0xc7), 0, r(to))
		a.imm32(int32(v))
	default:
		a.bytes(0x48|byte(to>>3), 0xb8|byte(to&7))
		a.imm64(v)
	}
}

// storeImm stores a constant of 32 bits, which is sign-extended.
func (a *asm) storeImm(to operand, v int32) {
	a.encode(instruction{wide: true, code: []byte{0xc7}, imm: 4}, 0, to)
	a.imm32(v)
}

// lea computes an address; the flags stay.
func (a *asm) lea(to reg, o operand) { a.encode(wide(0x8d), to, o) }

// leaSum computes base+index+disp.
func (a *asm) leaSum(to, base, index reg, disp int8) {
	a.bytes(0x48|byte(to>>3)<<2|byte(index>>3)<<1|byte(base>>3), 0x8d)
	a.modRM(1, to, rsp)
	a.bytes(byte(index&7)<<3|byte(base&7), byte(disp))
}

// leaSumWide is leaSum with a displacement of 32 bits.
func (a *asm) leaSumWide(to, base, index reg, disp int32) {
	a.bytes(0x48|byte(to>>3)<<2|byte(index>>3)<<1|byte(base>>3), 0x8d)
	a.modRM(2, to, rsp)
	a.bytes(byte(index&7)<<3 | byte(base&7))
	a.imm32(disp)
}

// alu computes to op from; at most one operand is in memory.
func (a *asm) alu(op aluOp, to, from operand) {
	if to.isReg() {
		a.encode(wide(byte(op)<<3|3), to.reg, from)
		return
	}
	a.encode(wide(byte(op)<<3|1), from.reg, to)
}

// aluImm computes to op v.
func (a *asm) aluImm(op aluOp, to operand, v int32) { a.immediate(false, op, to, v) }

func (a *asm) immediate(lock bool, op aluOp, to operand, v int32) {
	if fits8(int64(v)) {
		a.encode(instruction{lock: lock, wide: true, code: []byte{0x83}, imm: 1}, reg(op), to)
		a.bytes(byte(v))
		return
	}
	a.encode(instruction{lock: lock, wide: true, code: []byte{0x81}, imm: 4}, reg(op), to)
	a.imm32(v)
}

// test sets the flags of a register.
func (a *asm) test(x reg) { a.encode(wide(0x85), x, r(x)) }

// testBits32 sets the flags of the bits of a 32-bit word in memory.
func (a *asm) testBits32(o operand, bits int32) {
	a.encode(instruction{code: []byte{0xf7}, imm: 4}, 0, o)
	a.imm32(bits)
}

// testBit sets the flags of bits of the low byte of rax.
func (a *asm) testAL(bits byte) { a.bytes(0xa8, bits) }

func (a *asm) imul(to reg, from operand) { a.encode(wide(0x0f, 0xaf), to, from) }

// imulImm computes to = from*v.
func (a *asm) imulImm(to reg, from operand, v int32) {
	a.encode(instruction{wide: true, code: []byte{0x69}, imm: 4}, to, from)
	a.imm32(v)
}

func (a *asm) neg(o operand)  { a.encode(wide(0xf7), 3, o) }
func (a *asm) not(o operand)  { a.encode(wide(0xf7), 2, o) }
func (a *asm) div(o operand)  { a.encode(wide(0xf7), 6, o) }
func (a *asm) idiv(o operand) { a.encode(wide(0xf7), 7, o) }
func (a *asm) cqo()           { a.bytes(0x48, 0x99) }

// div32 divides edx:eax.
func (a *asm) div32(o operand) { a.encode(dword(0xf7), 6, o) }

// clear sets a register to 0; the flags change.
func (a *asm) clear(x reg) { a.encode(dword(0x33), x, r(x)) }

func (a *asm) inc(o operand) { a.encode(wide(0xff), 0, o) }
func (a *asm) dec(o operand) { a.encode(wide(0xff), 1, o) }

// shift shifts by a constant of 1 to 63.
func (a *asm) shift(op shiftOp, o operand, n byte) {
	a.encode(instruction{wide: true, code: []byte{0xc1}, imm: 1}, reg(op), o)
	a.bytes(n)
}

// shiftCL shifts by the low 6 bits of rcx.
func (a *asm) shiftCL(op shiftOp, o operand) { a.encode(wide(0xd3), reg(op), o) }

// set stores a condition as the words 0 and 1.
func (a *asm) set(c cond, to reg) {
	a.encode(instruction{byteOp: true, code: []byte{0x0f, 0x90 | byte(c)}}, 0, r(to))
	a.encode(instruction{byteOp: true, code: []byte{0x0f, 0xb6}}, to, r(to))
}

// cmov moves if a condition holds.
func (a *asm) cmov(c cond, to reg, from operand) { a.encode(wide(0x0f, 0x40|byte(c)), to, from) }

// extend copies the low 8, 16 or 32 bits with their sign, or with zeros.
func (a *asm) extend(to reg, from operand, bits int, signed bool) {
	switch {
	case bits == 32 && signed:
		a.encode(wide(0x63), to, from)
	case bits == 32:
		a.mov32(to, from)
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

// leaLabel computes the address of a label.
func (a *asm) leaLabel(to reg, l label) {
	a.bytes(0x48|byte(to>>3)<<2, 0x8d)
	a.modRM(0, to, rbp)
	a.long(l)
}

// bsf finds the lowest bit that is set; the operand must not be 0.
func (a *asm) bsf(to reg, from operand) { a.encode(wide(0x0f, 0xbc), to, from) }

// bsr finds the highest bit that is set; the operand must not be 0.
func (a *asm) bsr(to reg, from operand) { a.encode(wide(0x0f, 0xbd), to, from) }

// mul multiplies rax; the product is in rdx:rax.
func (a *asm) mul(o operand) { a.encode(wide(0xf7), 4, o) }

// shrd shifts to right and fills it from above with the low bits of from.
func (a *asm) shrd(to, from reg, n byte) {
	a.encode(wide(0x0f, 0xac), from, r(to))
	a.bytes(n)
}

// xchgMemory exchanges a register with memory, atomically.
func (a *asm) xchgMemory(o operand, x reg) { a.encode(wide(0x87), x, o) }

// rdtsc reads the processor's counter into edx:eax.
func (a *asm) rdtsc() { a.bytes(0x0f, 0x31) }

// rdfsbase reads the address of the thread's own data into rax.
func (a *asm) rdfsbase() { a.bytes(0xf3, 0x48, 0x0f, 0xae, 0xc0) }

// movOwnData reads the first word of the thread's own data into rax.
func (a *asm) movOwnData() { a.bytes(0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0) }

func (a *asm) xchg(x, y reg) { a.encode(wide(0x87), x, r(y)) }

func (a *asm) push(x reg) {
	if x >= r8 {
		a.bytes(0x41)
	}
	a.bytes(0x50 | byte(x&7))
}

func (a *asm) pop(x reg) {
	if x >= r8 {
		a.bytes(0x41)
	}
	a.bytes(0x58 | byte(x&7))
}

// Atomic additions and exchanges.

func (a *asm) lockInc(o operand) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0xff}}, 0, o)
}
func (a *asm) lockDec(o operand) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0xff}}, 1, o)
}
func (a *asm) lockAdd(o operand, x reg) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0x01}}, x, o)
}
func (a *asm) lockAddImm(o operand, v int32) { a.immediate(true, opAdd, o, v) }

// lockXadd adds x to memory and loads x with the value before.
func (a *asm) lockXadd(o operand, x reg) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0x0f, 0xc1}}, x, o)
}

// lockCmpxchg stores x if memory equals rax; otherwise it loads rax. The zero flag says which.
func (a *asm) lockCmpxchg(o operand, x reg) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0x0f, 0xb1}}, x, o)
}

// lockCmpxchg16 stores rcx:rbx if 16 bytes of memory, at a multiple of 16, equal rdx:rax; otherwise it loads these. The zero flag says which.
func (a *asm) lockCmpxchg16(o operand) {
	a.encode(instruction{lock: true, wide: true, code: []byte{0x0f, 0xc7}}, 1, o)
}

// cmpxchg is lockCmpxchg for memory that no other thread writes.
func (a *asm) cmpxchg(o operand, x reg) { a.encode(wide(0x0f, 0xb1), x, o) }

// Jumps.

// Flags: lahf and seto save them in ax, add and sahf restore them.

func (a *asm) lahf()  { a.bytes(0x9f) }
func (a *asm) sahf()  { a.bytes(0x9e) }
func (a *asm) setOF() { a.bytes(0x0f, 0x90, 0xc0) }

// addAL adds to the low byte of rax. 127 overflows from 1, but not from 0.
func (a *asm) addAL(v byte) { a.bytes(0x04, v) }

func (a *asm) int3()  { a.bytes(0xcc) }
func (a *asm) pause() { a.bytes(0xf3, 0x90) }
