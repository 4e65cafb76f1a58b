package lower

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// assignedIn are the names that something in a function assigns to, whatever they are there. The walk is by reflection:
// the syntax tree has no visitor, and a list of its nodes here would be silently incomplete after the next update.
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
