package key

import (
	"fmt"

	"gotap/runtime/value"
)

// An encoded key is a sequence of words, part after part:
//
//	integer, float, boolean   one word
//	text, bytes               length | cut<<32, then the bytes, zero-padded to whole words
//	stack                     length in bytes | cut<<32, the process, then the addresses
//
// The classes of the parts are the object's shape, which is stored outside the key. For one shape equal keys have equal
// words.

// Shape describes the keys of one object. The first use determines it.
type Shape struct {
	Kinds     []value.Kind // of the parts
	signature uint64       // see signature
	Words     int          // words for a key in a slot
}

// Limits of keys.
const (
	MaxBytes = 2048 // bytes of an encoded key
	MaxParts = 16   // parts of a key
)

const (
	textPart  = 1 + value.DefaultText/8 // words of the longest text part
	stackPart = 2 + value.MaxStackDepth // words of the longest stack part
)

// signature packs the classes of a key's parts, first part lowest, two bits each. Keys of equal form have equal
// signatures. MaxParts parts fill 32 bits; the number of parts follows from the highest class that is not zero.
func signature(kinds []value.Kind) uint64 {
	var s uint64
	for i, k := range kinds {
		s |= uint64(k.Class()) << (2 * i)
	}
	return s
}

// NewShape checks that such keys can be stored, and computes how much room a slot needs for one.
func NewShape(kinds []value.Kind) (*Shape, error) {
	s := &Shape{Kinds: append([]value.Kind(nil), kinds...), signature: signature(kinds)}
	if len(kinds) > MaxParts {
		return nil, fmt.Errorf("a key of %d parts: there may be %d", len(kinds), MaxParts)
	}
	for _, k := range kinds {
		switch k.Class() {
		case value.ClassWord:
			s.Words++
		case value.ClassText:
			s.Words += textPart
		case value.ClassStack:
			s.Words += stackPart
		default:
			return nil, fmt.Errorf("%v cannot be part of a key", k)
		}
	}
	if s.Words*8 > MaxBytes {
		return nil, fmt.Errorf("a key of up to %d bytes: %d is the most, use fewer texts or stacks", s.Words*8, MaxBytes)
	}
	return s, nil
}

// Hash hashes a key's words to 64 bits: each word is folded in by a multiplication and a shift, and the end is mixed
// as in the finalizer of MurmurHash3. Executors that look up keys themselves must compute the same hash.
func Hash(key []uint64) uint64 {
	h := Mix(HashStart, key)
	h = (h ^ h>>33) * HashEnd
	return h ^ h>>33
}

// Mix folds words into what Hash has before its end is mixed.
func Mix(h uint64, words []uint64) uint64 {
	for _, w := range words {
		h = (h ^ w) * HashWord
		h ^= h >> 32
	}
	return h
}

// The constants of Hash.
const (
	HashStart = uint64(0x9e3779b97f4a7c15)
	HashWord  = uint64(0xff51afd7ed558ccd)
	HashEnd   = uint64(0xc4ceb9fe1a85ec53)
)

// Decode decodes the values of a key's words. For a key that does not fit its shape, which only damage or unverified
// programs can cause, it returns the parts before the error.
func (s *Shape) Decode(key []uint64) []value.Value {
	vals := make([]value.Value, 0, len(s.Kinds))
	for _, kind := range s.Kinds {
		v, n := decodePart(kind, key)
		if n == 0 {
			break
		}
		if v.Kind == value.KindBool && v.Int&^1 != 0 { // another program stores numbers there
			v.Kind = value.KindInt
		}
		vals = append(vals, v)
		key = key[n:]
	}
	return vals
}

// Trim removes the padding after the last part of a slot's key.
func (s *Shape) Trim(key []uint64) []uint64 {
	n := 0
	for _, kind := range s.Kinds {
		if n >= len(key) {
			break
		}
		switch length := int(key[n]&value.HeaderLength+7) / 8; kind.Class() {
		case value.ClassText:
			n += 1 + length
		case value.ClassStack:
			n += 2 + length
		default:
			n++
		}
	}
	return key[:min(n, len(key))]
}

// decodePart decodes the part at the start of key and returns its number of words; 0 means damage.
func decodePart(kind value.Kind, key []uint64) (value.Value, int) {
	if len(key) == 0 {
		return value.Value{}, 0
	}
	if kind.Class() == value.ClassWord {
		return value.FromWord(kind, key[0]), 1
	}
	length, cut := int(key[0]&value.HeaderLength), key[0]&value.HeaderCut != 0
	words := (length + 7) / 8
	if kind.Class() == value.ClassText {
		if length > value.DefaultText || 1+words > len(key) {
			return value.Value{}, 0
		}
		return value.Value{Kind: kind, Text: string(value.UnpackBytes(key[1:1+words], length)), Cut: cut}, 1 + words
	}
	if length > value.MaxStackDepth*8 || 2+words > len(key) {
		return value.Value{}, 0
	}
	pcs := append([]uint64(nil), key[2:2+words]...)
	return value.Value{Kind: kind, Int: int64(key[1]), Stack: pcs, Cut: cut}, 2 + words
}
