package debuginfo

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"gotap/compile"
	"gotap/engine/image/debuginfo/ctype"
)

// CastError is the error for a conversion between pointers to classes that depends on the object.
type CastError struct {
	From, To string // the classes
	Reason   string
}

func (e *CastError) Error() string {
	return fmt.Sprintf("cannot convert a pointer to %s to one to %s: %s", e.From, e.To, e.Reason)
}

// Hint says how to convert the address as it is.
func (e *CastError) Hint() string {
	return "this takes the address as it is: cast(cast(p, \"char *\"), \"" + e.To + " *\")"
}

// BaseOffset returns how many bytes to add to a pointer of the type from for the same object as one of the type to: not
// 0 where one of two classes is a base of the other and not at its start, as with static_cast in C++. The error is a
// *CastError if that depends on the object.
func BaseOffset(in *Info, from, to compile.TypeRef) (off int64, err error) {
	defer in.guard(&err)()
	a, okA, err := classOf(in, from)
	if err != nil || !okA {
		return 0, err
	}
	b, okB, err := classOf(in, to)
	if err != nil || !okB {
		return 0, err
	}
	nameA, nameB := in.types.Canonical(a, 0), in.types.Canonical(b, 0)
	if nameA == nameB {
		return 0, nil
	}
	up, err := in.types.Bases(a, nameB)
	if err != nil {
		return 0, err
	}
	down, err := in.types.Bases(b, nameA)
	if err != nil {
		return 0, err
	}
	sign, all, base := int64(1), up, nameB
	if len(up) == 0 {
		sign, all, base = -1, down, nameA
	}
	switch {
	case len(all) == 0:
		return 0, nil
	case all[0].Virtual:
		return 0, &CastError{nameA, nameB, base + " is a virtual base class, whose offset depends on the object"}
	case len(all) > 1:
		return 0, &CastError{nameA, nameB, "the object has several of " + base}
	}
	return sign * all[0].Offset, nil
}

// classOf returns the class that values of a type point to, or are the address of. ok is false for all other types.
func classOf(in *Info, ref compile.TypeRef) (t *ctype.Type, ok bool, err error) {
	if !ref.Known() || ref.Stars > 1 {
		return nil, false, nil
	}
	t, err = in.types.Strip(dwarf.Offset(ref.Offset), true)
	if err == nil && ref.Stars == 0 && t.Kind == ctype.Pointer {
		t, err = in.types.Strip(t.Elem, t.HasElem)
	}
	if err != nil {
		return nil, false, err
	}
	return t, t.Kind == ctype.Struct && strings.TrimSpace(t.Name) != "", nil
}
