package runtime

import (
	"encoding/binary"
	"math"
	"sync/atomic"
)

// packBytes stores text in words, low byte first, the last word zero-padded.
func packBytes(words []uint64, text []byte) {
	i := 0
	for ; len(text) >= 8; i, text = i+1, text[8:] {
		words[i] = binary.LittleEndian.Uint64(text)
	}
	if len(text) > 0 {
		words[i] = lastWord(text)
	}
}

// lastWord returns up to 7 bytes as a word.
func lastWord(text []byte) uint64 {
	var w uint64
	for j, b := range text {
		w |= uint64(b) << (8 * j)
	}
	return w
}

// unpackBytes is the reverse of packBytes.
func unpackBytes(words []uint64, length int) []byte {
	text := make([]byte, len(words)*8)
	for i, w := range words {
		binary.LittleEndian.PutUint64(text[i*8:], w)
	}
	return text[:length]
}

// stackBytes returns addresses in the form in which the machine stores them as text.
func stackBytes(pcs []uint64) []byte {
	b := make([]byte, 0, len(pcs)*8)
	for _, pc := range pcs {
		b = binary.LittleEndian.AppendUint64(b, pc)
	}
	return b
}

// valueOf returns a word as a value of a kind of classWord.
func valueOf(kind ValueKind, w uint64) Value {
	if kind == ValueFloat {
		return Value{Kind: kind, Float: math.Float64frombits(w)}
	}
	return Value{Kind: kind, Int: int64(w)}
}

// wordOf returns the word of a value of classWord for an object of the given kind. It converts between floats and
// integers.
func wordOf(kind ValueKind, v Value) uint64 {
	switch {
	case kind == ValueFloat && v.Kind == ValueFloat:
		return math.Float64bits(v.Float)
	case kind == ValueFloat:
		return math.Float64bits(float64(v.Int))
	case v.Kind == ValueFloat:
		return uint64(floatToInt(v.Float))
	}
	return uint64(v.Int)
}

// floatToInt converts toward zero. A value out of range becomes the nearest integer in range, and NaN becomes 0. Go
// leaves these cases open.
func floatToInt(f float64) int64 {
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

// atomicMin lowers *p to v. Lock-free: a lost race means that *p changed.
func atomicMin(p *uint64, v int64) {
	for {
		old := atomic.LoadUint64(p)
		if int64(old) <= v || atomic.CompareAndSwapUint64(p, old, uint64(v)) {
			return
		}
	}
}

// atomicMax raises *p to v.
func atomicMax(p *uint64, v int64) {
	for {
		old := atomic.LoadUint64(p)
		if int64(old) >= v || atomic.CompareAndSwapUint64(p, old, uint64(v)) {
			return
		}
	}
}

// add adds a signed number to a word.
func add(p *uint64, v int64) int64 { return int64(atomic.AddUint64(p, uint64(v))) }
