package debuginfo

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"strings"
)

// The architectures of x86. Those of ARM stand with their conventions.
const (
	machineAMD64 = elf.EM_X86_64
	machine386   = elf.EM_386
)

// errConvention is a function whose calling convention does not tell where its parameters are.
var errConvention = errors.New("the calling convention does not say where it is")

// paramsOf are the parameters of a function as its caller passes them: those of the DIE with the code, or of the one it
// is an instance of where an optimiser left none.
func (in *Info) paramsOf(fn *function) (params []*dwarf.Entry, variadic bool, err error) {
	e := fn.entry
	for range maxOrigins {
		s, err := in.scopeOf(&function{unit: fn.unit, entry: e})
		if err != nil {
			return nil, false, err
		}
		if len(s.params) > 0 || s.variadic {
			return s.params, s.variadic, nil
		}
		if e, err = in.origin(e); err != nil || e == nil {
			return nil, false, err
		}
	}
	return nil, false, nil
}

// paramType is the stripped type of a parameter, member of a list, or variable.
func (in *Info) paramType(e *dwarf.Entry) (*ctype, error) {
	off, ok, err := in.typeRef(e)
	if err != nil {
		return nil, err
	}
	return in.strip(off, ok)
}

// returnType is the stripped type a function returns.
func (in *Info) returnType(fn *function) (*ctype, error) {
	off, ok, err := in.resultRef(fn)
	if err != nil {
		return nil, err
	}
	return in.strip(off, ok)
}

// conventional finds parameter index at the entry of fn by the calling convention of its language.
func (in *Info) conventional(fn *function, params []*dwarf.Entry, index int) (place, error) {
	if fn.unit.language() == langGo {
		return in.goParam(fn, params, index)
	}
	if changed, _ := in.rewritten(fn); changed {
		return place{}, errRewritten
	}
	types := make([]*ctype, index+1)
	for i := range types {
		t, err := in.paramType(params[i])
		if err != nil {
			return place{}, err
		}
		types[i] = t
	}
	ret, err := in.returnType(fn)
	if err != nil {
		return place{}, err
	}
	// For numbers and pointers Rust's convention is C's.
	if fn.unit.language() == langRust && !in.scalars(types) {
		if !in.isRustMangled(fn.entry) {
			return place{}, errConvention // likely to be extern "C", which the debug information does not tell
		}
		return in.rustParam(fn, ret, types)
	}
	return in.machineParam(fn, ret, types)
}

// machineParam finds the last of the parameters of a function at its entry, by the convention that C has on the machine.
func (in *Info) machineParam(fn *function, ret *ctype, types []*ctype) (place, error) {
	if err := in.knowsPassing(append([]*ctype{ret}, types...)...); err != nil {
		return place{}, err
	}
	switch in.machine {
	case machineAMD64:
		return in.amd64Param(ret, types)
	case machine386:
		return in.i386Param(ret, types)
	case machineARM64:
		return in.arm64Param(types)
	case machineARM:
		_, variadic, err := in.paramsOf(fn)
		if err != nil {
			return place{}, err
		}
		return in.armParam(ret, types, variadic)
	}
	return place{}, errConvention
}

func (in *Info) scalars(types []*ctype) bool {
	for _, t := range types {
		switch t.kind {
		case kindInt, kindBool, kindFloat, kindPointer, kindReference, kindEnum:
		default:
			return false
		}
	}
	return true
}

// alignOf is the alignment of a type in memory, in bytes.
func (in *Info) alignOf(t *ctype, depth int) int64 {
	if t.align > 0 {
		return t.align
	}
	switch t.kind {
	case kindStruct, kindUnion:
		return in.alignOfMembers(t, depth)
	case kindArray:
		if elem, err := in.strip(t.elem, t.hasElem); err == nil && depth < maxNesting {
			return in.alignOf(elem, depth+1)
		}
		return 1
	case kindComplex:
		return max(1, t.size/2)
	}
	if in.machine == machine386 {
		return max(1, min(4, t.size))
	}
	return max(1, min(16, t.size))
}

