package value

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// Units is how characters of text are encoded: of wchar_t, char16_t, char32_t, or of bytes that are as they are. The
// text ends at a unit that is 0, or has a known length.
type Units uint8

// The encodings.
const (
	UTF16Z Units = iota // up to a NUL
	UTF32Z
	UTF16 // of a known length
	UTF32
	BytesZ // units are bytes, up to a NUL
	NumUnits
)

// Size returns how many bytes a unit has.
func (u Units) Size() int {
	switch u {
	case BytesZ:
		return 1
	case UTF16Z, UTF16:
		return 2
	}
	return 4
}

// Ends reports whether text ends at a unit that is 0.
func (u Units) Ends() bool { return u != UTF16 && u != UTF32 }

// Append appends the characters in p as UTF-8, at most so many bytes of them. What is not a character becomes U+FFFD.
// ended is whether the text ended at a unit that is 0, cut whether there was no room for a character. It does not
// allocate if b has room.
func (u Units) Append(b, p []byte, most int) (_ []byte, ended, cut bool) {
	if u == BytesZ {
		end := bytes.IndexByte(p, 0)
		ended = end >= 0
		if ended {
			p = p[:end]
		}
		cut = len(p) > most
		return append(b, p[:min(len(p), most)]...), ended && !cut, cut
	}
	for size := u.Size(); len(p) >= size; {
		r, n := u.first(p)
		switch {
		case r == 0 && u.Ends():
			return b, true, false
		case utf8.RuneLen(r) > most:
			return b, false, true
		}
		p, most = p[n:], most-utf8.RuneLen(r)
		b = utf8.AppendRune(b, r)
	}
	return b, false, false
}

// first returns the first character of a text that is not empty, and how many bytes it has there.
func (u Units) first(p []byte) (r rune, n int) {
	if u.Size() == 4 {
		if r = rune(binary.LittleEndian.Uint32(p)); !utf8.ValidRune(r) {
			r = utf8.RuneError
		}
		return r, 4
	}
	r = rune(binary.LittleEndian.Uint16(p))
	if !utf16.IsSurrogate(r) {
		return r, 2
	}
	if len(p) >= 4 {
		if both := utf16.DecodeRune(r, rune(binary.LittleEndian.Uint16(p[2:]))); both != utf8.RuneError {
			return both, 4
		}
	}
	return utf8.RuneError, 2
}
