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

// Text without a length: arrays of characters, and what pointers to them point to. That of wchar_t, char16_t and
// char32_t has units of 2 or 4 bytes; programs read it as UTF-8.

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
func (f *Fetcher) textAt(s *shape.Shape, address, most *tree.Expr, at diag.Span) *tree.Expr {
	isArray := s.Kind == shape.Chars && s.Len > 0
	switch {
	case s.Width == 0 && !isArray:
		return tree.Apply(at, tree.KindText, opcode.Str, address, most)
	case s.Width == 0:
		return f.arrayText(int64(s.Len), address, most, at)
	}
	count := int64(math.MaxInt64)
	if isArray {
		count = int64(s.Len)
	}
	return units(at, unitsOf(s.Width, false), address, tree.Integer(at, count), most)
}

// arrayText is the text in an array of n characters. One that fills the array has no NUL, and what follows is not part
// of it.
func (f *Fetcher) arrayText(n int64, address, most *tree.Expr, at diag.Span) *tree.Expr {
	if most.IsConst() && int64(most.Cmd.V) < n {
		return tree.Apply(at, tree.KindText, opcode.Str, address, most)
	}
	return f.Ops.Keep(at, []*tree.Expr{address, most}, func(kept []*tree.Expr) *tree.Expr {
		length := tree.Integer(at, n)
		last := tree.Apply(at, tree.KindInt, opcode.Load8, offset(kept[0], n-1, at))
		isEnded := tree.Apply(at, tree.KindBool, opcode.Eq, last, tree.Integer(at, 0))
		ended := tree.Apply(at, tree.KindText, opcode.Str, kept[0], kept[1])
		return f.Ops.Choose(at, isEnded, ended, units(at, value.BytesZ, kept[0], length, kept[1]))
	})
}

// TypedText is the text that a path names, at most so many bytes of it, if its type says more than that it is an
// address: an array, or characters of more than a byte. ok is false for other values. An array of one character is what
// C had before arrays of unknown length.
func (f *Fetcher) TypedText(a Path, access compile.Access, at diag.Span, most *tree.Expr) (text *tree.Expr, ok bool) {
	if s := access.Shape; s == nil || s.Width == 0 && (s.Kind != shape.Chars || s.Len <= 1) {
		return nil, false
	}
	return f.textAt(access.Shape, f.access(a, access, at), most, at), true
}
