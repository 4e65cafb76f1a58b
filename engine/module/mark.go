package module

import (
	"bytes"
	"fmt"
	"strings"

	"gotap/compile"
)

// Mark is a static mark (USDT): a place in the code that the program's author named, with operands. One mark may be in
// several places of a file, each its own Mark.
type Mark struct {
	Provider, Name string
	PC             uint64    // address of the mark's nop, in the file
	Semaphore      uint64    // address of a 16-bit counter that the mark looks at before it does costly work; 0: none
	Args           []Operand // in order
	Note           string    // the operands as the note has them
}

// Operand is one argument of a mark.
type Operand struct {
	Raw    string         // as the note has it: "-4@%eax"
	Size   int            // bytes, 1 to 8
	Signed bool           // meant as signed
	Float  bool           // a floating-point value
	Access compile.Access // how to fetch it; meaningless when Err is set
	Err    error          // why it cannot be fetched
}

// noteMark is NT_STAPSDT.
const noteMark = 3

// Marks lists the static marks of a file, in the order of its notes. The list must not be changed.
func (f *File) Marks() ([]Mark, error) {
	f.markOnce.Do(func() { f.marks, f.markErr = f.readMarks() })
	return f.marks, f.markErr
}

// readMarks parses .note.stapsdt, which stripping may have left to the debug file alone.
func (f *File) readMarks() ([]Mark, error) {
	const section = ".note.stapsdt"
	data, _, err := f.Section(section)
	if d := f.elf.Section(section); d == nil && f.Debug() != nil {
		data, _, err = f.Debug().Section(section)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read static marks of %s: %w", f.Path, err)
	}
	var marks []Mark
	notes(data, f.Order, func(n note) bool {
		if n.name == "stapsdt" && n.kind == noteMark {
			if m, ok := f.parseMark(n.desc); ok {
				marks = append(marks, m)
			}
		}
		return true
	})
	return marks, nil
}

// parseMark reads a note: the address of the mark, that of .stapsdt.base when the note was made, the semaphore's,
// then provider, name and operands as zero-terminated texts. Linkers that move sections later (prelink)
// leave notes alone; how far .stapsdt.base has moved says how far the others have.
func (f *File) parseMark(desc []byte) (Mark, bool) {
	w := f.WordSize()
	if len(desc) < 3*w {
		return Mark{}, false
	}
	word := func(i int) uint64 { return readWord(desc[i*w:], w, f.Order) }
	// What follows the third text is padding.
	text := bytes.SplitN(desc[3*w:], []byte{0}, 4)
	if len(text) < 3 {
		return Mark{}, false
	}
	m := Mark{PC: word(0), Semaphore: word(2), Provider: string(text[0]), Name: string(text[1]), Note: string(text[2])}
	if base := f.elf.Section(".stapsdt.base"); base != nil && word(1) != 0 {
		m.PC = f.wrap(m.PC + base.Addr - word(1))
		if m.Semaphore != 0 {
			m.Semaphore = f.wrap(m.Semaphore + base.Addr - word(1))
		}
	}
	// An operand that cannot be read leaves the mark and its other operands usable.
	for _, raw := range splitOperands(m.Note) {
		m.Args = append(m.Args, f.parseOperand(raw))
	}
	return m, true
}

// wrap cuts an address to the file's width.
func (f *File) wrap(addr uint64) uint64 {
	if f.Bits == 32 {
		return uint64(uint32(addr))
	}
	return addr
}

// splitOperands cuts the text of a note at blanks outside brackets and parentheses.
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
