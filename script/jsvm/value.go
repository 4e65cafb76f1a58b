package jsvm

import (
	"math"
	"math/big"

	"github.com/dop251/goja"
)

// MaxSafe is the largest integer up to which a Number is exact.
const MaxSafe = 1<<53 - 1

// Integer returns a 64-bit integer as JavaScript has it: a Number when that is exact, else a BigInt.
func (m *Machine) Integer(n int64) goja.Value {
	if n >= -MaxSafe && n <= MaxSafe {
		return m.VM.ToValue(n)
	}
	return m.VM.ToValue(big.NewInt(n))
}

// Unsigned returns the same for values without a sign.
func (m *Machine) Unsigned(n uint64) goja.Value {
	if n <= MaxSafe {
		return m.VM.ToValue(int64(n))
	}
	return m.VM.ToValue(new(big.Int).SetUint64(n))
}

// ToInt returns an integral Number or a BigInt of at most 64 bits as a word; unsigned BigInts keep their bits.
func ToInt(v goja.Value) (int64, bool) {
	if v == nil {
		return 0, false
	}
	switch n := v.Export().(type) {
	case int64:
		return n, true
	case float64:
		if n != math.Trunc(n) || math.Abs(n) >= 1<<63 || n == 0 && math.Signbit(n) {
			return 0, false
		}
		return int64(n), true
	case *big.Int:
		if n.IsInt64() {
			return n.Int64(), true
		}
		if n.IsUint64() {
			return int64(n.Uint64()), true
		}
	}
	return 0, false
}

// Rounded reports whether a value is a whole Number of the size of a 64-bit integer, so large that JavaScript may have
// rounded it.
func Rounded(v goja.Value) bool {
	switch n := v.Export().(type) {
	case int64:
		return n > MaxSafe || n < -MaxSafe
	case float64:
		return math.Abs(n) > MaxSafe && math.Abs(n) <= 1<<64
	}
	return false
}

// ToFloat returns a number as a float; BigInts are rounded.
func ToFloat(v goja.Value) float64 {
	if n, ok := v.Export().(*big.Int); ok {
		f, _ := new(big.Float).SetInt(n).Float64()
		return f
	}
	return v.ToFloat()
}

// BoolInt returns 1 for true and 0 for false.
func BoolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Bytes are bytes as a Uint8Array.
func (m *Machine) Bytes(text string) goja.Value {
	buffer := m.VM.NewArrayBuffer([]byte(text))
	array, err := m.VM.New(m.uint8Array, m.VM.ToValue(buffer))
	if err != nil {
		panic(err)
	}
	return array
}

// BytesOf returns the content of a Uint8Array or ArrayBuffer.
func BytesOf(v goja.Value) ([]byte, bool) {
	switch raw := v.Export().(type) {
	case []byte:
		return raw, true
	case goja.ArrayBuffer:
		return raw.Bytes(), true
	}
	return nil, false
}

// Property reads a property, whose getter may throw.
func (m *Machine) Property(obj *goja.Object, key string) (v goja.Value, err error) {
	if ex := m.VM.Try(func() { v = obj.Get(key) }); ex != nil {
		return nil, ex
	}
	return v, nil
}

// Strings returns a list of texts as an array.
func (m *Machine) Strings(list []string) goja.Value {
	values := make([]any, len(list))
	for i, s := range list {
		values[i] = s
	}
	return m.VM.NewArray(values...)
}

// OrThrow returns the result of a call; an exception goes on to the caller.
func OrThrow(v goja.Value, err error) goja.Value {
	if err != nil {
		panic(err)
	}
	return v
}

// ReferenceError makes an exception of that class.
func (m *Machine) ReferenceError(text string) goja.Value { return m.newError("ReferenceError", text) }

// RangeError makes an exception of that class.
func (m *Machine) RangeError(text string) goja.Value { return m.newError("RangeError", text) }

func (m *Machine) newError(class, text string) goja.Value {
	e, err := m.VM.New(m.VM.Get(class), m.VM.ToValue(text))
	if err != nil {
		return m.VM.ToValue(text)
	}
	return e
}
