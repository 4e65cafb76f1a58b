package js

import (
	"strings"

	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/runtime"
)

// Text of Go, Rust and C++ is an address with a length: no NUL ends it, or some are in it. Where debug information says that a value is
// such text, str, log and records read it as what it is.

// counted is the text that a path names, at most so many bytes of it; ok is false when the path names no counted text.
func (l *lowering) counted(a arguments, at diag.Span, most int64) (e *expr, ok bool) {
	address, n, ok := l.countedParts(a, at)
	if !ok {
		return nil, false
	}
	bounded := apply(at, kindInt, runtime.OpMin, n, integer(at, most))
	whole := apply(at, kindText, runtime.OpBytes, address, bounded)
	_, n, _ = l.countedParts(a, at)
	isCut := apply(at, kindBool, runtime.OpGt, n, integer(at, most))
	return l.append(at, whole, l.choose(at, isCut, text(at, prettyMore), text(at, ""))), true
}

// countedParts are address and length of counted text.
func (l *lowering) countedParts(a arguments, at diag.Span) (address, n *expr, ok bool) {
	if l.unit.Place == nil || a.all() {
		return nil, nil, false
	}
	whole, _ := l.resolve(a) // text in registers has no address itself, but its parts
	if whole.Shape == nil || whole.Shape.Text == nil {
		return nil, nil, false
	}
	part := func(path string) *expr {
		member := a
		for _, name := range strings.Split(path, ".") {
			member = member.below(l, name).(arguments)
		}
		access, err := l.resolve(member)
		if err != nil {
			ok = false
			return nil
		}
		return l.access(access, at)
	}
	ok = true
	address, n = part(whole.Shape.Text.Address), part(whole.Shape.Text.Len)
	return address, n, ok
}

// counted is counted text as it is shown among other values: in quotation marks, the address where it cannot be read.
func (p *prettier) counted(a arguments) (*expr, bool) {
	whole, ok := p.l.counted(a, p.at, prettyText)
	if !ok {
		return nil, false
	}
	p.leaves++
	address, n, _ := p.l.countedParts(a, p.at)
	bounded := apply(p.at, kindInt, runtime.OpMin, n, integer(p.at, prettyText))
	test := apply(p.at, kindBool, runtime.OpReadable, address, bounded)
	address, _, _ = p.l.countedParts(a, p.at)
	return p.l.choose(p.at, test, p.join(text(p.at, `"`), whole, text(p.at, `"`)), p.hex(address)), true
}

// str is str(p, n?): of an address, or of text that has its own length.
func (s *site) str() *expr {
	n := s.size(1, runtime.DefaultText)
	if most := int64(n.cmd.V); n.isConst() && isPath(s.node.ArgumentList[0]) {
		o := s.l.operand(s.node.ArgumentList[0])
		if isBad(o) {
			return poison(s.at)
		}
		if a, ok := pathOf(o); ok {
			if e, ok := s.l.counted(a, s.at, most); ok {
				s.l.compiler.result.UsesPlace = true
				return e
			}
		}
	}
	return apply(s.at, kindText, runtime.OpStr, s.integer(0), n)
}

// isPath reports whether an expression can name a value in the debug information: lowering it twice does nothing twice.
func isPath(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.Identifier:
		return true
	case *ast.DotExpression:
		return isPath(e.Left)
	case *ast.CallExpression:
		callee, ok := e.Callee.(*ast.Identifier)
		return ok && callee.Name == "global"
	}
	return false
}
