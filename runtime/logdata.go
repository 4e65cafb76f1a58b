package runtime

import (
	"math"

	"gotap/runtime/record"
)

// A program may have a limit on the data that it logs (Code.LogData), as DProbes' programs have. Data are the bytes
// from the target and from the program's stack, without headers, lengths and padding. Code.LogMax limits the bytes that
// items take in the log. Most programs have only that limit, and then data are not counted.

// beginItem starts an item.
func (m *Machine) beginItem(format uint32) {
	m.item = 0
	m.hit.Begin(m.code.ID, format)
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
			m.hit.Fail()
			return
		}
		m.item += 8
	}
	m.hit.Word(v)
}

// isData reports whether items of a format hold data. Words preceded by a text describe the record, for example with
// another code.
func (m *Machine) isData(format uint32) bool {
	f := record.FormatOf(m.a.Programs(), m.code.ID, format)
	return f == nil || f.Kind != record.ItemWords || f.Text == ""
}

// recount returns the amount of data in this program's items after some were removed.
func (m *Machine) recount() int {
	if m.code.LogData == 0 {
		return 0
	}
	return m.hit.Data(m.a.Programs())
}
