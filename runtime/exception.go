package runtime

import (
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// Exceptions are the traps that a program may handle itself. A handler belongs to the frame that set it and serves
// once. The search for a handler starts at the frame that failed and goes outwards. The work is bounded for these
// reasons:
//
//   - Fuel is not an exception, nor is an unknown operation or an overflow or underflow of a stack. Nothing catches
//     them.
//   - Entering a handler uses it up. Setting it again takes a step, so no dispatch is free: n dispatches took at least
//     2n steps, those that set the handler and those that failed.
//   - A dispatch examines at most MaxCalls frames and appends at most MaxTrace bytes.
//
// The handler starts with the stack from the entry of its frame, and the exception on top. So the verifier knows the
// depth wherever the error happened. A circular stack has no such depth and keeps all its words, as in DProbes. The
// open log item and the key being built are dropped.

// Codes of exceptions. The first 16 bits are DProbes' codes; a program's mask selects among them. The others are
// specific to this machine and always go to the handler if there is one.
const (
	ExAddress  uint32 = 0x0001 // p1: the address
	ExDivide   uint32 = 0x0020
	ExOperand  uint32 = 0x0040 // p1: the kind of operand (see ClassLocal), p2: its value
	ExHeap     uint32 = 0x0100 // p1: the requested size
	ExHandle   uint32 = 0x0200 // p1: the handle, p2: the offset in it
	ExOffset   uint32 = 0x0400 // the same
	ExLog      uint32 = 0x1000 // p1: bytes the log may have; only if the mask requests it
	ExUser     uint32 = 0x8000 // by convention: raise takes any code, and no mask blocks it
	ExText     uint32 = 0x1_0000
	ExKey      uint32 = 0x2_0000
	ExThis     uint32 = 0x4_0000
	ExRegister uint32 = 0x8_0000
	ExFull     uint32 = 0x10_0000

	// DefaultMask selects the exceptions that go to handlers by default: all errors that would end a program without a
	// handler.
	DefaultMask uint32 = 0x0fff
	// MaskSet marks a mask that a program has set, so that it may be empty.
	MaskSet uint32 = 1 << 31
)

// First parameters of ExOperand, and classes of arrays: operand A of the operations on arrays.
const (
	ClassLocal  = 1
	ClassGlobal = 2
	numArrays   = 2

	operandPosition = 5 // a position in the log or in the trace
)

// exceptionCodes are the codes of the traps that are exceptions. TrapUser has its own code at run time.
var exceptionCodes = [outcome.NumTraps]uint32{
	outcome.TrapRead: ExAddress, outcome.TrapWrite: ExAddress, outcome.TrapDivide: ExDivide, outcome.TrapIndex: ExOperand, outcome.TrapLog: ExLog, outcome.TrapUser: ExUser,
	outcome.TrapText: ExText, outcome.TrapKey: ExKey, outcome.TrapThis: ExThis, outcome.TrapRegister: ExRegister, outcome.TrapFull: ExFull,
	outcome.TrapHeap: ExHeap, outcome.TrapHandle: ExHandle, outcome.TrapOffset: ExOffset, outcome.TrapErrno: ExRegister, outcome.TrapModule: ExRegister,
	outcome.TrapRunTime: ExRegister, outcome.TrapWide: ExOperand,
}

// Exception is what a handler finds on the stack. Code is on top.
type Exception struct{ P2, P1, Code uint64 }

// Frame is a call that has not returned; the first is the program itself.
type Frame struct {
	Return  int // operation it returns to
	Depth   int // words on the stack when it was entered
	Base    int // its caller's base of the stack
	Routine int // operation at which it was entered
	Handler int // operation that handles exceptions, or -1
	Shown   [numArrays + 1]Span
}

// noHandler is the handler of a frame that has none.
const noHandler = -1

// Span is a range of variables, or of words of the stack, that a trace shows.
type Span struct{ First, Count uint64 }

// mask returns the set of exceptions that go to handlers.
func (c *Code) mask() uint32 {
	if c.Mask == 0 {
		return DefaultMask
	}
	return c.Mask
}

// catch searches for a handler of a trap raised at pc. If it finds one, it returns true, makes its frame the current
// one, and sets m.resume to the operation where the program continues.
func (m *Machine) catch(t outcome.Trap, pc, limit int) bool {
	code := exceptionCodes[t]
	if code == 0 || t != outcome.TrapUser && code <= 0xffff && m.code.mask()&code == 0 {
		return false
	}
	m.note(t, uint64(code))
	if m.code.Auto {
		traceOps{m}.traceFrames(pc)
	}
	f := m.nested
	for f > 0 && m.frames[f].Handler == noHandler {
		f--
	}
	if m.frames[f].Handler == noHandler || !m.unwind(f, limit) {
		return false
	}
	return true
}

// note records the details of an exception.
func (m *Machine) note(t outcome.Trap, code uint64) {
	switch t {
	case outcome.TrapUser: // set by raise
	case outcome.TrapRead, outcome.TrapWrite:
		m.caught = Exception{Code: code, P1: m.out.Addr}
	case outcome.TrapIndex, outcome.TrapLog, outcome.TrapHeap, outcome.TrapHandle, outcome.TrapOffset:
		m.caught = Exception{Code: code, P1: m.p1, P2: m.p2}
	default:
		m.caught = Exception{Code: code}
	}
	m.p1, m.p2 = 0, 0
}

// unwind removes all frames above f and enters its handler.
func (m *Machine) unwind(f, limit int) bool {
	to := &m.frames[f]
	if !m.code.Wrap {
		m.sp = to.Depth
	}
	if m.sp+3 > limit {
		if m.sp = m.turn(&Inst{Op: opcode.PushX}, m.sp, limit); m.sp < 0 {
			return false
		}
	}
	m.nested, m.base = f, to.Depth
	m.resume, to.Handler = to.Handler, noHandler
	m.hit.CloseOpen()
	m.key.Reset()
	m.out.Addr = 0
	m.pushCaught()
	return true
}

func (m *Machine) pushCaught() {
	m.push(m.caught.P2)
	m.push(m.caught.P1)
	m.push(m.caught.Code)
}

// exceptions executes the operations on exceptions, frames and the trace.
func (m *Machine) exceptions(in *Inst) outcome.Trap {
	f := &m.frames[m.nested]
	switch in.Op {
	case opcode.UnsetX:
		f.Handler = noHandler
	case opcode.Raise:
		m.caught.Code, m.caught.P1, m.caught.P2 = m.pop(), m.pop(), m.pop()
		return outcome.TrapUser
	case opcode.PushX:
		m.pushCaught()
	case opcode.SaveTSP:
		m.push(uint64(m.sp - f.Depth))
	case opcode.RestoreTSP:
		return m.restoreTop(f.Depth)
	case opcode.SaveSBP:
		m.push(uint64(m.base - f.Depth))
	case opcode.RestoreSBP:
		m.base = f.Depth + int(min(max(int64(m.pop()), -MaxStack), MaxStack))
	case opcode.PickBase, opcode.PokeBase:
		return m.onBase(in)
	default:
		return traceOps{m}.tracing(in)
	}
	return outcome.NoTrap
}

// restoreTop pops a number and then drops words until that number of words is above the frame's entry.
func (m *Machine) restoreTop(entry int) outcome.Trap {
	to := int64(m.pop()) + int64(entry)
	if to < 0 || to > int64(m.sp) {
		return outcome.TrapStack
	}
	m.sp = int(to)
	return outcome.NoTrap
}

// onBase moves a word between the top and a place counted from the base. The destination may be the popped word itself.
func (m *Machine) onBase(in *Inst) outcome.Trap {
	at := m.base + int(int32(in.A))
	if at < 0 || at >= m.sp {
		return outcome.TrapStack
	}
	if in.Op == opcode.PickBase {
		m.push(m.stack[at&stackMask])
	} else {
		m.stack[at&stackMask] = m.pop()
	}
	return outcome.NoTrap
}
