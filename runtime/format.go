package runtime

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// NameStack returns the lines of a stack, innermost frame first, without indentation. It receives the whole stack,
// because only the first address is that of the instruction itself, and an inlined call has a separate line next to its
// caller's.
type NameStack func(stack Value) []string

// Format returns the printed form of the value. Stacks print as in bpftrace, one line for each frame after an empty
// one; name may be nil. Bytes print with unprintable ones escaped.
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

// cutmark returns the mark after the text if it was cut.
func (v Value) cutmark() string {
	if v.Cut {
		return Cutmark
	}
	return ""
}

func (v Value) marked() string { return v.Text + v.cutmark() }

// formatStack returns an indented line for each frame, after the end of the current line.
func (v Value) formatStack(name NameStack) string {
	var b strings.Builder
	b.WriteByte('\n')
	for _, line := range v.frames(name) {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}

// frames returns the lines of a stack; without names they are addresses.
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

// escapeBytes returns s with bytes that are not printable ASCII as \xNN.
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

// NumberText returns a float as JavaScript, and therefore every print of a program, writes it.
func NumberText(f float64) string { return string(appendNumber(nil, f)) }

// appendNumber appends a float as JavaScript writes it (ECMA-262, Number::toString). It does not allocate if b has
// room. JavaScript prints the output of callbacks, and both must look the same: shortest digits that read back to the
// same double, exponents from 1e21 upwards and from 1e-6 downwards.
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

// String returns the printed form of the item, with stacks as addresses: see Print.
func (it Item) String() string { return it.Print(nil) }

// Print returns the printed form of an item. For printf that is the filled-in format. For log it is the fields joined
// by spaces, without spaces within one part, and a line end. Records of events print as name=value.
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

// all returns the values of an item, with those of literal fields at their places. printf needs its literals in place:
// "%s" may be given a constant.
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
