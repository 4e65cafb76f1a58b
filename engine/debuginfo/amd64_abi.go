package debuginfo

// The System V calling convention of x86-64 (psABI 1.0, 3.2.3). Every argument is cut into eightbytes, each of which
// has a class that says where it travels; an argument that does not fit the registers left goes on the stack whole.

// amd64Class is the class of one eightbyte.
type amd64Class uint8

const (
	classNone amd64Class = iota
	classInteger
	classSSE
	classSSEUp // the upper half of a vector, in the same register
	classX87   // of a long double
	classMemory
)

var (
	amd64Integers = [...]string{"rdi", "rsi", "rdx", "rcx", "r8", "r9"}
	amd64Floats   = [...]string{"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"}
)

// amd64Classes are the classes of an argument of at most two eightbytes; memory is set for all others.
type amd64Classes struct {
	class  [2]amd64Class
	count  int // eightbytes
	memory bool
}

// merge adds a part's class to an eightbyte (psABI 3.2.3, rule 4).
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

// amd64Classify finds the classes of a type.
func (in *Info) amd64Classify(t *ctype) amd64Classes {
	var c amd64Classes
	size := in.sizeOf(t)
	c.count = int((size + 7) / 8)
	if size < 0 || size > 16 && t.kind != kindVector {
		c.memory = true
		return c
	}
	if t.kind == kindVector && size > 16 {
		c.memory = true // in a 256-bit register, where the machine has them; not readable either way
		return c
	}
	in.amd64Walk(&c, t, 0, 0)
	return c
}

// amd64Walk merges the parts of t, which starts at off.
func (in *Info) amd64Walk(c *amd64Classes, t *ctype, off int64, depth int) {
	size := in.sizeOf(t)
	if depth > maxNesting || size > 16 { // a part is not larger than the whole, but in damaged information
		c.memory = true
		return
	}
	switch t.kind {
	case kindStruct, kindUnion:
		in.amd64WalkMembers(c, t, off, depth)
	case kindArray:
		in.amd64WalkArray(c, t, off, size, depth)
	case kindFloat:
		in.amd64WalkFloat(c, t, off, size)
	case kindComplex:
		for part := int64(0); part < 2; part++ {
			in.amd64WalkFloat(c, t, off+part*size/2, size/2)
		}
	case kindVector:
		c.merge(off, classSSE)
		if size > 8 {
			c.merge(off+8, classSSEUp)
		}
	case kindVoid:
	default:
		for at := off; at < off+max(size, 1); at += 8 {
			c.merge(at, classInteger)
		}
	}
}

func (in *Info) amd64WalkMembers(c *amd64Classes, t *ctype, off int64, depth int) {
	members, err := in.membersOf(t)
	if err != nil || in.isPacked(t) {
		c.memory = true
		return
	}
	for _, m := range members {
		inner, err := in.strip(m.typ, true)
		switch {
		case err != nil || m.virtual:
			c.memory = true
		case m.bits > 0:
			c.merge(off+m.bit/8, classInteger)
		default:
			in.amd64Walk(c, inner, off+m.offset, depth+1)
		}
	}
}

func (in *Info) amd64WalkArray(c *amd64Classes, t *ctype, off, size int64, depth int) {
	elem, err := in.strip(t.elem, t.hasElem)
	if err != nil {
		c.memory = true
		return
	}
	step := in.sizeOf(elem)
	if step <= 0 {
		return
	}
	for at := int64(0); at < size; at += step {
		in.amd64Walk(c, elem, off+at, depth+1)
	}
}

// amd64WalkFloat merges a floating number: a long double belongs to the x87 unit, __float128 to the vectors.
func (in *Info) amd64WalkFloat(c *amd64Classes, t *ctype, off, size int64) {
	switch {
	case size <= 8:
		c.merge(off, classSSE)
	case t.name == "_Float128" || t.name == "__float128":
		c.merge(off, classSSE)
		c.merge(off+8, classSSEUp)
	default:
		c.merge(off, classX87)
		c.merge(off+8, classX87)
	}
}

