package lower

import (
	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/compile/js/builtin"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operand"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
)

// site is a call, being read.
func (l *lowering) site(e *ast.CallExpression) *builtin.Call {
	return builtin.NewCall(l, l.fetch, e)
}

// call is f(…) and a.f(…).
func (l *lowering) call(e *ast.CallExpression) operand.Operand {
	s := l.site(e)
	callee := e.Callee
	if o, ok := callee.(*ast.OptionalChain); ok {
		callee = o.Expression
	}
	if o, ok := callee.(*ast.Optional); ok {
		callee = o.Expression
	}
	if dot, ok := callee.(*ast.DotExpression); ok {
		return l.method(s, l.Operand(dot.Left), dot)
	}
	return l.invoke(s, l.Operand(callee), l.At(callee))
}

// invoke compiles a call of an operand.
func (l *lowering) invoke(s *builtin.Call, f operand.Operand, at diag.Span) operand.Operand {
	switch f := f.(type) {
	case operand.Bad:
		return operand.Bad{}
	case *operand.Closure:
		return operand.Value{Expr: l.funcs.inline(f, s.Node)}
	case operand.Builtin:
		b := builtin.Find(f.Name)
		if b == nil {
			l.Errorf(at, "name one of its members: "+report.List(builtin.MembersOf(f.Name)), "%s is not a function", f.Name)
			return operand.Bad{}
		}
		s.Name = f.Name
		if o, ok := s.Operand(); ok {
			return o
		}
		return operand.Value{Expr: b.Call(s, at)}
	}
	if !operand.IsBad(f) {
		l.Errorf(at, "plain functions of the script can be called, and the builtins", "%s cannot be called", f.Noun())
	}
	return operand.Bad{}
}

// method calls a member.
func (l *lowering) method(s *builtin.Call, of operand.Operand, dot *ast.DotExpression) operand.Operand {
	name, at := dot.Identifier.Name.String(), l.At(dot)
	s.Name = name
	switch of := of.(type) {
	case operand.Bad:
		return operand.Bad{}
	case operand.Builtin:
		full := of.Name + "." + name
		if b := builtin.Find(full); b != nil {
			return l.invoke(s, operand.Builtin{Name: full}, at)
		}
		if known := builtin.MembersOf(of.Name); len(known) > 0 {
			l.Errorf(at, report.Suggestion(name, known, "there are "+report.List(known)), "%s has no member %s in a program", of.Name, name)
			return operand.Bad{}
		}
	case operand.Context:
		if name == "stack" {
			return operand.Value{Expr: s.Stack()}
		}
	case operand.Aggregation:
		if o := s.Aggregation(of); o != nil {
			return o
		}
	case operand.Map:
		if e := s.Map(of); e != nil {
			return operand.Value{Expr: e}
		}
	case operand.Deferred:
		if e := s.Deferred(of); e != nil {
			return operand.Value{Expr: e}
		}
	case operand.Namespace:
		return l.invoke(s, l.namespaceMember(of, name, at), at)
	}
	if a, ok := of.(fetch.Path); ok && textMethods[name] {
		l.Errorf(at, "text is read with str("+a.Spelling()+"), which has length and startsWith(t); more can be done with it in a callback",
			"%s is not text", a.Spelling())
		return operand.Bad{}
	}
	if a, ok := of.(fetch.Path); ok && makesText(name) {
		l.Errorf(at, madeTextHint, "%s has no %s in a program", a.Spelling(), name)
		return operand.Bad{}
	}
	if operand.HasValue(of) {
		if e := l.ValueOf(of, l.At(dot.Left)); name == "startsWith" && e.Kind == tree.KindText {
			return operand.Value{Expr: s.StartsWith(e)}
		}
	}
	if m := l.member(of, name, at); !operand.IsBad(m) {
		return l.invoke(s, m, at)
	}
	return operand.Bad{}
}

// textMethods are methods of text, here and in JavaScript, that people call on a pointer to text.
var textMethods = map[string]bool{"startsWith": true, "endsWith": true, "includes": true, "indexOf": true, "lastIndexOf": true, "slice": true,
	"substring": true, "substr": true, "split": true, "trim": true, "toUpperCase": true, "toLowerCase": true, "charAt": true, "charCodeAt": true,
	"match": true, "replace": true, "concat": true, "padStart": true, "padEnd": true, "repeat": true, "readCString": true, "readUtf8String": true}
