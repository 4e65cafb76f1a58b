package builtin

import (
	"slices"

	"gotap/compile"
	"gotap/compile/js/operand"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
)

// Deferred is a method of a trail or a recorder; nil when it has no such method.
func (s *Call) Deferred(a operand.Deferred) *tree.Expr {
	if slices.Contains(a.Methods(), s.Name) && !s.onlyDecides(a.Name+"."+s.Name, s.at) {
		return tree.Poison(s.at)
	}
	switch s.Name {
	case "log", "print":
		return divert(a, s.log())
	case "printf":
		if !s.count(1, -1) {
			return tree.Poison(s.at)
		}
		return divert(a, s.printf())
	case "emit":
		if !s.count(0, 1) {
			return tree.Poison(s.at)
		}
		return divert(a, s.emit())
	case "exit":
		if !s.count(0, 1) {
			return tree.Poison(s.at)
		}
		return divert(a, s.exit(outcome.ExitPlain))
	case "commit":
		return s.end(a, opcode.Keep)
	case "discard":
		return s.end(a, opcode.Forget)
	}
	return nil
}

// divert has an item go aside.
func divert(a operand.Deferred, e *tree.Expr) *tree.Expr {
	if e.Code == tree.CodeItem {
		e.DeferredEnd = &compile.Command{Op: opcode.EndDeferred, A: uint32(a.Object), Pos: e.At}
	}
	return e
}

// end keeps or forgets a trail; a recorder has no such end.
func (s *Call) end(a operand.Deferred, op opcode.Op) *tree.Expr {
	if !a.Trail {
		return nil
	}
	if !s.count(0, 0) {
		return tree.Poison(s.at)
	}
	return tree.ApplyA(s.at, tree.KindVoid, op, uint32(a.Object)).With(tree.UsesLog | tree.Writes)
}
