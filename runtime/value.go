package runtime

// Value is one value that left the machine: a part of a key, a field of a record, the value of a map.
type Value struct {
	Kind  ValueKind
	Int   int64   // ValueInt, ValueUint (its bits), ValueBool (0, 1); ValueStack: the process the addresses belong to
	Float float64 // ValueFloat
	Text  string  // ValueText, ValueBytes: without the mark of a cut
	Cut   bool    // Text is the beginning of something longer
	Stack []uint64
}

// Int is a signed integer as a Value, for keys that the host asks for.
func Int(v int64) Value { return Value{Kind: ValueInt, Int: v} }

// Text is a text as a Value.
func Text(s string) Value { return Value{Kind: ValueText, Text: s} }

// class is how a kind is stored: kinds of one class can stand for each other in a key.
type class uint8

const (
	classNone  class = iota
	classWord        // one word
	classText        // a header word and bytes
	classStack       // a header word, the process, and addresses
)

// class is how the kind is stored; classNone for a number that is no kind.
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

// String names the kind as messages do.
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
