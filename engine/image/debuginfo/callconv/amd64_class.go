package callconv

import (
	"gotap/engine/image/debuginfo/ctype"
)

// The System V calling convention of x86-64 (psABI 1.0, 3.2.3). Every argument consists of eightbytes, each with a
// class that decides where it is passed. An argument that does not fit the remaining registers is passed on the stack.

// amd64Class is the class of one eightbyte.
type amd64Class uint8

const (
	classNone amd64Class = iota
	classInteger
	classSSE
	classSSEUp // the upper half of a vector, in the same register
	classX87   // part of a long double
	classMemory
)

// amd64Classes are the classes of an argument of up to two eightbytes. memory is set for all other arguments.
type amd64Classes struct {
	class  [2]amd64Class
	count  int // of eightbytes
	memory bool
}

// merge adds the class of a part to an eightbyte (psABI 3.2.3, rule 4).
func (c *amd64Classes) merge(off int64, class amd64Class) {
	i := off / 8
	if i < 0 || i > 1 {
		c.memory = true
		return
	}
	// The strongest class wins: memory, then integer, then x87, then SSE.
	switch old := c.class[i]; {
	case old == classNone, old == class:
		c.class[i] = class
	case old == classInteger || class == classInteger:
		c.class[i] = classInteger
	case old == classX87 || class == classX87:
		c.memory = true
	default:
		c.class[i] = classSSE
	}
}

// classify returns the classes of a type.
func (cc amd64) classify(t *ctype.Type) amd64Classes {
	var c amd64Classes
	size := cc.types.Size(t)
	c.count = int((size + 7) / 8)
	if size < 0 || size > 16 && t.Kind != ctype.Vector {
		c.memory = true
		return c
	}
	if t.Kind == ctype.Vector && size > 16 {
		c.memory = true // perhaps in a 256-bit register; not readable either way
		return c
	}
	cc.walk(&c, t, 0, 0)
	switch { // the lower half is that of something else, too (rule 5)
	case c.class[1] == classSSEUp && c.class[0] != classSSE:
		c.class[1] = classSSE
	case c.class[1] == classX87 && c.class[0] != classX87:
		c.memory = true
	}
	return c
}

// walk merges the parts of t, which starts at off.
func (cc amd64) walk(c *amd64Classes, t *ctype.Type, off int64, depth int) {
	size := cc.types.Size(t)
	if depth > ctype.MaxNesting || size > 16 { // in damaged files a part may be larger than the whole
		c.memory = true
		return
	}
	if cc.isMisaligned(t, off) {
		c.memory = true
		return
	}
	switch t.Kind {
	case ctype.Struct, ctype.Union:
		cc.walkMembers(c, t, off, depth)
	case ctype.Array:
		cc.walkArray(c, t, off, size, depth)
	case ctype.Float:
		cc.walkFloat(c, t, off, size)
	case ctype.Complex:
		for part := int64(0); part < 2; part++ {
			cc.walkFloat(c, t, off+part*size/2, size/2)
		}
	case ctype.Vector:
		c.merge(off, classSSE)
		if size > 8 {
			c.merge(off+8, classSSEUp)
		}
	case ctype.Void:
	default:
		for at := off; at < off+max(size, 1); at += 8 {
			c.merge(at, classInteger)
		}
	}
}

// isMisaligned reports whether a number is at an offset that its type is not aligned to. Within a packed structure that
// is part of another, its offset from the beginning of the whole counts (psABI 3.2.3, rule 1 of aggregates).
func (cc amd64) isMisaligned(t *ctype.Type, off int64) bool {
	switch t.Kind {
	case ctype.Struct, ctype.Union, ctype.Array, ctype.Void, ctype.Func:
		return false
	}
	return off%cc.alignOf(t, 0) != 0
}

func (cc amd64) walkMembers(c *amd64Classes, t *ctype.Type, off int64, depth int) {
	members, err := cc.types.Members(t)
	if err != nil || cc.isPacked(t) {
		c.memory = true
		return
	}
	for _, m := range members {
		inner, err := cc.types.Strip(m.Type, true)
		switch {
		case err != nil || m.Virtual:
			c.memory = true
		case m.Bits > 0:
			for at := off*8 + m.Bit; at < off*8+m.Bit+m.Bits && !c.memory; at = at/64*64 + 64 { // a packed one may be in two eightbytes
				c.merge(at/8, classInteger)
			}
		default:
			cc.walk(c, inner, off+m.Offset, depth+1)
		}
	}
}

func (cc amd64) walkArray(c *amd64Classes, t *ctype.Type, off, size int64, depth int) {
	elem, err := cc.types.Strip(t.Elem, t.HasElem)
	if err != nil {
		c.memory = true
		return
	}
	step := cc.types.Size(elem)
	if step <= 0 {
		return
	}
	for at := int64(0); at < size; at += step {
		cc.walk(c, elem, off+at, depth+1)
	}
}

// walkFloat merges a floating-point number: a long double is passed in the x87 unit, __float128 in a vector register.
func (cc amd64) walkFloat(c *amd64Classes, t *ctype.Type, off, size int64) {
	switch {
	case size <= 8:
		c.merge(off, classSSE)
	case t.IsQuad(cc.entries.Machine()):
		c.merge(off, classSSE)
		c.merge(off+8, classSSEUp)
	default:
		c.merge(off, classX87)
		c.merge(off+8, classX87)
	}
}
