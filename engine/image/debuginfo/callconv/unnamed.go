package callconv

import (
	"cmp"
	"debug/elf"
	"slices"

	"gotap/engine/image/debuginfo/ctype"
)

// The debug information does not mention bit-fields without a name. On x86-64 they do not count (psABI 3.2.3), but GCC
// passes the eightbyte that has one as an integer. Where such a bit-field fills what alignment leaves free it cannot be
// noticed.

// mayHaveUnnamed reports whether a class of x86-64 has bits that alignment does not explain, where a bit-field without a
// name would decide how GCC passes it.
func (cl *classes) mayHaveUnnamed(t *ctype.Type) bool {
	if cl.entries.Machine() != elf.EM_X86_64 {
		return false
	}
	if u := cl.entries.UnitOf(t.Offset); u != nil && !u.IsC() && !u.IsCPlusPlus() { // other languages have no bit-fields
		return false
	}
	cc := amd64{cl}
	c := cc.classify(t)
	return !c.memory && cc.hasGap(&c, t, 0, 0)
}

// hasGap reports whether a part of a type, at a bit of the whole, has bits without an explanation in an eightbyte that
// is not an integer.
func (cc amd64) hasGap(c *amd64Classes, t *ctype.Type, at int64, depth int) bool {
	switch {
	case depth > ctype.MaxNesting:
		return false
	case t.Kind == ctype.Array:
		return cc.hasGapInArray(c, t, at, depth)
	case t.Kind != ctype.Struct && t.Kind != ctype.Union:
		return false
	}
	parts, err := cc.partsOf(t)
	if err != nil || len(parts) == 0 && cc.types.Size(t) <= 1 { // an empty class of C++ has a byte
		return false
	}
	end := int64(0) // of what comes before
	for _, p := range parts {
		if p.at > aligned(end, p.align) && !c.isInteger(at+end, at+p.at) || p.typ != nil && cc.hasGap(c, p.typ, at+p.at, depth+1) {
			return true
		}
		end = max(end, p.at+p.bits)
	}
	size := cc.types.Size(t) * 8
	return size > aligned(end, cc.alignOf(t, 0)*8) && !c.isInteger(at+end, at+size)
}

func (cc amd64) hasGapInArray(c *amd64Classes, t *ctype.Type, at int64, depth int) bool {
	elem, err := cc.types.Strip(t.Elem, t.HasElem)
	if err != nil {
		return false
	}
	step, size := cc.types.Size(elem), cc.types.Size(t)
	for off := int64(0); step > 0 && off < size; off += step {
		if cc.hasGap(c, elem, at+off*8, depth+1) {
			return true
		}
	}
	return false
}

// part is a member, by bits from the start of its class.
type part struct {
	at, bits, align int64
	typ             *ctype.Type // nil for a bit-field
}

// partsOf returns the members of a class in the order of their places.
func (cc amd64) partsOf(t *ctype.Type) ([]part, error) {
	members, err := cc.types.Members(t)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, m := range members {
		inner, err := cc.types.Strip(m.Type, true)
		if err != nil {
			return nil, err
		}
		p := part{m.Offset * 8, cc.types.Size(inner) * 8, cc.alignOf(inner, 0) * 8, inner}
		if m.Bits > 0 {
			p = part{m.Bit, m.Bits, p.bits, nil}
		}
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.at, b.at) })
	return parts, nil
}

// aligned returns the first multiple of align that is not below n.
func aligned(n, align int64) int64 {
	return (n + max(align, 1) - 1) / max(align, 1) * max(align, 1)
}

// isInteger reports whether all eightbytes of a range of bits are integers.
func (c *amd64Classes) isInteger(from, to int64) bool {
	for i := from / 64; i*64 < to; i++ {
		if i < 0 || i > 1 || c.class[i] != classInteger {
			return false
		}
	}
	return true
}
