package record

import (
	"strings"

	"gotap/runtime/value"
)

// String returns the printed form of the item, with stacks as addresses: see Print.
func (it Item) String() string { return it.Print(nil) }

// Print returns the printed form of an item. For printf that is the filled-in format. For log it is the fields joined
// by spaces, without spaces within one part, and a line end. Records of events print as name=value.
func (it Item) Print(name value.NameStack) string {
	if it.Format.Kind == ItemPrintf {
		return value.Printf(it.Format.Text, it.all(), name)
	}
	var b strings.Builder
	next := 0
	for i, f := range it.Format.Fields {
		if i > 0 && f.Part != it.Format.Fields[i-1].Part {
			b.WriteByte(' ')
		}
		if f.Name != "" {
			b.WriteString(f.Name + "=")
		}
		if f.IsLiteral {
			b.WriteString(f.Literal)
		} else if next < len(it.Values) {
			b.WriteString(it.Values[next].Format(name))
			next++
		}
	}
	return b.String() + "\n"
}

// all returns the values of an item, with those of literal fields at their places. printf needs its literals in place:
// "%s" may be given a constant.
func (it Item) all() []value.Value {
	vals := make([]value.Value, 0, len(it.Format.Fields))
	next := 0
	for _, f := range it.Format.Fields {
		switch {
		case f.IsLiteral:
			vals = append(vals, value.Text(f.Literal))
		case next < len(it.Values):
			vals = append(vals, it.Values[next])
			next++
		}
	}
	return vals
}
