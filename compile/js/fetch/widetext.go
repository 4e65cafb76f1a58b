package fetch

import (
	"math"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/tree"
	"gotap/compile/shape"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Text of wchar_t, char16_t and char32_t has units of 2 or 4 bytes. Programs read it as UTF-8.

// units is text at an address: count units at most, as at most so many bytes.
func units(at diag.Span, u value.Units, address, count, most *tree.Expr) *tree.Expr {
	return tree.ApplyA(at, tree.KindText, opcode.Units, uint32(u), address, count, most)
}

// unitsOf is the encoding of text whose units have so many bytes. counted: the text has a length, and may have NULs.
func unitsOf(width int, counted bool) value.Units {
	switch {
	case counted && width == 2:
		return value.UTF16
	case counted:
		return value.UTF32
	case width == 2:
		return value.UTF16Z
	}
	return value.UTF32Z
}

// textAt is the text at an address, of an array or behind a pointer of this shape, as at most so many bytes.
func textAt(s *shape.Shape, address, most *tree.Expr, at diag.Span) *tree.Expr {
	if s.Width == 0 {
		return tree.Apply(at, tree.KindText, opcode.Str, address, most)
	}
	count := int64(math.MaxInt64)
	if s.Kind == shape.Chars && s.Len > 0 {
		count = int64(s.Len)
	}
	return units(at, unitsOf(s.Width, false), address, tree.Integer(at, count), most)
}

// WideText is the text that a path names, at most so many bytes of it, if its units have more than a byte and no length
// is known; ok is false for other values.
func (f *Fetcher) WideText(a Path, access compile.Access, at diag.Span, most *tree.Expr) (text *tree.Expr, ok bool) {
	if s := access.Shape; s == nil || s.Width == 0 {
		return nil, false
	}
	return textAt(access.Shape, f.access(a, access, at), most, at), true
}
