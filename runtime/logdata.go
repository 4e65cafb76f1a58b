package runtime

import (
	"encoding/binary"
	"math"
)

// A program may have a limit on the data it logs (Code.LogData), as DProbes' programs have: the
// bytes that it takes from the target and from its stack, without headers, lengths and padding.
// Code.LogMax limits the bytes that the items take in the log. Most programs have only that one,
// and nothing is counted for them.

// beginItem starts an item.
func (m *Machine) beginItem(format uint32) {
	m.item = 0
	m.hit.begin(m.code.ID, format)
}

// dataLeft is how many bytes of data this program may still log.
func (m *Machine) dataLeft() int {
	if m.code.LogData == 0 {
		return math.MaxInt
	}
	return m.code.LogData - m.data - m.item
}

// logWord appends a word to the item being written. Words that are no data do not count.
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

// isData reports whether items of a format hold data. Words with a text before them are what a
// program says of its record, such as another code.
func (m *Machine) isData(format uint32) bool {
	f := m.formatOf(m.code.ID, format)
	return f == nil || f.Kind != ItemWords || f.Text == ""
}

// formatOf is a format of a program, nil when there is none.
func (m *Machine) formatOf(program, format uint32) *Format {
	list := *m.a.programs.Load()
	if uint64(program) >= uint64(len(list)) || uint64(format) >= uint64(len(list[program].Formats)) {
		return nil
	}
	return &list[program].Formats[format]
}

// recount is the data in this program's items, after some were taken back.
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