func (in *Info) alignOfMembers(t *ctype, depth int) int64 {
	align := int64(1)
	members, err := in.membersOf(t)
	if err != nil || depth > maxNesting {
		return align
	}
	for _, m := range members {
		if inner, err := in.strip(m.typ, true); err == nil && m.bits == 0 {
			align = max(align, in.alignOf(inner, depth+1))
		}
	}
	return align
}

// isPacked reports whether a member of t lies at an address its type is not aligned to.
func (in *Info) isPacked(t *ctype) bool {
	members, err := in.membersOf(t)
	if err != nil {
		return false
	}
	for _, m := range members {
		inner, err := in.strip(m.typ, true)
		if err == nil && m.bits == 0 && m.offset%in.alignOf(inner, 0) != 0 {
			return true
		}
	}
	return false
}

// Compilers could say how a class is passed (DW_AT_calling_convention), and mostly do not. What makes a class
// non-trivial is visible, though: its functions, members and bases are all described.

// byReference reports whether a class is passed by an invisible reference (Itanium C++ ABI, 3.1.2.3): its copy or
// move constructor or its destructor is not trivial.
func (in *Info) byReference(t *ctype, depth int) bool {
	if t.kind != kindStruct && t.kind != kindUnion || depth > maxNesting {
		return false
	}
	if t.byRef == byRefUnknown {
		t.byRef = byRefNo
		if in.hasVirtual(t) || in.hasSpecial(t) || in.hasReferencePart(t, depth) {
			t.byRef = byRefYes
		}
	}
	return t.byRef == byRefYes
}

// hasReferencePart reports whether a member or base class is not trivial to copy or destroy.
func (in *Info) hasReferencePart(t *ctype, depth int) bool {
	members, err := in.membersOf(t)
	if err != nil {
		return false
	}
	for _, m := range members {
		inner, err := in.strip(m.typ, true)
		for err == nil && inner.kind == kindArray {
			inner, err = in.strip(inner.elem, inner.hasElem)
		}
		if m.virtual || err == nil && in.byReference(inner, depth+1) {
			return true
		}
	}
	return false
}

// hasVirtual reports whether objects of t point to a table of virtual functions.
func (in *Info) hasVirtual(t *ctype) bool {
	members, _ := in.membersOf(t)
	for _, m := range members {
		if strings.HasPrefix(m.name, "_vptr") {
			return true
		}
	}
	return false
}

// attrDefaulted is DW_AT_defaulted; 1 is "= default" within the class, which leaves a function trivial.
const attrDefaulted = dwarf.Attr(0x8b)

// hasSpecial reports whether t has a destructor, or a constructor from a reference to itself, that the source wrote out; or whether all
// such constructors are deleted.
func (in *Info) hasSpecial(t *ctype) bool {
	found := false
	in.constructors(t, func(c *dwarf.Entry) {
		defaulted, _ := c.Val(attrDefaulted).(int64)
		if defaulted == 1 || isDeleted(c) {
			return
		}
		fn, _ := c.Val(dwarf.AttrName).(string)
		found = found || strings.HasPrefix(fn, "~") || in.takesItself(t, c) == takesAlone
	})
	return found || in.isStuck(t)
}

// constructors calls f for each constructor of t, and its destructor, that the source has.
func (in *Info) constructors(t *ctype, f func(*dwarf.Entry)) {
	name, _, _ := strings.Cut(t.name, "<")
	in.children(t.entry, func(c *dwarf.Entry) error {
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
	takesMore         // and something behind it
)

// takesItself reports whether the constructor c of t takes a reference to a t.
func (in *Info) takesItself(t *ctype, c *dwarf.Entry) taking {
	var params []*dwarf.Entry
	in.children(c, func(p *dwarf.Entry) error {
		if artificial, _ := p.Val(dwarf.AttrArtificial).(bool); p.Tag == dwarf.TagFormalParameter && !artificial {
			params = append(params, p)
		}
		return nil
	})
	if len(params) == 0 {
		return takesOther
	}
	ref, err := in.paramType(params[0])
	if err != nil || ref.kind != kindReference {
		return takesOther
	}
	to, err := in.strip(ref.elem, ref.hasElem)
	switch {
	case err != nil || to.off != t.off:
		return takesOther
	case len(params) == 1:
		return takesAlone
	}
	return takesMore
}
