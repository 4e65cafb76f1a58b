package dpdf

import (
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// heapCommands are those of the heap, which a hit begins without and loses at its end. Its size stands in the header or
// the probe: what a program may hold is known before the hit.
func heapCommands() {
	commands["malloc"] = &command{emit: onHeap(func(e *emitter, s statement) { e.b.Op(opcode.Malloc) })}
	commands["free"] = &command{emit: onHeap(func(e *emitter, s statement) { e.b.Op(opcode.Free) })}
	commands["pushh"] = cells((*emitter).pushCells)
	commands["poph"] = cells((*emitter).popCells)
}

// onHeap is a command that needs a heap.
func onHeap(emit func(e *emitter, s statement)) func(e *emitter, s statement) {
	return func(e *emitter, s statement) {
		if e.heapOf(e.body) == 0 {
			e.diags.Errorf(s.span, "heapmax = 1024", "the header does not declare the size of the heap")
			return
		}
		emit(e, s)
	}
}

// heapOf is how many bytes of heap a probe has: as it says itself, or as the header says.
func (p *parser) heapOf(body int) int {
	if n := p.bodies[body].heap; n >= 0 {
		return n
	}
	return p.heapMax
}

// cells is a command on one or several numbers of a width in a row.
func cells(emit func(e *emitter, log, n int)) *command {
	widths := map[string]int{"u8": 0, "u16": 1, "u32": 2, "u64": 3}
	return &command{1, 2, onHeap(func(e *emitter, s statement) {
		log, ok := widths[s.operands[0].text()]
		if !ok {
			e.diags.Errorf(s.operands[0].span(), "", "%s takes u8, u16, u32 or u64", s.name)
			return
		}
		n := int64(1)
		if len(s.operands) == 2 {
			if n, ok = e.number(s.operands[1], 1, runtime.MaxStack-2); !ok {
				return
			}
		}
		emit(e, log, int(n))
	})}
}

// pushCells reads n numbers: ( handle offset -- v1 … vn ).
func (e *emitter) pushCells(log, n int) {
	op := []opcode.Op{opcode.PushH8, opcode.PushH16, opcode.PushH32, opcode.PushH64}[log]
	if n == 1 {
		e.b.Op(op)
		return
	}
	handle, offset := e.takeCell()
	for i := range n {
		e.cell(handle, offset, i<<log)
		e.b.Op(op)
	}
	e.b.Release(handle)
	e.b.Release(offset)
}

// popCells writes n numbers: ( v1 … vn handle offset -- ). The last of them is on top, and so is written first.
func (e *emitter) popCells(log, n int) {
	op := []opcode.Op{opcode.PopH8, opcode.PopH16, opcode.PopH32, opcode.PopH64}[log]
	if n == 1 {
		e.b.Op(op)
		return
	}
	handle, offset := e.takeCell()
	for i := n - 1; i >= 0; i-- {
		e.cell(handle, offset, i<<log)
		e.b.Op(op)
	}
	e.b.Release(handle)
	e.b.Release(offset)
}

// takeCell keeps the handle and the offset that are on the stack.
func (e *emitter) takeCell() (handle, offset uint32) {
	offset, handle = e.b.Temp(), e.b.Temp()
	e.b.A(opcode.PopTV, offset)
	e.b.A(opcode.PopTV, handle)
	return handle, offset
}

// cell pushes the handle, and an offset so many bytes further on.
func (e *emitter) cell(handle, offset uint32, by int) {
	e.b.A(opcode.PushTV, handle)
	e.b.A(opcode.PushTV, offset)
	if by > 0 {
		e.b.Push(uint64(by))
		e.b.Op(opcode.Add)
	}
}
