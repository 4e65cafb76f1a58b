package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gotap/runtime/object"
	"gotap/runtime/value"
)

// Text returns the snapshot for one who asked for it by name, so also when it has nothing to print: a variable as "name
// = value", an array as a line for each element that is not 0, all else as Print writes it. It has no line end.
func (s Snapshot) Text(options Options) string {
	switch o := s.Object; {
	case o.Kind == object.KindInt && o.Value == value.KindBool && len(s.Entries) == 1:
		return fmt.Sprintf("%s = %t", o.Name, s.Entries[0].Data.Int != 0)
	case o.Kind == object.KindInt && len(s.Entries) == 1:
		return fmt.Sprintf("%s = %d", o.Name, s.Entries[0].Data.Int)
	case o.Kind == object.KindText && len(s.Entries) == 1:
		return fmt.Sprintf("%s = %q", o.Name, s.Entries[0].Data.Text)
	case o.Kind == object.KindArray:
		return s.arrayText()
	case len(s.Entries) == 0 && o.Keys == 0 && (o.Kind == object.KindCount || o.Kind == object.KindSum):
		return fmt.Sprintf("@%s: 0", o.Name)
	case len(s.Entries) == 0:
		return fmt.Sprintf("@%s: nothing yet", o.Name)
	}
	var b strings.Builder
	s.Print(&b, options) // a builder takes everything
	return strings.TrimRight(b.String(), "\n")
}

// arrayText returns a line for each element of an array that is not 0.
func (s Snapshot) arrayText() string {
	elements := slices.Clone(s.Entries)
	slices.SortFunc(elements, func(a, b Entry) int { return cmp.Compare(a.Key[0].Int, b.Key[0].Int) })
	var lines []string
	for _, e := range elements {
		if e.Data.Int != 0 {
			lines = append(lines, fmt.Sprintf("%s[%d] = %d", s.Object.Name, e.Key[0].Int, e.Data.Int))
		}
	}
	if lines == nil {
		return fmt.Sprintf("%s: all 0", s.Object.Name)
	}
	return strings.Join(lines, "\n")
}
