package value

import (
	"encoding/binary"
	"math"
)

// PackBytes stores text in words, low byte first, the last word zero-padded.
func PackBytes(words []uint64, text []byte) {
	i := 0
	for ; len(text) >= 8; i, text = i+1, text[8:] {
		words[i] = binary.LittleEndian.Uint64(text)
	}
	if len(text) > 0 {
		words[i] = LastWord(text)
	}
}

// LastWord returns up to 7 bytes as a word.
func LastWord(text []byte) uint64 {
	var w uint64
	for j, b := range text {
		w |= uint64(b) << (8 * j)
	}
	return w
}

// UnpackBytes is the reverse of PackBytes.
func UnpackBytes(words []uint64, length int) []byte {
	text := make([]byte, len(words)*8)
	for i, w := range words {
		binary.LittleEndian.PutUint64(text[i*8:], w)
	}
	return text[:length]
}

// StackBytes returns addresses in the form in which the machine stores them as text.
func StackBytes(pcs []uint64) []byte {
	b := make([]byte, 0, len(pcs)*8)
	for _, pc := range pcs {
		b = binary.LittleEndian.AppendUint64(b, pc)
	}
	return b
}

// FromWord returns a word as a value of a kind of classWord.
func FromWord(kind Kind, w uint64) Value {
	if kind == KindFloat {
		return Value{Kind: kind, Float: math.Float64frombits(w)}
	}
	return Value{Kind: kind, Int: int64(w)}
}

// ToWord returns the word of a value of classWord for an object of the given kind. It converts between floats and
// integers.
func ToWord(kind Kind, v Value) uint64 {
	switch {
	case kind == KindFloat && v.Kind == KindFloat:
		return math.Float64bits(v.Float)
	case kind == KindFloat:
		return math.Float64bits(float64(v.Int))
	case v.Kind == KindFloat:
		return uint64(FloatToInt(v.Float))
	}
	return uint64(v.Int)
}

// FloatToInt converts toward zero. A value out of range becomes the nearest integer in range, and NaN becomes 0. Go
// leaves these cases open.
func FloatToInt(f float64) int64 {
	switch {
	case f != f:
		return 0
	case f >= 1<<63:
		return math.MaxInt64
	case f < -1<<63:
		return math.MinInt64
	}
	return int64(f)
}

// HeaderWord returns the word before the bytes of a text or a stack, in keys, cells and logs.
func HeaderWord(length int, cut bool) uint64 {
	if cut {
		return uint64(length) | HeaderCut
	}
	return uint64(length)
}

// The header word of a text or a stack.
const (
	HeaderCut    = uint64(1) << 32   // the text was cut
	HeaderLength = uint64(0xff_ffff) // mask of the length
)
