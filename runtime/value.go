package runtime

// Value is one value that left the machine: a part of a key, a field of a record, the value of a map.
type Value struct {
	Kind  ValueKind
	Int   int64   // ValueInt, ValueUint (its bits), ValueBool (0, 1); ValueStack: the process of the addresses
	Float float64 // ValueFloat
	Text  string  // ValueText, ValueBytes: without the mark of a cut
	Cut   bool    // Text is the beginning of something longer
	Stack []uint64
}

// Int returns a signed integer as a Value, for keys that the host looks up.
func Int(v int64) Value { return Value{Kind: ValueInt, Int: v} }

// Text returns a text as a Value.
func Text(s string) Value { return Value{Kind: ValueText, Text: s} }

// class is the storage form of a kind. Kinds of one class are interchangeable in a key.
type class uint8

const (
	classNone  class = iota
	classWord        // one word
	classText        // a header word and bytes
	classStack       // a header word, the process, and addresses
)

// class returns the storage form of the kind; classNone for an unknown kind.
func (k ValueKind) class() class {
	switch k {
	case ValueInt, ValueUint, ValueFloat, ValueBool:
		return classWord
	case ValueText, ValueBytes:
		return classText
	case ValueStack:
		return classStack
	}
	return classNone
}

// String returns the name of the kind in messages.
func (k ValueKind) String() string {
	switch k {
	case ValueInt, ValueUint:
		return "integer"
	case ValueFloat:
		return "float"
	case ValueText:
		return "text"
	case ValueBytes:
		return "bytes"
	case ValueStack:
		return "stack"
	case ValueBool:
		return "boolean"
	case ValueAny:
		return "anything"
	}
	return "unknown kind"
}
