package lower

import (
	"strings"

	"github.com/dop251/goja/ast"

	"gotap/compile/js/builtin"
	"gotap/compile/js/tree"
)

// statements reads statements in order, and warns of the first one that no run comes to: that exit() ends a program, as
// return does, is not obvious from its form.
func (ss *statements) statements(list []ast.Statement) {
	over := ""
	for _, st := range list {
		switch st.(type) {
		case *ast.EmptyStatement, *ast.FunctionDeclaration:
		case *ast.BranchStatement:
			over = "" // a break after exit() is a habit, and harmless
		default:
			if over != "" {
				ss.l.Warnf(ss.l.At(st), "put it before", "this never runs: %s before it", over)
			}
			over = ""
		}
		from := len(*ss.out)
		ss.statement(st)
		if what := ss.endingOf(st); what != "" && tree.NeverFallsThrough((*ss.out)[from:]) {
			over = what
		}
	}
}

// endingOf is what ends something in a statement that is there to do that. What an if with a constant condition leaves
// out is meant.
func (ss *statements) endingOf(st ast.Statement) string {
	switch st := st.(type) {
	case *ast.ReturnStatement:
		if ss.l.funcs.frame.done != nil {
			return "return ends the function"
		}
		return "return ends the program"
	case *ast.ExpressionStatement:
		if call, ok := st.Expression.(*ast.CallExpression); ok {
			return endingCall(call.Callee)
		}
	}
	return ""
}

// endingCall is the same of a call.
func endingCall(callee ast.Expression) string {
	name := ""
	switch f := callee.(type) {
	case *ast.Identifier:
		name = f.Name.String()
	case *ast.DotExpression:
		if of, ok := f.Left.(*ast.Identifier); ok {
			name = of.Name.String() + "." + f.Identifier.Name.String()
		}
	}
	if b := builtin.Find(name); b != nil && strings.HasSuffix(b.Type, "=> never") {
		return name + "() ends the program"
	}
	return ""
}
