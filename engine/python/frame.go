package python

import (
	"encoding/binary"
	"unicode/utf16"
)

// Frame is a Python function that runs.
type Frame struct {
	Func string // with its classes since 3.11; "?" when it cannot be read
	File string // "" when unknown
	Line int    // 0 when unknown
}

// Bounds of texts and tables.
const (
	maxTextLength = 1 << 10 // characters that are read; the rest is cut
	maxAnyLength  = 1 << 28 // characters that a text can have
	maxTable      = 1 << 18 // bytes of a table of lines
)

// Frame reads a frame. ok is false for one that Python does not show: it has not reached its first instruction, or it
// is none.
func (r *Reader) Frame(frame uint64) (f Frame, ok bool) { return r.describe(frame, false) }

// Begun reads the frame that is about to be evaluated.
func (r *Reader) Begun(frame uint64) (f Frame, ok bool) { return r.describe(frame, true) }

// describe reads a frame. A new one need not have reached its first instruction.
func (r *Reader) describe(frame uint64, new bool) (f Frame, ok bool) {
	code := r.word(frame + r.in.frame.code)
	if code == 0 || r.word(code+objectType) != r.in.types.code {
		return Frame{}, false
	}
	at := r.instruction(frame, code)
	if !new && r.in.code.first != none && at < 2*r.number(code+r.in.code.first) {
		return Frame{}, false
	}
	f = Frame{Func: r.text(r.word(code + r.in.code.name)), File: r.text(r.word(code + r.in.code.file))}
	if f.Func == "" {
		f.Func = "?"
	}
	f.Line = r.line(code, at)
	return f, true
}

// instruction returns how many bytes behind the start of the code the instruction is that a frame is at; negative
// before the first.
func (r *Reader) instruction(frame, code uint64) int {
	if r.in.frame.instr != none {
		return int(int64(r.word(frame+r.in.frame.instr) - code - r.in.code.start))
	}
	at := r.number(frame + r.in.frame.lasti)
	if r.in.minor >= 10 {
		at *= 2
	}
	return at
}

// text reads a str, or returns "".
func (r *Reader) text(addr uint64) string {
	var head [40]byte
	if addr == 0 || !r.read(addr, head[:]) || binary.LittleEndian.Uint64(head[objectType:]) != r.in.types.text {
		return ""
	}
	length, state := binary.LittleEndian.Uint64(head[textLength:]), binary.LittleEndian.Uint32(head[textState:])
	width, compact, ascii := uint64(state>>2&7), state>>5&1 != 0, state>>6&1 != 0
	if !compact || length > maxAnyLength || width != 1 && width != 2 && width != 4 || ascii && width != 1 {
		return ""
	}
	at := addr + r.in.compact
	if ascii {
		at = addr + r.in.ascii
	}
	cut := length > maxTextLength
	p := make([]byte, min(length, maxTextLength)*width)
	if !r.read(at, p) {
		return ""
	}
	text := decode(p, int(width))
	if cut {
		text += "…"
	}
	return text
}

// decode returns the text of characters of a width in bytes. Those that cannot be shown are replaced.
func decode(p []byte, width int) string {
	var all []rune
	for ; len(p) >= width; p = p[width:] {
		var c rune
		switch width {
		case 1:
			c = rune(p[0])
		case 2:
			c = rune(binary.LittleEndian.Uint16(p))
		default:
			c = rune(binary.LittleEndian.Uint32(p))
		}
		if c < ' ' || c >= 0x7f && c < 0xa0 || c > 0x10ffff || utf16.IsSurrogate(c) {
			c = '?'
		}
		all = append(all, c)
	}
	return string(all)
}

// line returns the line of an instruction, or 0.
func (r *Reader) line(code uint64, at int) int {
	first := r.number(code + r.in.code.firstLine)
	if at < 0 {
		return max(first, 0)
	}
	table := r.word(code + r.in.code.lines)
	if table == 0 || r.word(table+objectType) != r.in.types.bytes {
		return 0
	}
	size := r.word(table + varSize)
	if size > maxTable {
		return 0
	}
	p := make([]byte, size)
	if !r.read(table+bytesData, p) {
		return 0
	}
	switch r.in.minor {
	case 9:
		return max(lineOf9(p, first, at), 0)
	case 10:
		return max(lineOf10(p, first, at), 0)
	}
	return max(lineOf11(p, first, at), 0)
}

// lineOf9 looks an instruction up in a table of 3.9: pairs of what to add to the address and to the line
// (Objects/lnotab_notes.txt).
func lineOf9(p []byte, line, at int) int {
	addr := 0
	for ; len(p) >= 2; p = p[2:] {
		if addr += int(p[0]); addr > at {
			break
		}
		line += int(int8(p[1]))
	}
	return line
}

// lineOf10 looks an instruction up in a table of 3.10: pairs of the length of a range and what to add to the line; -128
// means that the range has no line (PEP 626).
func lineOf10(p []byte, line, at int) int {
	end := 0
	for ; len(p) >= 2; p = p[2:] {
		end += int(p[0])
		none := int8(p[1]) == -128
		if !none {
			line += int(int8(p[1]))
		}
		if at < end {
			if none {
				return 0
			}
			return line
		}
	}
	return 0
}

// Kinds of an entry since 3.11 (Objects/locations.md).
const (
	entryOneLine   = 10 // and the two after it: the line is so many further
	entryNoColumns = 13
	entryLong      = 14
	entryNone      = 15
)

// lineOf11 looks an instruction up in a table since 3.11: entries whose first byte alone has the highest bit, with
// their kind and length.
func lineOf11(p []byte, line, at int) int {
	end := 0
	for i := 0; i < len(p); {
		kind := int(p[i]) >> 3 & 15
		end += 2 * (int(p[i])&7 + 1)
		i++
		switch {
		case kind == entryLong || kind == entryNoColumns:
			line += signed(p[i:])
		case kind >= entryOneLine && kind < entryNoColumns:
			line += kind - entryOneLine
		}
		if at < end {
			if kind == entryNone {
				return 0
			}
			return line
		}
		for i < len(p) && p[i]&0x80 == 0 {
			i++
		}
	}
	return 0
}

// signed reads a number of six bits a byte, the lowest first; the lowest bit of all is the sign.
func signed(p []byte) int {
	n, shift := 0, 0
	for _, b := range p {
		n |= int(b&63) << shift
		if shift += 6; b&0x40 == 0 || shift > 30 {
			break
		}
	}
	if n&1 != 0 {
		return -(n >> 1)
	}
	return n >> 1
}
