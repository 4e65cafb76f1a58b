package runtime

import "encoding/binary"

// Mapper is what a Thread may implement to answer OpWritable; without it memory that can be
// read counts as writable.
type Mapper interface {
	// Writable reports whether the target's memory is mapped so that it may write n bytes at addr, all of which can be read.
	Writable(addr, n uint64) bool
}

// Surrounded is what a Thread may implement to answer what its process knows and its registers do not. Without it nothing is known.
type Surrounded interface {
	// Errno is the C library's errno of the thread; in leave of a system call its error. ok is false when there is no C library.
	Errno() (n uint64, ok bool)
	// Bias is what was added to the addresses of a module's file, which a path, a file name or a library's name names.
	Bias(module string) (bias uint64, ok bool)
}

// target does the operations on the target's registers and memory. Reads go through Thread, one
// system call each (process_vm_readv or a cached page: the engine's choice). They cost hundreds
// of nanoseconds and more, and still count one step: steps bound the work of the machine, and
// the log and the budget bound the rest.
func (m *Machine) target(in *Inst) Trap {
	switch op := in.Op; {
	case op >= OpLoad8 && op <= OpLoadPtr:
		return m.loadMemory(op)
	case op >= OpStore8 && op <= OpStorePtr:
		return m.storeMemory(op)
	case op == OpStoreStr:
		return m.storeText()
	case op == OpPopR || op == OpSetRet || op == OpSkip || op == OpSignal:
		return m.change(in)
	case op == OpReadable || op == OpWritable:
		n := m.pop()
		p := m.top()
		*p = flag(m.accessible(op, *p, n))
		return NoTrap
	}
	return m.context(in)
}

// context does the operations that only look at registers and context.
func (m *Machine) context(in *Inst) Trap {
	switch in.Op {
	case OpPushR:
		// Lower packed where the register is: eax is 32 bits of slot rax, ah 8 bits of it from
		// bit 8 on.
		index, width, shift := in.V>>16, uint(in.V&0xff), uint(in.V>>8&0xff)
		v, ok := m.register(index)
		if !ok {
			return TrapRegister
		}
		m.push(v >> shift & lowBits(width))
	case OpArg:
		v, ok := m.ctx.Thread.Arg(int(in.A & 0xffff))
		if !ok {
			return TrapRegister
		}
		m.push(v)
	case OpArgF:
		f, ok := m.ctx.Thread.ArgFloat(int(in.A & 0xffff))
		if !ok || in.A == NoNumber {
			return TrapRegister
		}
		m.push(floatWord(f))
	case OpRetval:
		m.push(m.ctx.Thread.Return())
	case OpField:
		if in.A >= uint32(NumFields) {
			return TrapOp
		}
		if Field(in.A) == FieldErrno {
			return m.errno()
		}
		m.push(m.ctx.Thread.Field(Field(in.A)))
	case OpBias:
		return m.bias(in.A)
	case OpText:
		return m.contextText(in.A)
	default:
		return TrapOp
	}
	return NoTrap
}

// errno pushes the C library's errno.
func (m *Machine) errno() Trap {
	if t, ok := m.ctx.Thread.(Surrounded); ok {
		if n, ok := t.Errno(); ok {
			m.push(n)
			return NoTrap
		}
	}
	return TrapErrno
}

// bias pushes how far the module that a constant text names lies from the addresses in its file.
func (m *Machine) bias(text uint32) Trap {
	if uint64(text) >= uint64(len(m.code.Texts)) {
		return TrapIndex
	}
	if t, ok := m.ctx.Thread.(Surrounded); ok {
		if v, ok := t.Bias(m.code.Texts[text]); ok {
			m.push(v)
			return NoTrap
		}
	}
	return TrapModule
}

