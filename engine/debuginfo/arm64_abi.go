package debuginfo

import (
	"debug/elf"
	"strconv"
)

// The calling convention of AArch64 (Procedure Call Standard for the Arm 64-bit Architecture, IHI 0055, chapter 6), as Linux uses it.

const machineARM64 = elf.EM_AARCH64

// arm64Slots hands out registers and stack to one argument after the other.
type arm64Slots struct {
	core, vectors int // the next of x0 to x7, and of v0 to v7
	stack         argStack
}

// arm64Param finds the last of the parameters.
func (in *Info) arm64Param(params []*ctype) (place, error) {
	var s arm64Slots
	var p place
	for _, t := range params {
		size := in.sizeOf(t)
		if size < 0 {
			return place{}, errConvention
		}
		elem, count := in.homogeneous(t)
		switch {
		case in.byReference(t, 0), count == 0 && size > 16:
			p = s.general(8, 8).pointed(8)
		case count > 0:
			p = s.vector(elem, count, size)
		default:
			p = s.general(size, in.alignOf(t, 0))
		}
	}
	return p, nil
}

// general places an argument of at most 16 bytes in general registers, or on the stack whole.
func (s *arm64Slots) general(size, align int64) place {
	if align >= 16 {
		s.core = (s.core + 1) &^ 1
	}
	words := int(size+7) / 8
	if s.core+words > 8 {
		s.core = 8
		return s.onStack(size, align)
	}
	s.core += words
	return joined(inRegisters("x", s.core-words, words, 8))
}

func (s *arm64Slots) onStack(size, align int64) place { return s.stack.next(size, align, 8, 16) }

// vector places elements, one to a register, or all on the stack.
func (s *arm64Slots) vector(elem int64, count int, size int64) place {
	if s.vectors+count > 8 {
		s.vectors = 8
		return s.onStack(size, elem)
	}
	p := arm64Vectors(s.vectors, elem, count)
	s.vectors += count
	return p
}

// arm64Vectors are elements in registers from v(at) on. Of 16 bytes the low 8 can be read.
func arm64Vectors(at int, elem int64, count int) place {
	var pieces []piece
	for i := range count {
		pieces = append(pieces, piece{size: min(8, elem), place: inRegister("v" + strconv.Itoa(at+i))})
		if elem > 8 {
			pieces = append(pieces, piece{size: elem - 8, absent: true})
		}
	}
	return joined(pieces)
}

// arm64Return finds the result of a function that has just returned.
func (in *Info) arm64Return(t *ctype) (place, error) {
	if t.kind == kindVoid {
		return inRegister("x0"), nil
	}
	if elem, count := in.homogeneous(t); count > 0 && !in.byReference(t, 0) {
		return arm64Vectors(0, elem, count), nil
	}
	size := in.sizeOf(t)
	switch {
	case size < 0:
		return place{}, errConvention
	case size > 16 || in.byReference(t, 0):
		return whereAsked(), nil // the address that the caller passed in x8 need not be there any more
	}
	s := arm64Slots{}
	return s.general(size, 8), nil
}
