package tree

import (
	"gotap/compile"
	"gotap/runtime/value"
)

// Holding is what is known of the type of the values that something holds: a variable, a field of this, the values of a
// map. It has the type of the first value, until a value of another type is put in. 0 fits each type.
type Holding struct {
	ref   *compile.TypeRef
	Mixed bool // values of several types, or of none, were put in
	Used  bool // members of what it holds were read

	shows value.Kind // Expr.Shows of the texts that pretty makes; KindInt: none were put in
	text  bool       // other texts were put in
}

// Shows is what Expr.Shows is of the values, if nothing but texts that pretty makes were put in.
func (h *Holding) Shows() value.Kind {
	if h.text {
		return value.KindInt
	}
	return h.shows
}

// putText notes a text that is put in. A constant that a dump would show as it is may stand for one.
func (h *Holding) putText(v *Expr) {
	switch {
	case v.Kind != KindText || v.Code == CodeText && value.Dumped(v.Text) == v.Text:
	case v.Shows != value.KindWhole && v.Shows != value.KindDump:
		h.text = true
	case h.shows == value.KindInt:
		h.shows = v.Shows
	case h.shows != v.Shows:
		h.shows = value.KindDump
	}
}

// Ref returns the type, or nil.
func (h *Holding) Ref() *compile.TypeRef {
	if h.Mixed {
		return nil
	}
	return h.ref
}

// Fits reports whether a value has the type of those before it.
func (h *Holding) Fits(v *Expr) bool {
	switch {
	case v.IsZero(), v.Kind.Silent():
		return true
	case v.Ref == nil:
		return h.ref == nil && !h.Mixed
	}
	return h.ref == nil && !h.Mixed || h.ref != nil && h.ref.Same(*v.Ref)
}

// Put notes a value that is put in.
func (h *Holding) Put(v *Expr) {
	h.putText(v)
	switch {
	case v.IsZero(), v.Kind.Silent():
	case v.Ref == nil || !h.Fits(v):
		h.Mixed = true
	case h.ref == nil:
		h.ref = v.Ref
	}
}

// IsZero reports whether a value is the constant 0, which fits each type.
func (e *Expr) IsZero() bool { return e.IsConst() && e.Cmd.V == 0 || e.Code == CodeZero }
