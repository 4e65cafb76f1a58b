package value

import (
	"cmp"
	"slices"
)

// Value is one value that left the machine: a part of a key, a field of a record, the value of a map.
type Value struct {
	Kind  Kind
	Int   int64   // KindInt, KindUint (its bits), KindBool (0, 1); KindStack: the process of the addresses
	Float float64 // KindFloat
	Text  string  // KindText, KindBytes: without the mark of a cut
	Cut   bool    // Text is the beginning of something longer
	Stack []uint64
}

// Int returns a signed integer as a Value, for keys that the host looks up.
func Int(v int64) Value { return Value{Kind: KindInt, Int: v} }

// Text returns a text as a Value.
func Text(s string) Value { return Value{Kind: KindText, Text: s} }

// Class is the storage form of a kind. Kinds of one class are interchangeable in a key.
type Class uint8

const (
	classNone  Class = iota
	ClassWord        // one word
	ClassText        // a header word and bytes
	ClassStack       // a header word, the process, and addresses
)

// Class returns the storage form of the kind; ClassNone for an unknown kind.
func (k Kind) Class() Class {
	switch k {
	case KindInt, KindUint, KindFloat, KindBool:
		return ClassWord
	case KindText, KindBytes, KindQuoted, KindWhole, KindDump:
		return ClassText
	case KindStack:
		return ClassStack
	}
	return classNone
}

// String returns the name of the kind in messages.
func (k Kind) String() string {
	switch k {
	case KindInt, KindUint:
		return "integer"
	case KindFloat:
		return "float"
	case KindText, KindQuoted, KindWhole, KindDump:
		return "text"
	case KindBytes:
		return "bytes"
	case KindStack:
		return "stack"
	case KindBool:
		return "boolean"
	case KindAny:
		return "anything"
	}
	return "unknown kind"
}

// Kind is the type of a key part, a field of a record, or a map's value.
type Kind uint8

// The kinds of values that leave the machine.
const (
	KindInt  Kind = iota
	KindUint      // printed unsigned: pointers, u64 where the type is known
	KindFloat
	KindText
	KindBytes
	KindStack // return addresses
	KindBool
	KindQuoted // of a field only: a text that stands in quotation marks; its value is text
	KindWhole  // of a field only: a text with its quotation marks, or what is shown where it cannot be read
	KindDump   // of a field only: the text of a value that is made of others, with texts in quotation marks

	// KindAny in Refine: the use does not determine the type (m.has(k), m.delete(k); a key whose type only the place
	// knows).
	KindAny Kind = 0xff
)

// Cutmark is printed after text that was cut.
const Cutmark = ".."

// Limits of values.
const (
	MaxText       = 4096 // bytes of one text
	DefaultText   = 256  // default size of str(p) in bytes; the largest text that is stored in the arena
	MaxStackDepth = 127  // frames of c.stack
)

// Compare orders parts of one kind in their natural order.
func Compare(a, b Value) int {
	switch {
	case a.Kind != b.Kind:
		return cmp.Compare(a.Kind, b.Kind)
	case a.Kind == KindUint:
		return cmp.Compare(uint64(a.Int), uint64(b.Int))
	case a.Kind == KindFloat:
		return cmp.Compare(a.Float, b.Float)
	case a.Kind.Class() == ClassText:
		return cmp.Compare(a.Text, b.Text)
	case a.Kind == KindStack:
		return cmp.Or(cmp.Compare(a.Int, b.Int), slices.Compare(a.Stack, b.Stack))
	}
	return cmp.Compare(a.Int, b.Int)
}
