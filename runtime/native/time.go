package native

import (
	"slices"

	"gotap/runtime"
	"gotap/runtime/opcode"
)

// ReadsTime reports whether the program reads the clock.
func (p *Plan) ReadsTime() bool {
	return slices.ContainsFunc(p.Insts, func(in runtime.Inst) bool {
		f := runtime.Field(in.A)
		return in.Op == opcode.Field && (f == runtime.FieldTime || f == runtime.FieldElapsed)
	})
}

// RepeatsTime reports whether the interpreter may have to read the clock once more: a doorbell at the use of a key goes
// back to where the key begins, and what native code has read since is passed to the interpreter (Bell.Time). Otherwise
// it would measure how long the thread is stopped.
func (p *Plan) RepeatsTime() bool {
	return p.ReadsTime() && slices.ContainsFunc(p.Ops, func(op Op) bool { return op.Key })
}