// amd64Slots hands out registers and stack to one argument after the other.
type amd64Slots struct {
	ints, floats int
	stack        argStack
}

// amd64Param finds the last of the parameters.
func (in *Info) amd64Param(ret *ctype, params []*ctype) (place, error) {
	var s amd64Slots
	if in.amd64InMemory(ret) {
		s.ints++ // the address the result goes to
	}
	var p place
	for _, t := range params {
		if s.splits(t) {
			return place{}, errDisagree
		}
		p = in.amd64Next(&s, t)
	}
	return p, nil
}

// amd64InMemory reports whether a result is written to an address that the caller passes.
func (in *Info) amd64InMemory(ret *ctype) bool {
	if ret.kind == kindVoid {
		return false
	}
	c := in.amd64Classify(ret)
	return in.byReference(ret, 0) || c.memory && !(ret.kind == kindVector) && !(ret.kind == kindComplex)
}

// amd64Next places one argument.
func (in *Info) amd64Next(s *amd64Slots, t *ctype) place {
	if in.byReference(t, 0) {
		return s.integer().pointed(8)
	}
	c := in.amd64Classify(t)
	ints, floats := 0, 0
	for _, class := range c.class[:min(c.count, 2)] {
		switch class {
		case classInteger:
			ints++
		case classSSE:
			floats++
		case classX87:
			c.memory = true
		}
	}
	// An argument is never split between registers and stack: what does not fit goes to memory whole, and leaves the
	// registers to those after it.
	empty := ints+floats == 0 && !c.memory
	if c.memory || s.ints+ints > len(amd64Integers) || s.floats+floats > len(amd64Floats) {
		return s.onStack(in.sizeOf(t), in.alignOf(t, 0))
	}
	if empty {
		return constant(0) // an empty struct is not passed at all
	}
	return s.registers(&c)
}

// splits reports an integer of 128 bits for which one register is left: before version 18, clang puts half of it there.
func (s *amd64Slots) splits(t *ctype) bool {
	return t.kind == kindInt && t.size == 16 && s.ints == len(amd64Integers)-1
}

// integer places a pointer.
func (s *amd64Slots) integer() place {
	if s.ints < len(amd64Integers) {
		s.ints++
		return inRegister(amd64Integers[s.ints-1])
	}
	return s.onStack(8, 8)
}

func (s *amd64Slots) onStack(size, align int64) place { return s.stack.next(size, align, 8, 0) }

// registers places the eightbytes of an argument that fits.
func (s *amd64Slots) registers(c *amd64Classes) place {
	var pieces []piece
	for _, class := range c.class[:c.count] {
		switch class {
		case classInteger:
			pieces = append(pieces, piece{size: 8, place: inRegister(amd64Integers[s.ints])})
			s.ints++
		case classSSE:
			pieces = append(pieces, piece{size: 8, place: inRegister(amd64Floats[s.floats])})
			s.floats++
		default:
			pieces = append(pieces, piece{size: 8, absent: true}) // the upper half of a vector, or padding
		}
	}
	return joined(pieces)
}

// amd64Return finds the result of a function that has just returned.
func (in *Info) amd64Return(t *ctype) (place, error) {
	c := in.amd64Classify(t)
	if in.amd64InMemory(t) {
		p := inRegister("rax") // the address that the caller passed
		p.memory = true
		return p, nil
	}
	ints, floats := []string{"rax", "rdx"}, []string{"xmm0", "xmm1"}
	var pieces []piece
	for _, class := range c.class[:min(c.count, 2)] {
		switch class {
		case classInteger:
			pieces = append(pieces, piece{size: 8, place: inRegister(ints[0])})
			ints = ints[1:]
		case classSSE:
			pieces = append(pieces, piece{size: 8, place: inRegister(floats[0])})
			floats = floats[1:]
		case classX87:
			return inRegister(floatTop), nil
		default:
			pieces = append(pieces, piece{size: 8, absent: true})
		}
	}
	return joined(pieces), nil
}
