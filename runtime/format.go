package runtime

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// NameStack is the lines of a stack, innermost frame first, without indentation. It gets the stack as a whole, since only the first
// of its addresses is the instruction itself, and an inlined call has a line of its own beside its caller's.
type NameStack func(stack Value) []string

// Format is the value as it prints. Stacks print as bpftrace prints them, a line for each
// frame after an empty one; name may be nil. Bytes print with what is not printable escaped.
func (v Value) Format(name NameStack) string {
	switch v.Kind {
	case ValueUint:
		return strconv.FormatUint(uint64(v.Int), 10)
	case ValueFloat:
		return string(appendNumber(nil, v.Float))
	case ValueText:
		return v.marked()
	case ValueBytes:
		return escapeBytes(v.Text) + v.cutmark()
	case ValueBool:
		return strconv.FormatBool(v.Int != 0)
	case ValueStack:
		return v.formatStack(name)
	}
	return strconv.FormatInt(v.Int, 10)
}

// cutmark is what follows the text when it was cut.
func (v Value) cutmark() string {
	if v.Cut {
		return Cutmark
	}
	return ""
}

func (v Value) marked() string { return v.Text + v.cutmark() }

// formatStack prints a line for each frame, indented, after the end of the line before.
func (v Value) formatStack(name NameStack) string {
	var b strings.Builder
	b.WriteByte('\n')
	for _, line := range v.frames(name) {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}

// frames are the lines of a stack: addresses when nobody names them.
func (v Value) frames(name NameStack) []string {
	if name != nil {
		return name(v)
	}
	list := make([]string, len(v.Stack))
	for i, pc := range v.Stack {
		list[i] = "0x" + strconv.FormatUint(pc, 16)
	}
	return list
}

// escapeBytes writes bytes that are not printable ASCII as \xNN.
func escapeBytes(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c >= ' ' && c <= '~' && c != '\\' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "\\x%02x", c)
		}
	}
	return b.String()
}

// NumberText is a float as JavaScript, and so every print of a program, writes it.
func NumberText(f float64) string { return string(appendNumber(nil, f)) }

// appendNumber writes a float as JavaScript does (ECMA-262, Number::toString). It does not
// allocate when b has room. JavaScript prints what callbacks print, and both must look the
// same: shortest digits that read back to the same double, exponents from 1e21 up and 1e-6
// down.
func appendNumber(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	case f == 0:
		return append(b, '0')
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	return trimExponent(b, start)
}

// trimExponent turns Go's e-07 into e-7.
func trimExponent(b []byte, start int) []byte {
	for i := start; i+2 < len(b); i++ {
		if b[i] == 'e' && b[i+2] == '0' {
			return append(b[:i+2], b[i+3:]...)
		}
	}
	return b
}

// String is the item as it prints, with stacks as addresses: see Print.
func (it Item) String() string { return it.Print(nil) }

// Print is an item as it prints: printf's format filled in; the fields of a log joined by
// blanks, those of one part without, and the end of the line. Records of events print as
// name=value.
func (it Item) Print(name NameStack) string {
	if it.Format.Kind == ItemPrintf {
		return printf(it.Format.Text, it.all(), name)
	}
	var b strings.Builder
	next := 0
	for i, f := range it.Format.Fields {
		if i > 0 && f.Part != it.Format.Fields[i-1].Part {
			b.WriteByte(' ')
		}
		if f.Name != "" {
			b.WriteString(f.Name + "=")
		}
		if f.IsLiteral {
			b.WriteString(f.Literal)
		} else if next < len(it.Values) {
			b.WriteString(it.Values[next].Format(name))
			next++
		}
	}
	return b.String() + "\n"
}

// all is the values of an item with those of literal fields between them.
// printf needs its literals in place: "%s" may well be given a constant.
func (it Item) all() []Value {
	vals := make([]Value, 0, len(it.Format.Fields))
	next := 0
	for _, f := range it.Format.Fields {
		switch {
		case f.IsLiteral:
			vals = append(vals, Text(f.Literal))
		case next < len(it.Values):
			vals = append(vals, it.Values[next])
			next++
		}
	}
	return vals
}
