package runtime

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
)

// logging does the operations on the log of the hit.
func (m *Machine) logging(in *Inst) Trap {
	h := m.hit
	switch in.Op {
	case OpItem:
		h.begin(m.code.ID, in.A)
	case OpLogInt, OpLogFloat:
		h.word(m.pop())
	case OpLogText:
		p, cut, trap := m.popText()
		if trap != NoTrap {
			return trap
		}
		h.text(p, cut)
	case OpEndItem:
		m.endItem()
	case OpLogRange, OpLogStr:
		return m.logMemory(in)
	}
	return NoTrap
}

// endItem completes the item, or counts that it did not fit.
func (m *Machine) endItem() {
	if !m.hit.end() {
		atomic.AddUint64(&m.a.words[wordLostLog], 1)
	}
}

// logMemory makes an item of a range of memory, or of the text there. What is longer than the room left is cut and marked;
// memory that cannot be read traps and leaves no item.
func (m *Machine) logMemory(in *Inst) Trap {
	h, addr := m.hit, m.pop()
	n := int(min(m.pop(), MaxLog))
	h.begin(m.code.ID, in.A)
	header := h.room(8)
	room := (h.limit - h.n) &^ 7
	if header == nil || room <= 0 && n > 0 {
		h.over = true
		m.endItem()
		return NoTrap
	}
	cut := n > room
	p := h.room(min((n+7)&^7, room))
	n = min(n, len(p))
	got := max(min(m.ctx.Thread.ReadMemory(addr, p[:n]), n), 0)
	length := n
	if end := bytes.IndexByte(p[:got], 0); in.Op == OpLogStr && end >= 0 {
		length, cut = end, false
	} else if got < n {
		h.closeOpen()
		m.out.Addr = addr + uint64(got)
		return TrapRead
	}
	h.n -= len(p) - (length+7)&^7
	clear(p[length:])
	binary.LittleEndian.PutUint64(header, keyHeader(length, cut))
	m.endItem()
	return NoTrap
}

// logWords makes an item of the words on top of the stack, the top first.
func (m *Machine) logWords(in *Inst) {
	m.hit.begin(m.code.ID, uint32(in.V))
	for range in.A {
		m.hit.word(m.pop())
	}
	m.endItem()
}
