package runtime

import "gotap/runtime/opcode"

// Change describes what one operation of a program has done to its target.
type Change struct {
	Program uint32
	PC      uint32 // of the operation
	Op      opcode.Op
	Addr    uint64 // where memory was written
	Size    int    // bytes that were written there
	Value   uint64 // of a register, a result or a skipped function; or a signal number
}

// changed reports a change that the current operation has made.
func (m *Machine) changed(op opcode.Op, addr uint64, size int, v uint64) {
	if m.ctx.Changed != nil {
		m.ctx.Changed(Change{m.code.ID, uint32(m.pc), op, addr, size, v})
	}
}
