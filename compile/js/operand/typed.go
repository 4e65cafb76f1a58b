package operand

import (
	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/fetch"
	"gotap/compile/js/tree"
)

// Holding is what is known of the values that an operand holds; nil for operands that are no variables.
func Holding(o Operand) *tree.Holding {
	switch o := o.(type) {
	case Variable:
		if o.Sym.Slot != nil {
			return &o.Sym.Slot.Held
		}
	case ThisField:
		if o.Kept != nil {
			return &o.Kept.Held
		}
	}
	return nil
}

// Typed is the path that starts from an operand with a value of a known type; ok is false for all others.
func Typed(o Operand, f *fetch.Fetcher, at diag.Span) (a fetch.Path, ok bool) {
	if v, isValue := o.(Value); isValue && v.Expr.Ref != nil {
		f.State.UseType(v.Expr.Ref)
		return fetch.Path{Of: &fetch.Given{Value: v.Expr, Ref: *v.Expr.Ref, Spelling: "it"}}, true
	}
	var ref *compile.TypeRef
	if h := Holding(o); h != nil {
		ref = h.Ref()
	} else if object, ok := ObjectOf(o); ok {
		ref = f.State.HeldType(object)
	}
	if ref == nil {
		return a, false
	}
	f.State.UseType(ref)
	p, _ := o.(Assignable)
	return fetch.Path{Of: &fetch.Given{Value: p.Get(f, at), Ref: *ref, Spelling: Title(p)}}, true
}

// UseType notes that the type of what an operand holds decides what is read: it must not change any more.
func UseType(o Operand) {
	if h := Holding(o); h != nil {
		h.Used = true
	}
}

// ObjectOf returns the object of the arena that holds the integer of an operand.
func ObjectOf(o Operand) (object int, ok bool) {
	switch o := o.(type) {
	case Shared:
		return o.Object, !o.Text && !o.Bool
	case ThreadValue:
		return o.Object, true
	}
	return 0, false
}
