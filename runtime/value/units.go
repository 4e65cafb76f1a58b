package value

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// Units is how characters of text are encoded whose units have more than a byte: wchar_t, char16_t, char32_t. The text
// ends at a unit that is 0, or has a known length.
type Units uint8

// The encodings.
const (
	UTF16Z Units = iota // up to a NUL
	UTF32Z
	UTF16 // of a known length
	UTF32
	NumUnits
)

// Size returns how many bytes a unit has.
func (u Units) Size() int {
	if u == UTF16Z || u == UTF16 {
		return 2
	}
	return 4
}

// Ends reports whether text ends at a unit that is 0.
func (u Units) Ends() bool { return u == UTF16Z || u == UTF32Z }

// MaxUnit is how many bytes of UTF-8 a unit becomes at most, MaxUnits how many units of a text are read.
const (
	MaxUnit  = utf8.UTFMax
	MaxUnits = MaxText / MaxUnit
)

// Append appends the characters in p as UTF-8. What is not a character becomes U+FFFD. ended is whether the text ended
// at a unit that is 0. It does not allocate if b has room.
func (u Units) Append(b, p []byte) (_ []byte, ended bool) {
	for size := u.Size(); len(p) >= size; {
		var r rune
		if size == 2 {
			r = rune(binary.LittleEndian.Uint16(p))
		} else if r = rune(binary.LittleEndian.Uint32(p)); !utf8.ValidRune(r) {
			r = utf8.RuneError
		}
		p = p[size:]
		if r == 0 && u.Ends() {
			return b, true
		}
		if utf16.IsSurrogate(r) {
			first := r
			if r = utf8.RuneError; len(p) >= size {
				if r = utf16.DecodeRune(first, rune(binary.LittleEndian.Uint16(p))); r != utf8.RuneError {
					p = p[size:]
				}
			}
		}
		b = utf8.AppendRune(b, r)
	}
	return b, false
}
