package register

import (
	"math"

	"gotap/arch"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/remote/rsp"
)

// LoadVectors reads the vector registers, at most once per stop. It reports whether the stub shows them.
func (f *File) LoadVectors() bool {
	b := f.layout
	if f.loaded || len(b.vectors) == 0 {
		return f.loaded
	}
	var v arch.Vectors
	for i, r := range b.vectors {
		data, ok := f.register(r)
		if !ok {
			return false
		}
		if b.isa == &armISA {
			v.V[i/2][i%2] = value(data)
		} else {
			v.V[i] = [2]uint64{value(data[:8]), value(data[8:min(16, len(data))])}
		}
	}
	if data, ok := f.register(b.control); ok {
		v.Control = value(data)
	}
	if data, ok := f.register(b.status); ok {
		v.Status = value(data)
	}
	f.Vectors, f.vectorsWas, f.loaded = v, v, true
	return true
}

// writeVectors writes the vector registers that have changed to the stub. The bytes beyond the first sixteen of a
// register become zero, as they do when an instruction writes the register.
func (f *File) writeVectors() error {
	if !f.loaded || f.Vectors == f.vectorsWas {
		return nil
	}
	for i, r := range f.layout.vectors {
		data := make([]byte, r.Bytes())
		now, was := f.Vectors.V[i], f.vectorsWas.V[i]
		if f.layout.isa == &armISA {
			now, was = [2]uint64{f.Vectors.V[i/2][i%2]}, [2]uint64{f.vectorsWas.V[i/2][i%2]}
		}
		if now == was {
			continue
		}
		putValue(data[:8], now[0])
		if len(data) >= 16 {
			putValue(data[8:16], now[1])
		}
		if err := f.write(r, data); err != nil {
			return err
		}
	}
	return f.writeModes()
}

// writeModes is writeVectors for the registers with the vector unit's modes and flags.
func (f *File) writeModes() error {
	for _, m := range []struct {
		r        rsp.Register
		now, was uint64
	}{{f.layout.control, f.Vectors.Control, f.vectorsWas.Control}, {f.layout.status, f.Vectors.Status, f.vectorsWas.Status}} {
		if m.now == m.was || m.r.Name == "" {
			continue
		}
		if err := f.writeValue(m.r, m.now); err != nil {
			return err
		}
	}
	f.vectorsWas = f.Vectors
	return nil
}

// Float returns the low lane of vector register n. ok is false if the stub does not show it.
func (f *File) Float(n int) (v float64, ok bool) {
	if n < 0 || n >= f.layout.isa.vectors || !f.LoadVectors() {
		return 0, false
	}
	bits := f.Vectors.V[n][0]
	if f.layout.isa == &armISA {
		bits = f.Vectors.V[n/2][n%2]
	}
	return math.Float64frombits(bits), true
}

// FloatWord returns a word of the floating-point registers, numbered as in package isa. Of x86's registers only the
// vector registers have numbers. ok is false if the stub does not show the word.
func (f *File) FloatWord(n int) (v uint64, ok bool) {
	a := f.layout.isa
	words := 2 * a.vectors
	if a == &armISA {
		words = a.vectors
	}
	switch {
	case n < 0 || n >= words && a.control == "" || !f.LoadVectors():
		return 0, false
	case n < words:
		return f.Vectors.V[n/2][n%2], true
	case n == isa.FPCR:
		return f.Vectors.Control, true
	case n == isa.FPSR:
		return f.Vectors.Status, true
	}
	return 0, false
}

// FloatTop returns the number on top of the stack of x86's floating-point unit. GDB counts registers from the top;
// QEMU numbers them physically, wherever the top is: physical reports which of them the stub does, and is called only
// if it matters. ok is false if the stub does not show the stack.
func (f *File) FloatTop(physical func() bool) (v float64, ok bool) {
	data, ok := f.floatStack(0, physical)
	if !ok {
		return 0, false
	}
	return ptrace.Extended(data), true
}

// FloatStackWord is FloatWord for the stack of x86's floating-point unit. physical is as for FloatTop.
func (f *File) FloatStackWord(n int, physical func() bool) (v uint64, ok bool) {
	n -= isa.FloatStack
	if n < 0 || n >= 2*8 {
		return 0, false
	}
	data, ok := f.floatStack(n/2, physical)
	if !ok || len(data) < 10 {
		return 0, false
	}
	if n%2 != 0 {
		return value(data[8:10]), true
	}
	return value(data[:8]), true
}

// floatStack returns the number on the stack of the floating-point unit that is n below the top.
func (f *File) floatStack(n int, physical func() bool) (data []byte, ok bool) {
	b := f.layout
	if len(b.float) == 0 {
		return nil, false
	}
	if physical() {
		flags, ok := f.register(b.flags)
		if !ok {
			return nil, false
		}
		n += int(value(flags) >> 11 & 7)
	}
	return f.register(b.float[n%len(b.float)])
}
