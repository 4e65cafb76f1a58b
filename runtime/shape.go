package runtime

import "fmt"

// An encoded key is a sequence of words, part after part:
//
//	integer, float, boolean   one word
//	text, bytes               length | cut<<32, then the bytes, zero-padded to whole words
//	stack                     length in bytes | cut<<32, the process, then the addresses
//
// The classes of the parts are the object's shape, which is stored outside the key. For one shape equal keys have equal
// words.

// shape describes the keys of one object. The first use determines it.
type shape struct {
	kinds     []ValueKind
	signature uint64 // see signature
	words     int    // words for a key in a slot
}

const (
	textPart     = 1 + DefaultText/8 // words of the longest text part
	stackPart    = 2 + MaxStackDepth // words of the longest stack part
	keyHeaderCut = uint64(1) << 32   // in the header word of a text or stack
	keyLenMask   = uint64(0xff_ffff) // mask of the length in that word
)

// signature packs the classes of a key's parts, first part lowest, two bits each. Keys of equal form have equal
// signatures. MaxKeyParts parts fill 32 bits; the number of parts follows from the highest class that is not zero.
func signature(kinds []ValueKind) uint64 {
	var s uint64
	for i, k := range kinds {
		s |= uint64(k.class()) << (2 * i)
	}
	return s
}

// newShape checks that such keys can be stored, and computes how much room a slot needs for one.
func newShape(kinds []ValueKind) (*shape, error) {
	s := &shape{kinds: append([]ValueKind(nil), kinds...), signature: signature(kinds)}
	if len(kinds) > MaxKeyParts {
		return nil, fmt.Errorf("a key of %d parts: there may be %d", len(kinds), MaxKeyParts)
	}
	for _, k := range kinds {
		switch k.class() {
		case classWord:
			s.words++
		case classText:
			s.words += textPart
		case classStack:
			s.words += stackPart
		default:
			return nil, fmt.Errorf("%v cannot be part of a key", k)
		}
	}
	if s.words*8 > MaxKey {
		return nil, fmt.Errorf("a key of up to %d bytes: %d is the most, use fewer texts or stacks", s.words*8, MaxKey)
	}
	return s, nil
}

// keyBuffer is a key being built. The words after n are garbage.
type keyBuffer struct {
	words     [MaxKey / 8]uint64
	n         int
	parts     int
	signature uint64
}

func (b *keyBuffer) reset() { b.n, b.parts, b.signature = 0, 0, 0 }

// begin reserves words for a part. It returns nil if the key would be too long.
func (b *keyBuffer) begin(c class, words int) []uint64 {
	if b.parts >= MaxKeyParts || b.n+words > len(b.words) {
		return nil
	}
	b.signature |= uint64(c) << (2 * b.parts)
	part := b.words[b.n : b.n+words]
	b.parts++
	b.n += words
	return part
}

// addWord appends a number. Like the following methods it reports false if the key would be too long.
func (b *keyBuffer) addWord(v uint64) bool {
	part := b.begin(classWord, 1)
	if part == nil {
		return false
	}
	part[0] = v
	return true
}

// prepend inserts a number before the existing parts.
func (b *keyBuffer) prepend(v uint64) bool {
	if b.parts >= MaxKeyParts || b.n+1 > len(b.words) {
		return false
	}
	copy(b.words[1:b.n+1], b.words[:b.n])
	b.words[0] = v
	b.signature = b.signature<<2 | uint64(classWord)
	b.parts++
	b.n++
	return true
}

// addText appends text. A text longer than DefaultText is cut and marked.
func (b *keyBuffer) addText(text []byte, cut bool) bool {
	if len(text) > DefaultText {
		text, cut = text[:DefaultText], true
	}
	part := b.begin(classText, 1+(len(text)+7)/8)
	if part == nil {
		return false
	}
	part[0] = keyHeader(len(text), cut)
	packBytes(part[1:], text)
	return true
}

// addStack appends return addresses of a process, given as packed words.
func (b *keyBuffer) addStack(pcs []byte, cut bool, pid uint64) bool {
	if len(pcs) > MaxStackDepth*8 {
		pcs, cut = pcs[:MaxStackDepth*8], true
	}
	part := b.begin(classStack, 2+len(pcs)/8)
	if part == nil {
		return false
	}
	part[0], part[1] = keyHeader(len(pcs)&^7, cut), pid
	packBytes(part[2:], pcs[:len(pcs)&^7])
	return true
}

// addValue appends a value given by the host, in the form of the shape's kind. It returns false if the value does not
// fit the kind.
func (b *keyBuffer) addValue(kind ValueKind, v Value) bool {
	if kind.class() != v.Kind.class() {
		return false
	}
	switch kind.class() {
	case classText:
		return b.addText([]byte(v.Text), v.Cut)
	case classStack:
		return b.addStack(stackBytes(v.Stack), v.Cut, uint64(v.Int))
	}
	return b.addWord(wordOf(kind, v))
}

// key returns the words of the key.
func (b *keyBuffer) key() []uint64 { return b.words[:b.n] }

// keyHeader returns the word before the bytes of a text or a stack, in keys, cells and logs.
func keyHeader(length int, cut bool) uint64 {
	if cut {
		return uint64(length) | keyHeaderCut
	}
	return uint64(length)
}

// hashKey hashes a key's words to 64 bits: each word is folded in by a multiplication and a shift, and the end is mixed
// as in the finalizer of MurmurHash3. Executors that look up keys themselves must compute the same hash.
func hashKey(key []uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, w := range key {
		h = (h ^ w) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// decodeKey decodes the values of a key's words. For a key that does not fit its shape, which only damage or unverified
// programs can cause, it returns the parts before the error.
func (s *shape) decodeKey(key []uint64) []Value {
	vals := make([]Value, 0, len(s.kinds))
	for _, kind := range s.kinds {
		v, n := decodePart(kind, key)
		if n == 0 {
			break
		}
		if v.Kind == ValueBool && v.Int&^1 != 0 { // another program stores numbers there
			v.Kind = ValueInt
		}
		vals = append(vals, v)
		key = key[n:]
	}
	return vals
}

// trim removes the padding after the last part of a slot's key.
func (s *shape) trim(key []uint64) []uint64 {
	n := 0
	for _, kind := range s.kinds {
		if n >= len(key) {
			break
		}
		switch length := int(key[n]&keyLenMask+7) / 8; kind.class() {
		case classText:
			n += 1 + length
		case classStack:
			n += 2 + length
		default:
			n++
		}
	}
	return key[:min(n, len(key))]
}

// decodePart decodes the part at the start of key and returns its number of words; 0 means damage.
func decodePart(kind ValueKind, key []uint64) (Value, int) {
	if len(key) == 0 {
		return Value{}, 0
	}
	if kind.class() == classWord {
		return valueOf(kind, key[0]), 1
	}
	length, cut := int(key[0]&keyLenMask), key[0]&keyHeaderCut != 0
	words := (length + 7) / 8
	if kind.class() == classText {
		if length > DefaultText || 1+words > len(key) {
			return Value{}, 0
		}
		return Value{Kind: kind, Text: string(unpackBytes(key[1:1+words], length)), Cut: cut}, 1 + words
	}
	if length > MaxStackDepth*8 || 2+words > len(key) {
		return Value{}, 0
	}
	pcs := append([]uint64(nil), key[2:2+words]...)
	return Value{Kind: kind, Int: int64(key[1]), Stack: pcs, Cut: cut}, 2 + words
}
