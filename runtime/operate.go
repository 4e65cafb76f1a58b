package runtime

import "math"

// operate does the operations that Run's loop leaves to others, by group.
func (m *Machine) operate(in *Inst) Trap {
	// The ranges follow the order of the constants in op.go. A group per range keeps Run small
	// enough for its locals to stay in registers, and costs rarer operations one call.
	switch op := in.Op; {
	case op >= OpFrem && op <= OpToF32:
		return m.convert(op)
	case op >= OpPushR && op <= OpSignal:
		return m.target(in)
	case op == OpPushS || op >= OpStr && op <= OpHash:
		return m.texts(in)
	case op >= OpPushGV && op <= OpAddPT:
		return m.variables(in)
	case op >= OpKeyInt && op <= OpMapAdd:
		return m.keyed(in)
	case op >= OpUnsetX && op <= OpPopSTP || op == OpRaise:
		return m.exceptions(in)
	case op >= OpItem && op <= OpForget:
		return m.logging(in)
	case op >= OpMalloc && op <= OpPopH64:
		return m.onHeap(in)
	}
	return TrapOp
}

// convert does the rarer operations on floats.
func (m *Machine) convert(op Op) Trap {
	p := m.top()
	switch op {
	case OpFrem:
		b := m.pop()
		p = m.top()
		*p = math.Float64bits(math.Mod(float(*p), float(b)))
	case OpFbool:
		f := float(*p)
		// NaN is the only value that differs from itself.
		*p = flag(f != 0 && f == f)
	case OpUtof:
		*p = math.Float64bits(float64(*p))
	case OpFtoi:
		*p = uint64(floatToInt(float(*p)))
	case OpF32:
		// The high half is ignored: that is where vector registers have their other lanes.
		*p = math.Float64bits(float64(math.Float32frombits(uint32(*p))))
	case OpToF32:
		*p = uint64(math.Float32bits(float32(float(*p))))
	default:
		return TrapOp
	}
	return NoTrap
}
