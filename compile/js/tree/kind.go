package tree

import (
	"gotap/runtime/value"
)

// Unify returns the type that values of two types have in common; ok is false when they have none.
func Unify(a, b Kind) (k Kind, ok bool) {
	switch {
	case a == KindBad || b == KindBad:
		return KindBad, true
	case a == b, b == KindNever:
		return a, true
	case a == KindNever:
		return b, true
	case a.Integer() && b.Integer():
		return KindInt, true
	case a.Number() && b.Number():
		return KindFloat, true
	}
	return KindBad, false
}

// Kind is the type of a value as this compiler sees it.
type Kind uint8

const (
	KindNone  Kind = iota // a variable that nothing has been assigned to yet
	KindInt               // 64-bit two's complement
	KindUint              // the same, printed unsigned: what is known to be a pointer or an unsigned word
	KindBool              // 0 or 1, printed true or false; an integer elsewhere
	KindFloat             // IEEE 754 double
	KindText              // a reference to text
	KindBytes             // a reference to bytes
	KindStack             // a reference to return addresses
	KindVoid              // no value
	KindNever             // control does not come back
	KindBad               // an error was reported: everything made of it is silently bad too
)

// String is what messages call a value of the type.
func (k Kind) String() string {
	return [...]string{"nothing", "an integer", "an integer", "true or false", "a float", "text", "bytes", "a stack",
		"no value", "no value", "an error"}[k]
}

// Integer reports whether the word is a plain integer.
func (k Kind) Integer() bool { return k == KindInt || k == KindUint || k == KindBool }

func (k Kind) Number() bool { return k.Integer() || k == KindFloat }

// Silent reports whether an error about the type would be noise.
func (k Kind) Silent() bool { return k == KindBad || k == KindNever }

// ValueKind is the kind of a field that holds such a value.
func (k Kind) ValueKind() value.Kind {
	switch k {
	case KindUint:
		return value.KindUint
	case KindBool:
		return value.KindBool
	case KindFloat:
		return value.KindFloat
	case KindText:
		return value.KindText
	case KindBytes:
		return value.KindBytes
	case KindStack:
		return value.KindStack
	}
	return value.KindInt
}
