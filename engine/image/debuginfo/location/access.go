package location

import (
	"fmt"

	"gotap/compile"
)

// FloatTop names the top of the x87 stack in an access. It has 80 bits and is read as a double.
const FloatTop = "st0"

// Scalar returns the access to a value of size bytes.
func (p Place) Scalar(size int64, signed, float bool) (compile.Access, error) {
	if joined, ok := p.join(size); ok {
		return joined.cut(size, signed, float).Access(), nil
	}
	if len(p.Pieces) > 0 {
		part, err := p.piece(0, size)
		if err != nil {
			return compile.Access{}, err
		}
		return part.Scalar(size, signed, float)
	}
	switch {
	case p.Memory:
		p = p.Load(int(size), signed, float)
	case p.Base == compile.BaseConst && len(p.steps) == 0 && !float:
		p.Value = Extend(p.Value, 8*size, signed)
	default:
		p = p.cut(size, signed, float)
	}
	return p.Access(), nil
}

// cut appends the steps that take size bytes out of a register.
func (p Place) cut(size int64, signed, float bool) Place {
	p = p.clone()
	if p.shift != 0 {
		p.steps = append(p.steps, compile.AccessStep{Op: compile.OpBits, Offset: p.shift, Size: int(8 * size), Signed: signed && !float})
	}
	if float || p.shift == 0 && (size < 8 || !signed) { // 8 bytes need no cut, but the step marks them as unsigned
		p.steps = append(p.steps, compile.AccessStep{Op: compile.OpTruncate, Size: int(size), Signed: signed && !float, Float: float})
	}
	p.shift = 0
	return p
}

// BitField returns the access to bits that start at bit, counted from the start of the value. unit is the size of the
// declared type.
func (p Place) BitField(bit, bits, unit int64, signed bool) (compile.Access, error) {
	if bits < 1 || bits > 64 {
		return compile.Access{}, fmt.Errorf("a bit-field of %d bits is not supported", bits)
	}
	if unit < 1 || unit > 8 {
		unit = 8
	}
	start, size := bit/(8*unit)*unit, unit
	if bit+bits > 8*(start+size) { // packed
		start, size = smallest(bit, bits)
	}
	if size > 8 {
		return compile.Access{}, fmt.Errorf("the bit-field spans more than 64 bits")
	}
	part, err := p.Part(start, size)
	if err == nil && len(part.Pieces) > 0 {
		if part, err = part.piece(0, size); err != nil { // the piece is smaller than the declared type
			start, size = smallest(bit, bits)
			part, err = p.piece(start, size)
		}
	}
	if err != nil {
		return compile.Access{}, err
	}
	if part.Memory {
		part = part.Load(int(size), false, false)
	}
	part = part.clone()
	part.steps = append(part.steps, compile.AccessStep{Op: compile.OpBits, Offset: bit - 8*start + part.shift, Size: int(bits), Signed: signed})
	return part.Access(), nil
}

// ChosenBit returns the access to a bit of the byte in memory that p is: the one that the index of the given number
// chooses.
func (p Place) ChosenBit(number int) compile.Access {
	p = p.Load(1, false, false)
	p.steps = append(p.steps, compile.AccessStep{Op: compile.OpBit, Offset: int64(number)})
	return p.Access()
}

// smallest returns the smallest load that contains a bit-field of up to 64 bits.
func smallest(bit, bits int64) (start, size int64) {
	start, size = bit/8, 1
	for bit-8*start+bits > 8*size {
		size *= 2
	}
	return start, size
}

// Address returns the access to the address of a value in memory.
func (p Place) Address() (compile.Access, error) {
	if !p.Memory {
		return compile.Access{}, fmt.Errorf("it is in registers and has no address")
	}
	return p.Access(), nil
}

// Access returns the access to the place as it is.
func (p Place) Access() compile.Access {
	return compile.Access{Base: p.Base, Reg: p.Reg, Value: p.Value, Steps: p.steps}
}

// Extend returns the low bits of v, extended with or without sign.
func Extend(v, bits int64, signed bool) int64 {
	if bits >= 64 {
		return v
	}
	shift := uint(64 - bits)
	if signed {
		return v << shift >> shift
	}
	return int64(uint64(v) << shift >> shift)
}
