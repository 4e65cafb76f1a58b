package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
)

// The calling conventions need to know a type whole: one class among the parameters of which that is not so decides, by its size and by
// how it is copied, where all that stand behind it are. What follows finds the types of which the debug information does not tell enough, or of
// which compilers do not agree. Their functions' parameters are refused at the entry, before anything is read from a wrong place.

// errDisagree is a type that compilers do not pass alike.
var errDisagree = errors.New("compilers do not agree on where values of such a type are passed; probe a line of the function, @FILE:LINE")

// undeclaredError is a class that the module never defines. Clang leaves the definition to the unit that has the constructors, which may be
// built without debug information.
func undeclaredError(t *ctype) error {
	return fmt.Errorf("the debug information only declares %s, which does not tell where arguments are; probe a line of the function, @FILE:LINE", t.name)
}

// knowsPassing reports why it is not known how values of the types travel between functions; nil when it is.
func (in *Info) knowsPassing(types ...*ctype) error {
	for _, t := range types {
		if err := in.passing(t, 0); err != nil {
			return err
		}
	}
	return nil
}

func (in *Info) passing(t *ctype, depth int) error {
	switch {
	case depth > maxNesting:
		return errConvention
	case t.kind == kindStruct || t.kind == kindUnion:
		return in.passingClass(t, depth)
	case t.kind == kindArray:
		return in.passingArray(t, depth)
	case t.kind == kindVoid && t.tag == 0:
		return nil
	case in.sizeOf(t) < 0, t.isDecimal():
		return errConvention
	case t.kind == kindOther && t.tag == dwarf.TagUnspecifiedType && depth > 0: // a null pointer, to clang no part of a class
		return errDisagree
	}
	return nil
}

// passingClass is passing for a class. One that is passed by its address need not be known any further.
func (in *Info) passingClass(t *ctype, depth int) error {
	switch {
	case t.declared:
		return undeclaredError(t)
	case t.byRef == byRefYes:
		return nil
	}
	members, err := in.membersOf(t)
	if err != nil {
		return err
	}
	for _, m := range members {
		inner, err := in.strip(m.typ, true)
		if err != nil {
			return err
		}
		if err := in.passing(inner, depth+1); err != nil {
			return err
		}
		if t.byRef == byRefUnknown && in.isStuck(inner) {
			return errDisagree
		}
	}
	if t.byRef == byRefUnknown && in.mayCopy(t) {
		return errConvention
	}
	return nil
}

// passingArray is passing for an array, which is a part of a class. One without a length ends a class: GCC passes such a class in memory
// in C++ alone.
func (in *Info) passingArray(t *ctype, depth int) error {
	elem, err := in.strip(t.elem, t.hasElem)
	if err != nil {
		return err
	}
	for _, n := range t.dims {
		if n < 0 && t.cplus {
			return errDisagree
		}
	}
	return in.passing(elem, depth+1)
}

// isStuck reports whether objects of a class can be neither copied nor moved: all its constructors that could are deleted. A class with
// such a member is passed on the stack by GCC, and by its address by clang.
func (in *Info) isStuck(t *ctype) bool {
	if t.kind != kindStruct && t.kind != kindUnion {
		return false
	}
	all, deleted := in.copies(t)
	return all > 0 && all == deleted
}

// copies counts the constructors of a class from a reference to itself, and those of them that are deleted.
func (in *Info) copies(t *ctype) (all, deleted int) {
	in.constructors(t, func(c *dwarf.Entry) {
		if in.takesItself(t, c) == takesAlone {
			all++
			if isDeleted(c) {
				deleted++
			}
		}
	})
	return all, deleted
}

// mayCopy reports whether a constructor of t takes a reference to a t and more. It is one that copies if the rest has defaults, of which
// the debug information does not tell; a class that copies so is passed by its address.
func (in *Info) mayCopy(t *ctype) bool {
	if in.byReference(t, 0) {
		return false
	}
	found := false
	in.constructors(t, func(c *dwarf.Entry) { found = found || in.takesItself(t, c) == takesMore && !isDeleted(c) })
	return found
}

// attrDeleted is DW_AT_deleted.
const attrDeleted = dwarf.Attr(0x8a)

func isDeleted(c *dwarf.Entry) bool {
	deleted, _ := c.Val(attrDeleted).(bool)
	return deleted
}
