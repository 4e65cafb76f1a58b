package debuginfo

import (
	"fmt"

	"gotap/compile"
)

// place is where a value is: an access under construction.
type place struct {
	base   compile.AccessBase
	reg    string
	value  int64
	steps  []compile.AccessStep
	memory bool    // the access so far gives the value's address, not the value
	shift  int64   // not memory: bits of the register below the value
	pieces []piece // the value lies in several places; then nothing above holds
	skip   int64   // bytes of the pieces that lie before the value
}

// piece is one part of a value that lies in several places.
type piece struct {
	size   int64 // bytes
	place  place
	absent bool // this part is optimised out
}

// inRegister is a value that is the register itself.
func inRegister(reg string) place { return place{base: compile.BaseReg, reg: reg} }

// atFrame is the memory off bytes above the canonical frame address, where arguments on the stack start.
func atFrame(off int64) place { return place{base: compile.BaseFrame, value: off, memory: true} }

// whereAsked is the memory that the caller of a function passed for its result.
func whereAsked() place { return place{base: compile.BaseResult, memory: true} }

// constant is a value that the debug information knows by itself.
func constant(v int64) place { return place{base: compile.BaseConst, value: v} }

// Places are values: extending one must never show in another that was made from the same beginnings, because a walk
// may turn back (a bit-field tries two loads). So steps are copied before they grow.

// clone lets a place be extended without changing the one it came from.
func (p place) clone() place {
	p.steps = append([]compile.AccessStep(nil), p.steps...)
	return p
}

// add moves an address by off bytes, in the base or the last step if they take it.
func (p place) add(off int64) place {
	if off == 0 {
		return p
	}
	p = p.clone()
	if n := len(p.steps); n > 0 {
		if last := &p.steps[n-1]; last.Op == compile.OpOffset {
			last.Offset += off
			return p
		}
		p.steps = append(p.steps, compile.AccessStep{Op: compile.OpOffset, Offset: off})
		return p
	}
	if p.base == compile.BaseReg {
		p.base = compile.BaseRegOffset
	}
	p.value += off
	return p
}

// load appends a load of size bytes.
func (p place) load(size int, signed, float bool) place {
	p = p.clone()
	p.steps = append(p.steps, compile.AccessStep{Op: compile.OpLoad, Size: size, Signed: signed, Float: float})
	return p
}

// deref takes the value, which is a pointer, for the address of what it points to.
func (p place) deref(word int) (place, error) {
	switch {
	case len(p.pieces) > 0:
		part, err := p.piece(0, int64(word))
		if err != nil {
			return place{}, err
		}
		return part.deref(word)
	case p.memory:
		p = p.load(word, false, false)
	case p.shift != 0:
		p = p.clone()
		p.steps = append(p.steps, compile.AccessStep{Op: compile.OpBits, Offset: p.shift, Size: 8 * word})
		p.shift = 0
	}
	p.memory = true
	return p, nil
}

// part is the place of size bytes at off within the value. Which piece that is shows only when a number is taken: a
// struct may lie in several.
func (p place) part(off, size int64) (place, error) {
	switch {
	case len(p.pieces) > 0:
		p.skip += off
		return p, nil
	case p.memory:
		return p.add(off), nil
	case p.base == compile.BaseConst && off+size <= 8:
		p.value >>= 8 * off
		return p, nil
	}
	if p.shift/8+off+max(size, 0) > 8 || p.shift/8+off >= 8 {
		return place{}, fmt.Errorf("it lies beyond the 8 bytes of a register that can be read")
	}
	p.shift += 8 * off
	return p, nil
}

// piece finds the piece that holds size bytes at off.
func (p place) piece(off, size int64) (place, error) {
	off += p.skip
	for _, piece := range p.pieces {
		if off >= piece.size {
			off -= piece.size
			continue
		}
		if off+size > piece.size {
			return place{}, fmt.Errorf("it lies in two places")
		}
		if piece.absent {
			return place{}, errAbsent
		}
		return piece.place.part(off, size)
	}
	return place{}, errAbsent
}

