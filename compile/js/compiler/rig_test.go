package compiler

import (
	"strings"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	rtarena "gotap/runtime/arena"
)

// names is a Scope for tests.
type names map[string]js.Binding

func (n names) Lookup(name string) (js.Binding, bool) { b, ok := n[name]; return b, ok }

func (n names) Names() (all []string) {
	for name := range n {
		all = append(all, name)
	}
	return all
}

// parse makes a unit of a script whose last statement is an expression: a function, or an object of handlers. Functions
// declared before it are bound.
func parse(t testing.TB, text string, scope names) js.Unit {
	t.Helper()
	prg, err := parser.ParseFile(nil, "test.js", text, 0)
	if err != nil {
		t.Fatalf("cannot parse %q: %v", text, err)
	}
	u, ok := unitOf(prg, text, scope)
	if !ok {
		t.Fatalf("no handlers in %q", text)
	}
	return u
}

// unitOf is parse for a syntax tree.
func unitOf(prg *ast.Program, text string, scope names) (u js.Unit, ok bool) {
	u = js.Unit{Source: diag.NewSource("test.js", text), Name: "test", Handlers: map[js.HandlerKind]*js.Function{}}
	all := names{}
	for name, b := range scope {
		all[name] = b
	}
	function := func(n ast.Expression) *js.Function { return &js.Function{Node: n, Scope: all, Base: 1} }
	for _, st := range prg.Body {
		switch st := st.(type) {
		case *ast.FunctionDeclaration:
			all[st.Function.Name.Name.String()] = js.Binding{Kind: js.BindFunction, Func: function(st.Function)}
		case *ast.LexicalDeclaration:
			for _, b := range st.List {
				if _, ok := b.Initializer.(*ast.ArrowFunctionLiteral); ok {
					all[b.Target.(*ast.Identifier).Name.String()] = js.Binding{Kind: js.BindFunction, Func: function(b.Initializer)}
				}
			}
		case *ast.ExpressionStatement:
			ok = handlersOf(st.Expression, function, u.Handlers) || ok
		}
	}
	return u, ok
}

// handlersOf finds the handlers in a function or an object.
func handlersOf(e ast.Expression, function func(ast.Expression) *js.Function, to map[js.HandlerKind]*js.Function) bool {
	o, ok := e.(*ast.ObjectLiteral)
	if !ok {
		to[js.Enter] = function(e)
		return isFunctionNode(e)
	}
	for _, p := range o.Value {
		p, ok := p.(*ast.PropertyKeyed)
		if !ok {
			continue
		}
		key, _ := p.Key.(*ast.StringLiteral)
		for k := js.Enter; k < js.NumHandlers; k++ {
			if key != nil && key.Value.String() == k.String() && isFunctionNode(p.Value) {
				to[k] = function(p.Value)
			}
		}
	}
	return len(to) > 0
}

func isFunctionNode(e ast.Expression) bool {
	switch e.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}

// compiled compiles a script that must be right, and verifies what comes of it.
func compiled(t testing.TB, u js.Unit) js.Result {
	t.Helper()
	r, diags := Compile(u)
	if diags.HasErrors() {
		t.Fatalf("cannot compile:\n%v", diags)
	}
	for k, p := range r.Programs {
		if diags := compile.Verify(p); diags.HasErrors() {
			t.Fatalf("%v does not verify:\n%v\n%s", k, diags, listing(p))
		}
	}
	return r
}

// arena is a small arena for tests.
func arena(t testing.TB) *rtarena.Arena {
	t.Helper()
	a, err := rtarena.New(rtarena.Options{Size: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// listing is a program as text, without source lines.
func listing(p *compile.Program) string {
	var b strings.Builder
	if err := compile.List(&b, p, compile.ListOptions{NoSource: true}); err != nil {
		return err.Error()
	}
	return b.String()
}
