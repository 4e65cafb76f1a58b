package builtin

import (
	"github.com/dop251/goja/ast"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/operand"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Map is a method of a map; nil when it has no such method.
func (s *Call) Map(t operand.Map) *tree.Expr {
	n := len(s.Node.ArgumentList)
	switch s.Name {
	case "get", "has", "delete":
		if !s.count(1, -1) {
			return tree.Poison(s.at)
		}
		return (&Lookup{s, t, s.Key(n)}).operation(s.Name, s.at)
	case "set":
		if !s.count(2, -1) {
			return tree.Poison(s.at)
		}
		return s.set(t, s.Key(n-1), tree.AsWhole(s.ops.Kept(s.arg(n-1))))
	case "inc":
		return s.increment(t)
	}
	return nil
}

// Lookup is a use of a map under a key.
type Lookup struct {
	s    *Call
	t    operand.Map
	keys []*tree.Expr
}

// Lookup is a use of a map under the arguments of the call.
func (s *Call) Lookup(t operand.Map) *Lookup { return &Lookup{s, t, s.Key(len(s.Node.ArgumentList))} }

// operation is get, has or delete.
func (u *Lookup) operation(name string, at diag.Span) *tree.Expr {
	switch name {
	case "has":
		return u.Has(at)
	case "delete":
		u.s.state.Shape(u.t.Object, u.t.Name, u.keys, value.KindAny, at)
		return tree.Keyed(at, tree.KindVoid, opcode.MapDel, u.t.Object, u.keys).With(tree.Writes)
	}
	return u.get(at)
}

func (u *Lookup) Has(at diag.Span) *tree.Expr {
	u.s.state.Shape(u.t.Object, u.t.Name, u.keys, value.KindAny, at)
	return tree.Keyed(at, tree.KindBool, opcode.MapHas, u.t.Object, u.keys)
}

func (u *Lookup) get(at diag.Span) *tree.Expr {
	holds := value.KindAny
	switch u.s.state.Facts[state.MapFact(u.t.Object)] {
	case tree.KindText:
		holds = value.KindText
	case tree.KindFloat:
		holds = value.KindFloat
	}
	u.s.state.Shape(u.t.Object, u.t.Name, u.keys, holds, at)
	if s := u.s.state.Shapes[u.t.Object]; s != nil {
		s.Read = true
	}
	switch u.s.state.MapHolds(u.t.Object) {
	case tree.KindText:
		return tree.Keyed(at, tree.KindText, opcode.MapGetS, u.t.Object, u.keys)
	case tree.KindFloat:
		return tree.Keyed(at, tree.KindFloat, opcode.MapGet, u.t.Object, u.keys)
	}
	e := tree.Keyed(at, tree.KindInt, opcode.MapGet, u.t.Object, u.keys)
	e.Ref = u.s.state.HeldType(u.t.Object)
	return e
}

// OrElse is m.get(key) ?? otherwise.
func (u *Lookup) OrElse(at diag.Span, otherwise ast.Expression) *tree.Expr {
	var held *compile.TypeRef
	e := u.s.ops.Keep(at, u.keys, func(keys []*tree.Expr) *tree.Expr {
		kept := &Lookup{u.s, u.t, keys}
		value, other := kept.get(at), u.s.reader.Value(otherwise)
		if other.IsZero() {
			held = value.Ref
		}
		return u.s.ops.Choose(at, kept.Has(at), value, other)
	})
	e.Ref = held
	return e
}

// set is m.set(key…, v).
func (s *Call) set(t operand.Map, keys []*tree.Expr, v *tree.Expr) *tree.Expr {
	switch {
	case v.Kind.Silent():
	case v.Kind.Number():
		if !s.state.Hold(t.Object, t.Name, v, s.at) {
			return tree.Poison(s.at)
		}
		return s.setNumber(t, keys, v)
	case v.Kind == tree.KindText:
		if s.holdsOther(t, tree.KindInt) || s.holdsOther(t, tree.KindFloat) {
			return tree.Poison(s.at)
		}
		if s.state.MapHolds(t.Object) != tree.KindText {
			s.state.Learn(state.MapFact(t.Object), tree.KindText)
		}
		s.state.Shape(t.Object, t.Name, keys, value.KindText, s.at)
		return tree.Keyed(s.at, tree.KindVoid, opcode.MapSetS, t.Object, keys, v).With(tree.Writes)
	default:
		s.Errorf(v.At, "keep numbers or text", "a map cannot hold %s", v.Kind)
		return tree.Poison(s.at)
	}
	return tree.Poison(s.at)
}

// setNumber is m.set(key…, v) of a number. A map that a float is put in holds floats.
func (s *Call) setNumber(t operand.Map, keys []*tree.Expr, v *tree.Expr) *tree.Expr {
	if s.holdsOther(t, tree.KindText) {
		return tree.Poison(s.at)
	}
	holds, float := value.KindInt, s.state.MapHolds(t.Object) == tree.KindFloat
	switch {
	case v.Kind == tree.KindFloat && !float && !s.state.MapIsOpen(t.Object):
		s.Errorf(v.At, "make an integer of the float with trunc(x), or use another map for the floats",
			"%s holds integers elsewhere: it cannot hold a float", t.Name)
		return tree.Poison(s.at)
	case v.Kind == tree.KindFloat && !float:
		s.state.Learn(state.MapFact(t.Object), tree.KindFloat)
		float = true
	}
	if float {
		holds, v = value.KindFloat, tree.ToFloat(v)
	}
	if s.state.Unit.Place == nil && s.state.Result.UsesPlace { // it may stand in for what is a float at the place
		holds = value.KindAny
	}
	s.state.Shape(t.Object, t.Name, keys, holds, s.at)
	return tree.Keyed(s.at, tree.KindVoid, opcode.MapSet, t.Object, keys, v).With(tree.Writes)
}

// holdsOther reports values of two types in one map.
func (s *Call) holdsOther(t operand.Map, other tree.Kind) bool {
	is := tree.KindNone
	if sh := s.state.Shapes[t.Object]; sh != nil && sh.Value == value.KindInt {
		is = tree.KindInt
	}
	if holds := s.state.MapHolds(t.Object); holds != tree.KindInt {
		is = holds
	}
	if is == other {
		s.Errorf(s.at, "use another map for the other values", "%s holds %s: it cannot hold another type too", t.Name, other)
		return true
	}
	return false
}

// increment is m.inc(key…) or, where the number of key parts is known, m.inc(key…, by).
func (s *Call) increment(t operand.Map) *tree.Expr {
	n := len(s.Node.ArgumentList)
	if !s.count(1, -1) || s.holdsOther(t, tree.KindText) {
		return tree.Poison(s.at)
	}
	if s.state.MapHolds(t.Object) == tree.KindFloat {
		s.Errorf(s.at, "m.set(key, (m.get(key) ?? 0) + 1.5), or sum() with keys, which loses no addition of another thread",
			"%s holds floats: inc counts integers", t.Name)
		return tree.Poison(s.at)
	}
	parts := n
	if declared, ok := s.state.DeclaredKeys(t.Object); ok && n == declared+1 {
		parts = declared
	} else if known := s.state.Shapes[t.Object]; known != nil && n == len(known.Keys)+1 {
		parts = len(known.Keys)
	}
	keys, by := s.Key(parts), tree.Integer(s.at, 1)
	if parts < n {
		by = s.integer(parts)
	}
	s.state.Shape(t.Object, t.Name, keys, value.KindInt, s.at)
	return tree.Keyed(s.at, tree.KindInt, opcode.MapAdd, t.Object, keys, by).With(tree.Writes)
}
