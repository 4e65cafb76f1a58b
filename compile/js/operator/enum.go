package operator

import (
	"math/bits"

	"gotap/compile"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// EnumName is the name of an enumeration's value. One without a name is those of its bits if the enumeration consists
// of flags, else the number. Only who asks for it gets it: elsewhere such values are numbers.
func (o *Operators) EnumName(e *tree.Expr) *tree.Expr {
	kept := e
	var body []tree.Stmt
	if !o.State.Repeatable(e) {
		x := o.Slots.Fresh(e.Kind)
		defer o.Slots.Free(x)
		body = append(body, tree.Eval(tree.Set(e.At, x, e)))
		kept = tree.Local(e.At, x)
	}
	plain := *kept
	plain.Enum = nil
	t, _ := tree.TextOf(&plain)
	if flags, ok := flagsOf(e.Enum, e.Kind == tree.KindUint); ok {
		t = tree.Apply(e.At, tree.KindText, opcode.Sflags, &plain)
		t.Text = flags
	}
	for i := len(e.Enum) - 1; i >= 0; i-- {
		is := tree.Apply(e.At, tree.KindBool, opcode.Eq, &plain, tree.Integer(e.At, e.Enum[i].Value))
		t = o.Choose(e.At, is, tree.Text(e.At, e.Enum[i].Name), t)
	}
	return tree.Sequence(e.At, body, t)
}

// flagsOf returns the names of the bits of an enumeration of flags. By gdb's rule it is one if each of its constants is
// a single bit or 0, and none is negative.
func flagsOf(enum []compile.Enumerator, unsigned bool) (flags string, ok bool) {
	var names []string
	var values []uint64
	for _, c := range enum {
		switch {
		case bits.OnesCount64(uint64(c.Value)) > 1 || c.Value < 0 && !unsigned:
			return "", false
		case c.Value != 0:
			names, values = append(names, c.Name), append(values, uint64(c.Value))
		}
	}
	flags = value.Flags(names, values)
	return flags, len(names) > 0 && len(flags)+value.MaxFlags <= value.MaxText
}
