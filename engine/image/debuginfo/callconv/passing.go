package callconv

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"slices"

	"gotap/engine/image/debuginfo/ctype"
)

// A calling convention needs to know each parameter's type completely, because its size and how it is copied decide
// where all later parameters are. This file finds types that the debug information describes incompletely, and types
// that compilers pass differently. Parameters of functions with such types are refused at the entry.

// errDisagree reports a type that compilers pass differently.
var errDisagree = errors.New("compilers disagree on where values of such a type are passed; probe a line of the function, @FILE:LINE")

// errPacked reports an argument whose place depends on whether its type is packed.
var errPacked = errors.New("the debug information does not say whether its type is packed, on which its place depends; probe a line of the function, @FILE:LINE")

// errIncomplete reports that parameters are missing, so that it is not known which of them are the others.
var errIncomplete = errors.New("the debug information lacks some parameters of the function, so the places of the others are unknown; probe a line of the function, @FILE:LINE")

// undeclaredError reports a class that the module never defines. Clang writes the definition only in the unit with the
// constructors, which may be built without debug information.
func undeclaredError(t *ctype.Type) error {
	return fmt.Errorf("the debug information only declares %s, so the places of the arguments are unknown; probe a line of the function, @FILE:LINE", t.Name)
}

// knowsPassing returns nil when it is known how values of the types are passed, otherwise the reason.
func (cl *classes) knowsPassing(types ...*ctype.Type) error {
	for _, t := range types {
		if err := cl.passing(t, 0); err != nil {
			return err
		}
	}
	return nil
}

// passing is knowsPassing for one type.
func (cl *classes) passing(t *ctype.Type, depth int) error {
	switch {
	case depth > ctype.MaxNesting:
		return ErrUnknown
	case t.Kind == ctype.Struct || t.Kind == ctype.Union:
		return cl.passingClass(t, depth)
	case t.Kind == ctype.Array:
		return cl.passingArray(t, depth)
	case t.Kind == ctype.Void && t.Tag == 0:
		return nil
	case cl.types.Size(t) < 0, t.IsDecimal():
		return ErrUnknown
	case t.Kind == ctype.Other && t.Tag == dwarf.TagUnspecifiedType && depth > 0: // clang ignores a null pointer in a class
		return errDisagree
	}
	return nil
}

// passingClass is passing for a class. The members of one that is passed by reference do not matter.
func (cl *classes) passingClass(t *ctype.Type, depth int) error {
	switch {
	case t.Declared && t.ByRef != ctype.ByReference:
		return undeclaredError(t)
	case cl.byReferenceAlways(t, 0):
		return nil
	}
	if depth == 0 && (cl.isQuadAlone(t, 0) || cl.mayHaveUnnamed(t)) {
		return errDisagree
	}
	members, err := cl.types.Members(t)
	if err != nil {
		return err
	}
	for _, m := range members {
		inner, err := cl.types.Strip(m.Type, true)
		if err != nil {
			return err
		}
		if err := cl.passing(inner, depth+1); err != nil {
			return err
		}
		if !t.Told && cl.isStuck(inner) {
			return errDisagree
		}
	}
	if !t.Told && cl.mayCopy(t) {
		return ErrUnknown
	}
	return nil
}

// isQuadAlone reports whether a class of x86-64 has a __float128 and nothing behind it. GCC passes it in a register,
// clang on the stack.
func (cl *classes) isQuadAlone(t *ctype.Type, depth int) bool {
	if cl.entries.Machine() != elf.EM_X86_64 || cl.types.Size(t) != 16 || depth > ctype.MaxNesting {
		return false
	}
	switch t.Kind {
	case ctype.Float:
		return t.IsQuad(elf.EM_X86_64)
	case ctype.Array:
		elem, err := cl.types.Strip(t.Elem, t.HasElem)
		return err == nil && cl.isQuadAlone(elem, depth+1)
	case ctype.Struct, ctype.Union:
		members, err := cl.types.Members(t)
		return err == nil && slices.ContainsFunc(members, func(m ctype.Member) bool {
			inner, err := cl.types.Strip(m.Type, true)
			return err == nil && cl.isQuadAlone(inner, depth+1)
		})
	}
	return false
}

// passingArray is passing for an array, which is part of a class. Only GCC in C++ passes a class that ends in an array
// without a length in memory.
func (cl *classes) passingArray(t *ctype.Type, depth int) error {
	elem, err := cl.types.Strip(t.Elem, t.HasElem)
	if err != nil {
		return err
	}
	for _, n := range t.Dims {
		if n < 0 && t.CPlusPlus {
			return errDisagree
		}
	}
	return cl.passing(elem, depth+1)
}

// isStuck reports whether objects of a class can be neither copied nor moved, because all such constructors are
// deleted. GCC passes a class with such a member on the stack, clang by reference.
func (cl *classes) isStuck(t *ctype.Type) bool {
	if t.Kind != ctype.Struct && t.Kind != ctype.Union {
		return false
	}
	all, deleted := cl.copies(t)
	return all > 0 && all == deleted
}

// copies counts the constructors of a class from a reference to itself, and those of them that are deleted.
func (cl *classes) copies(t *ctype.Type) (all, deleted int) {
	cl.constructors(t, func(c *dwarf.Entry) {
		if cl.takesItself(t, c) == takesAlone {
			all++
			if isDeleted(c) {
				deleted++
			}
		}
	})
	return all, deleted
}

// mayCopy reports whether a constructor of t takes a reference to a t and more. It is a copy constructor when the rest
// has defaults, which the debug information does not show. A class with a copy constructor is passed by reference.
func (cl *classes) mayCopy(t *ctype.Type) bool {
	if cl.byReference(t, 0) {
		return false
	}
	found := false
	cl.constructors(t, func(c *dwarf.Entry) { found = found || cl.takesItself(t, c) == takesMore && !isDeleted(c) })
	return found
}

// attrDeleted is DW_AT_deleted.
const attrDeleted = dwarf.Attr(0x8a)

func isDeleted(c *dwarf.Entry) bool {
	deleted, _ := c.Val(attrDeleted).(bool)
	return deleted
}
