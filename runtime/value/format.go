package value

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
	case KindUint:
		return strconv.FormatUint(uint64(v.Int), 10)
	case KindFloat:
		return string(AppendNumber(nil, v.Float))
	case KindText:
		return v.marked()
	case KindBytes:
		return escapeBytes(v.Text) + v.cutmark()
	case KindBool:
		return strconv.FormatBool(v.Int != 0)
	case KindStack:
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
	for _, line := range v.Frames(name) {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}

// Frames returns the lines of a stack; without names they are addresses.
func (v Value) Frames(name NameStack) []string {
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
func NumberText(f float64) string { return string(AppendNumber(nil, f)) }

// AppendNumber appends a float as JavaScript writes it (ECMA-262, Number::toString). It does not allocate if b has
// room. JavaScript prints the output of callbacks, and both must look the same: shortest digits that read back to the
// same double, exponents from 1e21 upwards and from 1e-6 downwards.
func AppendNumber(b []byte, f float64) []byte {
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

// Number returns a word or a float as a float.
func (v Value) Number() float64 {
	if v.Kind == KindFloat {
		return v.Float
	}
	return float64(v.Int)
}
