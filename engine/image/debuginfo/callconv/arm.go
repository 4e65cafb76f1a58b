package callconv

import (
	"bytes"
	"encoding/binary"

	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/location"
)

// arm is the calling convention of C on 32-bit ARM (Procedure Call Standard for the Arm Architecture, IHI 0042, chapter
// 6). Whether floating-point numbers are passed in vector registers ("hard", 6.1) or in general ones is an attribute of
// the file.
type arm struct{ *classes }

// armSlots assigns registers and stack to arguments in their order.
type armSlots struct {
	hard  bool
	core  int    // the next of r0 to r3
	used  uint32 // of s0 to s15; later arguments fill holes
	full  bool   // a vector argument is on the stack, so all later ones are
	stack argStack
}

// hard reports whether the file passes floating-point numbers in vector registers: the attribute Tag_ABI_VFP_args
// (Addenda to the ABI for the Arm Architecture, IHI 0045, 3.3.6).
func (cc arm) hard() bool {
	data, _, err := cc.entries.Section(".ARM.attributes")
	return err != nil || len(data) == 0 || armAttribute(data, 28) == 1
}

// armAttribute returns the value of an attribute of the whole file, or 0 without it. The values of 4, 5 and odd
// attributes above 32 are strings; 32 is a number and a string.
func armAttribute(data []byte, want uint64) uint64 {
	name := []byte("aeabi\x00\x01") // the vendor, and the tag before attributes of the file
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

func (cc arm) param(ret *ctype.Type, params []*ctype.Type, variadic bool) (location.Place, error) {
	s := armSlots{hard: cc.hard() && !variadic}
	if cc.inMemory(ret, s.hard) {
		s.core++
	}
	var p location.Place
	for _, t := range params {
		if cc.byReference(t, 0) {
			p = s.general(4, 4).Pointed(4)
			continue
		}
		size := cc.types.Size(t)
		if size < 0 {
			return location.Place{}, ErrUnknown
		}
		if elem, count := cc.homogeneous(t); s.hard && count > 0 {
			p = s.vector(elem, count)
			continue
		}
		p = s.general(size, cc.alignOf(t, 0))
	}
	return p, nil
}

// general places an argument in general registers, on the stack, or in both.
func (s *armSlots) general(size, align int64) location.Place {
	if align >= 8 {
		s.core = (s.core + 1) &^ 1
	}
	words := int(size+3) / 4
	if s.core >= 4 || s.core+words > 4 && s.stack > 0 {
		s.core = 4
		return s.onStack(size, align)
	}
	there := min(words, 4-s.core)
	pieces := location.InRegisters("r", s.core, there, 4)
	s.core += there
	if rest := int64(4 * (words - there)); rest > 0 {
		pieces = append(pieces, location.Piece{Size: rest, Place: s.onStack(rest, 4)})
	}
	return location.Join(pieces)
}

func (s *armSlots) onStack(size, align int64) location.Place { return s.stack.next(size, align, 4, 8) }

// singles returns the number of single registers that an element of elem bytes takes. An element of two bytes takes
// one.
func singles(elem int64) int { return max(1, int(elem)/4) }

// vector places count elements of elem bytes in the lowest adjacent registers that are free.
func (s *armSlots) vector(elem int64, count int) location.Place {
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

// vectorPieces returns the pieces of count elements in vector registers from single register at.
func vectorPieces(at int, elem int64, count int) location.Place {
	var pieces []location.Piece
	for range count {
		for part := int64(0); part < elem; part += 8 { // two halves of a vector of 16 bytes
			pieces = append(pieces, location.Piece{Size: min(8, elem), Place: location.HalfOf(at)})
			at += singles(min(8, elem))
		}
	}
	return location.Join(pieces)
}

// inMemory reports whether a result is written to an address that the caller passes.
func (cc arm) inMemory(ret *ctype.Type, hard bool) bool {
	if ret.Kind == ctype.Void {
		return false
	}
	if _, count := cc.homogeneous(ret); hard && count > 0 {
		return cc.byReference(ret, 0)
	}
	switch ret.Kind {
	case ctype.Struct, ctype.Union, ctype.Array, ctype.Complex:
		return cc.types.Size(ret) > 4 || cc.byReference(ret, 0)
	}
	return false
}

func (cc arm) result(t *ctype.Type, variadic bool) (location.Place, error) {
	hard := cc.hard() && !variadic
	if cc.inMemory(t, hard) {
		return location.AtResult(), nil // no register needs to hold the address any more
	}
	if elem, count := cc.homogeneous(t); hard && count > 0 {
		return vectorPieces(0, elem, count), nil
	}
	s := armSlots{}
	return s.general(cc.types.Size(t), 4), nil
}
