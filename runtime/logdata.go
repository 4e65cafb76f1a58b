package runtime

import (
	"encoding/binary"
	"math"
)

// A program may have a limit on the data that it logs (Code.LogData), as DProbes' programs have. Data are the bytes
// from the target and from the program's stack, without headers, lengths and padding. Code.LogMax limits the bytes that
// items take in the log. Most programs have only that limit, and then data are not counted.

// beginItem starts an item.
func (m *Machine) beginItem(format uint32) {
	m.item = 0
	m.hit.begin(m.code.ID, format)
}

// dataLeft returns how many bytes of data this program may still log.
func (m *Machine) dataLeft() int {
	if m.code.LogData == 0 {
		return math.MaxInt
	}
	return m.code.LogData - m.data - m.item
}

// logWord appends a word to the current item. Words that are not data do not count.
func (m *Machine) logWord(v uint64, isData bool) {
	if isData {
		if m.dataLeft() < 8 {
			m.hit.over = true
			return
		}
		m.item += 8
	}
	m.hit.word(v)
}

// isData reports whether items of a format hold data. Words preceded by a text describe the record, for example with
// another code.
func (m *Machine) isData(format uint32) bool {
	f := m.formatOf(m.code.ID, format)
	return f == nil || f.Kind != ItemWords || f.Text == ""
}

// formatOf returns a format of a program, or nil if there is none.
func (m *Machine) formatOf(program, format uint32) *Format {
	list := *m.a.programs.Load()
	if uint64(program) >= uint64(len(list)) || uint64(format) >= uint64(len(list[program].Formats)) {
		return nil
	}
	return &list[program].Formats[format]
}

// recount returns the amount of data in this program's items after some were removed.
func (m *Machine) recount() int {
	if m.code.LogData == 0 {
		return 0
	}
	h, n := m.hit, 0
	for at := h.mark; at < h.n; at = h.itemEnd(at) {
		header := binary.LittleEndian.Uint64(h.buf[at:])
		f := m.formatOf(uint32(header>>32), uint32(header>>16&0xffff))
		switch {
		case f == nil:
		case f.Kind == ItemRange || f.Kind == ItemString:
			n += int(uint32(binary.LittleEndian.Uint64(h.buf[at+itemHeader:])))
		case f.Kind == ItemWords && f.Text == "":
			n += h.itemEnd(at) - at - itemHeader
		}
	}
	return n
}
