package callconv

import (
	"gotap/compile"
	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/location"
)

// amd64 is the System V calling convention of x86-64.
type amd64 struct{ *classes }

var (
	amd64Integers = [...]string{"rdi", "rsi", "rdx", "rcx", "r8", "r9"}
	amd64Floats   = [...]string{"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"}
)

// amd64Slots assigns registers and stack to arguments in their order.
type amd64Slots struct {
	ints, floats int
	stack        argStack
}

func (cc amd64) param(ret *ctype.Type, params []*ctype.Type, _ bool) (location.Place, error) {
	var s amd64Slots
	if cc.isAmbiguous(ret) {
		return location.Place{}, ErrUnknown
	}
	if cc.inMemory(ret) {
		s.ints++ // the address of the result
	}
	var p location.Place
	for _, t := range params {
		if s.splits(t) {
			return location.Place{}, errDisagree
		}
		before := s.stack
		p = cc.next(&s, t)
		if p.Base != compile.BaseFrame || int64(before)%max(16, cc.alignOf(t, 0)) == 0 || cc.byReference(t, 0) {
			continue
		}
		switch {
		case cc.mayBePacked(t):
			return location.Place{}, errPacked
		case t.Kind == ctype.Int && t.Size == 16: // before version 18, clang does not align it
			return location.Place{}, errDisagree
		}
	}
	return p, nil
}

// inMemory reports whether a result is written to an address that the caller passes.
func (cc amd64) inMemory(ret *ctype.Type) bool {
	switch {
	case ret.Kind == ctype.Void:
		return false
	case cc.byReference(ret, 0):
		return true
	}
	c := cc.classify(ret)
	return c.memory && ret.Kind != ctype.Vector && !cc.isComplexX87(ret)
}

// isAmbiguous reports whether t is a complex number that may be a long double or a __float128: clang calls both
// "complex", and they are returned in different places.
func (cc amd64) isAmbiguous(t *ctype.Type) bool {
	m := cc.entries.Machine()
	return t.Kind == ctype.Complex && t.Size == 32 && !t.IsX87(m) && !t.IsQuad(m)
}

// isComplexX87 reports whether t is a complex long double, whose parts are returned on the stack of the floating-point
// unit.
func (cc amd64) isComplexX87(t *ctype.Type) bool {
	return t.Kind == ctype.Complex && t.Size == 32 && t.IsX87(cc.entries.Machine())
}

// next places one argument.
func (cc amd64) next(s *amd64Slots, t *ctype.Type) location.Place {
	if cc.byReference(t, 0) {
		return s.integer().Pointed(8)
	}
	c := cc.classify(t)
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
	// An argument is never split between registers and stack. One that does not fit is passed on the stack, and
	// later arguments use the remaining registers.
	empty := ints+floats == 0 && !c.memory
	if c.memory || s.ints+ints > len(amd64Integers) || s.floats+floats > len(amd64Floats) {
		return s.onStack(cc.types.Size(t), cc.alignOf(t, 0))
	}
	if empty {
		return location.Constant(0) // an empty struct is not passed at all
	}
	return s.registers(&c)
}

// splits reports whether t is an integer of 128 bits and only one register is left. Before version 18, clang puts half
// of it there.
func (s *amd64Slots) splits(t *ctype.Type) bool {
	return t.Kind == ctype.Int && t.Size == 16 && s.ints == len(amd64Integers)-1
}

// integer places a pointer.
func (s *amd64Slots) integer() location.Place {
	if s.ints < len(amd64Integers) {
		s.ints++
		return location.InRegister(amd64Integers[s.ints-1])
	}
	return s.onStack(8, 8)
}

func (s *amd64Slots) onStack(size, align int64) location.Place {
	return s.stack.next(size, align, 8, 0)
}

// registers places the eightbytes of an argument that fits.
func (s *amd64Slots) registers(c *amd64Classes) location.Place {
	var pieces []location.Piece
	for _, class := range c.class[:c.count] {
		switch class {
		case classInteger:
			pieces = append(pieces, location.Piece{Size: 8, Place: location.InRegister(amd64Integers[s.ints])})
			s.ints++
		case classSSE:
			pieces = append(pieces, location.Piece{Size: 8, Place: location.InRegister(amd64Floats[s.floats])})
			s.floats++
		case classSSEUp: // in the same register
			pieces[len(pieces)-1].Size += 8
		default:
			pieces = append(pieces, location.Piece{Size: 8, Absent: true}) // padding
		}
	}
	return location.Join(pieces)
}

func (cc amd64) result(t *ctype.Type, _ bool) (location.Place, error) {
	if cc.inMemory(t) {
		p := location.InRegister("rax") // the address that the caller passed
		p.Memory = true
		return p, nil
	}
	switch {
	case cc.isAmbiguous(t):
		return location.Place{}, ErrUnknown
	case cc.isComplexX87(t):
		return location.InFloatStack(2), nil
	}
	c := cc.classify(t)
	ints, floats := []string{"rax", "rdx"}, []string{"xmm0", "xmm1"}
	var pieces []location.Piece
	for _, class := range c.class[:min(c.count, 2)] {
		switch class {
		case classInteger:
			pieces = append(pieces, location.Piece{Size: 8, Place: location.InRegister(ints[0])})
			ints = ints[1:]
		case classSSE:
			pieces = append(pieces, location.Piece{Size: 8, Place: location.InRegister(floats[0])})
			floats = floats[1:]
		case classX87:
			return location.InFloatStack(1), nil
		case classSSEUp:
			pieces[len(pieces)-1].Size += 8
		default:
			pieces = append(pieces, location.Piece{Size: 8, Absent: true})
		}
	}
	return location.Join(pieces), nil
}
