package runtime

import (
	"encoding/binary"

	"gotap/runtime/opcode"
)

// Mapper is what a Thread may implement to answer opcode.Writable; without it memory that can be
// read counts as writable.
type Mapper interface {
	// Writable reports whether the target's memory is mapped so that it may write n bytes at addr, all of which can be read.
	Writable(addr, n uint64) bool
}

// ProcessInfo is what a Thread may implement to answer what its process knows and its registers do not. Without it nothing is known.
type ProcessInfo interface {
	// Errno is the C library's errno of the thread; in leave of a system call its error. ok is false when there is no C library.
	Errno() (n uint64, ok bool)
	// Bias is what was added to the addresses of a module's file, which a path, a file name or a library's name names.
	Bias(module string) (bias uint64, ok bool)
}

// access does the operations that ask whether memory can be used.
func (m targetOps) access(op opcode.Op) Trap {
	n := m.pop()
	p := m.top()
	switch op {
	case opcode.Readable, opcode.Writable:
		*p = flag(m.accessible(op, *p, n))
		return NoTrap
	}
	return TrapOp
}

// context does the operations that only read registers and the context of the hit.
func (m targetOps) context(in *Inst) Trap {
	switch in.Op {
	case opcode.PushR:
		// Lower packed where the register is: eax is 32 bits of slot rax, ah 8 bits of it from
		// bit 8 on.
		index, width, shift := in.V>>16, uint(in.V&0xff), uint(in.V>>8&0xff)
		v, ok := m.register(index)
		if !ok {
			return TrapRegister
		}
		m.push(v >> shift & lowBits(width))
	case opcode.Arg:
		v, ok := m.ctx.Thread.Arg(int(in.A & 0xffff))
		if !ok {
			return TrapRegister
		}
		m.push(v)
	case opcode.ArgF:
		f, ok := m.ctx.Thread.ArgFloat(int(in.A & 0xffff))
		if !ok || in.A == NoNumber {
			return TrapRegister
		}
		m.push(floatWord(f))
	case opcode.Retval:
		m.push(m.ctx.Thread.Return())
	case opcode.Field:
		if in.A >= uint32(NumFields) {
			return TrapOp
		}
		if Field(in.A) == FieldErrno {
			return m.errno()
		}
		m.push(m.ctx.Thread.Field(Field(in.A)))
	case opcode.Bias:
		return m.bias(in.A)
	case opcode.Text:
		return textOps(m).contextText(in.A)
	default:
		return TrapOp
	}
	return NoTrap
}

// errno pushes the C library's errno.
func (m targetOps) errno() Trap {
	if t, ok := m.ctx.Thread.(ProcessInfo); ok {
		if n, ok := t.Errno(); ok {
			m.push(n)
			return NoTrap
		}
	}
	return TrapErrno
}

// bias pushes how far the module that a constant text names lies from the addresses in its file.
func (m targetOps) bias(text uint32) Trap {
	if uint64(text) >= uint64(len(m.code.Texts)) {
		return TrapIndex
	}
	if t, ok := m.ctx.Thread.(ProcessInfo); ok {
		if v, ok := t.Bias(m.code.Texts[text]); ok {
			m.push(v)
			return NoTrap
		}
	}
	return TrapModule
}

// register is a register of the file, or from FloatWords on a word of the floating-point state.
func (m targetOps) register(index uint64) (uint64, bool) {
	switch {
	case index < uint64(len(m.ctx.Regs)):
		return m.ctx.Regs[index], true
	case index >= FloatWords && index-FloatWords <= 255:
		return m.ctx.Thread.FloatWord(int(index - FloatWords))
	}
	return 0, false
}

// lowBits is a mask of n bits; 0 and 64 mean all.
func lowBits(n uint) uint64 {
	if n == 0 || n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}

// change does the destructive operations, which a program must be allowed to have. Unsafe is
// checked here although Verify has refused such programs: a bug in the way a Code is made must
// not change a process.
func (m targetOps) change(in *Inst) Trap {
	if !m.code.Unsafe {
		return TrapOp
	}
	v := m.pop()
	switch in.Op {
	case opcode.PopR:
		index, mask, shift := in.V>>16, lowBits(uint(in.V&0xff)), uint(in.V>>8&0xff)
		if index >= uint64(len(m.ctx.Regs)) {
			return TrapRegister
		}
		r := &m.ctx.Regs[index]
		// Only the bits of the register named change. Writing eax does not clear the high half,
		// as the processor would: the probe sets what it says, no more.
		*r = *r&^(mask<<shift) | v&mask<<shift
		m.ctx.Dirty = true
		m.changed(in.Op, 0, 0, v&mask)
	case opcode.SetRet:
		m.ctx.Thread.SetReturn(v)
		m.changed(in.Op, 0, 0, v)
	case opcode.Skip:
		// The engine acts on it when the program has ended, and only if it ended well.
		m.out.Skip, m.out.SkipRet, m.out.SkipPC = true, v, uint32(m.pc)
	case opcode.Signal:
		// Signals of Linux are 1 to 64; 0 only asks whether the thread is there.
		if v < 1 || v > 64 {
			return TrapIndex
		}
		m.out.Signal, m.out.SignalPC = uint8(v), uint32(m.pc)
	default:
		return TrapOp
	}
	return NoTrap
}

