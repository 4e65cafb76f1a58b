package trampoline

import (
	"gotap/engine/image/module"
	"gotap/engine/space"
	"gotap/runtime/native"
	"gotap/runtime/ranges"
)

// Records at instructions that may fault.
//
// A record must not be seen if the instruction at its place faults, and native code writes records before it. Where the
// instruction can only fault by the memory that it accesses, native code looks that up in the tables of ranges before it
// writes a record, and accesses it in the same way: a load of it, or a locked operation that writes what is there. If
// the memory is not in the table, or the access faults, native code rings. The session looks at the mappings of the
// process then, and does what it does at breakpoints: it discards what was logged if the instruction is about to fault.
//
// Between the access and the instruction another thread may take the memory away. Then the record is seen and the
// instruction faults, as if the fault had come a moment later.

// operandOf returns the operand by which the instruction at a point may fault, if a program there writes records.
// Otherwise it returns nil.
func operandOf(p *space.Point) *native.Operand {
	o := p.Jump.Window.Operand
	if o == nil || p.Jump.Before > 0 || !keepsRecords(p) {
		return nil
	}
	n := native.Operand(*o)
	return &n
}

// lookUp makes the tables in which native code looks up an operand, unless that is nil.
func (c *Executor) lookUp(sp *space.Space, o *native.Operand) error {
	if o == nil {
		return nil
	}
	r := &codeIn(sp).reads
	if o.Writes && r.writable == nil && r.refused == nil {
		var err error
		if r.writable, err = c.newTable(); err != nil {
			return err
		}
		r.empty(0) // it is filled together with the other
	}
	return r.refused
}

// faults reports whether the instruction at a point is about to fault by its operand. The registers are those of the
// place.
func (t reader) faults(p *space.Point) bool {
	o := p.Jump.Window.Operand
	if o == nil || p.Jump.Before > 0 || !keepsRecords(p) {
		return false
	}
	addr := o.Address(&t.Regs)
	if o.Writes {
		maps, err := module.Maps(t.proc.Pid)
		if err == nil && !writable(maps, addr, o.Size) {
			return true
		}
	}
	var buf [ranges.Wide]byte
	return t.proc.Space.Mem.ReadAvailable(addr, buf[:o.Size]) < o.Size
}

// writable reports whether mappings, in the order of their addresses, let some bytes at an address be written.
func writable(maps []module.Mapping, addr uint64, n int) bool {
	end := addr + uint64(n)
	for _, m := range maps {
		if m.Start > addr {
			return false
		}
		if addr >= m.End {
			continue
		}
		if !m.Write {
			return false
		}
		if addr = m.End; end <= addr {
			return true
		}
	}
	return false
}
