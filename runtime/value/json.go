package value

import (
	"strconv"
)

// maxExact is the largest integer that is exact for a JSON reader that treats numbers as doubles. Most readers of JSON,
// above all JavaScript, have only doubles: 2^53+1 would silently become 2^53.
const maxExact = 1 << 53

// JSONInt returns an integer for encoding/json. It is a string beyond ±2^53.
func JSONInt(n int64) any {
	if n > maxExact || n < -maxExact {
		return strconv.FormatInt(n, 10)
	}
	return n
}

// JSONUint is JSONInt for unsigned numbers.
func JSONUint(n uint64) any {
	if n > maxExact {
		return strconv.FormatUint(n, 10)
	}
	return n
}

// JSON returns a value for encoding/json: integers as by JSONInt, stacks as lists of hexadecimal addresses, floats that
// JSON cannot represent as text, cut text with its mark.
func (v Value) JSON() any {
	switch v.Kind {
	case KindUint:
		return JSONUint(uint64(v.Int))
	case KindFloat:
		// NaN, and the infinities, whose difference with themselves is NaN.
		if v.Float != v.Float || v.Float-v.Float != 0 {
			return v.Format(nil)
		}
		return v.Float
	case KindText:
		return v.marked()
	case KindBytes:
		return v.Format(nil)
	case KindBool:
		return v.Int != 0
	case KindStack:
		pcs := make([]string, len(v.Stack))
		for i, pc := range v.Stack {
			pcs[i] = "0x" + strconv.FormatUint(pc, 16)
		}
		return pcs
	}
	return JSONInt(v.Int)
}
