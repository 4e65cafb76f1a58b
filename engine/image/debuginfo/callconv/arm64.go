package callconv

import (
	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/location"
)

// arm64 is the calling convention of C on AArch64 under Linux (Procedure Call Standard for the Arm 64-bit Architecture,
// IHI 0055, chapter 6).
type arm64 struct{ *classes }

// arm64Slots assigns registers and stack to arguments in their order.
type arm64Slots struct {
	core, vectors int // the next of x0 to x7, and of v0 to v7
	stack         argStack
}

func (cc arm64) param(_ *ctype.Type, params []*ctype.Type, _ bool) (location.Place, error) {
	var s arm64Slots
	var p location.Place
	for _, t := range params {
		size := cc.types.Size(t)
		if size < 0 {
			return location.Place{}, ErrUnknown
		}
		elem, count := cc.homogeneous(t)
		switch {
		case cc.byReference(t, 0), count == 0 && size > 16:
			p = s.general(8, 8).Pointed(8)
		case count > 0:
			p = s.vector(elem, count, size)
		default:
			p = s.general(size, cc.alignOf(t, 0))
		}
	}
	return p, nil
}

// general places an argument of up to 16 bytes in general registers or on the stack.
func (s *arm64Slots) general(size, align int64) location.Place {
	if align >= 16 {
		s.core = (s.core + 1) &^ 1
	}
	words := int(size+7) / 8
	if s.core+words > 8 {
		s.core = 8
		return s.onStack(size, align)
	}
	s.core += words
	return location.Join(location.InRegisters("x", s.core-words, words, 8))
}

func (s *arm64Slots) onStack(size, align int64) location.Place {
	return s.stack.next(size, align, 8, 16)
}

// vector places each element in a vector register, or all elements on the stack.
func (s *arm64Slots) vector(elem int64, count int, size int64) location.Place {
	if s.vectors+count > 8 {
		s.vectors = 8
		return s.onStack(size, elem)
	}
	p := arm64Vectors(s.vectors, elem, count)
	s.vectors += count
	return p
}

// arm64Vectors returns the place of elements in registers from v(at).
func arm64Vectors(at int, elem int64, count int) location.Place {
	return location.Join(location.InRegisters("v", at, count, elem))
}

func (cc arm64) result(t *ctype.Type, _ bool) (location.Place, error) {
	if t.Kind == ctype.Void {
		return location.InRegister("x0"), nil
	}
	if elem, count := cc.homogeneous(t); count > 0 && !cc.byReference(t, 0) {
		return arm64Vectors(0, elem, count), nil
	}
	size := cc.types.Size(t)
	switch {
	case size < 0:
		return location.Place{}, ErrUnknown
	case size > 16 || cc.byReference(t, 0):
		return location.AtResult(), nil // x8 need not hold the address any more
	}
	s := arm64Slots{}
	return s.general(size, 8), nil
}