// join makes one value of 8 bytes out of two registers of 4, or of the two halves of a register, which 32-bit ARM counts as registers too.
func (p place) join(size int64) (place, bool) {
	off := p.skip
	for i, low := range p.pieces {
		if off > 0 {
			off -= low.size
			continue
		}
		if off < 0 || size != 8 || i+1 == len(p.pieces) || !low.isRegister(4) || !p.pieces[i+1].isRegister(4) {
			break
		}
		if high := p.pieces[i+1].place; high.shift != 0 {
			return low.place, low.place.reg == high.reg && low.place.shift == 0
		}
		if low.place.shift != 0 {
			break
		}
		joined := low.place.clone()
		joined.steps = append(joined.steps, compile.AccessStep{Op: compile.OpTruncate, Size: 4},
			compile.AccessStep{Op: compile.OpJoin, Reg: p.pieces[i+1].place.reg, Offset: 32})
		return joined, true
	}
	return place{}, false
}

// isRegister reports whether a piece is a whole register of so many bytes.
func (p *piece) isRegister(size int64) bool {
	return p.size == size && !p.absent && p.place.base == compile.BaseReg && !p.place.memory &&
		len(p.place.steps) == 0 && len(p.place.pieces) == 0
}

// errAbsent is a part of a value that the compiler kept nowhere.
var errAbsent = fmt.Errorf("this part of it is optimised out")

// scalar completes the access to a value of size bytes.
func (p place) scalar(size int64, signed, float bool) (compile.Access, error) {
	if joined, ok := p.join(size); ok {
		return joined.cut(size, signed, float).access(), nil
	}
	if len(p.pieces) > 0 {
		part, err := p.piece(0, size)
		if err != nil {
			return compile.Access{}, err
		}
		return part.scalar(size, signed, float)
	}
	switch {
	case p.memory:
		p = p.load(int(size), signed, float)
	case p.base == compile.BaseConst && len(p.steps) == 0 && !float:
		p.value = extend(p.value, 8*size, signed)
	default:
		p = p.cut(size, signed, float)
	}
	return p.access(), nil
}

// cut appends the steps that take size bytes out of a register.
func (p place) cut(size int64, signed, float bool) place {
	p = p.clone()
	if p.shift != 0 {
		p.steps = append(p.steps, compile.AccessStep{Op: compile.OpBits, Offset: p.shift, Size: int(8 * size), Signed: signed && !float})
	}
	if float || p.shift == 0 && (size < 8 || !signed) { // of 8 bytes nothing is cut: the step says that they are unsigned
		p.steps = append(p.steps, compile.AccessStep{Op: compile.OpTruncate, Size: int(size), Signed: signed && !float, Float: float})
	}
	p.shift = 0
	return p
}

// bitField completes the access to bits that start at bit, counted from the start of the value; unit is the size of the
// declared type.
func (p place) bitField(bit, bits, unit int64, signed bool) (compile.Access, error) {
	if bits < 1 || bits > 64 {
		return compile.Access{}, fmt.Errorf("a bit-field of %d bits is no number", bits)
	}
	if unit < 1 || unit > 8 {
		unit = 8
	}
	start, size := bit/(8*unit)*unit, unit
	if bit+bits > 8*(start+size) { // packed: the smallest load that holds it
		start, size = smallest(bit, bits)
	}
	if size > 8 {
		return compile.Access{}, fmt.Errorf("the bit-field lies across more than 64 bits")
	}
	part, err := p.part(start, size)
	if err == nil && len(part.pieces) > 0 {
		if part, err = part.piece(0, size); err != nil { // a piece smaller than the declared type
			start, size = smallest(bit, bits)
			part, err = p.piece(start, size)
		}
	}
	if err != nil {
		return compile.Access{}, err
	}
	if part.memory {
		part = part.load(int(size), false, false)
	}
	part = part.clone()
	part.steps = append(part.steps, compile.AccessStep{Op: compile.OpBits, Offset: bit - 8*start + part.shift, Size: int(bits), Signed: signed})
	return part.access(), nil
}

// smallest is the smallest load that holds a bit-field of up to 64 bits.
func smallest(bit, bits int64) (start, size int64) {
	start, size = bit/8, 1
	for bit-8*start+bits > 8*size {
		size *= 2
	}
	return start, size
}

// address completes the access to the address of a value in memory.
func (p place) address() (compile.Access, error) {
	if !p.memory {
		return compile.Access{}, fmt.Errorf("it lies in registers and has no address")
	}
	return p.access(), nil
}

// access is the place as what it is made for.
func (p place) access() compile.Access {
	return compile.Access{Base: p.base, Reg: p.reg, Value: p.value, Steps: p.steps}
}

// extend cuts v to its low bits.
func extend(v, bits int64, signed bool) int64 {
	if bits >= 64 {
		return v
	}
	shift := uint(64 - bits)
	if signed {
		return v << shift >> shift
	}
	return int64(uint64(v) << shift >> shift)
}
