package runtime

import (
	"encoding/binary"

	"gotap/runtime/element"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// Mapper is an optional interface of a Thread that implements opcode.Writable. Without it readable memory counts as
// writable.
type Mapper interface {
	// Writable reports whether the target's mapping of addr allows writes of n bytes. All of them can be read.
	Writable(addr, n uint64) bool
}

// ProcessInfo is an optional interface of a Thread for information about its process that is not in its registers.
// Without it that information is unknown.
type ProcessInfo interface {
	// Errno returns the C library's errno of the thread; in leave of a system call it returns the error of the call. ok
	// is false if there is no C library.
	Errno() (n uint64, ok bool)
	// RunTime returns for how many nanoseconds the thread has run on a processor. ok is false if that is not known.
	RunTime() (ns uint64, ok bool)
	// Bias returns the difference between the addresses in memory and those in the file of a module, which is given by
	// a path, a file name or a library's name.
	Bias(module string) (bias uint64, ok bool)
}

// access executes the operations on memory that do not trap where it cannot be read.
func (m targetOps) access(in *Inst) outcome.Trap {
	n := m.pop()
	p := m.top()
	switch in.Op {
	case opcode.Readable, opcode.Writable:
		*p = flag(m.accessible(in.Op, *p, n))
		return outcome.NoTrap
	case opcode.Element:
		if uint64(in.A) >= uint64(len(m.code.Layouts)) {
			return outcome.TrapIndex
		}
		*p, _ = m.code.Layouts[in.A].Find(element.Memory{Read: m.ctx.Thread.ReadMemory, Word: m.wordSize()}, *p, n)
		return outcome.NoTrap
	}
	return outcome.TrapOp
}

// context executes the operations that only read registers and the context of the hit.
func (m targetOps) context(in *Inst) outcome.Trap {
	switch in.Op {
	case opcode.PushR:
		// Lower packed the position of the register: eax is 32 bits of slot rax, ah is 8 bits of it starting at bit 8.
		index, width, shift := in.V>>16, uint(in.V&0xff), uint(in.V>>8&0xff)
		v, ok := m.register(index)
		if !ok {
			return outcome.TrapRegister
		}
		m.push(v >> shift & lowBits(width))
	case opcode.Arg:
		v, ok := m.ctx.Thread.Arg(int(in.A & 0xffff))
		if !ok {
			return outcome.TrapRegister
		}
		m.push(v)
	case opcode.ArgF:
		f, ok := m.ctx.Thread.ArgFloat(int(in.A & 0xffff))
		if !ok || in.A == NoNumber {
			return outcome.TrapRegister
		}
		m.push(floatWord(f))
	case opcode.Retval:
		m.push(m.ctx.Thread.Return())
	case opcode.Field:
		if in.A >= uint32(NumFields) {
			return outcome.TrapOp
		}
		switch f := Field(in.A); f {
		case FieldErrno:
			return m.errno()
		case FieldRunTime:
			return m.runTime()
		default:
			m.push(m.ctx.Thread.Field(f))
		}
	case opcode.Bias:
		return m.bias(in.A)
	case opcode.Text:
		return textOps(m).contextText(in.A)
	default:
		return outcome.TrapOp
	}
	return outcome.NoTrap
}

// errno pushes the C library's errno.
func (m targetOps) errno() outcome.Trap {
	if t, ok := m.ctx.Thread.(ProcessInfo); ok {
		if n, ok := t.Errno(); ok {
			m.push(n)
			return outcome.NoTrap
		}
	}
	return outcome.TrapErrno
}

// runTime pushes the processor time of the thread.
func (m targetOps) runTime() outcome.Trap {
	if t, ok := m.ctx.Thread.(ProcessInfo); ok {
		if ns, ok := t.RunTime(); ok {
			m.push(ns)
			return outcome.NoTrap
		}
	}
	return outcome.TrapRunTime
}

// bias pushes the load bias of the module that a constant text names.
func (m targetOps) bias(text uint32) outcome.Trap {
	if uint64(text) >= uint64(len(m.code.Texts)) {
		return outcome.TrapIndex
	}
	if t, ok := m.ctx.Thread.(ProcessInfo); ok {
		if v, ok := t.Bias(m.code.Texts[text]); ok {
			m.push(v)
			return outcome.NoTrap
		}
	}
	return outcome.TrapModule
}

// register returns a register of the file, or, starting at FloatWords, a word of the floating-point state.
func (m targetOps) register(index uint64) (uint64, bool) {
	switch {
	case index < uint64(len(m.ctx.Regs)):
		return m.ctx.Regs[index], true
	case index >= FloatWords && index-FloatWords <= 255:
		return m.ctx.Thread.FloatWord(int(index - FloatWords))
	}
	return 0, false
}

// lowBits returns a mask of n bits; 0 and 64 mean all.
func lowBits(n uint) uint64 {
	if n == 0 || n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}

// change executes the destructive operations, for which a program needs permission. Unsafe is checked here although
// Verify has refused such programs, because a bug in the construction of a Code must not change a process.
func (m targetOps) change(in *Inst) outcome.Trap {
	if !m.code.Unsafe {
		return outcome.TrapOp
	}
	v := m.pop()
	switch in.Op {
	case opcode.PopR:
		index, mask, shift := in.V>>16, lowBits(uint(in.V&0xff)), uint(in.V>>8&0xff)
		if index >= uint64(len(m.ctx.Regs)) {
			return outcome.TrapRegister
		}
		r := &m.ctx.Regs[index]
		// Only the bits of the named register change. Writing eax does not clear the high half, as the processor would:
		// the probe sets exactly what it names.
		*r = *r&^(mask<<shift) | v&mask<<shift
		m.ctx.Dirty = true
		m.changed(in.Op, 0, 0, v&mask)
	case opcode.SetRet:
		m.ctx.Thread.SetReturn(v)
		m.changed(in.Op, 0, 0, v)
	case opcode.Skip:
		// The engine executes this after the program has ended, and only if it ended well.
		m.out.Skip, m.out.SkipRet, m.out.SkipPC = true, v, uint32(m.pc)
	case opcode.Signal:
		// Linux signals are 1 to 64; 0 would only check whether the thread exists.
		if v < 1 || v > 64 {
			return outcome.TrapIndex
		}
		m.out.Signal, m.out.SignalPC = uint8(v), uint32(m.pc)
	default:
		return outcome.TrapOp
	}
	return outcome.NoTrap
}

// wordSize returns the size of a target pointer in bytes.
func (m targetOps) wordSize() int {
	if m.ctx.Word == 4 {
		return 4
	}
	return 8
}

// loadSize returns how many bytes a load reads, or 0 for other operations.
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

// loadMemory replaces the address on top by the value at that address. A read goes through Thread: one system call, or
// a copy from a cached page. It costs hundreds of nanoseconds or more, but counts as one step: steps bound the work of
// the machine, and the log and the budget bound the rest. Byte order is the target's, which is little-endian on all
// supported architectures.
func (m targetOps) loadMemory(op opcode.Op) outcome.Trap {
	size, p := m.loadSize(op), m.top()
	if size == 0 {
		return outcome.TrapOp
	}
	m.buf = [8]byte{} // a load of 4 bytes is taken from 8 without a mask
	if m.ctx.Thread.ReadMemory(*p, m.buf[:size]) < size {
		m.out.Addr = *p
		return outcome.TrapRead
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
	return outcome.NoTrap
}

// storeSize returns how many bytes a store of a word writes, or 0 for other operations.
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

// storeMemory writes the low bytes of the word on top, or a text, to the address below it. The thread is stopped and
// the kernel writes its memory. So other threads may see the store at any time, and in parts if it crosses a cache
// line, as with a debugger.
func (m targetOps) storeMemory(op opcode.Op) outcome.Trap {
	size := m.storeSize(op)
	switch {
	case !m.code.Unsafe:
		return outcome.TrapOp
	case op == opcode.StoreStr:
		return m.storeText()
	case size == 0:
		return outcome.TrapOp
	}
	v, p := m.pop(), m.pop()
	binary.LittleEndian.PutUint64(m.buf[:], v)
	return m.store(op, p, m.buf[:size])
}

// storeText writes a text and its terminating NUL in one piece. It writes a cut text without the mark, which only the
// host shows.
func (m targetOps) storeText() outcome.Trap {
	s, _, trap := m.popText()
	if trap != outcome.NoTrap {
		return trap
	}
	p := m.room(len(s) + 1)
	if p == nil {
		return outcome.TrapText
	}
	p[copy(p, s)] = 0
	return m.store(opcode.StoreStr, m.pop(), p)
}

// store writes to the target.
func (m targetOps) store(op opcode.Op, p uint64, data []byte) outcome.Trap {
	if !m.ctx.Thread.WriteMemory(p, data) {
		m.out.Addr = p
		return outcome.TrapWrite
	}
	m.changed(op, p, len(data), 0)
	return outcome.NoTrap
}

// targetPage is the smallest page of any target in bytes.
const targetPage = 4096

// maxVerify is the maximum number of bytes that opcode.Readable and opcode.Writable check, because the cost of one step
// must be bounded. A larger range is not accessible.
const maxVerify = 1 << 20

// accessible reads one byte of each page of n bytes at p. One byte is sufficient, because protection has no smaller
// unit than a page. Writable memory must be readable too: a mapping may be writable without memory behind it, such as
// that of a file beyond its end. A page may disappear before the program uses it; then the use traps.
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
	for at := p; ; at = at&^(targetPage-1) + targetPage {
		if m.ctx.Thread.ReadMemory(at, m.buf[:1]) < 1 {
			return false
		}
		if last&^(targetPage-1) <= at {
			return true
		}
	}
}
