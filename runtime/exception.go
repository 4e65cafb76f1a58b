package runtime

import "gotap/runtime/opcode"

// Exceptions are the traps that a program may handle itself. A handler belongs to the frame
// that set it, serves once, and is looked for from the frame that failed outwards. What makes
// this bounded:
//
//   - Fuel is not an exception, nor is an operation that does not exist or a stack that over- or underflows. Nothing catches them.
//   - A handler is used up when it is entered. Setting it again takes a step, so no dispatch is free: n dispatches took at least
//     2n steps, those that set the handler and those that failed.
//   - A dispatch looks at no more than MaxCalls frames and appends no more than MaxTrace bytes.
//
// The handler starts on the stack as it was when its frame was entered, with the exception on
// top: so the verifier knows how deep it is wherever the error happened. A circular stack has
// no such depth and keeps all its words, as in DProbes. What was begun is dropped: the item of
// the log, and the key.

// Codes of exceptions. The first 16 bits are DProbes'; a program's mask chooses among them. The
// rest is this machine's own, and always goes to the handler if there is one.
const (
	ExAddress  uint32 = 0x0001 // p1: the address
	ExDivide   uint32 = 0x0020
	ExOperand  uint32 = 0x0040 // p1: what it is (see ClassLocal), p2: its value
	ExHeap     uint32 = 0x0100 // p1: the size asked for
	ExHandle   uint32 = 0x0200 // p1: the handle, p2: the offset in it
	ExOffset   uint32 = 0x0400 // the same
	ExLog      uint32 = 0x1000 // p1: bytes the log may have; only when the mask asks for it
	ExUser     uint32 = 0x8000 // by convention: raise takes any code, and no mask stops it
	ExText     uint32 = 0x1_0000
	ExKey      uint32 = 0x2_0000
	ExThis     uint32 = 0x4_0000
	ExRegister uint32 = 0x8_0000
	ExFull     uint32 = 0x10_0000

	// DefaultMask is what goes to handlers when a program does not say: all errors that end a
	// program without a handler.
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

// exceptionCodes are the codes of the traps that are exceptions; TrapUser brings its own.
var exceptionCodes = [NumTraps]uint32{
	TrapRead: ExAddress, TrapWrite: ExAddress, TrapDivide: ExDivide, TrapIndex: ExOperand, TrapLog: ExLog, TrapUser: ExUser,
	TrapText: ExText, TrapKey: ExKey, TrapThis: ExThis, TrapRegister: ExRegister, TrapFull: ExFull,
	TrapHeap: ExHeap, TrapHandle: ExHandle, TrapOffset: ExOffset, TrapErrno: ExRegister, TrapModule: ExRegister,
}

// Exception is what a handler finds on the stack, the code on top.
type Exception struct{ P2, P1, Code uint64 }

// Frame is a call that has not returned; the first is the program itself.
type Frame struct {
	Return  int // operation it returns to
	Depth   int // words on the stack when it was entered
	Base    int // its caller's base of the stack
	Routine int // operation it was entered at
	Handler int // operation that exceptions go to, or -1
	Shown   [numArrays + 1]Span
}

// noHandler is the handler of a frame that has none.
const noHandler = -1

// Span is a range of variables, or of words of the stack, that a trace shows.
type Span struct{ First, Count uint64 }

// mask is the set of exceptions that go to handlers.
func (c *Code) mask() uint32 {
	if c.Mask == 0 {
		return DefaultMask
	}
	return c.Mask
}

// catch looks for a handler of a trap raised at pc. When there is one, true: the frame it
// belongs to is the one that runs, and m.resume is where it goes on.
func (m *Machine) catch(t Trap, pc, limit int) bool {
	code := exceptionCodes[t]
	if code == 0 || t != TrapUser && code <= 0xffff && m.code.mask()&code == 0 {
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

// note keeps what is known of an exception.
func (m *Machine) note(t Trap, code uint64) {
	switch t {
	case TrapUser: // raise has set it
	case TrapRead, TrapWrite:
		m.caught = Exception{Code: code, P1: m.out.Addr}
	case TrapIndex, TrapLog, TrapHeap, TrapHandle, TrapOffset:
		m.caught = Exception{Code: code, P1: m.p1, P2: m.p2}
	default:
		m.caught = Exception{Code: code}
	}
	m.p1, m.p2 = 0, 0
}

// unwind leaves all frames above f and enters its handler.
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
	m.hit.closeOpen()
	m.key.reset()
	m.out.Addr = 0
	m.pushCaught()
	return true
}

func (m *Machine) pushCaught() {
	m.push(m.caught.P2)
	m.push(m.caught.P1)
	m.push(m.caught.Code)
}

// exceptions does the operations on exceptions, frames and the trace.
func (m *Machine) exceptions(in *Inst) Trap {
	f := &m.frames[m.nested]
	switch in.Op {
	case opcode.UnsetX:
		f.Handler = noHandler
	case opcode.Raise:
		m.caught.Code, m.caught.P1, m.caught.P2 = m.pop(), m.pop(), m.pop()
		return TrapUser
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
	return NoTrap
}

// restoreTop drops words until the number popped lie above the frame's entry.
func (m *Machine) restoreTop(entry int) Trap {
	to := int64(m.pop()) + int64(entry)
	if to < 0 || to > int64(m.sp) {
		return TrapStack
	}
	m.sp = int(to)
	return NoTrap
}

// onBase moves a word between the top and a place counted from the base. The word stored into
// may be the one popped.
func (m *Machine) onBase(in *Inst) Trap {
	at := m.base + int(int32(in.A))
	if at < 0 || at >= m.sp {
		return TrapStack
	}
	if in.Op == opcode.PickBase {
		m.push(m.stack[at&stackMask])
	} else {
		m.stack[at&stackMask] = m.pop()
	}
	return NoTrap
}
