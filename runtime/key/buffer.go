package key

import "gotap/runtime/value"

// Buffer is a key being built. The words after n are garbage.
type Buffer struct {
	words     [MaxBytes / 8]uint64
	n         int
	parts     int
	signature uint64
}

// Reset empties the key.
func (b *Buffer) Reset() { b.n, b.parts, b.signature = 0, 0, 0 }

// State is a key being built, outside its buffer: its words, the number of its parts, and two bits for the class of
// each part.
type State struct {
	Words     []uint64
	Parts     int
	Signature uint64
}

// Valid reports whether a buffer can be in the state.
func (s *State) Valid() bool {
	return len(s.Words) <= MaxBytes/8 && s.Parts >= 0 && s.Parts <= MaxParts
}

// Save returns the key, in the memory of a state that is no longer needed.
func (b *Buffer) Save(old State) State {
	return State{append(old.Words[:0], b.words[:b.n]...), b.parts, b.signature}
}

// Restore replaces the key by a valid state.
func (b *Buffer) Restore(s State) {
	b.n, b.parts, b.signature = copy(b.words[:], s.Words), s.Parts, s.Signature
}

// Fits reports whether the key has the form of the keys of an object.
func (b *Buffer) Fits(s *Shape) bool { return b.signature == s.signature }

// Empty reports whether the key has no parts.
func (b *Buffer) Empty() bool { return b.parts == 0 }

// begin reserves words for a part. It returns nil if the key would be too long.
func (b *Buffer) begin(c value.Class, words int) []uint64 {
	if b.parts >= MaxParts || b.n+words > len(b.words) {
		return nil
	}
	b.signature |= uint64(c) << (2 * b.parts)
	part := b.words[b.n : b.n+words]
	b.parts++
	b.n += words
	return part
}

// AddWord appends a number. Like the following methods it reports false if the key would be too long.
func (b *Buffer) AddWord(v uint64) bool {
	part := b.begin(value.ClassWord, 1)
	if part == nil {
		return false
	}
	part[0] = v
	return true
}

// Prepend inserts a number before the existing parts.
func (b *Buffer) Prepend(v uint64) bool {
	if b.parts >= MaxParts || b.n+1 > len(b.words) {
		return false
	}
	copy(b.words[1:b.n+1], b.words[:b.n])
	b.words[0] = v
	b.signature = b.signature<<2 | uint64(value.ClassWord)
	b.parts++
	b.n++
	return true
}

// AddText appends text. A text longer than DefaultText is cut and marked.
func (b *Buffer) AddText(text []byte, cut bool) bool {
	if len(text) > value.DefaultText {
		text, cut = text[:value.DefaultText], true
	}
	part := b.begin(value.ClassText, 1+(len(text)+7)/8)
	if part == nil {
		return false
	}
	part[0] = value.HeaderWord(len(text), cut)
	value.PackBytes(part[1:], text)
	return true
}

// AddStack appends return addresses of a process, given as packed words.
func (b *Buffer) AddStack(pcs []byte, cut bool, pid uint64) bool {
	if len(pcs) > value.MaxStackDepth*8 {
		pcs, cut = pcs[:value.MaxStackDepth*8], true
	}
	part := b.begin(value.ClassStack, 2+len(pcs)/8)
	if part == nil {
		return false
	}
	part[0], part[1] = value.HeaderWord(len(pcs)&^7, cut), pid
	value.PackBytes(part[2:], pcs[:len(pcs)&^7])
	return true
}

// AddValue appends a value given by the host, in the form of the shape's kind. It returns false if the value does not
// fit the kind.
func (b *Buffer) AddValue(kind value.Kind, v value.Value) bool {
	if kind.Class() != v.Kind.Class() {
		return false
	}
	switch kind.Class() {
	case value.ClassText:
		return b.AddText([]byte(v.Text), v.Cut)
	case value.ClassStack:
		return b.AddStack(value.StackBytes(v.Stack), v.Cut, uint64(v.Int))
	}
	return b.AddWord(value.ToWord(kind, v))
}

// Words returns the words of the key.
func (b *Buffer) Words() []uint64 { return b.words[:b.n] }
