package module

import (
	"bytes"
	"fmt"
	"strings"

	"gotap/compile"
)

// Mark is a static mark (USDT): a named place in the code with operands. A mark in several places of a file is several
// Marks.
type Mark struct {
	Provider, Name string
	PC             uint64    // address of the mark's nop, in the file
	Semaphore      uint64    // address of a 16-bit counter that enables costly operands; 0: none
	Args           []Operand // in order
	Note           string    // the operands as in the note
}

// Operand is one argument of a mark.
type Operand struct {
	Raw    string // as in the note: "-4@%eax"
	Size   int    // bytes, 1 to 8
	Signed bool
	Float  bool           // a floating-point value
	Access compile.Access // how to read it; unset when Err is set
	Err    error          // why it cannot be read
}

// noteMark is NT_STAPSDT.
const noteMark = 3

// markList is the static marks of a file, or why they cannot be read.
type markList struct {
	list []Mark
	err  error
}

// Marks returns the static marks of a file in the order of its notes. The list must not be changed.
func (f *File) Marks() ([]Mark, error) {
	m := f.marks.get(markReader{f}.read)
	return m.list, m.err
}

// markReader reads the static marks of a file.
type markReader struct{ *File }

// read parses .note.stapsdt, which may be in the debug file only.
func (r markReader) read() (found markList) {
	const section = ".note.stapsdt"
	data, _, err := r.Section(section)
	if d := r.elf.Section(section); d == nil && r.Debug() != nil {
		data, _, err = r.Debug().Section(section)
	}
	if err != nil {
		return markList{err: fmt.Errorf("cannot read static marks of %s: %w", r.Path, err)}
	}
	notes(data, r.Order, func(n note) bool {
		if n.name == "stapsdt" && n.kind == noteMark {
			if m, ok := r.parse(n.desc); ok {
				found.list = append(found.list, m)
			}
		}
		return true
	})
	return found
}

// parse reads a note: the address of the mark, the address of .stapsdt.base when the note was written, the address
// of the semaphore, then provider, name and operands as zero-terminated strings. Linkers that move sections later
// (prelink) do not change notes, so the distance that .stapsdt.base has moved is added.
func (r markReader) parse(desc []byte) (Mark, bool) {
	w := r.WordSize()
	if len(desc) < 3*w {
		return Mark{}, false
	}
	word := func(i int) uint64 { return readWord(desc[i*w:], w, r.Order) }
	// Padding follows the third string.
	text := bytes.SplitN(desc[3*w:], []byte{0}, 4)
	if len(text) < 3 {
		return Mark{}, false
	}
	m := Mark{PC: word(0), Semaphore: word(2), Provider: string(text[0]), Name: string(text[1]), Note: string(text[2])}
	if base := r.elf.Section(".stapsdt.base"); base != nil && word(1) != 0 {
		m.PC = r.wrap(m.PC + base.Addr - word(1))
		if m.Semaphore != 0 {
			m.Semaphore = r.wrap(m.Semaphore + base.Addr - word(1))
		}
	}
	// The mark and its other operands are usable even when one operand cannot be read.
	for _, raw := range splitOperands(m.Note) {
		m.Args = append(m.Args, r.parseOperand(raw))
	}
	return m, true
}

// wrap truncates an address to the width of the file.
func (f *File) wrap(addr uint64) uint64 {
	if f.Bits == 32 {
		return uint64(uint32(addr))
	}
	return addr
}

// splitOperands splits the operands of a note at spaces outside brackets and parentheses.
func splitOperands(text string) []string {
	var found []string
	depth, start := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ' ' && depth == 0:
			if i > start {
				found = append(found, text[start:i])
			}
			start = i + 1
		case strings.IndexByte("[(", text[i]) >= 0:
			depth++
		case strings.IndexByte("])", text[i]) >= 0:
			depth = max(depth-1, 0)
		}
	}
	return found
}
