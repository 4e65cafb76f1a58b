package js

import (
	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
)

// bindPattern declares the names of a pattern and gives them what belongs to them of what.
func (l *lowering) bindPattern(target ast.Expression, what operand, fixed bool) {
	switch t := target.(type) {
	case *ast.Identifier:
		l.bindName(t, what, fixed)
	case *ast.ObjectPattern:
		l.bindObject(t, what, fixed)
	case *ast.ArrayPattern:
		l.errorf(l.at(t), "name the members: { arg0, arg1 }", "an array pattern cannot be used in a program")
		l.bindBad(t)
	default:
		l.errorf(l.at(t), "use a plain name", "cannot bind to this")
	}
}

// bindName declares one name.
func (l *lowering) bindName(id *ast.Identifier, what operand, fixed bool) {
	name, at := id.Name.String(), l.at(id)
	if f, ok := what.(*closure); ok && f.name == "" {
		f.name = name
	}
	sym := l.scope.names[name]
	if sym == nil {
		sym = l.declare(name, at)
	}
	path, isPath := what.(arguments)
	if isPath && l.isGroup(path) {
		sym.what, sym.pending = what, false
		return
	}
	if !hasValue(what) && !isPath {
		sym.what, sym.pending = what, false
		return
	}
	if _, ok := what.(result); ok { // what it points to, or is made of, has names as well
		path, isPath = arguments{ofResult: true}, true
	}
	e := l.valueOf(what, at)
	sym.pending = false
	l.initialise(sym, e, !fixed && l.assigned(name))
	if isPath && sym.fixed {
		sym.path, sym.enum = &path, e.enum
	}
}

// initialise gives a name its first value. A name that nothing else is ever assigned to, and whose value is one
// command that always gives the same, stands for that command and needs no variable.
func (l *lowering) initialise(sym *symbol, e *expr, assigned bool) {
	sym.fixed = !assigned
	if e.kind == kindBad {
		sym.what = bad{}
		return
	}
	if !assigned && l.steady(e) {
		sym.what = value{e}
		return
	}
	sym.slot = l.slots.take(e.kind)
	sym.slot.fixed = !assigned
	l.add(eval(set(sym.at, sym.slot, e)))
}

// assigned reports whether something in the function being read assigns to a name.
func (l *lowering) assigned(name string) bool {
	names := l.assignments[l.frame.node]
	if names == nil {
		names = assignedIn(l.frame.node)
		l.assignments[l.frame.node] = names
	}
	return names[name]
}

// bindObject takes what a pattern names out of what.
func (l *lowering) bindObject(p *ast.ObjectPattern, what operand, fixed bool) {
	if p.Rest != nil {
		l.errorf(l.at(p.Rest), "name what is wanted", "a rest pattern cannot be used in a program")
		l.bindBad(p.Rest)
	}
	for _, prop := range p.Properties {
		switch prop := prop.(type) {
		case *ast.PropertyShort:
			l.noDefault(prop.Initializer)
			l.bindName(&prop.Name, l.member(what, prop.Name.Name.String(), l.at(&prop.Name)), fixed)
		case *ast.PropertyKeyed:
			l.bindKeyed(prop, what, fixed)
		}
	}
}

// bindKeyed is one "name: target" of a pattern.
func (l *lowering) bindKeyed(prop *ast.PropertyKeyed, what operand, fixed bool) {
	target := prop.Value
	if a, ok := target.(*ast.AssignExpression); ok {
		l.noDefault(a.Right)
		target = a.Left
	}
	name, ok := l.propertyName(prop)
	if !ok {
		l.bindBad(target)
		return
	}
	l.bindPattern(target, l.member(what, name, l.at(prop.Key)), fixed)
}

func (l *lowering) noDefault(e ast.Expression) {
	if e != nil {
		l.errorf(l.at(e), "drop the default", "what a pattern takes out of the context is always there")
	}
}

// propertyName is the name of a property that is written out.
func (l *lowering) propertyName(p *ast.PropertyKeyed) (string, bool) {
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
	l.errorf(l.at(p.Key), "write the name out", "a computed name cannot be used in a program")
	return "", false
}

// bindBad declares the names of a pattern that was refused, so that their uses are not reported too.
func (l *lowering) bindBad(target ast.Expression) {
	l.patternNames(target, func(id *ast.Identifier) {
		sym := l.scope.names[id.Name.String()]
		if sym == nil {
			sym = l.declare(id.Name.String(), diag.Span{})
		}
		sym.what, sym.pending = bad{}, false
	})
}

// patternNames calls f for each name that a pattern declares.
func (l *lowering) patternNames(target ast.Expression, f func(*ast.Identifier)) {
	switch t := target.(type) {
	case *ast.Identifier:
		f(t)
	case *ast.AssignExpression:
		l.patternNames(t.Left, f)
	case *ast.ObjectPattern:
		for _, prop := range t.Properties {
			switch prop := prop.(type) {
			case *ast.PropertyShort:
				f(&prop.Name)
			case *ast.PropertyKeyed:
				l.patternNames(prop.Value, f)
			}
		}
		if t.Rest != nil {
			l.patternNames(t.Rest, f)
		}
	case *ast.ArrayPattern:
		for _, e := range t.Elements {
			if e != nil {
				l.patternNames(e, f)
			}
		}
		if t.Rest != nil {
			l.patternNames(t.Rest, f)
		}
	}
}
