package callconv

import (
	"errors"

	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/location"
)

// i386 is the System V calling convention of C on i386 (System V ABI i386, 2.2.3).
type i386 struct{ *classes }

// errI386Vector reports that a vector argument precedes.
var errI386Vector = errors.New("vectors are passed in registers that cannot be read")

// param returns the place of the last parameter. All are on the stack, each in as many words as it needs, behind the
// address of a struct result.
func (cc i386) param(ret *ctype.Type, params []*ctype.Type, _ bool) (location.Place, error) {
	off := int64(0)
	if cc.inMemory(ret) {
		off = 4
	}
	var p location.Place
	for _, t := range params {
		if t.Kind == ctype.Vector {
			return location.Place{}, errI386Vector
		}
		p = location.AtFrame(off)
		size := cc.types.Size(t)
		if cc.byReference(t, 0) {
			p, size = p.Load(4, false, false), 4
		}
		if size < 0 {
			return location.Place{}, ErrUnknown
		}
		off += (size + 3) / 4 * 4
	}
	return p, nil
}

// inMemory reports whether a result is written to an address that the caller passes, as every struct is.
func (cc i386) inMemory(ret *ctype.Type) bool {
	switch ret.Kind {
	case ctype.Struct, ctype.Union:
		return true
	case ctype.Complex:
		return cc.types.Size(ret) > 8
	}
	return false
}

func (cc i386) result(t *ctype.Type, _ bool) (location.Place, error) {
	switch {
	case t.Kind == ctype.Float && t.IsX87(cc.entries.Machine()):
		return location.InFloatStack(1), nil
	case t.Kind == ctype.Float:
		return location.InRegister(location.FloatTop), nil
	case cc.inMemory(t):
		p := location.InRegister("eax")
		p.Memory = true
		return p, nil
	case cc.types.Size(t) > 4:
		return location.Place{Pieces: []location.Piece{{Size: 4, Place: location.InRegister("eax")}, {Size: 4, Place: location.InRegister("edx")}}}, nil
	}
	return location.InRegister("eax"), nil
}
