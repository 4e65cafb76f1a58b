package native

import (
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// IsFloat reports whether an operation calculates with floats, and native code executes it where Features.Floats is
// set. What is left of a division is not among them.
func IsFloat(op opcode.Op) bool {
	switch op {
	case opcode.Fadd, opcode.Fsub, opcode.Fmul, opcode.Fdiv, opcode.Fneg, opcode.Feq, opcode.Fne, opcode.Flt, opcode.Fle, opcode.Fbool, opcode.Itof,
		opcode.Utof, opcode.Ftoi, opcode.F32, opcode.ToF32:
		return true
	}
	return false
}

// floats reports whether native code calculates with floats. It does not in a program that reads a floating-point
// register which native code may have changed when a read of memory faults.
func (p *planner) floats() bool {
	if !p.features.Floats {
		return false
	}
	for i := range p.Insts {
		if in := &p.Insts[i]; in.Op == opcode.PushR && in.V>>16 >= runtime.FloatWords && !p.features.Register(in.V) {
			return false
		}
	}
	return true
}
