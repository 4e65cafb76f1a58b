package callconv

import (
	"debug/dwarf"
	"strings"

	"gotap/engine/image/debuginfo/ctype"
)

// Few compilers write how a class is passed (DW_AT_calling_convention). What makes a class non-trivial is in the
// debug information: its functions, members and bases.

// byReference reports whether a class is passed by an invisible reference (Itanium C++ ABI, 3.1.2.3): its copy
// constructor, move constructor or destructor is not trivial.
func (cl *classes) byReference(t *ctype.Type, depth int) bool {
	if t.Kind != ctype.Struct && t.Kind != ctype.Union || depth > ctype.MaxNesting {
		return false
	}
	if t.ByRef == ctype.PassingUnknown {
		t.ByRef = ctype.ByValue
		if cl.hasVirtual(t) || cl.hasSpecial(t) || cl.isStuck(t) || cl.hasPart(t, depth, cl.byReference) {
			t.ByRef = ctype.ByReference
		}
	}
	return t.ByRef == ctype.ByReference
}

// byReferenceAlways is byReference for what all compilers agree on: not for classes that can be neither copied nor
// moved.
func (cl *classes) byReferenceAlways(t *ctype.Type, depth int) bool {
	switch {
	case t.Kind != ctype.Struct && t.Kind != ctype.Union || depth > ctype.MaxNesting:
		return false
	case t.Told || t.Declared:
		return t.ByRef == ctype.ByReference
	}
	return cl.hasVirtual(t) || cl.hasSpecial(t) || cl.hasPart(t, depth, cl.byReferenceAlways)
}

// hasPart reports whether is holds for a member or base class of t, or an element of such an array. depth is that of t.
func (cl *classes) hasPart(t *ctype.Type, depth int, is func(part *ctype.Type, depth int) bool) bool {
	members, err := cl.types.Members(t)
	if err != nil {
		return false
	}
	for _, m := range members {
		inner, err := cl.types.Strip(m.Type, true)
		for err == nil && inner.Kind == ctype.Array {
			inner, err = cl.types.Strip(inner.Elem, inner.HasElem)
		}
		if m.Virtual || err == nil && is(inner, depth+1) {
			return true
		}
	}
	return false
}

// hasVirtual reports whether objects of t have a pointer to a table of virtual functions.
func (cl *classes) hasVirtual(t *ctype.Type) bool {
	members, _ := cl.types.Members(t)
	for _, m := range members {
		if strings.HasPrefix(m.Name, "_vptr") {
			return true
		}
	}
	return false
}

// attrDefaulted is DW_AT_defaulted. Its value is 1 for "= default" within the class, which keeps a function trivial.
const attrDefaulted = dwarf.Attr(0x8b)

// hasSpecial reports whether the source defines a destructor of t or a constructor from a reference to a t.
func (cl *classes) hasSpecial(t *ctype.Type) bool {
	found := false
	cl.constructors(t, func(c *dwarf.Entry) {
		defaulted, _ := c.Val(attrDefaulted).(int64)
		if defaulted == 1 || isDeleted(c) {
			return
		}
		fn, _ := c.Val(dwarf.AttrName).(string)
		found = found || strings.HasPrefix(fn, "~") || cl.takesItself(t, c) == takesAlone
	})
	return found
}

// constructors calls f for each constructor of t in the source, and for its destructor.
func (cl *classes) constructors(t *ctype.Type, f func(*dwarf.Entry)) {
	name, _, _ := strings.Cut(t.Name, "<")
	cl.entries.Children(t.Entry, func(c *dwarf.Entry) error {
		if artificial, _ := c.Val(dwarf.AttrArtificial).(bool); c.Tag != dwarf.TagSubprogram || artificial {
			return nil
		}
		if fn, _ := c.Val(dwarf.AttrName).(string); fn == name || fn == "~"+name {
			f(c)
		}
		return nil
	})
}

// taking is what a constructor takes.
type taking uint8

const (
	takesOther taking = iota
	takesAlone        // a reference to its own class
	takesMore         // that, followed by other parameters
)

// takesItself returns whether the constructor c of t takes a reference to a t.
func (cl *classes) takesItself(t *ctype.Type, c *dwarf.Entry) taking {
	var params []*dwarf.Entry
	cl.entries.Children(c, func(p *dwarf.Entry) error {
		if artificial, _ := p.Val(dwarf.AttrArtificial).(bool); p.Tag == dwarf.TagFormalParameter && !artificial {
			params = append(params, p)
		}
		return nil
	})
	if len(params) == 0 {
		return takesOther
	}
	ref, err := cl.types.OfEntry(params[0])
	if err != nil || ref.Kind != ctype.Reference {
		return takesOther
	}
	to, err := cl.types.Strip(ref.Elem, ref.HasElem)
	switch {
	case err != nil || to.Offset != t.Offset:
		return takesOther
	case len(params) == 1:
		return takesAlone
	}
	return takesMore
}
