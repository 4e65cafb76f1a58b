package callconv

import (
	"gotap/engine/image/debuginfo/ctype"
)

// homogeneous returns the size and the number of elements of a type that is passed in vector registers: a
// floating-point number, a short vector, or a struct of one to four equal ones. count is 0 for all other types. Both
// ARM conventions have this rule (IHI 0042, 6.1.2.1; IHI 0055, 5.9.5).
func (cl *classes) homogeneous(t *ctype.Type) (elem int64, count int) {
	elem, count, ok := cl.elements(t, 0)
	if !ok || count > 4 || elem == 0 {
		return 0, 0
	}
	return elem, count
}

// elements counts the floating-point numbers or vectors in a type. ok is false when it contains anything else or they
// differ.
func (cl *classes) elements(t *ctype.Type, depth int) (elem int64, count int, ok bool) {
	size := cl.types.Size(t)
	switch {
	case depth > ctype.MaxNesting || size < 0:
		return 0, 0, false
	case t.Kind == ctype.Float:
		return size, 1, size == 4 || size == 8 || size == 2 || size == 16
	case t.Kind == ctype.Vector:
		return size, 1, size == 8 || size == 16
	case t.Kind == ctype.Complex:
		return size / 2, 2, true
	case t.Kind == ctype.Array:
		inner, err := cl.types.Strip(t.Elem, t.HasElem)
		if err != nil {
			return 0, 0, false
		}
		elem, count, ok = cl.elements(inner, depth+1)
		if n := cl.types.Size(inner); ok && n > 0 {
			return elem, count * int(size/n), true
		}
		return 0, 0, false
	case t.Kind == ctype.Struct || t.Kind == ctype.Union:
		return cl.elementsOfMembers(t, depth)
	}
	return 0, 0, false
}

func (cl *classes) elementsOfMembers(t *ctype.Type, depth int) (elem int64, count int, ok bool) {
	members, err := cl.types.Members(t)
	if err != nil {
		return 0, 0, false
	}
	for _, m := range members {
		inner, err := cl.types.Strip(m.Type, true)
		if err != nil || m.Bits > 0 || m.Virtual {
			return 0, 0, false
		}
		e, n, ok := cl.elements(inner, depth+1)
		if !ok || elem != 0 && e != elem {
			return 0, 0, false
		}
		if elem = e; t.Kind == ctype.Union {
			count = max(count, n)
		} else {
			count += n
		}
	}
	return elem, count, count > 0
}
