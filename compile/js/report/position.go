package report

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"gotap/compile/js"
)

// start is the beginning of a node, with the same reservation as for end.
func (r *Report) start(fn *js.Function, n ast.Node) file.Idx {
	switch n := n.(type) {
	case *ast.MetaProperty:
		return n.Meta.Idx
	case *ast.TemplateLiteral:
		if n.Tag != nil {
			return n.Tag.Idx0()
		}
	case *ast.SpreadElement:
		return n.Idx0() - idx(len("..."))
	case *ast.IfStatement:
		return r.startOfIf(fn, r.start(fn, n.Test))
	}
	return n.Idx0()
}

// startOfIf finds the word if, whose position the syntax tree lacks, from where the condition
// begins.
func (r *Report) startOfIf(fn *js.Function, test file.Idx) file.Idx {
	source := r.sourceOf(fn)
	if source == nil {
		return test
	}
	before := source.Text[:clamp(int(test)-fn.Base, source)]
	for i := strings.LastIndex(before, "if"); i >= 0; i = strings.LastIndex(before[:i], "if") {
		switch rest := strings.TrimSpace(before[i+len("if"):]); { // what is not followed so is a part of a comment
		case strings.HasPrefix(rest, "("), strings.HasPrefix(rest, "/*"), strings.HasPrefix(rest, "//"):
			return idx(i + fn.Base)
		}
	}
	return test
}

// end is the end of a node. The syntax tree's own idea of it fails for a few nodes: a case without statements panics,
// and names with letters beyond ASCII are measured in the wrong unit.
func end(n ast.Node) file.Idx {
	switch n := n.(type) {
	case *ast.CaseStatement:
		if len(n.Consequent) == 0 {
			return n.Case + idx(len("case"))
		}
	case *ast.TryStatement:
		return n.Try + idx(len("try"))
	case *ast.DotExpression:
		return n.Identifier.Idx + idx(len(n.Identifier.Name.String()))
	case *ast.Identifier:
		return n.Idx + idx(len(n.Name.String()))
	case *ast.NewExpression:
		if n.RightParenthesis != 0 {
			return n.RightParenthesis + 1
		}
	case *ast.OptionalChain:
		return end(n.Expression)
	case *ast.Optional:
		return end(n.Expression)
	case *ast.SpreadElement:
		return end(n.Expression)
	}
	return n.Idx1()
}
