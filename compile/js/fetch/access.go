package fetch

import (
	"math"
	"slices"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/tree"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// Access is the commands that fetch a value as debug information describes it.
func (f *Fetcher) Access(a compile.Access, at diag.Span) *tree.Expr { return f.access(Path{}, a, at) }

// access is Access of a path, which may start from a value that the program has, and have indexes.
func (f *Fetcher) access(of Path, a compile.Access, at diag.Span) *tree.Expr {
	twice := slices.ContainsFunc(a.Checks, func(c compile.Check) bool { return c.Chosen }) ||
		slices.ContainsFunc(a.Steps, func(s compile.AccessStep) bool { return s.Op == compile.OpBit })
	if a.Wide != nil || twice {
		return f.once(of, at, func(of Path) *tree.Expr { return f.accessOnce(of, a, at) })
	}
	return f.accessOnce(of, a, at)
}

// accessOnce is access of a path whose indexes may be used several times.
func (f *Fetcher) accessOnce(of Path, a compile.Access, at diag.Span) *tree.Expr {
	if a.Wide != nil {
		low, high := f.wideParts(of, a, at)
		return tree.ApplyA(at, wideKind(a.Wide), opcode.Narrow, uint32(a.Wide.Encoding), low, high)
	}
	var e *tree.Expr
	if a.Base == compile.BaseValue && of.Of != nil {
		e = of.Of.Value
	} else {
		e = f.accessBase(a, at)
	}
	for _, s := range a.Steps {
		switch s.Op {
		case compile.OpElement:
			e = element(e, s, of.index(s.Offset, at), at)
			continue
		case compile.OpFindChosen:
			e = find(e, s, of.index(s.Offset, at), at)
			continue
		case compile.OpBit:
			e = bit(e, of.index(s.Offset, at), at)
			continue
		}
		e = accessStep(e, s, at)
	}
	if e.Kind == tree.KindBad {
		return e
	}
	k := kindOf(a)
	if e.Code == tree.CodeConst && a.Base == compile.BaseConst {
		e = convertConst(e, k)
	}
	typed := *e
	typed.Kind, typed.Enum, typed.Ref = k, a.Enum, nil
	if a.Ref.Known() {
		typed.Ref = &a.Ref
	}
	whole := &typed
	for _, c := range a.Checks {
		whole = f.checked(of, c, whole, at)
	}
	return whole
}

// convertConst makes a constant of a note fit its type.
func convertConst(e *tree.Expr, k tree.Kind) *tree.Expr {
	if k == tree.KindFloat && e.Kind != tree.KindFloat {
		return tree.Constant(e.At, tree.KindFloat, math.Float64bits(float64(int64(e.Cmd.V))))
	}
	return e
}

// kindOf is the type of an access. What is 8 bytes and not signed prints unsigned.
func kindOf(a compile.Access) tree.Kind {
	switch a.Type {
	case compile.TypeF64:
		return tree.KindFloat
	case compile.TypeBool:
		return tree.KindBool
	}
	if n := len(a.Steps); n > 0 {
		s := a.Steps[n-1]
		if (s.Op == compile.OpLoad || s.Op == compile.OpTruncate) && s.Size == 8 && !s.Signed {
			return tree.KindUint
		}
	}
	return tree.KindInt
}

// accessBase is where an access starts.
func (f *Fetcher) accessBase(a compile.Access, at diag.Span) *tree.Expr {
	switch a.Base {
	case compile.BaseConst:
		return tree.Integer(at, a.Value)
	case compile.BaseReg:
		return registerValue(a.Reg, at)
	case compile.BaseRegOffset:
		return offset(registerValue(a.Reg, at), a.Value, at)
	case compile.BaseArg:
		return tree.ApplyA(at, tree.KindInt, opcode.Arg, uint32(a.Value))
	case compile.BaseFrame:
		// The canonical frame address of a function is one word above the stack pointer at its entry.
		field := runtime.FieldSP
		if f.Returning() {
			field = runtime.FieldFrame
		}
		sp := tree.ApplyA(at, tree.KindInt, opcode.Field, uint32(field))
		return offset(sp, a.Value+int64(f.State.Unit.WordSize), at)
	case compile.BaseResult:
		return offset(tree.ApplyA(at, tree.KindInt, opcode.Field, uint32(runtime.FieldResult)), a.Value, at)
	case compile.BaseAddr:
		if e := f.staticAddress(a, at); e != nil {
			return e
		}
	}
	f.Errorf(at, "read it through a pointer the function has", "this value is stored where a program cannot read it")
	return tree.Poison(at)
}

// staticAddress returns the address in the process of a place in a module's file, or nil when it is not known. In the
// probe's own module it is at a fixed distance from the program counter, which after the instruction and at a return
// is another place.
func (f *Fetcher) staticAddress(a compile.Access, at diag.Span) *tree.Expr {
	file := a.Module
	if p, ok := f.State.Unit.Place.(js.Located); ok {
		own, here := p.Addr()
		if here && (file == "" || file == p.File()) && f.Handler != js.Post && !f.Returning() {
			pc := tree.ApplyA(at, tree.KindInt, opcode.Field, uint32(runtime.FieldPC))
			return offset(pc, a.Value-int64(own), at)
		}
		if file == "" {
			file = p.File()
		}
	}
	if file == "" {
		return nil
	}
	e := tree.Apply(at, tree.KindInt, opcode.Bias)
	e.Text = file
	return offset(e, a.Value, at)
}

// offset adds a constant to an address.
func offset(e *tree.Expr, by int64, at diag.Span) *tree.Expr {
	if by == 0 {
		return e
	}
	return tree.Fold(tree.Apply(at, tree.KindInt, opcode.Add, e, tree.Integer(at, by)))
}

// accessStep is one step of an access.
func accessStep(e *tree.Expr, s compile.AccessStep, at diag.Span) *tree.Expr {
	switch s.Op {
	case compile.OpOffset:
		return offset(e, s.Offset, at)
	case compile.OpLoad:
		return tree.Apply(at, tree.KindInt, loadOp(s), e)
	case compile.OpFind:
		return find(e, s, tree.Integer(at, s.Offset), at)
	case compile.OpBits:
		if s.Offset != 0 {
			e = tree.Apply(at, tree.KindInt, opcode.Shr, e, tree.Integer(at, s.Offset))
		}
		return extend(e, s.Size, s.Signed, at)
	case compile.OpTruncate:
		switch {
		case s.Float && s.Size == 4:
			return tree.Apply(at, tree.KindFloat, opcode.F32, e)
		case s.Float: // the word holds the bits of the float already
			bits := *e
			bits.Kind = tree.KindFloat
			return &bits
		}
		return extend(e, 8*s.Size, s.Signed, at)
	case compile.OpJoin:
		rest := tree.Apply(at, tree.KindInt, opcode.Shl, registerValue(s.Reg, at), tree.Integer(at, s.Offset))
		return tree.Apply(at, tree.KindInt, opcode.Or, e, rest)
	case compile.OpIndex:
		index := registerValue(s.Reg, at)
		if s.Signed {
			index = extend(index, 32, true, at)
		}
		if s.Size > 1 {
			index = tree.Apply(at, tree.KindInt, opcode.Mul, index, tree.Integer(at, int64(s.Size)))
		}
		return tree.Apply(at, tree.KindInt, opcode.Add, e, index)
	}
	return e
}

// index is the program's index of a number.
func (a Path) index(number int64, at diag.Span) *tree.Expr {
	if number >= int64(len(a.Indexes)) {
		return tree.Poison(at)
	}
	return a.Indexes[number]
}

// find is the address of an element of a container.
func find(container *tree.Expr, s compile.AccessStep, index *tree.Expr, at diag.Span) *tree.Expr {
	if index.Kind == tree.KindBad {
		return index
	}
	found := tree.Apply(at, tree.KindInt, opcode.Element, container, index)
	found.Text = s.Layout
	return found
}

// bit is a bit of a byte.
func bit(e, index *tree.Expr, at diag.Span) *tree.Expr {
	if index.Kind == tree.KindBad {
		return index
	}
	number := tree.Apply(at, tree.KindInt, opcode.And, index, tree.Integer(at, 7))
	return tree.Apply(at, tree.KindInt, opcode.And, tree.Apply(at, tree.KindInt, opcode.Shr, e, number), tree.Integer(at, 1))
}

// element adds the index that the program computes.
func element(e *tree.Expr, s compile.AccessStep, index *tree.Expr, at diag.Span) *tree.Expr {
	if index.Kind == tree.KindBad {
		return index
	}
	if s.Count > 0 {
		within := tree.Apply(at, tree.KindInt, opcode.Within, index)
		within.Cmd.V = uint64(s.Count)
		index = within
	}
	if s.Size > 1 {
		index = tree.Apply(at, tree.KindInt, opcode.Mul, index, tree.Integer(at, int64(s.Size)))
	}
	return tree.Apply(at, tree.KindInt, opcode.Add, e, index)
}

// extend keeps the low bits of a word.
func extend(e *tree.Expr, bits int, signed bool, at diag.Span) *tree.Expr {
	switch {
	case bits >= 64:
		return e
	case signed:
		return tree.ApplyA(at, tree.KindInt, opcode.Ext, uint32(bits), e)
	}
	return tree.ApplyA(at, tree.KindInt, opcode.Zext, uint32(bits), e)
}

// loadOp is the command that loads so many bytes.
func loadOp(s compile.AccessStep) opcode.Op {
	switch {
	case s.Float && s.Size == 4:
		return opcode.LoadF32
	case s.Size == 1 && s.Signed:
		return opcode.LoadS8
	case s.Size == 1:
		return opcode.Load8
	case s.Size == 2 && s.Signed:
		return opcode.LoadS16
	case s.Size == 2:
		return opcode.Load16
	case s.Size == 4 && s.Signed:
		return opcode.LoadS32
	case s.Size == 4:
		return opcode.Load32
	}
	return opcode.Load64
}
