package js

import (
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

func idx(n int) file.Idx { return file.Idx(n) }

// start is the beginning of a node, with the same reservation as for end.
func (l *lowering) start(n ast.Node) file.Idx {
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
		return l.startOfIf(l.start(n.Test))
	}
	return n.Idx0()
}

// startOfIf finds the word that an if begins with, which the syntax tree does not tell, from where its condition begins.
func (l *lowering) startOfIf(test file.Idx) file.Idx {
	source := l.sourceOf(l.fn)
	if source == nil {
		return test
	}
	before := source.Text[:clamp(int(test)-l.fn.Base, source)]
	for i := strings.LastIndex(before, "if"); i >= 0; i = strings.LastIndex(before[:i], "if") {
		switch rest := strings.TrimSpace(before[i+len("if"):]); { // what is not followed so is a part of a comment
		case strings.HasPrefix(rest, "("), strings.HasPrefix(rest, "/*"), strings.HasPrefix(rest, "//"):
			return idx(i + l.fn.Base)
		}
	}
	return test
}

// end is the end of a node. The syntax tree's own idea of it fails for a few nodes: a case without statements panics,
// and names with letters beyond ASCII are measured in the wrong unit.
func (l *lowering) end(n ast.Node) file.Idx {
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
		return l.end(n.Expression)
	case *ast.Optional:
		return l.end(n.Expression)
	case *ast.SpreadElement:
		return l.end(n.Expression)
	}
	return n.Idx1()
}

// assignedIn are the names that something in a function assigns to, whatever they are there. The walk is by
// reflection: the syntax tree has no visitor, and a list of its nodes here would be silently incomplete after the next update.
func assignedIn(n ast.Node) map[string]bool {
	names := map[string]bool{}
	visit(reflect.ValueOf(n), names, 0)
	return names
}

// visit collects the targets of assignments below v.
func visit(v reflect.Value, names map[string]bool, depth int) {
	if depth > 8*maxNesting {
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			noteTarget(v.Interface(), names)
			visit(v.Elem(), names, depth+1)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), names, depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			visit(v.Field(i), names, depth+1)
		}
	}
}

// noteTarget adds what a node assigns to.
func noteTarget(n any, names map[string]bool) {
	var target ast.Expression
	switch n := n.(type) {
	case *ast.AssignExpression:
		target = n.Left
	case *ast.UnaryExpression:
		if n.Operator == token.INCREMENT || n.Operator == token.DECREMENT {
			target = n.Operand
		}
	}
	if id, ok := target.(*ast.Identifier); ok {
		names[id.Name.String()] = true
	}
}
