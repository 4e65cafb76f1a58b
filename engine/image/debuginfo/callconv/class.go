package callconv

import (
	"debug/elf"

	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/entry"
)

// scalars reports whether all types are numbers, pointers or references, or, for results, void.
func (cl *classes) scalars(types []*ctype.Type, results ...*ctype.Type) bool {
	for _, t := range append(results, types...) {
		switch t.Kind {
		case ctype.Int, ctype.Bool, ctype.Float, ctype.Pointer, ctype.Reference, ctype.Enum, ctype.Void:
		default:
			return false
		}
	}
	return true
}

// classes answers questions about types that several conventions ask.
type classes struct {
	entries *entry.Reader
	types   *ctype.Types
}

// Align returns the alignment of a type in memory in bytes.
func (cl *classes) Align(t *ctype.Type) int64 { return cl.alignOf(t, 0) }

// alignOf returns the alignment of a type in memory in bytes.
func (cl *classes) alignOf(t *ctype.Type, depth int) int64 {
	switch {
	case t.Kind == ctype.Struct, t.Kind == ctype.Union:
		return max(t.Align, cl.alignOfMembers(t, depth))
	case t.Align > 0:
		return t.Align
	}
	switch t.Kind {
	case ctype.Array:
		if elem, err := cl.types.Strip(t.Elem, t.HasElem); err == nil && depth < ctype.MaxNesting {
			return cl.alignOf(elem, depth+1)
		}
		return 1
	case ctype.Complex:
		return max(1, t.Size/2)
	}
	if cl.entries.Machine() == elf.EM_386 {
		return max(1, min(4, t.Size))
	}
	return max(1, min(16, t.Size))
}

func (cl *classes) alignOfMembers(t *ctype.Type, depth int) int64 {
	align := int64(1)
	members, err := cl.types.Members(t)
	if err != nil || depth > ctype.MaxNesting {
		return align
	}
	for _, m := range members {
		if inner, err := cl.types.Strip(m.Type, true); err == nil && m.Bits == 0 {
			align = max(align, cl.alignOf(inner, depth+1))
		}
	}
	if size := cl.types.Size(t); size > 0 && size%align != 0 {
		return 1 // packed
	}
	return align
}

// mayBePacked reports whether t has an alignment of more than a word because of its members alone. The debug
// information does not say whether it is packed, which takes the alignment away, and its size and offsets need not show
// it. A declared alignment below that of a member may be what is left, or what the declaration asked for in vain.
func (cl *classes) mayBePacked(t *ctype.Type) bool {
	if t.Kind != ctype.Struct && t.Kind != ctype.Union {
		return false
	}
	align := cl.alignOf(t, 0)
	return t.Align < align && align > cl.entries.Word()
}

// isPacked reports whether a member of t is at an offset that its type is not aligned to.
func (cl *classes) isPacked(t *ctype.Type) bool {
	members, err := cl.types.Members(t)
	if err != nil {
		return false
	}
	for _, m := range members {
		inner, err := cl.types.Strip(m.Type, true)
		if err == nil && m.Bits == 0 && m.Offset%cl.alignOf(inner, 0) != 0 {
			return true
		}
	}
	return false
}
