package location

import (
	"fmt"
	"strconv"
	"strings"

	"gotap/compile"
)

// Place is where a value is: an access under construction. Places are immutable values: methods return an extended
// copy, because a walk may start twice from the same place (a bit-field tries two loads).
type Place struct {
	Base   compile.AccessBase
	Reg    string
	Value  int64
	steps  []compile.AccessStep
	Memory bool    // the access yields the value's address, not the value
	shift  int64   // unless Memory: bits of the register below the value
	Pieces []Piece // the value is in several places; the fields above are unused
	skip   int64   // bytes of the pieces before the value
}

// InRegister returns the place of a value that is a whole register.
func InRegister(reg string) Place { return Place{Base: compile.BaseReg, Reg: reg} }

// Given returns the place of a value that the program has. memory: it is the address of the value.
func Given(memory bool) Place { return Place{Base: compile.BaseValue, Memory: memory} }

// AtFrame returns the memory off bytes above the canonical frame address, where arguments on the stack start.
func AtFrame(off int64) Place { return Place{Base: compile.BaseFrame, Value: off, Memory: true} }

// AtResult returns the memory that the caller of a function passed for its result.
func AtResult() Place { return Place{Base: compile.BaseResult, Memory: true} }

// Constant returns the place of a value that the debug information contains.
func Constant(v int64) Place { return Place{Base: compile.BaseConst, Value: v} }

// clone returns a copy whose steps can be appended to.
func (p Place) clone() Place {
	p.steps = append([]compile.AccessStep(nil), p.steps...)
	return p
}

// Add returns the address moved by off bytes. It changes the base or the last step when they have an offset.
func (p Place) Add(off int64) Place {
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
	switch p.Base {
	case compile.BaseReg:
		p.Base = compile.BaseRegOffset
	case compile.BaseValue:
		p.steps = append(p.steps, compile.AccessStep{Op: compile.OpOffset, Offset: off})
		return p
	}
	p.Value += off
	return p
}

// Element returns the element of an array in memory that the index of the given number chooses. Elements have size
// bytes; there are count of them, 0: unknown.
func (p Place) Element(number int, size, count int64) Place {
	p = p.clone()
	p.steps = append(p.steps, compile.AccessStep{Op: compile.OpElement, Offset: int64(number), Size: int(size), Count: count})
	return p
}

// Find returns element n of the container in memory that p is, laid out as the text says (element.Layout). chosen: it
// is that of the program's index of this number.
func (p Place) Find(layout string, n int64, chosen bool) Place {
	p = p.clone()
	op := compile.OpFind
	if chosen {
		op = compile.OpFindChosen
	}
	p.steps = append(p.steps, compile.AccessStep{Op: op, Layout: layout, Offset: n})
	return p
}

// Load returns the value of size bytes at the address.
func (p Place) Load(size int, signed, float bool) Place {
	p = p.clone()
	p.steps = append(p.steps, compile.AccessStep{Op: compile.OpLoad, Size: size, Signed: signed, Float: float})
	return p
}

// Deref returns the place that the pointer in p points to.
func (p Place) Deref(word int) (Place, error) {
	switch {
	case len(p.Pieces) > 0:
		part, err := p.piece(0, int64(word))
		if err != nil {
			return Place{}, err
		}
		return part.Deref(word)
	case p.Memory:
		p = p.Load(word, false, false)
	case p.shift != 0:
		p = p.clone()
		p.steps = append(p.steps, compile.AccessStep{Op: compile.OpBits, Offset: p.shift, Size: 8 * word})
		p.shift = 0
	}
	p.Memory = true
	return p, nil
}

// Part returns the place of size bytes at off within the value. For a value in pieces the piece is chosen later, when a
// number is read, because a struct may be in several.
func (p Place) Part(off, size int64) (Place, error) {
	switch {
	case len(p.Pieces) > 0:
		p.skip += off
		return p, nil
	case p.Memory:
		return p.Add(off), nil
	case p.Base == compile.BaseConst && off+size <= 8:
		p.Value >>= 8 * off
		return p, nil
	}
	if off == 8 && size <= 8 && p.isVector() {
		p.Reg += "h" // the upper half has a name of its own
		return p, nil
	}
	if p.shift/8+off+max(size, 0) > 8 || p.shift/8+off >= 8 {
		return Place{}, fmt.Errorf("it is beyond the 8 bytes of a register that can be read")
	}
	p.shift += 8 * off
	return p, nil
}

// isVector reports whether p is a whole vector register of 16 bytes: xmm0, v0.
func (p Place) isVector() bool {
	digits, ok := strings.CutPrefix(p.Reg, "xmm")
	if !ok {
		digits, ok = strings.CutPrefix(p.Reg, "v")
	}
	_, err := strconv.ParseUint(digits, 10, 8)
	return ok && err == nil && p.Base == compile.BaseReg && p.shift == 0 && len(p.steps) == 0
}
