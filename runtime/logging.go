package runtime

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"gotap/runtime/opcode"
)

// logging executes the operations on the log of the hit. An item that does not fit takes no space in the log: the first
// field that does not fit sets h.over, the following fields are skipped, and end removes the item. A record with half
// its fields would be worse than none, because nobody could recognise it.
func (m *Machine) logging(in *Inst) Trap {
	h := m.hit
	switch in.Op {
	case opcode.Item:
		m.beginItem(in.A)
	case opcode.LogInt, opcode.LogFloat:
		m.logWord(m.pop(), true)
	case opcode.LogText:
		p, cut, trap := m.popText()
		if trap != NoTrap {
			return trap
		}
		h.text(p, cut)
	case opcode.EndItem:
		return m.endItem()
	case opcode.LogRange, opcode.LogStr:
		return m.logMemory(in)
	default:
		return m.logPosition(in.Op)
	}
	return NoTrap
}

// endItem completes the item, or counts that it did not fit. That is an error only in programs whose mask requests it.
func (m *Machine) endItem() Trap {
	if m.hit.end() {
		m.data, m.item = m.data+m.item, 0
		return NoTrap
	}
	m.item = 0
	atomic.AddUint64(&m.a.words[wordLostLog], 1)
	if m.code.mask()&ExLog == 0 {
		return NoTrap
	}
	m.p1, m.p2 = uint64(m.hit.limit-m.hit.mark), 0
	if m.code.LogData > 0 {
		m.p1 = uint64(m.code.LogData)
	}
	return TrapLog
}

// logPosition executes the operations on positions in the log, which are counted in bytes from the first item of this
// program. Items are either complete or absent, so only the beginning of an item, or the end of the log, is a position.
func (m *Machine) logPosition(op opcode.Op) Trap {
	h := m.hit
	switch op {
	case opcode.PushLP:
		m.push(uint64(h.n - h.mark))
	case opcode.PushPLP:
		m.push(uint64(h.lastItem() - h.mark))
	case opcode.PopLP:
		if at := m.pop(); !h.takeBack(at) {
			m.p1, m.p2 = operandPosition, at
			return TrapIndex
		}
		m.data, m.item = m.recount(), 0
	default:
		return TrapOp
	}
	return NoTrap
}

// logMemory makes an item of a range of memory, or of the text there. Data longer than the remaining room are cut and
// marked. Unreadable memory traps and leaves no item. Memory is read directly into the log, without an intermediate
// copy. The room is reserved first and released where it was not needed, so that a range never exceeds what the program
// may log: DProbes' log str could, by 3 bytes.
func (m *Machine) logMemory(in *Inst) Trap {
	h, addr := m.hit, m.pop()
	// Lengths are unsigned: a negative one is larger than the maximum and is cut like any other.
	n := int(min(m.pop(), MaxLog))
	m.beginItem(in.A)
	header := h.room(8)
	room := (h.limit - h.n) &^ 7
	most := min(room, m.dataLeft())
	if header == nil || most <= 0 && n > 0 {
		h.over = true
		return m.endItem()
	}
	cut := n > most
	n = min(n, most)
	p := h.room(min((n+7)&^7, room))
	n = min(n, len(p))
	got := max(min(m.ctx.Thread.ReadMemory(addr, p[:n]), n), 0)
	length := n
	if end := bytes.IndexByte(p[:got], 0); in.Op == opcode.LogStr && end >= 0 {
		// Text ends at its NUL even if that is before an unreadable page.
		length, cut = end, false
	} else if got < n {
		h.closeOpen()
		m.out.Addr = addr + uint64(got)
		return TrapRead
	}
	h.n -= len(p) - (length+7)&^7
	clear(p[length:])
	m.item = length
	binary.LittleEndian.PutUint64(header, keyHeader(length, cut))
	return m.endItem()
}

// logWords makes an item of the words on top of the stack. The order is DProbes': the word pushed last comes first.
func (m *Machine) logWords(in *Inst) Trap {
	m.beginItem(uint32(in.V))
	counts := m.code.LogData == 0 || m.isData(uint32(in.V))
	for range in.A {
		m.logWord(m.pop(), counts)
	}
	return m.endItem()
}
