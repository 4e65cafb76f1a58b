package state

import (
	"fmt"
	"slices"

	"gotap/compile/diag"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Refine records in the arena the shapes of the maps and aggregations that were used.
func (st *State) Refine() {
	if st.Unit.Arena == nil {
		return
	}
	for _, id := range st.Shapes.order() {
		s := st.Shapes[id]
		if err := st.Unit.Arena.RefineUse(id, s.Keys, s.Value); err != nil {
			st.Errorf(s.at, report.HintOf(err), "%v", err)
		}
	}
}

// shapes are the keys and values of objects as this unit uses them, by object.
type shapes map[int]*shape

// shape is how an object is used.
type shape struct {
	name  string
	Keys  []value.Kind
	Value value.Kind
	Read  bool      // a map's values are read
	at    diag.Span // the first use
}

func (s shapes) order() []int {
	ids := make([]int, 0, len(s))
	for id := range s {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Shape notes how an object is used, and reports a use that does not agree with the declaration or with earlier uses.
func (st *State) Shape(object int, name string, keys []*tree.Expr, v value.Kind, at diag.Span) {
	kinds := make([]value.Kind, len(keys))
	for i, k := range keys {
		if k.Kind.Silent() {
			return
		}
		kinds[i] = value.KindInt
		switch {
		case !k.Kind.Integer() || k.Kind == tree.KindBool:
			kinds[i] = k.Kind.ValueKind()
		case st.withoutPlace(): // it may stand in for what the place knows to be true or false
			kinds[i] = value.KindAny
		}
	}
	if n, ok := st.DeclaredKeys(object); ok && n != len(keys) {
		st.Errorf(at, keysHint(name, n), "%s has %s, not %s", name, keyParts(n), keyParts(len(keys)))
		return
	}
	first := st.Shapes[object]
	if first == nil {
		st.Shapes[object] = &shape{name: name, Keys: kinds, Value: v, at: at}
		return
	}
	st.sameShape(first, kinds, at)
	if first.Value == value.KindAny {
		first.Value = v
	}
}

// withoutPlace reports whether values stand in for what is known at a place.
func (st *State) withoutPlace() bool { return st.Unit.Place == nil && st.Result.NeedsPlace() }

// sameShape compares a use with the first one.
func (st *State) sameShape(first *shape, kinds []value.Kind, at diag.Span) {
	if len(kinds) != len(first.Keys) {
		st.Errorf(at, keysHint(first.name, len(first.Keys)), "%s has %s elsewhere, not %s", first.name, keyParts(len(first.Keys)), keyParts(len(kinds)))
		return
	}
	for i := range kinds {
		if kinds[i] != first.Keys[i] && truthOrNumber(kinds[i]) && truthOrNumber(first.Keys[i]) {
			if first.Keys[i] = value.KindInt; st.withoutPlace() {
				first.Keys[i] = value.KindAny
			}
			continue
		}
		if kinds[i] != first.Keys[i] {
			st.Errorf(at, "keys of one map or aggregation have the same types everywhere", "part %d of the key of %s has another type elsewhere", i+1, first.name)
			return
		}
	}
}

// truthOrNumber reports whether a part of a key is a number, which true and false are too where others are.
func truthOrNumber(k value.Kind) bool {
	return k == value.KindInt || k == value.KindBool || k == value.KindAny
}

// DeclaredKeys is the number of key parts in the declaration, where it says so.
func (st *State) DeclaredKeys(obj int) (n int, ok bool) {
	if st.Unit.Arena == nil {
		return 0, false
	}
	o, _ := st.Unit.Arena.Lookup(obj)
	if o.Kind == object.KindMap && o.Keys == 0 {
		return 0, false
	}
	return o.UserKeys(), o.Keys >= 0
}

func keysHint(name string, n int) string {
	if n == 0 {
		return "declare it with { keys: 1 } to use keys"
	}
	return fmt.Sprintf("give %s, or declare %s with other keys", keyParts(n), name)
}

// keyParts is "no key", "a key of 2 parts".
func keyParts(n int) string {
	if n == 0 {
		return "no key"
	}
	return "a key of " + report.Count(n, "part")
}

// MapHolds is what the values of a map are, as far as is known: from this unit, from a fact learned, or
// from a program compiled before.
func (st *State) MapHolds(object int) tree.Kind {
	if k := st.Facts[MapFact(object)]; k != tree.KindNone {
		return k
	}
	if s := st.Shapes[object]; s != nil && s.Value == value.KindText {
		return tree.KindText
	}
	if st.Unit.Arena != nil {
		switch o, _ := st.Unit.Arena.Lookup(object); o.Value {
		case value.KindText:
			return tree.KindText
		case value.KindFloat:
			return tree.KindFloat
		}
	}
	return tree.KindInt
}

// MapIsOpen reports whether no program that was compiled before has decided what the values of a map are.
func (st *State) MapIsOpen(object int) bool {
	return st.Unit.Arena == nil || !st.Unit.Arena.Decided(object)
}

// Guesses are the maps that are read in a unit and never stored in.
func (st *State) Guesses() (ids []int) {
	for _, id := range st.Shapes.order() {
		if s := st.Shapes[id]; s.Read && s.Value == value.KindAny {
			ids = append(ids, id)
		}
	}
	return ids
}

func MapFact(object int) string { return fmt.Sprintf("map %d", object) }

// MeantText reports whether e, which is used together with text, is the value of a map of which it was only guessed
// that it holds integers. Then it holds text, and compilation begins again with that.
func (st *State) MeantText(e, other *tree.Expr) bool {
	if other.Kind != tree.KindText || e.Code != tree.CodeKeyed || e.Cmd.Op != opcode.MapGet {
		return false
	}
	s := st.Shapes[int(e.Cmd.A)]
	return s != nil && s.Value == value.KindAny && st.Learn(MapFact(int(e.Cmd.A)), tree.KindText)
}
