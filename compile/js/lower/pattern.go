package lower

import (
	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operand"
	"gotap/compile/js/tree"
)

// binder declares the names of the text and gives them their meanings.
type binder struct {
	l           *lowering
	scope       *operand.Scope
	assignments map[ast.Node]map[string]bool // names assigned to, by function
}

// bindPattern declares the names of a pattern and gives them what belongs to them of what.
func (n *binder) bindPattern(target ast.Expression, what operand.Operand, fixed bool) {
	switch t := target.(type) {
	case *ast.Identifier:
		n.bindName(t, what, fixed)
	case *ast.ObjectPattern:
		n.bindObject(t, what, fixed)
	case *ast.ArrayPattern:
		n.l.Errorf(n.l.At(t), "name the members: { arg0, arg1 }", "an array pattern cannot be used in a program")
		n.bindBad(t)
	default:
		n.l.Errorf(n.l.At(t), "use a plain name", "cannot bind to this")
	}
}

// bindName declares one name.
func (n *binder) bindName(id *ast.Identifier, what operand.Operand, fixed bool) {
	name, at := id.Name.String(), n.l.At(id)
	if f, ok := what.(*operand.Closure); ok && f.Name == "" {
		f.Name = name
	}
	sym := n.scope.Names[name]
	if sym == nil {
		sym = n.declare(name, at)
	}
	path, isPath := what.(fetch.Path)
	if isPath && n.l.fetch.IsGroup(path) {
		sym.Meaning, sym.Pending = what, false
		return
	}
	if !operand.HasValue(what) && !isPath {
		sym.Meaning, sym.Pending = what, false
		return
	}
	if r, ok := what.(fetch.Result); ok { // what it points to, or is made of, has names as well
		path, isPath = fetch.Path{OfResult: true, Result: r.Index}, true
	}
	e := n.l.ValueOf(what, at)
	sym.Pending = false
	n.initialise(sym, e, !fixed && n.assigned(name))
	if isPath && sym.Fixed && path.Of == nil && path.Indexes == nil {
		sym.Path, sym.Enum = &path, e.Enum
	}
}

// initialise gives a name its first value. A name that nothing else is ever assigned to, and whose value is one
// command that always gives the same, stands for that command and needs no variable.
func (n *binder) initialise(sym *operand.Symbol, e *tree.Expr, assigned bool) {
	sym.Fixed = !assigned
	if e.Kind == tree.KindBad {
		sym.Meaning = operand.Bad{}
		return
	}
	if !assigned && n.l.state.Repeatable(e) {
		sym.Meaning = operand.Value{Expr: e}
		return
	}
	sym.Slot = n.l.ops.Slots.Take(e.Kind)
	sym.Slot.Fixed = !assigned
	n.l.stmts.add(tree.Eval(tree.Set(sym.At, sym.Slot, e)))
}

// assigned reports whether something in the function being read assigns to a name.
func (n *binder) assigned(name string) bool {
	names := n.assignments[n.l.funcs.frame.node]
	if names == nil {
		names = assignedIn(n.l.funcs.frame.node)
		n.assignments[n.l.funcs.frame.node] = names
	}
	return names[name]
}

// bindObject takes what a pattern names out of what.
func (n *binder) bindObject(p *ast.ObjectPattern, what operand.Operand, fixed bool) {
	if p.Rest != nil {
		n.l.Errorf(n.l.At(p.Rest), "name what is wanted", "a rest pattern cannot be used in a program")
		n.bindBad(p.Rest)
	}
	for _, prop := range p.Properties {
		switch prop := prop.(type) {
		case *ast.PropertyShort:
			n.noDefault(prop.Initializer)
			n.bindName(&prop.Name, n.l.member(what, prop.Name.Name.String(), n.l.At(&prop.Name)), fixed)
		case *ast.PropertyKeyed:
			n.bindKeyed(prop, what, fixed)
		}
	}
}

// bindKeyed is one "name: target" of a pattern.
func (n *binder) bindKeyed(prop *ast.PropertyKeyed, what operand.Operand, fixed bool) {
	target := prop.Value
	if a, ok := target.(*ast.AssignExpression); ok {
		n.noDefault(a.Right)
		target = a.Left
	}
	name, ok := n.l.PropertyName(prop)
	if !ok {
		n.bindBad(target)
		return
	}
	n.bindPattern(target, n.l.member(what, name, n.l.At(prop.Key)), fixed)
}

func (n *binder) noDefault(e ast.Expression) {
	if e != nil {
		n.l.Errorf(n.l.At(e), "drop the default", "what a pattern takes out of the context is always there")
	}
}

// PropertyName is the name of a property that is written out.
func (l *lowering) PropertyName(p *ast.PropertyKeyed) (string, bool) {
	switch key := p.Key.(type) {
	case *ast.StringLiteral:
		if !p.Computed {
			return key.Value.String(), true
		}
	case *ast.NumberLiteral:
		if !p.Computed {
			return key.Literal, true
		}
	}
	l.Errorf(l.At(p.Key), "write the name out", "a computed name cannot be used in a program")
	return "", false
}

// bindBad declares the names of a pattern that was refused, so that their uses are not reported too.
func (n *binder) bindBad(target ast.Expression) {
	n.patternNames(target, func(id *ast.Identifier) {
		sym := n.scope.Names[id.Name.String()]
		if sym == nil {
			sym = n.declare(id.Name.String(), diag.Span{})
		}
		sym.Meaning, sym.Pending = operand.Bad{}, false
	})
}

// patternNames calls f for each name that a pattern declares.
func (n *binder) patternNames(target ast.Expression, f func(*ast.Identifier)) {
	switch t := target.(type) {
	case *ast.Identifier:
		f(t)
	case *ast.AssignExpression:
		n.patternNames(t.Left, f)
	case *ast.ObjectPattern:
		for _, prop := range t.Properties {
			switch prop := prop.(type) {
			case *ast.PropertyShort:
				f(&prop.Name)
			case *ast.PropertyKeyed:
				n.patternNames(prop.Value, f)
			}
		}
		if t.Rest != nil {
			n.patternNames(t.Rest, f)
		}
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			if e != nil {
				n.patternNames(e, f)
			}
		}
		if t.Rest != nil {
			n.patternNames(t.Rest, f)
		}
	}
}

// open starts a block.
func (n *binder) open() *operand.Scope {
	n.scope = &operand.Scope{Outer: n.scope, Names: map[string]*operand.Symbol{}}
	return n.scope
}

// close ends it; its variables' words can be used again.
func (n *binder) close(s *operand.Scope) {
	for _, sym := range s.Names {
		if sym.Slot != nil {
			n.l.ops.Slots.Free(sym.Slot)
		}
	}
	n.scope = s.Outer
}

// declare adds a name to the innermost scope.
func (n *binder) declare(name string, at diag.Span) *operand.Symbol {
	sym := &operand.Symbol{Name: name, At: at}
	n.scope.Names[name] = sym
	return sym
}