// wordSize is how many bytes a pointer of the target has.
func (m targetOps) wordSize() int {
	if m.ctx.Word == 4 {
		return 4
	}
	return 8
}

// loadSize is how many bytes a load reads, 0 for what is not a load.
func (m targetOps) loadSize(op opcode.Op) int {
	switch op {
	case opcode.Load8, opcode.LoadS8:
		return 1
	case opcode.Load16, opcode.LoadS16:
		return 2
	case opcode.Load32, opcode.LoadS32, opcode.LoadF32:
		return 4
	case opcode.Load64:
		return 8
	case opcode.LoadPtr:
		return m.wordSize()
	}
	return 0
}

// loadMemory replaces the address on top by what lies there. A read goes through Thread: one system call, or a copy from a
// cached page. It costs hundreds of nanoseconds and more, and still counts one step: steps bound the work of the machine,
// and the log and the budget bound the rest. Byte order is the target's, which is little-endian on every architecture here.
func (m targetOps) loadMemory(op opcode.Op) Trap {
	size, p := m.loadSize(op), m.top()
	if size == 0 {
		return TrapOp
	}
	m.buf = [8]byte{} // a load of 4 bytes is taken from 8 without a mask
	if m.ctx.Thread.ReadMemory(*p, m.buf[:size]) < size {
		m.out.Addr = *p
		return TrapRead
	}
	v := binary.LittleEndian.Uint64(m.buf[:])
	switch op {
	case opcode.LoadS8:
		v = uint64(int8(v))
	case opcode.LoadS16:
		v = uint64(int16(v))
	case opcode.LoadS32:
		v = uint64(int32(v))
	case opcode.LoadF32:
		v = floatWord(float64(float32Of(uint32(v))))
	}
	*p = v
	return NoTrap
}

// storeSize is how many bytes a store of a word writes, 0 for what is not one.
func (m targetOps) storeSize(op opcode.Op) int {
	switch op {
	case opcode.Store8:
		return 1
	case opcode.Store16:
		return 2
	case opcode.Store32:
		return 4
	case opcode.Store64:
		return 8
	case opcode.StorePtr:
		return m.wordSize()
	}
	return 0
}

// storeMemory writes the low bytes of the word on top, or a text, to the address below it. The thread is stopped and the
// kernel writes its memory, so other threads may see the store at any time, and in parts when it crosses a cache line: the
// same as for a debugger.
func (m targetOps) storeMemory(op opcode.Op) Trap {
	size := m.storeSize(op)
	switch {
	case !m.code.Unsafe:
		return TrapOp
	case op == opcode.StoreStr:
		return m.storeText()
	case size == 0:
		return TrapOp
	}
	v, p := m.pop(), m.pop()
	binary.LittleEndian.PutUint64(m.buf[:], v)
	return m.store(op, p, m.buf[:size])
}

// storeText writes a text and the NUL that ends it, in one piece. A text that was cut is written without the mark, which
// only the host shows.
func (m targetOps) storeText() Trap {
	s, _, trap := m.popText()
	if trap != NoTrap {
		return trap
	}
	p := m.room(len(s) + 1)
	if p == nil {
		return TrapText
	}
	p[copy(p, s)] = 0
	return m.store(opcode.StoreStr, m.pop(), p)
}

// store writes to the target.
func (m targetOps) store(op opcode.Op, p uint64, data []byte) Trap {
	if !m.ctx.Thread.WriteMemory(p, data) {
		m.out.Addr = p
		return TrapWrite
	}
	m.changed(op, p, len(data), 0)
	return NoTrap
}

// maxVerify is the most bytes opcode.Readable and opcode.Writable look at: the cost of one step must have
// a bound. More is not accessible.
const maxVerify = 1 << 20

// accessible reads a byte of each page of n bytes at p. One byte tells of a page, since
// protection has no smaller unit. What is writable is readable as well: a mapping may be writable
// and have nothing behind it, as a file's beyond its end. A page may go away before the program uses it; then the use
// traps.
func (m targetOps) accessible(op opcode.Op, p, n uint64) bool {
	if n == 0 {
		return true
	}
	if n > maxVerify || p+n-1 < p {
		return false
	}
	if w, ok := m.ctx.Thread.(Mapper); ok && op == opcode.Writable && !w.Writable(p, n) {
		return false
	}
	last := p + n - 1
	for at := p; ; at = at&^(pageSize-1) + pageSize {
		if m.ctx.Thread.ReadMemory(at, m.buf[:1]) < 1 {
			return false
		}
		if last&^(pageSize-1) <= at {
			return true
		}
	}
}