// register is a register of the file, or from FloatWords on a word of the floating-point state.
func (m *Machine) register(index uint64) (uint64, bool) {
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
func (m *Machine) change(in *Inst) Trap {
	if !m.code.Unsafe {
		return TrapOp
	}
	v := m.pop()
	switch in.Op {
	case OpPopR:
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
	case OpSetRet:
		m.ctx.Thread.SetReturn(v)
		m.changed(in.Op, 0, 0, v)
	case OpSkip:
		// The engine acts on it when the program has ended, and only if it ended well.
		m.out.Skip, m.out.SkipRet, m.out.SkipPC = true, v, uint32(m.pc)
	case OpSignal:
		// Signals of Linux are 1 to 64; 0 only asks whether the thread is there.
		if v < 1 || v > 64 {
			return TrapIndex
		}
		m.out.Signal, m.out.SignalPC = uint8(v), uint32(m.pc)
	}
	return NoTrap
}

// loadSizes are the bytes each load reads, from OpLoad8 on; OpLoadPtr reads the target's word.
var loadSizes = [...]int{1, 2, 4, 8, 1, 2, 4, 4}

// loadMemory replaces the address on top by what lies there. Targets are little-endian. buf is
// cleared first, so that a load of 4 bytes can be taken from 8 without a mask. Byte order is
// the target's, which is little-endian on every architecture there is here.
func (m *Machine) loadMemory(op Op) Trap {
	size := m.ctx.Word
	if op != OpLoadPtr {
		size = loadSizes[op-OpLoad8]
	} else if size != 4 {
		size = 8
	}
	p := m.top()
	m.buf = [8]byte{}
	if m.ctx.Thread.ReadMemory(*p, m.buf[:size]) < size {
		m.out.Addr = *p
		return TrapRead
	}
	v := binary.LittleEndian.Uint64(m.buf[:])
	switch op {
	case OpLoadS8:
		v = uint64(int8(v))
	case OpLoadS16:
		v = uint64(int16(v))
	case OpLoadS32:
		v = uint64(int32(v))
	case OpLoadF32:
		v = floatWord(float64(float32Of(uint32(v))))
	}
	*p = v
	return NoTrap
}

// storeMemory writes the low bytes of the word on top to the address below it. The thread is
// stopped and its memory is written by the kernel, so other threads may see the store at any
// time, and not atomically when it crosses a line: the same as for a debugger.
func (m *Machine) storeMemory(op Op) Trap {
	if !m.code.Unsafe {
		return TrapOp
	}
	v, p := m.pop(), m.pop()
	binary.LittleEndian.PutUint64(m.buf[:], v)
	size := 1 << (op - OpStore8)
	if op == OpStorePtr {
		if size = m.ctx.Word; size != 4 {
			size = 8
		}
	}
	return m.store(op, p, m.buf[:size])
}

// storeText writes a text and the NUL that ends it, in one piece. What the text was cut to is what is written: its mark is the
// host's, and no part of it.
func (m *Machine) storeText() Trap {
	if !m.code.Unsafe {
		return TrapOp
	}
	s, _, trap := m.popText()
	if trap != NoTrap {
		return trap
	}
	p := m.room(len(s) + 1)
	if p == nil {
		return TrapText
	}
	p[copy(p, s)] = 0
	return m.store(OpStoreStr, m.pop(), p)
}

// store writes to the target.
func (m *Machine) store(op Op, p uint64, data []byte) Trap {
	if !m.ctx.Thread.WriteMemory(p, data) {
		m.out.Addr = p
		return TrapWrite
	}
	m.changed(op, p, len(data), 0)
	return NoTrap
}

// maxVerify is the most bytes OpReadable and OpWritable look at: the cost of one step must have
// a bound. More is not accessible.
const maxVerify = 1 << 20

// accessible reads a byte of each page of n bytes at p. One byte tells of a page, since
// protection has no smaller unit. What is writable is readable as well: a mapping may be writable
// and have nothing behind it, as a file's beyond its end. A page may go away before the program uses it; then the use
// traps.
func (m *Machine) accessible(op Op, p, n uint64) bool {
	if n == 0 {
		return true
	}
	if n > maxVerify || p+n-1 < p {
		return false
	}
	if w, ok := m.ctx.Thread.(Mapper); ok && op == OpWritable && !w.Writable(p, n) {
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
