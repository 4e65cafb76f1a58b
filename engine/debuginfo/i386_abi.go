package debuginfo

import "errors"

// floatTop is the top of the stack of the floating-point unit, as an access names it. Whatever was returned there has the unit's
// own 80 bits, and is read as a double.
const floatTop = "st0"

// errI386Vector is a vector argument, which has registers of its own.
var errI386Vector = errors.New("vectors are passed in registers that are not read")

// i386Param finds the last of the parameters by the C calling convention of i386 (System V ABI i386, 2.2.3): all
// on the stack, each in as many words as it needs, after the address of a struct that is returned.
func (in *Info) i386Param(ret *ctype, params []*ctype) (place, error) {
	off := int64(0)
	if in.i386InMemory(ret) {
		off = 4
	}
	var p place
	for _, t := range params {
		if t.kind == kindVector {
			return place{}, errI386Vector
		}
		p = atFrame(off)
		size := in.sizeOf(t)
		if in.byReference(t, 0) {
			p, size = p.load(4, false, false), 4
		}
		if size < 0 {
			return place{}, errConvention
		}
		off += (size + 3) / 4 * 4
	}
	return p, nil
}

// i386InMemory reports whether a result is written to an address that the caller passes: every struct is.
func (in *Info) i386InMemory(ret *ctype) bool {
	switch ret.kind {
	case kindStruct, kindUnion:
		return true
	case kindComplex:
		return in.sizeOf(ret) > 8
	}
	return false
}

// i386Return finds the result of a function that has just returned.
func (in *Info) i386Return(t *ctype) (place, error) {
	switch {
	case t.kind == kindFloat:
		return inRegister(floatTop), nil
	case in.i386InMemory(t):
		p := inRegister("eax")
		p.memory = true
		return p, nil
	case in.sizeOf(t) > 4:
		return place{pieces: []piece{{size: 4, place: inRegister("eax")}, {size: 4, place: inRegister("edx")}}}, nil
	}
	return inRegister("eax"), nil
}
