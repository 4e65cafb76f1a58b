package js

import (
	"cmp"
	"errors"
	"strings"

	"github.com/dop251/goja/ast"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// Text of Go, Rust and C++ is an address with a length: no NUL ends it, or some are in it. Where debug information says that a value is
// such text, str, log and records read it as what it is.

// errNotCounted says that a path does not name text with a length.
var errNotCounted = errors.New("it is no text with a length")

// counted is the text that a path names, at most so many bytes of it. The error is errNotCounted, or tells why a part of the text is not
// to be had.
func (l *lowering) counted(a arguments, at diag.Span, most int64) (*expr, error) {
	address, n, err := l.countedParts(a, at)
	if err != nil {
		return nil, err
	}
	bounded := apply(at, kindInt, runtime.OpMin, n, integer(at, most))
	whole := apply(at, kindText, runtime.OpBytes, address, bounded)
	_, n, _ = l.countedParts(a, at)
	isCut := apply(at, kindBool, runtime.OpGt, n, integer(at, most))
	return l.append(at, whole, l.choose(at, isCut, text(at, prettyMore), text(at, ""))), nil
}

// countedParts are address and length of counted text.
func (l *lowering) countedParts(a arguments, at diag.Span) (address, n *expr, err error) {
	if l.unit.Place == nil || a.all() {
		return nil, nil, errNotCounted
	}
	whole, _ := l.resolve(a) // text in registers has no address itself, but its parts
	if whole.Shape == nil || whole.Shape.Text == nil {
		return nil, nil, errNotCounted
	}
	if address, err = l.below(a, whole.Shape.Text.Address, at); err == nil {
		n, err = l.below(a, whole.Shape.Text.Len, at)
	}
	return address, n, err
}

// below is the value at a path below another.
func (l *lowering) below(a arguments, path string, at diag.Span) (*expr, error) {
	for _, name := range strings.Split(path, ".") {
		a = a.below(l, name).(arguments)
	}
	access, err := l.resolve(a)
	if err != nil {
		return nil, err
	}
	return l.access(access, at), nil
}

// counted is counted text as it is shown among other values: in quotation marks, the address where it cannot be read.
func (p *prettier) counted(a arguments) (*expr, bool) {
	whole, err := p.l.counted(a, p.at, prettyText)
	if err != nil {
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
	if isPath(s.node.ArgumentList[0]) {
		o := s.l.operand(s.node.ArgumentList[0])
		if isBad(o) {
			return poison(s.at)
		}
		if a, ok := pathOf(o); ok {
			if e := s.typedText(a, n); e != nil {
				return e
			}
		}
	}
	return apply(s.at, kindText, runtime.OpStr, s.integer(0), n)
}

// typedText is the text that a path names, at most n bytes of it, where its type says what it is: text with a length, or no text at all.
// nil: it is an address.
func (s *site) typedText(a arguments, n *expr) *expr {
	at := s.l.at(s.node.ArgumentList[0])
	if n.isConst() {
		e, err := s.l.counted(a, s.at, int64(n.cmd.V))
		if err == nil {
			s.l.compiler.result.UsesPlace = true
			return e
		}
		if err != errNotCounted {
			s.l.errorf(at, hintOf(err), "%v", err)
			return poison(at)
		}
	}
	if s.l.unit.Place == nil || a.all() {
		return nil
	}
	access, _ := s.l.resolve(a)
	if access.Shape == nil || access.Shape.MayBeText() {
		return nil
	}
	s.l.errorf(at, textHint(access.Shape), "this is not text: its type is %s", cmp.Or(access.Ctype, "made of others"))
	return poison(at)
}

// textHint says what to read instead of a value that is not text.
func textHint(s *compile.Shape) string {
	if len(s.Members) > 0 {
		return "name a member that is text: " + list(s.Members) + "; log(x) and pretty(x) show all of them"
	}
	return "bytes(p, n) reads memory as it is; str(p + 0) reads it as text anyway"
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
