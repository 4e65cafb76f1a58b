package lower

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"gotap/compile/diag"
	"gotap/compile/js/tree"
)

// refuse reports an expression that has no place in a program, with what to write instead. What is not known
// here is refused too: the syntax tree may learn new nodes.
func (l *lowering) refuse(e ast.Expression) *tree.Expr {
	what, hint := refusal(e)
	l.Errorf(l.At(e), hint, "%s cannot be used in a program", what)
	return tree.Poison(l.At(e))
}

// refusal names an expression and says what to do instead.
func refusal(e ast.Expression) (what, hint string) {
	switch e := e.(type) {
	case *ast.ObjectLiteral:
		return "an object", "use separate variables; a record is possible in exit({ … }) and log({ … })"
	case *ast.ArrayLiteral:
		return "an array", "use separate variables, or a map() declared at the top level"
	case *ast.RegExpLiteral:
		return "a regular expression", "compare with === or startsWith, or send the text in exit({ … }) and match it in the callback"
	case *ast.NewExpression:
		return "new", "declare a map(), an aggregation or a variable at the top level, or do it in a callback"
	case *ast.AwaitExpression:
		return "await", "the target is stopped while a program runs: send an event with exit({ … }) and wait in the callback"
	case *ast.YieldExpression:
		return "yield", "use a plain function"
	case *ast.ClassLiteral:
		return "a class", "use plain functions"
	case *ast.NullLiteral:
		return "null", "everything in a program has a value: use 0 or \"\""
	case *ast.SpreadElement:
		return "a spread", "write the values out"
	case *ast.SuperExpression:
		return "super", "call a plain function"
	case *ast.PrivateDotExpression:
		return "a private member", "use a variable"
	case *ast.MetaProperty:
		return "this property", "use a variable"
	case *ast.BinaryExpression:
		return refusedOperator(e.Operator)
	case *ast.UnaryExpression:
		return refusedOperator(e.Operator)
	}
	return "this expression", "do it in a callback: send the values with exit({ … })"
}

// refusedOperator names an operator and says what to do instead.
func refusedOperator(op token.Token) (what, hint string) {
	switch op {
	case token.TYPEOF:
		return "typeof", "the types of a program are known before it runs"
	case token.DELETE:
		return "delete", "forget a key of a map with m.delete(key)"
	case token.VOID:
		return "void", "write the expression as a statement"
	case token.IN:
		return "in", "ask a map with m.has(key)"
	case token.INSTANCEOF:
		return "instanceof", "the types of a program are known before it runs"
	case token.EXPONENT:
		return "**", "multiply, or shift: 1 << n"
	}
	return op.String(), ""
}

// refuseStatement reports a statement that has no place in a program.
func (l *lowering) refuseStatement(st ast.Statement) {
	at := l.At(st)
	var what, hint string
	switch st.(type) {
	case *ast.TryStatement:
		what, hint = "try", "a program has no exceptions: a bad read ends the hit and is counted; test with readable(p, n) before"
	case *ast.ThrowStatement:
		what, hint = "throw", "end the program with return, abort() or exit({ … })"
	case *ast.ForInStatement, *ast.ForOfStatement:
		what, hint = "for … of", "count: for (let i = 0; i < 8; i++) …"
		if _, ok := st.(*ast.ForInStatement); ok {
			what = "for … in"
		}
		at = word(at, "for")
	case *ast.ClassDeclaration:
		what, hint = "a class", "use plain functions"
		at = word(at, "class")
	case *ast.DebuggerStatement:
		what, hint = "debugger", "stop the process with exit.stop()"
	case *ast.WithStatement:
		what, hint = "with", "write the names out"
		at = word(at, "with")
	default:
		what, hint = "this statement", "do it in a callback: send the values with exit({ … })"
	}
	l.Errorf(at, hint, "%s cannot be used in a program", what)
}

// word is the first word of a span.
func word(at diag.Span, w string) diag.Span {
	at.End = at.Start + len(w)
	return at
}
