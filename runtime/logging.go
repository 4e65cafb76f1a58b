package runtime

import (
	"bytes"
	"encoding/binary"

	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// logging executes the operations on the log of the hit. An item that does not fit takes no space in the log: the first
// field that does not fit marks it (Log.Fail), the following fields are skipped, and end removes the item. A record
// with half its fields would be worse than none, because nobody could recognise it.
func (m *Machine) logging(in *Inst) outcome.Trap {
	h := m.hit
	switch in.Op {
	case opcode.Item:
		m.beginItem(in.A)
	case opcode.LogInt, opcode.LogFloat:
		m.logWord(m.pop(), true)
	case opcode.LogText:
		p, cut, trap := m.popText()
		if trap != outcome.NoTrap {
			return trap
		}
		h.Text(p, cut)
	case opcode.EndItem:
		return m.endItem()
	case opcode.LogRange, opcode.LogStr:
		return m.logMemory(in)
	default:
		return m.logPosition(in.Op)
	}
	return outcome.NoTrap
}

// endItem completes the item, or counts that it did not fit. That is an error only in programs whose mask requests it.
func (m *Machine) endItem() outcome.Trap { return m.itemEnded(m.hit.End()) }

// itemEnded is called after an item was completed, or removed because it did not fit.
func (m *Machine) itemEnded(whole bool) outcome.Trap {
	if whole {
		m.data, m.item = m.data+m.item, 0
		return outcome.NoTrap
	}
	m.item = 0
	m.a.LostItem()
	if m.code.mask()&ExLog == 0 {
		return outcome.NoTrap
	}
	m.p1, m.p2 = uint64(m.hit.Limit()), 0
	if m.code.LogData > 0 {
		m.p1 = uint64(m.code.LogData)
	}
	return outcome.TrapLog
}

// logPosition executes the operations on positions in the log, which are counted in bytes from the first item of this
// program. Items are either complete or absent, so only the beginning of an item, or the end of the log, is a position.
func (m *Machine) logPosition(op opcode.Op) outcome.Trap {
	h := m.hit
	switch op {
	case opcode.PushLP:
		m.push(uint64(h.Used()))
	case opcode.PushPLP:
		m.push(uint64(h.Last()))
	case opcode.PopLP:
		if at := m.pop(); !h.TakeBack(at) {
			m.p1, m.p2 = operandPosition, at
			return outcome.TrapIndex
		}
		m.data, m.item = m.recount(), 0
	default:
		return outcome.TrapOp
	}
	return outcome.NoTrap
}

// logMemory makes an item of a range of memory, or of the text there. Data longer than the remaining room are cut and
// marked. Unreadable memory traps and leaves no item. Memory is read directly into the log, without an intermediate
// copy. The room is reserved first and released where it was not needed, so that a range never exceeds what the program
// may log: DProbes' log str could, by 3 bytes.
func (m *Machine) logMemory(in *Inst) outcome.Trap {
	h, addr := m.hit, m.pop()
	// Lengths are unsigned: a negative one is larger than the maximum and is cut like any other.
	n := int(min(m.pop(), record.MaxLog))
	m.beginItem(in.A)
	header := h.Room(8)
	room := h.Left() &^ 7
	most := min(room, m.dataLeft())
	if header == nil || most <= 0 && n > 0 {
		h.Fail()
		return m.endItem()
	}
	cut := n > most
	n = min(n, most)
	p := h.Room(min((n+7)&^7, room))
	n = min(n, len(p))
	got := max(min(m.ctx.Thread.ReadMemory(addr, p[:n]), n), 0)
	length := n
	if end := bytes.IndexByte(p[:got], 0); in.Op == opcode.LogStr && end >= 0 {
		// Text ends at its NUL even if that is before an unreadable page.
		length, cut = end, false
	} else if got < n {
		h.CloseOpen()
		m.out.Addr = addr + uint64(got)
		return outcome.TrapRead
	}
	h.Shrink(len(p) - (length+7)&^7)
	clear(p[length:])
	m.item = length
	binary.LittleEndian.PutUint64(header, value.HeaderWord(length, cut))
	return m.endItem()
}

// logWords makes an item of the words on top of the stack. The order is DProbes': the word pushed last comes first.
func (m *Machine) logWords(in *Inst) outcome.Trap {
	m.beginItem(uint32(in.V))
	counts := m.code.LogData == 0 || m.isData(uint32(in.V))
	for range in.A {
		m.logWord(m.pop(), counts)
	}
	return m.endItem()
}
