package runtime

import (
	"strconv"
	"sync/atomic"
)

// The trace of a hit shows the frames of the program, as a stack trace does for the target: one
// line for each frame, the innermost first, with the variables and words that the frame asked
// for.
//
//	command 12 of routine 9: lv[0]=0x5 lv[1]=0x6 stack=0x1
//	command 4: gv[7]=0x0
//
// It is text of at most MaxTrace bytes beside the log, and becomes one item of it when the
// program ends. Aborting drops it.

// tracing does the operations on the trace.
func (m *Machine) tracing(in *Inst) Trap {
	switch in.Op {
	case OpTraceVars:
		class := in.A
		if class < 1 || class > numArrays {
			return TrapOp
		}
		m.arrays[class] = in.V
		m.show(int(class))
	case OpTraceStack:
		m.show(0)
	case OpLogTrace:
		m.traceFrames(-1)
	case OpPurgeTrace:
		m.traced = 0
	case OpPushSTP:
		m.push(uint64(m.traced))
	case OpPopSTP:
		n := m.pop()
		if n > uint64(m.traced) {
			m.p1, m.p2 = operandPosition, n
			return TrapIndex
		}
		m.traced = int(n)
	default:
		return TrapOp
	}
	return NoTrap
}

// show pops a range and has it shown for the frame that runs: variables of a class, or the stack for 0.
func (m *Machine) show(class int) {
	count := m.pop()
	m.frames[m.nested].shown[class] = span{first: m.pop(), count: count}
}

// traceRoom is how many bytes the trace may have.
func (m *Machine) traceRoom() int {
	if n := m.code.Room; n > 0 {
		return min(n, MaxTrace)
	}
	return MaxTrace
}

// append adds to the trace what there is room for. It reports false when that was not all.
func (m *Machine) append(s string) bool {
	n := copy(m.trace[m.traced:m.traceRoom()], s)
	m.traced += n
	return n == len(s)
}

// number adds digits to the trace.
func (m *Machine) number(v uint64, base int) bool {
	var digits [20]byte
	p := strconv.AppendUint(digits[:0], v, base)
	n := copy(m.trace[m.traced:m.traceRoom()], p)
	m.traced += n
	return n == len(p)
}

// traceFrames appends all frames. pc is the command that runs, -1 for the one that an operation
// has left in m.pc.
func (m *Machine) traceFrames(pc int) {
	if pc < 0 {
		pc = m.pc
	}
	top := m.sp
	for i := m.nested; i >= 0 && m.append("command "); i-- {
		f := &m.frames[i]
		m.number(uint64(pc), 10)
		if i > 0 {
			m.append(" of routine ")
			m.number(uint64(f.routine), 10)
		}
		m.append(":")
		m.traceVariables(f)
		m.traceStack(f.shown[0], top)
		m.append("\n")
		pc, top = f.ret-1, f.sp
	}
}

// arrayNames are the classes of arrays as a trace shows them.
var arrayNames = [...]string{ClassLocal: " lv[", ClassGlobal: " gv["}

// traceVariables appends the variables that a frame asked for.
func (m *Machine) traceVariables(f *frame) {
	for class := ClassLocal; class <= ClassGlobal; class++ {
		s := f.shown[class]
		if s.count == 0 {
			continue
		}
		_, st := m.storageOf(m.arrays[class], KindArray)
		if st == nil {
			continue
		}
		cells := st.cells[0]
		for i := s.first; i-s.first < s.count && i < uint64(len(cells)); i++ {
			if !m.append(arrayNames[class]) || !m.number(i, 10) || !m.append("]=0x") || !m.number(atomic.LoadUint64(&cells[i]), 16) {
				return
			}
		}
	}
}

// traceStack appends words of the stack, which has top words for the frame, the first being the
// highest.
func (m *Machine) traceStack(s span, top int) {
	for i := s.first; i-s.first < s.count && i < uint64(top); i++ {
		if !m.append(" stack=0x") || !m.number(m.stack[(top-1-int(i))&stackMask], 16) {
			return
		}
	}
}

// endTrace makes the trace an item of the log.
func (m *Machine) endTrace() {
	if m.traced == 0 || m.code.Trace == 0 {
		return
	}
	m.hit.begin(m.code.ID, m.code.Trace-1)
	m.hit.text(m.trace[:m.traced], m.traced == m.traceRoom())
	if !m.hit.end() {
		atomic.AddUint64(&m.a.words[wordLostLog], 1)
	}
}
