package builtin

import (
	"github.com/dop251/goja/ast"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operand"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// Operand is a call of a builtin that denotes more than a value: what it gives has members. ok is false for all others.
func (s *Call) Operand() (o operand.Operand, ok bool) {
	switch s.Name {
	case "global":
		return s.Global(), true
	case "cast":
		return s.cast(), true
	}
	return nil, false
}

// cast is cast(p, "struct point *").
func (s *Call) cast() operand.Operand {
	if !s.count(2, 2) {
		return operand.Bad{}
	}
	v := s.address(0)
	name, ok := s.typeName(1)
	if !ok || v.Kind == tree.KindBad {
		return operand.Bad{}
	}
	ref, ok := s.fetch.TypeNamed(name, s.reader.At(s.Node.ArgumentList[1]))
	if !ok {
		return operand.Bad{}
	}
	if v, ok = s.ofClass(v, ref); !ok {
		return operand.Bad{}
	}
	return fetch.Path{Of: &fetch.Given{Value: v, Ref: ref, Spelling: "cast(…)"}}
}

// ofClass is a pointer as one to a base class of its class, or to one that is derived from it. NULL stays NULL. ok is
// false when an error was reported.
func (s *Call) ofClass(v *tree.Expr, to compile.TypeRef) (e *tree.Expr, ok bool) {
	p, knows := s.state.Unit.Place.(js.Classes)
	if !knows || v.Ref == nil {
		return v, true
	}
	off, err := p.BaseOffset(*v.Ref, to)
	if err != nil {
		s.Errorf(s.at, report.HintOf(err), "%v", err)
		return nil, false
	}
	if off == 0 {
		return v, true
	}
	if e := s.Node.ArgumentList[0]; isPath(e) {
		operand.UseType(s.reader.Operand(e))
	}
	return s.ops.Keep(s.at, []*tree.Expr{v}, func(kept []*tree.Expr) *tree.Expr {
		moved := tree.Apply(s.at, tree.KindInt, opcode.Add, kept[0], tree.Integer(s.at, off))
		return s.ops.Choose(s.at, tree.Apply(s.at, tree.KindBool, opcode.Bool, kept[0]), moved, tree.Integer(s.at, 0))
	}), true
}

// typeName is an argument that names a type.
func (s *Call) typeName(i int) (name string, ok bool) {
	e := s.arg(i)
	switch {
	case e.Code == tree.CodeText && e.Text != "":
		return e.Text, true
	case !e.Kind.Silent():
		s.Errorf(e.At, usageHint(s.Name), "the name of the type is not a constant text")
	}
	return "", false
}

// sizeof is sizeof("struct point").
func (s *Call) sizeof() *tree.Expr {
	name, ok := s.typeName(0)
	if !ok {
		return tree.Poison(s.at)
	}
	return s.fetch.SizeOf(name, s.reader.At(s.Node.ArgumentList[0]))
}

// defined is defined(c.args.x).
func (s *Call) defined() *tree.Expr {
	e := s.Node.ArgumentList[0]
	at := s.reader.At(e)
	if member := s.goroutine(e); member != "" {
		return s.known(s.fetch.KnowsGoroutine(member), at)
	}
	o := s.reader.Operand(e)
	if operand.IsBad(o) {
		return tree.Poison(s.at)
	}
	if r, ok := o.(fetch.Result); ok {
		return s.known(r.Unknown == nil, at)
	}
	a, ok := s.path(o, at)
	if !ok {
		s.Errorf(at, "write defined(c.args.NAME), defined(c.ret.FIELD) or defined(global(\"NAME\"))", "%s is always there", o.Noun())
		return tree.Poison(s.at)
	}
	return s.known(s.fetch.IsDefined(a), at)
}

// goroutine returns the name of the member of the context that an expression is if it tells of the goroutine; else "".
func (s *Call) goroutine(e ast.Expression) string {
	d, ok := e.(*ast.DotExpression)
	if !ok || !fetch.OfGoroutine(d.Identifier.Name.String()) {
		return ""
	}
	if _, ok = s.reader.Operand(d.Left).(operand.Context); !ok {
		return ""
	}
	return d.Identifier.Name.String()
}

// known is true or false at a place. Without one it is neither.
func (s *Call) known(is bool, at diag.Span) *tree.Expr {
	s.state.Result.UsesPlace = true
	if s.state.Unit.Place == nil {
		return tree.Apply(at, tree.KindBool, opcode.Bool, tree.Apply(at, tree.KindInt, opcode.Arg))
	}
	return tree.Boolean(s.at, is)
}

// path is the path in the debug information that an operand stands for, or that starts from its value.
func (s *Call) path(o operand.Operand, at diag.Span) (fetch.Path, bool) {
	if a, ok := operand.PathOf(o); ok {
		return a, true
	}
	return operand.Typed(o, s.fetch, at)
}
