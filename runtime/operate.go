package runtime

import (
	"math"

	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/value"
)

// operate executes the operations that are outside Run's loop, by their groups. A function for each group keeps Run
// small enough for its locals to stay in registers, and costs rarer operations one call.
func (m *Machine) operate(in *Inst) outcome.Trap {
	switch groups[in.Op] {
	case opcode.Floats:
		return m.floats(in)
	case opcode.Exceptions:
		return m.exceptions(in)
	case opcode.Loads:
		return targetOps{m}.loadMemory(in.Op)
	case opcode.Stores:
		return targetOps{m}.storeMemory(in.Op)
	case opcode.Changes:
		return targetOps{m}.change(in)
	case opcode.Access:
		return targetOps{m}.access(in)
	case opcode.Context:
		return targetOps{m}.context(in)
	case opcode.Texts:
		return textOps{m}.texts(in)
	case opcode.Shared:
		return m.shared(in)
	case opcode.SharedTexts:
		return m.sharedText(in)
	case opcode.Arrays:
		return m.array(in)
	case opcode.Calls:
		return m.this(in)
	case opcode.PerThread:
		return m.perThread(in)
	case opcode.Keys:
		return keyOps{m}.buildKey(in)
	case opcode.Keyed:
		return keyOps{m}.useKey(in)
	case opcode.Log:
		return m.logging(in)
	case opcode.Deferred:
		return m.logDeferred(in)
	case opcode.Heap:
		return heapOps{m}.onHeap(in)
	}
	return outcome.TrapOp
}

// floats executes the rarer operations on floats.
func (m *Machine) floats(in *Inst) outcome.Trap {
	p := m.top()
	switch in.Op {
	case opcode.Frem:
		b := m.pop()
		p = m.top()
		*p = math.Float64bits(math.Mod(float(*p), float(b)))
	case opcode.Fbool:
		f := float(*p)
		// NaN is the only value that differs from itself.
		*p = flag(f != 0 && f == f)
	case opcode.Utof:
		*p = math.Float64bits(float64(*p))
	case opcode.Ftoi:
		*p = uint64(value.FloatToInt(float(*p)))
	case opcode.F32:
		// The high half is ignored, because vector registers have their other lanes there.
		*p = math.Float64bits(float64(math.Float32frombits(uint32(*p))))
	case opcode.ToF32:
		*p = uint64(math.Float32bits(float32(float(*p))))
	case opcode.Narrow:
		return m.narrow(value.Wide(min(in.A, uint32(value.NumWide))))
	default:
		return outcome.TrapOp
	}
	return outcome.NoTrap
}

// narrow replaces the two words of a wide number by one.
func (m *Machine) narrow(w value.Wide) outcome.Trap {
	high := m.pop()
	p := m.top()
	if w >= value.NumWide {
		return outcome.TrapOp
	}
	word, ok := w.Word(*p, high)
	if !ok {
		return outcome.TrapWide
	}
	*p = word
	return outcome.NoTrap
}

// The operations of a group are methods of a separate type that embeds the machine. The type only groups them.
type (
	targetOps struct{ *Machine } // registers, memory and context of the target
	textOps   struct{ *Machine } // texts
	keyOps    struct{ *Machine } // keys, aggregations and maps
	heapOps   struct{ *Machine } // the heap of a hit
	traceOps  struct{ *Machine } // the trace of frames
)
