package state

import (
	"path"
	"slices"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/tree"
)

// HeldType returns the type of what an object of the arena holds, or nil.
func (st *State) HeldType(object int) *compile.TypeRef {
	held := st.Unit.Held
	switch {
	case held == nil:
		return nil
	case st.Unit.Place == nil:
		ref := held.Blank(object)
		st.Result.Wanting = st.Result.Wanting || ref == nil
		return ref
	}
	ref, wanting := held.Ref(object)
	st.Result.Wanting = st.Result.Wanting || wanting
	return ref
}

// Hold notes that a value is stored in an object of the arena, which is called title. It reports an error if members of
// what the object holds were read, and the value is of another type.
func (st *State) Hold(object int, title string, v *tree.Expr, at diag.Span) bool {
	held := st.Unit.Held
	switch {
	case held == nil || v.IsZero() || v.Kind.Silent():
		return true
	case st.Unit.Place == nil:
		if v.Ref != nil {
			held.Hint(object)
		}
		return true
	}
	other := held.Store(object, v.Ref)
	if other == nil {
		return true
	}
	what := "a value of no known type"
	if v.Ref != nil {
		what = v.Ref.Name
	}
	if what == other.Name {
		what += " of " + path.Base(v.Ref.Module)
	}
	st.Errorf(at, "use another variable or map; or read members of what is stored with cast(p, \""+other.Name+"\")",
		"%s holds %s, of which members are used: cannot store %s", title, other.Name, what)
	return false
}

// UseType notes that members are read below a type.
func (st *State) UseType(ref *compile.TypeRef) {
	if st.Unit.Held == nil {
		return
	}
	if object, blank := st.Unit.Held.Use(ref); blank && !slices.Contains(st.Result.Untyped, object) {
		st.Result.Untyped = append(st.Result.Untyped, object)
	}
}
