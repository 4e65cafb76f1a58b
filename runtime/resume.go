package runtime

import (
	"gotap/runtime/key"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// State is a program between two operations, as plain data. An executor that cannot execute the next operation passes
// it to Machine.Resume. The zero State is the start of a program. An executor that does not support calls, keys, texts
// and so on leaves their fields empty.
type State struct {
	PC    uint32   // the next operation
	Steps uint32   // operations executed, which count towards the fuel
	Depth int      // words on the stack
	Stack []uint64 // starting with the lowest, at least Depth; all words of a circular stack
	Temps []uint64 // scratch words, starting with the first

	Frames []Frame // calls that have not returned, after a frame of the program itself; empty: no call, no handler
	Base   int     // base of the stack: SBP, an index
	Caught Exception
	Key    key.State
	Text   []byte // scratch memory of texts, which references to text point into
	Heap   Heap
	Trace  []byte
	Arrays [numArrays + 1]uint64 // arrays that traces show, by class

	Log       record.Part // what this program has logged
	LogBytes  int         // bytes of data in its items, for programs with LogData
	ItemBytes int         // the same for the open item

	Time  uint64          // when the clock was read last, for the Thread of the Context to say it again; 0: it was not read
	Asked outcome.Outcome // Skip, SkipRet, SkipPC, Signal and SignalPC: what operations have requested
}

// Heap is the heap of a hit: its bytes, the blocks ordered by position, and the most recent handle.
type Heap struct {
	Bytes  []byte
	Blocks []Block
	Last   uint64
}

// Resume continues a program where another executor stopped, and ends like Run: arena, trap, steps and log are those of
// an uninterrupted Run. It appends the items of s.Log to h. An impossible state is TrapOp: the other executor may be in
// the target, which may overwrite what it maps. Resume allocates nothing.
func (m *Machine) Resume(c *Code, ctx *Context, h *record.Log, s *State) outcome.Outcome {
	m.begin(c, ctx, h)
	m.out = outcome.Outcome{Skip: s.Asked.Skip, SkipRet: s.Asked.SkipRet, SkipPC: s.Asked.SkipPC, Signal: s.Asked.Signal, SignalPC: s.Asked.SignalPC}
	if !s.valid(c) || !h.Restore(&s.Log) {
		m.out.Trap, m.out.PC, m.out.Steps = outcome.TrapOp, s.PC, s.Steps
		m.fail()
		return m.out
	}
	m.restore(s)
	if m.loop(int(s.PC), m.sp, s.Steps, c.StepLimit()) != outcome.NoTrap {
		m.fail()
	}
	return m.out
}

// RunFor runs a program like Run, for at most the given number of steps. If the program has not ended by then, RunFor
// writes it to s, together with its log, and stopped is true. It is the executor that Resume is tested against.
func (m *Machine) RunFor(c *Code, ctx *Context, h *record.Log, steps uint32, s *State) (out outcome.Outcome, stopped bool) {
	m.begin(c, ctx, h)
	switch trap := m.loop(0, 0, 0, min(steps, c.StepLimit())); {
	case trap == outcome.TrapFuel && m.out.Steps < c.StepLimit():
		m.save(s)
		h.Save(&s.Log)
		return outcome.Outcome{}, true
	case trap != outcome.NoTrap:
		m.fail()
	}
	return m.out, false
}

// save writes the program to s and reuses the memory of s.
func (m *Machine) save(s *State) {
	s.PC, s.Steps, s.Depth, s.Base = m.out.PC, m.out.Steps, m.sp, m.base
	words := m.sp
	if m.code.Wrap {
		words = m.code.StackLimit()
	}
	s.Stack = append(s.Stack[:0], m.stack[:words]...)
	s.Temps = append(s.Temps[:0], m.temps[:m.code.temps()]...)
	s.Frames = append(s.Frames[:0], m.frames[:m.nested+1]...)
	s.Caught = m.caught
	s.Key = m.key.Save(s.Key)
	s.Text = append(s.Text[:0], m.scratch.bytes[:m.scratch.used]...)
	s.Heap = Heap{append(s.Heap.Bytes[:0], m.heap.bytes[:m.heap.high]...), append(s.Heap.Blocks[:0], m.heap.blocks[:m.heap.n]...), m.heap.last}
	s.Trace, s.Arrays = append(s.Trace[:0], m.trace.text[:m.trace.n]...), m.trace.arrays
	s.LogBytes, s.ItemBytes = m.data, m.item
	s.Asked = m.out
}

// restore loads the program from a valid s, after begin.
func (m *Machine) restore(s *State) {
	m.sp, m.base = s.Depth, s.Base
	copy(m.stack[:], s.Stack)
	copy(m.temps[:], s.Temps)
	if len(s.Frames) > 0 {
		m.nested = copy(m.frames[:], s.Frames) - 1
	}
	m.caught = s.Caught
	m.key.Restore(s.Key)
	m.scratch.used = copy(m.scratch.bytes[:], s.Text)
	m.heap.high, m.heap.n, m.heap.last = copy(m.heap.bytes[:], s.Heap.Bytes), copy(m.heap.blocks[:], s.Heap.Blocks), s.Heap.Last
	m.trace.n, m.trace.arrays = copy(m.trace.text[:m.trace.room], s.Trace), s.Arrays
	m.data, m.item = s.LogBytes, s.ItemBytes
}

// temps returns the number of scratch words of the program.
func (c *Code) temps() int { return min(max(c.Temps, 0), MaxTemps) }

// valid reports whether a machine can be in the state. Everything else in it is checked at each use, as in a Run.
func (s *State) valid(c *Code) bool {
	limit := c.StackLimit()
	return s.Depth >= 0 && s.Depth <= limit && len(s.Stack) >= s.Depth && len(s.Stack) <= limit && len(s.Temps) <= MaxTemps &&
		inStack(s.Base) && s.validFrames() && s.Heap.valid() && s.LogBytes >= 0 && s.ItemBytes >= 0 && s.LogBytes+s.ItemBytes <= record.MaxLog &&
		s.Key.Valid() && len(s.Text) <= ScratchSize
}

// inStack reports whether a base of the stack is one that operations can have set.
func inStack(base int) bool { return base >= -MaxStack && base <= 2*MaxStack }

func (s *State) validFrames() bool {
	for i := range s.Frames {
		if f := &s.Frames[i]; f.Depth < 0 || f.Depth > MaxStack || !inStack(f.Base) || f.Handler < noHandler {
			return false
		}
	}
	return len(s.Frames) <= MaxCalls+1
}

// valid reports whether the blocks lie one behind the other within the bytes.
func (h *Heap) valid() bool {
	end := 0
	for i := range h.Blocks {
		b := &h.Blocks[i]
		if b.At < end || b.At%heapUnit != 0 || b.Size < 0 || b.Size > MaxHeap || b.At > MaxHeap {
			return false
		}
		end = b.At + b.takes()
	}
	return len(h.Blocks) <= MaxBlocks && end <= len(h.Bytes) && len(h.Bytes) <= MaxHeap
}
