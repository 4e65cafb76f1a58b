package operator

import (
	"strings"

	"gotap/compile"
	"gotap/compile/js/tree"
)

// Scalar is a value that is used as a number, or as part of a text. One that stands for a whole object is refused: the
// machine has its address, which is a number that the script does not mean.
func (o *Operators) Scalar(e *tree.Expr) *tree.Expr {
	if e.Ref == nil || !isObject(*e.Ref) || e.Kind.Silent() {
		return e
	}
	o.Errorf(e.At, `name a member; x[0] is an element of a container; log(x) and pretty(x) show it, str(x) is the text of a string; cast(x, "char *") is its address`,
		"this is a whole %s, not a number", e.Ref.Name)
	return tree.Poison(e.At)
}

// Kept is Scalar for a value that is kept: in a map, or as part of a key. An array of characters, which log shows as
// text, is its address there as elsewhere, and that is warned of.
func (o *Operators) Kept(e *tree.Expr) *tree.Expr {
	if e.Ref != nil && e.Ref.Address && strings.HasPrefix(e.Ref.Name, "char[") && e.Kind.Number() {
		o.Warnf(e.At, "str(x) is its text", "this is the address of a %s", e.Ref.Name)
	}
	return o.Scalar(e)
}

// isObject reports whether values of a type are the address of a struct or a class. Arrays are addresses in C, too.
func isObject(r compile.TypeRef) bool {
	inner, isBracket := strings.CutSuffix(r.Name, "]")
	isArray := isBracket && strings.HasSuffix(strings.TrimRight(inner, "0123456789"), "[")
	return r.Address && !isArray
}
