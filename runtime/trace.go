package runtime

import (
	"strconv"
	"sync/atomic"

	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// The trace of a hit shows the frames of the program, as a stack trace does for the target. It has one line for each
// frame, the innermost first, with the variables and words that the frame requested.
//
//	command 12 of routine 9: lv[0]=0x5 lv[1]=0x6 stack=0x1
//	command 4: gv[7]=0x0
//
// It is text of at most MaxTrace bytes outside the log, and becomes one item of the log when the program ends. Aborting
// drops it.

// trace is that text, and the data that it shows.
type trace struct {
	text   [MaxTrace]byte
	n      int
	room   int
	arrays [numArrays + 1]uint64 // arrays of variables that traces show, by class
}

// begin empties the trace of an earlier hit. room is its maximum number of bytes; 0 means MaxTrace.
func (t *trace) begin(room int) {
	if room <= 0 {
		room = MaxTrace
	}
	t.n, t.room, t.arrays = 0, min(room, MaxTrace), [numArrays + 1]uint64{}
}

// tracing executes the operations on the trace.
func (m traceOps) tracing(in *Inst) outcome.Trap {
	switch in.Op {
	case opcode.TraceVars:
		class := in.A
		if class < 1 || class > numArrays {
			return outcome.TrapOp
		}
		m.trace.arrays[class] = in.V
		m.show(int(class))
	case opcode.TraceStack:
		m.show(0)
	case opcode.LogTrace:
		m.traceFrames(-1)
	case opcode.PurgeTrace:
		m.trace.n = 0
	case opcode.PushSTP:
		m.push(uint64(m.trace.n))
	case opcode.PopSTP:
		n := m.pop()
		if n > uint64(m.trace.n) {
			m.p1, m.p2 = operandPosition, n
			return outcome.TrapIndex
		}
		m.trace.n = int(n)
	default:
		return outcome.TrapOp
	}
	return outcome.NoTrap
}

// show pops a range that the trace shows for the current frame: variables of a class, or the stack for 0.
func (m traceOps) show(class int) {
	count := m.pop()
	m.frames[m.nested].Shown[class] = Span{First: m.pop(), Count: count}
}

// append appends as much as fits in the trace. It reports whether everything fitted.
func (t *trace) append(s string) bool {
	n := copy(t.text[t.n:t.room], s)
	t.n += n
	return n == len(s)
}

// number adds digits to the trace.
func (t *trace) number(v uint64, base int) bool {
	var digits [20]byte
	p := strconv.AppendUint(digits[:0], v, base)
	n := copy(t.text[t.n:t.room], p)
	t.n += n
	return n == len(p)
}

// traceFrames appends all frames. pc is the current command; -1 means the one that an operation has left in m.pc.
func (m traceOps) traceFrames(pc int) {
	if pc < 0 {
		pc = m.pc
	}
	top := m.sp
	for i := m.nested; i >= 0 && m.trace.append("command "); i-- {
		f := &m.frames[i]
		m.trace.number(uint64(pc), 10)
		if i > 0 {
			m.trace.append(" of routine ")
			m.trace.number(uint64(f.Routine), 10)
		}
		m.trace.append(":")
		m.traceVariables(f)
		m.traceStack(f.Shown[0], top)
		m.trace.append("\n")
		pc, top = f.Return-1, f.Depth
	}
}

// arrayNames are the names of the array classes in a trace.
var arrayNames = [...]string{ClassLocal: " lv[", ClassGlobal: " gv["}

// traceVariables appends the variables that a frame requested.
func (m traceOps) traceVariables(f *Frame) {
	for class := ClassLocal; class <= ClassGlobal; class++ {
		s := f.Shown[class]
		if s.Count == 0 {
			continue
		}
		st := m.storageOf(m.trace.arrays[class], object.KindArray)
		if st == nil {
			continue
		}
		cells := st.Cell()
		for i := s.First; i-s.First < s.Count && i < uint64(len(cells)); i++ {
			if !m.trace.append(arrayNames[class]) || !m.trace.number(i, 10) || !m.trace.append("]=0x") || !m.trace.number(atomic.LoadUint64(&cells[i]), 16) {
				return
			}
		}
	}
}

// traceStack appends words of the stack, of which the frame has top; the first is the highest.
func (m traceOps) traceStack(s Span, top int) {
	for i := s.First; i-s.First < s.Count && i < uint64(top); i++ {
		if !m.trace.append(" stack=0x") || !m.trace.number(m.stack[(top-1-int(i))&stackMask], 16) {
			return
		}
	}
}

// endTrace makes the trace an item of the log.
func (m traceOps) endTrace() {
	if m.trace.n == 0 || m.code.Trace == 0 {
		return
	}
	m.hit.Begin(m.code.ID, m.code.Trace-1)
	m.hit.Text(m.trace.text[:m.trace.n], m.trace.n == m.trace.room)
	if !m.hit.End() {
		m.a.LostItem()
	}
}
