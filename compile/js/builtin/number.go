package builtin

import (
	"math"

	"gotap/compile/js/operator"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// number is an argument that is a number.
func (s *Call) number(i int) *tree.Expr {
	e := s.ops.Scalar(s.arg(i))
	if !e.Kind.Number() && !e.Kind.Silent() {
		s.Errorf(e.At, operator.NumberHint(e.Kind), "argument %d of %s is %s, not a number", i+1, s.Name, e.Kind)
		return tree.Poison(e.At)
	}
	return e
}

func minimum(s *Call) *tree.Expr { return s.extreme(opcode.Min) }

func maximum(s *Call) *tree.Expr { return s.extreme(opcode.Max) }

// extreme is the smallest or largest of the arguments.
func (s *Call) extreme(op opcode.Op) *tree.Expr {
	best := s.number(0)
	for i := 1; i < len(s.Node.ArgumentList); i++ {
		next := s.number(i)
		best = s.ofTwo(op, best, next)
	}
	return best
}

// ofTwo is the smaller or larger of two numbers: a float if one of them is, but compared as integers where both are
// whole.
func (s *Call) ofTwo(op opcode.Op, a, b *tree.Expr) *tree.Expr {
	if a.Kind == tree.KindBad || b.Kind == tree.KindBad {
		return tree.Poison(s.at)
	}
	x, y, ok := tree.BothWhole(a, b)
	if !ok {
		return s.floatExtreme(op, tree.ToFloat(a), tree.ToFloat(b))
	}
	best := tree.Fold(tree.Apply(s.at, tree.KindInt, op, x, y))
	if a.Kind == tree.KindFloat || b.Kind == tree.KindFloat {
		return tree.ToFloat(best)
	}
	return best
}

// floatExtreme compares two floats, for which the machine has no operation of its own.
func (s *Call) floatExtreme(op opcode.Op, a, b *tree.Expr) *tree.Expr {
	return s.ops.Keep(s.at, []*tree.Expr{a, b}, func(v []*tree.Expr) *tree.Expr {
		test := tree.Apply(s.at, tree.KindBool, opcode.Flt, v[0], v[1])
		if op == opcode.Max {
			test = tree.Apply(s.at, tree.KindBool, opcode.Flt, v[1], v[0])
		}
		return s.ops.Choose(s.at, test, v[0], v[1])
	})
}

func absolute(s *Call) *tree.Expr {
	e := s.number(0)
	if n, ok := tree.Whole(e); ok {
		return tree.Convert(tree.Fold(tree.Apply(s.at, tree.KindInt, opcode.Abs, n)), e.Kind)
	}
	// The sign of a double is its top bit.
	bits := tree.Constant(s.at, tree.KindInt, math.MaxInt64)
	return tree.Apply(s.at, tree.KindFloat, opcode.And, e, bits)
}

func truncate(s *Call) *tree.Expr {
	e := tree.AsWhole(s.number(0))
	if e.Kind == tree.KindFloat {
		return tree.Apply(s.at, tree.KindInt, opcode.Ftoi, e)
	}
	meant := *e // Math.trunc(a / b) says that the integer is wanted
	meant.Intended, meant.Quotient = true, nil
	return &meant
}

func asNumber(s *Call) *tree.Expr { return s.number(0) }

func asText(s *Call) *tree.Expr {
	e := s.ops.Shown(s.ops.Scalar(s.arg(0)))
	t, ok := tree.TextOf(e)
	if !ok {
		s.Errorf(e.At, "log it as an argument of its own", "cannot make text of %s here", e.Kind)
		return tree.Poison(s.at)
	}
	return t
}

// asInteger is integer(x, other): x where its type is that of an integer or a pointer, and other where it is not. One
// program can serve functions of all types: a type that is not an integer is not an error here.
func asInteger(s *Call) *tree.Expr {
	other := s.optional(1, 0)
	if s.reader.IsResult(s.Node.ArgumentList[0]) && !s.fetch.ResultIsInteger() {
		return other
	}
	e := s.arg(0)
	if e.Kind.Integer() || e.Kind.Silent() {
		return e
	}
	return other
}
