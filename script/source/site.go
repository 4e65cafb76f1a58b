package source

import (
	"regexp"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"gotap/compile/diag"
	"gotap/script/load"
	"gotap/script/scope"
)

// Site is a call in the script that led to a built-in function.
type Site struct {
	scope.Call
	file *File
	at   diag.Span
}

// Site finds the call at the innermost frame of a stack. It is slow; it is needed only while a script is loaded, or for
// an error.
func (fs *Files) Site(stack []goja.StackFrame) Site {
	f, pos := fs.Innermost(stack)
	if f == nil {
		return Site{}
	}
	paren := f.Offset(pos) + load.Base
	return Site{f.Info.Calls[file.Idx(paren)], f, f.PlaceSpan(pos)}
}

// Span returns the whole call, or its position when the call is not in the text as written.
func (c Site) Span() diag.Span {
	if c.Node == nil {
		return c.at
	}
	return c.file.NodeSpan(c.Node)
}

// argument returns the syntax tree of argument n, or nil.
func (c Site) argument(n int) ast.Expression {
	if c.Node == nil || n >= len(c.Node.ArgumentList) {
		return nil
	}
	return c.Node.ArgumentList[n]
}

// ArgSpan is where argument n is; the whole call when it has no such argument.
func (c Site) ArgSpan(n int) diag.Span {
	if arg := c.argument(n); arg != nil {
		return c.file.NodeSpan(arg)
	}
	return c.Span()
}

// withPoint is a number as written with a decimal point.
var withPoint = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9_]*\.`) })

// HasPoint reports whether argument n is written as a number with a decimal point.
func (c Site) HasPoint(n int) bool {
	if _, ok := c.argument(n).(*ast.NumberLiteral); !ok {
		return false
	}
	at := c.ArgSpan(n)
	return at.Source != nil && withPoint().MatchString(at.Source.Text[at.Start:])
}

// ElementSpan is where element i of an array given as argument n is.
func (c Site) ElementSpan(n, i int) diag.Span {
	if list, ok := c.argument(n).(*ast.ArrayLiteral); ok && i < len(list.Value) && list.Value[i] != nil {
		return c.file.NodeSpan(list.Value[i])
	}
	return c.ArgSpan(n)
}

// PropertySpan is where a property of an object given as argument n is: all of it, or its value alone.
func (c Site) PropertySpan(n int, name string, valueOnly bool) diag.Span {
	lit, ok := c.argument(n).(*ast.ObjectLiteral)
	if !ok {
		return c.ArgSpan(n)
	}
	for _, p := range lit.Value {
		switch p := p.(type) {
		case *ast.PropertyKeyed:
			if key, ok := p.Key.(*ast.StringLiteral); !ok || key.Value.String() != name {
				continue
			}
			if valueOnly {
				return c.file.NodeSpan(p.Value)
			}
			return c.file.Span(p.Key.Idx0(), p.Value.Idx1())
		case *ast.PropertyShort:
			if p.Name.Name.String() == name {
				return c.file.Span(p.Name.Idx, p.Name.Idx+file.Idx(len(name)))
			}
		}
	}
	return c.ArgSpan(n)
}
