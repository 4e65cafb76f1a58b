package lower

import (
	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operand"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// IsResult reports whether an expression is c.ret itself.
func (l *lowering) IsResult(e ast.Expression) bool {
	dot, ok := e.(*ast.DotExpression)
	if !ok || dot.Identifier.Name != "ret" || !l.fetch.Returning() {
		return false
	}
	name, ok := dot.Left.(*ast.Identifier)
	if !ok {
		return false
	}
	_, ok = l.names.identifier(name).(operand.Context)
	return ok
}

// member is a.name.
func (l *lowering) member(of operand.Operand, name string, at diag.Span) operand.Operand {
	switch of := of.(type) {
	case operand.Bad:
		return operand.Bad{}
	case operand.Context:
		return l.contextMember(name, at)
	case fetch.Path:
		return of.Below(name)
	case operand.Registers:
		return fetch.Register{Name: name}
	case operand.This:
		return l.thisField(name, at)
	case operand.PerThread:
		if name == "value" {
			return operand.ThreadValue(of)
		}
		l.Errorf(at, "use "+of.Name+".value", "a per-thread variable has no member %s", name)
		return operand.Bad{}
	case operand.Namespace:
		return l.namespaceMember(of, name, at)
	case operand.PathConst:
		return of.Sym.Path.Below(name)
	case fetch.Result:
		return fetch.Path{OfResult: true, Result: of.Index}.Below(name)
	case operand.Results:
		l.Errorf(at, "c.rets[0] is the first result, c.rets[1] the second", "the results have no member %s", name)
		return operand.Bad{}
	}
	if a, ok := operand.Typed(of, l.fetch, at); ok {
		operand.UseType(of)
		return a.Below(name)
	}
	if !operand.HasValue(of) {
		return l.noMember(of, name, at)
	}
	return l.valueMember(l.ValueOf(of, at), name, at)
}

// makesText reports whether a member of JavaScript's numbers makes text of them.
func makesText(name string) bool {
	return name == "toString" || name == "toFixed" || name == "toLocaleString"
}

// madeTextHint says what makes text of a number in a program.
const madeTextHint = "text is made by `${x}`, or by printf with %x, %o, %.2f and others"

// valueMember is a member of a value: only text has one.
func (l *lowering) valueMember(e *tree.Expr, name string, at diag.Span) operand.Operand {
	switch {
	case e.Kind.Silent():
		return operand.Bad{}
	case e.Code == tree.CodeText && name == "length":
		return operand.Value{Expr: tree.Integer(at, int64(len(e.Text)))}
	case (e.Kind == tree.KindText || e.Kind == tree.KindBytes) && name == "length":
		return operand.Value{Expr: tree.Apply(at, tree.KindInt, opcode.Slen, e)}
	case e.Kind == tree.KindText:
		l.Errorf(at, report.Suggestion(name, []string{"length", "startsWith"}, "text has length and startsWith(t); more can be done with it in a callback"),
			"text has no member %s in a program", name)
	case makesText(name):
		l.Errorf(at, madeTextHint, "%s has no members", e.Kind)
	default:
		l.Errorf(at, "of what it points to: cast(p, \"struct job *\").id; memory without types is read with u32(p + 8), str(p), …", "%s has no members", e.Kind)
	}
	return operand.Bad{}
}

// noMember reports a member of something that has none, or only methods.
func (l *lowering) noMember(of operand.Operand, name string, at diag.Span) operand.Operand {
	methods := operand.MethodsOf(of)
	if _, ok := of.(operand.Builtin); ok || len(methods) == 0 {
		l.Errorf(at, valueHint(of), "%s has no member %s", of.Noun(), name)
		return operand.Bad{}
	}
	for _, m := range methods {
		if m == name {
			l.Errorf(at, "call it: "+name+"(…)", "%s is a method", name)
			return operand.Bad{}
		}
	}
	hint := report.Suggestion(name, methods, "there are "+report.List(methods))
	if a, ok := of.(operand.Deferred); ok && name == "dump" && !a.Trail {
		hint = a.Hint()
	}
	l.Errorf(at, hint, "%s has no member %s in a program", of.Noun(), name)
	return operand.Bad{}
}

// namespaceMember is a member of a constant object of the script.
func (l *lowering) namespaceMember(n operand.Namespace, name string, at diag.Span) operand.Operand {
	if b, ok := js.Lookup(n.Scope, name); ok {
		return l.names.binding(n.Name+"."+name, b, at)
	}
	var known []string
	if s, ok := n.Scope.(interface{ Names() []string }); ok {
		known = s.Names()
	}
	l.Errorf(at, report.Suggestion(name, known, ""), "%s has no member %s", n.Name, name)
	return operand.Bad{}
}

// thisField is the member name of `this`. Its type is not known before the first assignment: when it
// is read first, an earlier round may have learned it, and an integer is the guess otherwise.
func (l *lowering) thisField(name string, at diag.Span) operand.Operand {
	if l.arrowThis {
		l.arrowHasNoThis(at)
		return operand.Bad{}
	}
	f := l.state.Storage.Fields[name]
	if f == nil && l.state.Facts["this."+name] != tree.KindNone {
		f = l.state.Storage.Field(name, l.state.Facts["this."+name])
	}
	return operand.ThisField{Name: name, Kept: f}
}

func (l *lowering) arrowHasNoThis(at diag.Span) {
	l.Errorf(at, "write "+l.fetch.Handler.String()+"(c) { … } instead of an arrow function", "an arrow function has no this of its own")
}
