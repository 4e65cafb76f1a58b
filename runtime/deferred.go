package runtime

import (
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
)

// logDeferred executes the operations on items that do not go to the host at once.
func (m *Machine) logDeferred(in *Inst) outcome.Trap {
	to := record.ToObject
	switch in.Op {
	case opcode.Keep:
		to = record.Keep
		m.hit.Begin(m.code.ID, 0)
	case opcode.Forget:
		to = record.Forget
		m.hit.Begin(m.code.ID, 0)
	case opcode.EndDeferred:
	default:
		return outcome.TrapOp
	}
	return m.itemEnded(m.hit.EndDeferred(to, in.V))
}
