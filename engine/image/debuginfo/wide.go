package debuginfo

import (
	"fmt"

	"gotap/compile"
	"gotap/engine/image/debuginfo/ctype"
	"gotap/runtime/value"
)

// Numbers of more than 8 bytes, and complex numbers. An access to one has the low word and the high one; value.Wide
// knows what they mean.

// isWide reports whether t is a number of more than 8 bytes.
func isWide(t *ctype.Type) bool {
	return (t.Kind == ctype.Int || t.Kind == ctype.Float) && t.Size > 8
}

// wide returns the access to a number of more than 8 bytes.
func (w *walk) wide(t *ctype.Type) (compile.Access, error) {
	encoding, err := w.encoding(t)
	if err != nil {
		return compile.Access{}, err
	}
	rest := int64(8)
	if encoding == value.WideX87 {
		rest = 2 // and padding, which may not be there
	}
	low, err := w.word(0, 8)
	if err != nil {
		return compile.Access{}, err
	}
	high, err := w.word(8, rest)
	if err != nil {
		return compile.Access{}, err
	}
	low.Type, low.Wide = valueType(t), &compile.Wide{Encoding: encoding, High: high}
	return low, nil
}

// word returns the access to some bytes of the value that the walk has reached.
func (w *walk) word(off, size int64) (compile.Access, error) {
	p, err := w.place.Part(off, size)
	if err != nil {
		return compile.Access{}, err
	}
	return p.Scalar(size, false, false)
}

// encoding returns how a number of more than 8 bytes is encoded.
func (w *walk) encoding(t *ctype.Type) (value.Wide, error) {
	m := w.in.entries.Machine()
	switch {
	case t.Kind == ctype.Int && t.Size == 16 && t.Signed:
		return value.WideInt, nil
	case t.Kind == ctype.Int && t.Size == 16:
		return value.WideUint, nil
	case t.Kind == ctype.Float && t.IsQuad(m):
		return value.WideQuad, nil
	case t.Kind == ctype.Float && t.IsX87(m):
		return value.WideX87, nil
	case t.Kind == ctype.Float:
		return 0, fmt.Errorf("the debug information does not say how a floating-point number of %d bytes with the name %s is encoded", t.Size, t.Name)
	}
	return 0, fmt.Errorf("integers of %d bytes are not supported", t.Size)
}

// halves moves to a part of a complex number or of an integer of 16 bytes; ok is false if name is not one.
func (w *walk) halves(t *ctype.Type, name string) (ok bool, err error) {
	var part *ctype.Type
	second := name == value.ImaginaryPart || name == value.HighHalf
	switch {
	case t.Kind == ctype.Complex && (name == value.RealPart || name == value.ImaginaryPart):
		part = t.ComplexPart()
	case t.Kind == ctype.Int && t.Size == 16 && (name == value.LowHalf || name == value.HighHalf):
		part = t.Half(second)
	default:
		return false, nil
	}
	w.name, w.rest = w.name+"."+name, part
	off := int64(0)
	if second {
		off = part.Size
	}
	return true, w.part(off, part.Size)
}

// partNames returns the names of the parts of a number.
func partNames(t *ctype.Type) []string {
	switch {
	case t.Kind == ctype.Complex:
		return []string{value.RealPart, value.ImaginaryPart}
	case t.Kind == ctype.Int && t.Size == 16:
		return []string{value.LowHalf, value.HighHalf}
	}
	return nil
}
