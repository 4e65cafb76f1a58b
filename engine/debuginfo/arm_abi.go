package debuginfo

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strconv"

	"gotap/compile"
)

// The calling conventions of 32-bit ARM (Procedure Call Standard for the Arm Architecture, IHI 0042, chapter 6). With "hard" floats those
// travel in the vector unit's registers (6.1), without in the general ones; a file's attributes say which it is.

const machineARM = elf.EM_ARM

// armSlots hands out registers and stack to one argument after the other.
type armSlots struct {
	hard  bool
	core  int    // the next of r0 to r3
	used  uint32 // of s0 to s15; holes are filled later
	full  bool   // an argument for the vector unit went on the stack, and all after it do
	stack argStack
}

// armHard reports whether a file passes floats in registers of the vector unit: attribute Tag_ABI_VFP_args (Addenda to the ABI for the Arm
// Architecture, IHI 0045, 3.3.6).
func (in *Info) armHard() bool {
	for _, f := range in.files {
		if data, _, err := f.Section(".ARM.attributes"); err == nil && len(data) > 0 {
			return armAttribute(data, 28) == 1
		}
	}
	return true
}

// armAttribute is the value of an attribute of the whole file, 0 when there is none. Attributes are a number each; a few below 32,
// and the odd ones above, are texts.
func armAttribute(data []byte, want uint64) uint64 {
	name := []byte("aeabi\x00\x01") // the vendor, and the tag that the file's own attributes begin with
	i := bytes.Index(data, name)
	if i < 0 || i+len(name)+4 > len(data) {
		return 0
	}
	size := binary.LittleEndian.Uint32(data[i+len(name):])
	c := data[i+len(name)+4:]
	c = c[:min(len(c), max(0, int(size)-5))]
	for len(c) > 0 {
		tag, n := binary.Uvarint(c)
		if n <= 0 {
			return 0
		}
		c = c[n:]
		isText := tag == 4 || tag == 5 || tag > 32 && tag%2 == 1
		var v uint64
		if !isText {
			if v, n = binary.Uvarint(c); n <= 0 {
				return 0
			}
			c = c[n:]
		}
		if isText || tag == 32 {
			_, c, _ = bytes.Cut(c, []byte{0})
		}
		if tag == want {
			return v
		}
	}
	return 0
}

// single is register sN: one half of a double-word register.
func single(n int) place {
	return place{base: compile.BaseReg, reg: "d" + strconv.Itoa(n/2), shift: int64(n & 1 * 32)}
}

// armParam finds the last of the parameters.
func (in *Info) armParam(ret *ctype, params []*ctype, variadic bool) (place, error) {
	s := armSlots{hard: in.armHard() && !variadic}
	if in.armInMemory(ret, s.hard) {
		s.core++
	}
	var p place
	for _, t := range params {
		if in.byReference(t, 0) {
			p = s.general(4, 4).pointed(4)
			continue
		}
		size := in.sizeOf(t)
		if size < 0 {
			return place{}, errConvention
		}
		if elem, count := in.homogeneous(t); s.hard && count > 0 {
			p = s.vector(elem, count)
			continue
		}
		p = s.general(size, in.alignOf(t, 0))
	}
	return p, nil
}

// general places an argument in general registers, on the stack, or in both.
func (s *armSlots) general(size, align int64) place {
	if align >= 8 {
		s.core = (s.core + 1) &^ 1
	}
	words := int(size+3) / 4
	if s.core >= 4 || s.core+words > 4 && s.stack > 0 {
		s.core = 4
		return s.onStack(size, align)
	}
	there := min(words, 4-s.core)
	pieces := inRegisters("r", s.core, there, 4)
	s.core += there
	if rest := int64(4 * (words - there)); rest > 0 {
		pieces = append(pieces, piece{size: rest, place: s.onStack(rest, 4)})
	}
	return joined(pieces)
}

func (s *armSlots) onStack(size, align int64) place { return s.stack.next(size, align, 4, 8) }

// singles is how many single registers an element of so many bytes takes; one of two bytes has the lower half of one.
func singles(elem int64) int { return max(1, int(elem)/4) }

