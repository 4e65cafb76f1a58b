package js

import (
	"math"
	"strings"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// access is the commands that fetch a value as debug information describes it.
func (l *lowering) access(a compile.Access, at diag.Span) *expr {
	e := l.accessBase(a, at)
	for _, s := range a.Steps {
		e = accessStep(e, s, at)
	}
	if e.kind == kindBad {
		return e
	}
	k := kindOf(a)
	if e.code == codeConst {
		e = convertConst(e, k)
	}
	typed := *e
	typed.kind, typed.enum = k, a.Enum
	return &typed
}

// convertConst makes a constant of a note fit its type.
func convertConst(e *expr, k kind) *expr {
	if k == kindFloat && e.kind != kindFloat {
		return constant(e.at, kindFloat, math.Float64bits(float64(int64(e.cmd.V))))
	}
	return e
}

// kindOf is the type of an access. What is 8 bytes and not signed prints unsigned.
func kindOf(a compile.Access) kind {
	switch a.Type {
	case compile.TypeF64:
		return kindFloat
	case compile.TypeBool:
		return kindBool
	}
	if n := len(a.Steps); n > 0 {
		s := a.Steps[n-1]
		if (s.Op == compile.OpLoad || s.Op == compile.OpTruncate) && s.Size == 8 && !s.Signed {
			return kindUint
		}
	}
	return kindInt
}

// accessBase is where an access starts.
func (l *lowering) accessBase(a compile.Access, at diag.Span) *expr {
	switch a.Base {
	case compile.BaseConst:
		return integer(at, a.Value)
	case compile.BaseReg:
		return registerValue(a.Reg, at)
	case compile.BaseRegOffset:
		return offset(registerValue(a.Reg, at), a.Value, at)
	case compile.BaseArg:
		return applyA(at, kindInt, runtime.OpArg, uint32(a.Value))
	case compile.BaseFrame:
		// The canonical frame address of a function is one word above the stack pointer at its entry.
		field := runtime.FieldSP
		if l.returning() {
			field = runtime.FieldFrame
		}
		sp := applyA(at, kindInt, runtime.OpField, uint32(field))
		return offset(sp, a.Value+int64(l.unit.WordSize), at)
	case compile.BaseResult:
		return offset(applyA(at, kindInt, runtime.OpField, uint32(runtime.FieldResult)), a.Value, at)
	case compile.BaseAddr:
		if e := l.staticAddress(a, at); e != nil {
			return e
		}
	}
	l.errorf(at, "read it through a pointer the function has", "this value is kept where a program cannot reach it")
	return poison(at)
}

// staticAddress is the address that a place in a module's file has in the process; nil when it cannot be told. In the probe's own module it
// is at a fixed distance from the program counter, which behind the instruction and at a return is another place.
func (l *lowering) staticAddress(a compile.Access, at diag.Span) *expr {
	file := a.Module
	if p, ok := l.unit.Place.(Located); ok {
		own, here := p.Addr()
		if here && (file == "" || file == p.File()) && l.handler != Post && !l.returning() {
			pc := applyA(at, kindInt, runtime.OpField, uint32(runtime.FieldPC))
			return offset(pc, a.Value-int64(own), at)
		}
		if file == "" {
			file = p.File()
		}
	}
	if file == "" {
		return nil
	}
	e := apply(at, kindInt, runtime.OpBias)
	e.text = file
	return offset(e, a.Value, at)
}

// offset adds a constant to an address.
func offset(e *expr, by int64, at diag.Span) *expr {
	if by == 0 {
		return e
	}
	return fold(apply(at, kindInt, runtime.OpAdd, e, integer(at, by)))
}

// accessStep is one step of an access.
func accessStep(e *expr, s compile.AccessStep, at diag.Span) *expr {
	switch s.Op {
	case compile.OpOffset:
		return offset(e, s.Offset, at)
	case compile.OpLoad:
		return apply(at, kindInt, loadOp(s), e)
	case compile.OpBits:
		if s.Offset != 0 {
			e = apply(at, kindInt, runtime.OpShr, e, integer(at, s.Offset))
		}
		return extend(e, s.Size, s.Signed, at)
	case compile.OpTruncate:
		switch {
		case s.Float && s.Size == 4:
			return apply(at, kindFloat, runtime.OpF32, e)
		case s.Float: // the word holds the bits of the float already
			bits := *e
			bits.kind = kindFloat
			return &bits
		}
		return extend(e, 8*s.Size, s.Signed, at)
	case compile.OpJoin:
		rest := apply(at, kindInt, runtime.OpShl, registerValue(s.Reg, at), integer(at, s.Offset))
		return apply(at, kindInt, runtime.OpOr, e, rest)
	case compile.OpIndex:
		index := registerValue(s.Reg, at)
		if s.Signed {
			index = extend(index, 32, true, at)
		}
		if s.Size > 1 {
			index = apply(at, kindInt, runtime.OpMul, index, integer(at, int64(s.Size)))
		}
		return apply(at, kindInt, runtime.OpAdd, e, index)
	}
	return e
}

// floatPrefixes are what the registers that pass floats are called on x86, AArch64 and 32-bit ARM. No other register's name is one of these
// and a digit.
var floatPrefixes = []string{"xmm", "v", "d"}

// floatTop is the top of the stack of IA-32's floating-point unit. Like vector registers, it is no register of the file.
const floatTop = "st0"

// registerValue reads a register. Those that pass floats are not in the register file: they are read as arguments.
func registerValue(name string, at diag.Span) *expr {
	if name == floatTop {
		return applyA(at, kindFloat, runtime.OpArgF, runtime.FloatTop)
	}
	for _, prefix := range floatPrefixes {
		if n, ok := strings.CutPrefix(name, prefix); ok && len(n) == 1 && n[0] >= '0' && n[0] <= '7' {
			return applyA(at, kindFloat, runtime.OpArgF, uint32(n[0]-'0'))
		}
	}
	e := apply(at, kindInt, runtime.OpPushR)
	e.text = name
	return e
}

// extend keeps the low bits of a word.
func extend(e *expr, bits int, signed bool, at diag.Span) *expr {
	switch {
	case bits >= 64:
		return e
	case signed:
		return applyA(at, kindInt, runtime.OpExt, uint32(bits), e)
	}
	return applyA(at, kindInt, runtime.OpZext, uint32(bits), e)
}

// loadOp is the command that loads so many bytes.
func loadOp(s compile.AccessStep) runtime.Op {
	switch {
	case s.Float && s.Size == 4:
		return runtime.OpLoadF32
	case s.Size == 1 && s.Signed:
		return runtime.OpLoadS8
	case s.Size == 1:
		return runtime.OpLoad8
	case s.Size == 2 && s.Signed:
		return runtime.OpLoadS16
	case s.Size == 2:
		return runtime.OpLoad16
	case s.Size == 4 && s.Signed:
		return runtime.OpLoadS32
	case s.Size == 4:
		return runtime.OpLoad32
	}
	return runtime.OpLoad64
}
