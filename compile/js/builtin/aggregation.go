package builtin

import (
	"gotap/compile/js/operand"
	"gotap/compile/js/tree"
	"gotap/runtime/object"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Aggregation is a method of an aggregation; nil when it has no such method.
func (s *Call) Aggregation(a operand.Aggregation) operand.Operand {
	switch s.Name {
	case "at":
		if a.Keyed {
			return nil
		}
		if !s.count(1, -1) {
			return operand.Bad{}
		}
		a.Keys, a.Keyed = s.Key(len(s.Node.ArgumentList)), true
		return a
	case "add":
		if !s.count(1, 1) {
			return operand.Bad{}
		}
		v := tree.AsWhole(s.ops.Scalar(s.arg(0)))
		if v.Kind == tree.KindFloat && s.holdsFloats(a) {
			s.state.Shape(a.Object, a.Name, a.Keys, value.KindAny, s.at)
			return operand.Value{Expr: tree.Keyed(s.at, tree.KindVoid, opcode.AggFloat, a.Object, a.Keys, v).With(tree.Writes)}
		}
		return operand.Value{Expr: s.addTo(a, s.bucketed(a, v))}
	case "inc":
		if !s.count(0, 0) {
			return operand.Bad{}
		}
		return operand.Value{Expr: s.addTo(a, tree.Integer(s.at, 1))}
	}
	return nil
}

// addTo adds to an aggregation.
func (s *Call) addTo(a operand.Aggregation, v *tree.Expr) *tree.Expr {
	if v.IsConst() && v.Cmd.V != 1 || !v.IsConst() && v.Kind != tree.KindBad {
		s.countsOnly(a)
	}
	s.summed(a, v)
	s.state.Shape(a.Object, a.Name, a.Keys, value.KindAny, s.at)
	return tree.Keyed(s.at, tree.KindVoid, opcode.Agg, a.Object, a.Keys, v).With(tree.Writes)
}

// countsOnly warns when a value is added to a count, which counts hits and not values.
func (s *Call) countsOnly(a operand.Aggregation) {
	if arena := s.state.Unit.Arena; arena != nil {
		if o, _ := arena.Lookup(a.Object); o.Kind == object.KindCount {
			s.Warnf(s.at, "use sum() to add values up, or "+a.Name+".inc()", "a count counts 1 for each add, whatever the value")
		}
	}
}

// Key reads the first n arguments as the parts of a key.
func (s *Call) Key(n int) []*tree.Expr {
	parts := []*tree.Expr{}
	for i := range n {
		e := tree.AsWhole(s.ops.Kept(s.arg(i)))
		if e.Kind == tree.KindFloat {
			s.Errorf(e.At, "make an integer of the float with trunc(x)", "a float cannot be part of a key")
			e = tree.Poison(e.At)
		}
		parts = append(parts, e)
	}
	return parts
}

// summed warns where values are added up that have lost their fractions.
func (s *Call) summed(a operand.Aggregation, v *tree.Expr) {
	if s.state.Unit.Arena == nil {
		return
	}
	switch o, _ := s.state.Unit.Arena.Lookup(a.Object); o.Kind {
	case object.KindSum, object.KindAvg, object.KindStats:
		if q := tree.QuotientIn(v); q != nil {
			s.ops.WarnCut(q, "add the value itself and divide the result, or write Math.trunc(a / b) if the integer is meant", "it is added up")
		}
	}
}

// bucketed is a value for a histogram, whose buckets begin at integers: that of a float is where its largest integer
// below it is.
func (s *Call) bucketed(a operand.Aggregation, v *tree.Expr) *tree.Expr {
	if v.Kind != tree.KindFloat || !s.isHistogram(a) {
		return s.integerOf(0, v)
	}
	return s.ops.Keep(s.at, []*tree.Expr{v}, func(kept []*tree.Expr) *tree.Expr { return tree.Floor(s.at, kept[0]) })
}

// holdsFloats reports whether an aggregation keeps floats.
func (s *Call) holdsFloats(a operand.Aggregation) bool {
	if s.state.Unit.Arena == nil {
		return false
	}
	switch o, _ := s.state.Unit.Arena.Lookup(a.Object); o.Kind {
	case object.KindSum, object.KindMin, object.KindMax, object.KindAvg, object.KindStats:
		return true
	}
	return false
}

// isHistogram reports whether values are counted in buckets.
func (s *Call) isHistogram(a operand.Aggregation) bool {
	if s.state.Unit.Arena == nil {
		return false
	}
	o, _ := s.state.Unit.Arena.Lookup(a.Object)
	return o.Kind == object.KindHist || o.Kind == object.KindLhist
}