// vector places count elements of so many bytes, in the lowest registers that lie together and are free.
func (s *armSlots) vector(elem int64, count int) place {
	step := singles(elem)
	for at := 0; !s.full && at+step*count <= 16; at += step {
		mask := uint32(1)<<(step*count) - 1
		if s.used>>at&mask == 0 {
			s.used |= mask << at
			return vectorPieces(at, elem, count)
		}
	}
	s.full = true
	return s.onStack(elem*int64(count), min(elem, 8))
}

// vectorPieces are count elements in registers of the vector unit, from single at on.
func vectorPieces(at int, elem int64, count int) place {
	var pieces []piece
	for range count {
		for part := int64(0); part < elem; part += 8 { // of a vector of 16 bytes both halves
			pieces = append(pieces, piece{size: min(8, elem), place: single(at)})
			at += singles(min(8, elem))
		}
	}
	return joined(pieces)
}

// armInMemory reports whether a result is written to an address that the caller passes.
func (in *Info) armInMemory(ret *ctype, hard bool) bool {
	if ret.kind == kindVoid {
		return false
	}
	if _, count := in.homogeneous(ret); hard && count > 0 {
		return in.byReference(ret, 0)
	}
	switch ret.kind {
	case kindStruct, kindUnion, kindArray, kindComplex:
		return in.sizeOf(ret) > 4 || in.byReference(ret, 0)
	}
	return false
}

// armReturn finds the result of a function that has just returned.
func (in *Info) armReturn(t *ctype, variadic bool) (place, error) {
	hard := in.armHard() && !variadic
	if in.armInMemory(t, hard) {
		return whereAsked(), nil // the address need not be in any register any more
	}
	if elem, count := in.homogeneous(t); hard && count > 0 {
		return vectorPieces(0, elem, count), nil
	}
	s := armSlots{}
	return s.general(in.sizeOf(t), 4), nil
}

// homogeneous is the size and the number of elements of a float, a short vector, or of one to four of the same in a struct, which
// travel in registers of the vector unit; count 0 is everything else. Both conventions of ARM have this rule (IHI 0042, 6.1.2.1;
// IHI 0055, 5.9.5).
func (in *Info) homogeneous(t *ctype) (elem int64, count int) {
	elem, count, ok := in.elements(t, 0)
	if !ok || count > 4 || elem == 0 {
		return 0, 0
	}
	return elem, count
}

// elements counts the floats or vectors of a type; ok is false when there is anything else, or they differ.
func (in *Info) elements(t *ctype, depth int) (elem int64, count int, ok bool) {
	size := in.sizeOf(t)
	switch {
	case depth > maxNesting || size < 0:
		return 0, 0, false
	case t.kind == kindFloat:
		return size, 1, size == 4 || size == 8 || size == 2 || size == 16
	case t.kind == kindVector:
		return size, 1, size == 8 || size == 16
	case t.kind == kindComplex:
		return size / 2, 2, true
	case t.kind == kindArray:
		inner, err := in.strip(t.elem, t.hasElem)
		if err != nil {
			return 0, 0, false
		}
		elem, count, ok = in.elements(inner, depth+1)
		if n := in.sizeOf(inner); ok && n > 0 {
			return elem, count * int(size/n), true
		}
		return 0, 0, false
	case t.kind == kindStruct || t.kind == kindUnion:
		return in.elementsOfMembers(t, depth)
	}
	return 0, 0, false
}

func (in *Info) elementsOfMembers(t *ctype, depth int) (elem int64, count int, ok bool) {
	members, err := in.membersOf(t)
	if err != nil {
		return 0, 0, false
	}
	for _, m := range members {
		inner, err := in.strip(m.typ, true)
		if err != nil || m.bits > 0 || m.virtual {
			return 0, 0, false
		}
		e, n, ok := in.elements(inner, depth+1)
		if !ok || elem != 0 && e != elem {
			return 0, 0, false
		}
		if elem = e; t.kind == kindUnion {
			count = max(count, n)
		} else {
			count += n
		}
	}
	return elem, count, count > 0
}
