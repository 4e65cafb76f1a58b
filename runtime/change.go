package runtime

import "gotap/runtime/opcode"

// Change is what one operation of a program has done to its target.
type Change struct {
	Program uint32
	PC      uint32 // of the operation
	Op      opcode.Op
	Addr    uint64 // where memory was written
	Size    int    // bytes that were written there
	Value   uint64 // of a register, of a result, of a skipped function; a signal's number
}

// changed tells of a change that the present operation has made.
func (m *Machine) changed(op opcode.Op, addr uint64, size int, v uint64) {
	if m.ctx.Changed != nil {
		m.ctx.Changed(Change{m.code.ID, uint32(m.pc), op, addr, size, v})
	}
}
