package script

import (
	"regexp"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"gotap/compile/diag"
	"gotap/script/load"
	"gotap/script/scope"
)

// source is one file of the script with what its names mean.
type source struct {
	file *load.File
	info *scope.Info // of the tree as written
}

// function is a function literal that may become a program.
type function struct {
	src *source
	lit *scope.Function
}

// admit analyzes a parsed file, numbers its functions and shared variables, and rewrites its second tree for running.
func (s *Script) admit(f *load.File) (*source, diag.List) {
	o := scope.Options{FirstFunction: len(s.functions), FirstSlot: len(s.vars.slots), Keep: s.opts.Keep}
	src := &source{file: f, info: scope.Analyze(f.Tree, o)}
	var list diag.List
	for _, re := range src.info.RegExps {
		if load.BadRegExp(re.Pattern) {
			list.Errorf(f.NodeSpan(re), `write the ranges out: [A-Za-z\u00c0-\u024f]`,
				"property escapes like \\p{L} never match here")
		}
	}
	for _, text := range src.info.Unfilled {
		list.Warnf(f.NodeSpan(text), "printf(format, …) does; write \\n for the end of the line", "this fills no format in: it writes its values one after the other")
	}
	f.OriginalNumbers(src.info.Numbers)
	for _, text := range src.info.Texts {
		if strings.ContainsFunc(text, diag.IsControl) {
			s.opts.Own.Add(text)
		}
	}
	for _, lit := range src.info.Functions {
		s.functions = append(s.functions, &function{src, lit})
	}
	for _, v := range src.info.Slots {
		s.vars.add(src, v)
	}
	scope.Analyze(f.Run, o).Rewrite()
	s.sources[f.Path] = src
	s.inputs = append(s.inputs, f.Inputs...)
	return src, list
}

// compile makes a rewritten file runnable.
func (src *source) compile() (*goja.Program, diag.List) {
	prg, err := goja.CompileAST(src.file.Run, true)
	if err != nil {
		return nil, src.file.CompileError(err)
	}
	return prg, nil
}

// site is a call in the script that led to a builtin.
type site struct {
	src  *source
	call scope.Call
	at   diag.Span
}

// site finds the call that is being executed. Its cost only matters while a script is loaded, or when something is wrong.
func (s *Script) site() site {
	for _, frame := range s.vm.CaptureCallStack(0, nil) {
		src := s.sources[frame.SrcName()]
		if src == nil {
			continue
		}
		pos := frame.Position()
		paren := src.file.Offset(pos) + load.Base
		return site{src, src.info.Calls[file.Idx(paren)], src.file.PlaceSpan(pos)}
	}
	return site{}
}

// frameSpan is where a frame of a stack is. The machine places calls at their parenthesis; people look for the name.
func (src *source) frameSpan(pos file.Position) diag.Span {
	call := src.info.Calls[file.Idx(src.file.Offset(pos)+load.Base)].Node
	if call == nil {
		return src.file.PlaceSpan(pos)
	}
	switch callee := call.Callee.(type) {
	case *ast.Identifier:
		return src.file.NodeSpan(callee)
	case *ast.DotExpression:
		return src.file.NodeSpan(&callee.Identifier)
	}
	return src.file.PlaceSpan(pos)
}

// span is the whole call, or as much as is known of it.
func (c site) span() diag.Span {
	if c.call.Node == nil {
		return c.at
	}
	return c.src.file.NodeSpan(c.call.Node)
}

// argument is the syntax tree of argument n, or nil.
func (c site) argument(n int) ast.Expression {
	if c.call.Node == nil || n >= len(c.call.Node.ArgumentList) {
		return nil
	}
	return c.call.Node.ArgumentList[n]
}

// argSpan is where argument n is, the whole call when there is none.
func (c site) argSpan(n int) diag.Span {
	if arg := c.argument(n); arg != nil {
		return c.src.file.NodeSpan(arg)
	}
	return c.span()
}

// withPoint is a number as written with a decimal point.
var withPoint = regexp.MustCompile(`^[0-9_]*\.`)

// fractionSpelt reports whether argument n is written as a number with a decimal point.
func (c site) fractionSpelt(n int) bool {
	if _, ok := c.argument(n).(*ast.NumberLiteral); !ok {
		return false
	}
	at := c.argSpan(n)
	return at.Source != nil && withPoint.MatchString(at.Source.Text[at.Start:])
}

// elementSpan is where element i of an array given as argument n is.
func (c site) elementSpan(n, i int) diag.Span {
	if list, ok := c.argument(n).(*ast.ArrayLiteral); ok && i < len(list.Value) && list.Value[i] != nil {
		return c.src.file.NodeSpan(list.Value[i])
	}
	return c.argSpan(n)
}

// propertySpan is where a property of an object given as argument n is: the whole of it, or its value alone.
func (c site) propertySpan(n int, name string, valueOnly bool) diag.Span {
	lit, ok := c.argument(n).(*ast.ObjectLiteral)
	if !ok {
		return c.argSpan(n)
	}
	for _, p := range lit.Value {
		switch p := p.(type) {
		case *ast.PropertyKeyed:
			if key, ok := p.Key.(*ast.StringLiteral); !ok || key.Value.String() != name {
				continue
			}
			if valueOnly {
				return c.src.file.NodeSpan(p.Value)
			}
			return c.src.file.Span(p.Key.Idx0(), p.Value.Idx1())
		case *ast.PropertyShort:
			if p.Name.Name.String() == name {
				return c.src.file.Span(p.Name.Idx, p.Name.Idx+file.Idx(len(name)))
			}
		}
	}
	return c.argSpan(n)
}
