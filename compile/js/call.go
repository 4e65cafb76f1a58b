package js

import (
	"fmt"
	"strings"

	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/runtime"
)

// site is one call, being read.
type site struct {
	l    *lowering
	node *ast.CallExpression
	name string // what is called, for messages
	at   diag.Span
}

// call is f(…) and a.f(…).
func (l *lowering) call(e *ast.CallExpression) operand {
	s := &site{l: l, node: e, at: l.at(e)}
	callee := e.Callee
	if o, ok := callee.(*ast.OptionalChain); ok {
		callee = o.Expression
	}
	if o, ok := callee.(*ast.Optional); ok {
		callee = o.Expression
	}
	if dot, ok := callee.(*ast.DotExpression); ok {
		return l.method(s, l.operand(dot.Left), dot)
	}
	return l.invoke(s, l.operand(callee), l.at(callee))
}

// invoke calls what a name stands for.
func (l *lowering) invoke(s *site, f operand, at diag.Span) operand {
	switch f := f.(type) {
	case bad:
		return bad{}
	case *closure:
		return value{l.inline(f, s.node)}
	case builtin:
		b := builtins[f.name]
		if b == nil {
			l.errorf(at, "name one of its members: "+list(membersOf(f.name)), "%s is not a function", f.name)
			return bad{}
		}
		s.name = f.name
		if f.name == "global" {
			return s.global()
		}
		return value{b.call(s, at)}
	}
	if !isBad(f) {
		l.errorf(at, "plain functions of the script can be called, and the builtins", "%s cannot be called", f.noun())
	}
	return bad{}
}

// method calls a member.
func (l *lowering) method(s *site, of operand, dot *ast.DotExpression) operand {
	name, at := dot.Identifier.Name.String(), l.at(dot)
	s.name = name
	switch of := of.(type) {
	case bad:
		return bad{}
	case builtin:
		full := of.name + "." + name
		if b := builtins[full]; b != nil {
			return l.invoke(s, builtin{full}, at)
		}
		if known := membersOf(of.name); len(known) > 0 {
			l.errorf(at, suggestion(name, known, "there are "+list(known)), "%s has no member %s in a program", of.name, name)
			return bad{}
		}
	case context:
		if name == "stack" {
			return value{s.stack()}
		}
	case aggregate:
		if o := s.aggregate(of); o != nil {
			return o
		}
	case table:
		if e := s.table(of); e != nil {
			return value{e}
		}
	case aside:
		if e := s.aside(of); e != nil {
			return value{e}
		}
	case namespace:
		return l.invoke(s, l.namespaceMember(of, name, at), at)
	}
	if a, ok := of.(arguments); ok && textMethods[name] {
		l.errorf(at, "text is read with str("+a.spelled()+"), which has length and startsWith(t); more can be done with it in a callback",
			"%s is no text", a.spelled())
		return bad{}
	}
	if hasValue(of) {
		if e := l.valueOf(of, l.at(dot.Left)); name == "startsWith" && e.kind == kindText {
			return value{s.startsWith(e)}
		}
	}
	if m := l.member(of, name, at); !isBad(m) {
		return l.invoke(s, m, at)
	}
	return bad{}
}

// textMethods are methods of text, here and in JavaScript, that people call on a pointer to text.
var textMethods = map[string]bool{"startsWith": true, "endsWith": true, "includes": true, "indexOf": true, "lastIndexOf": true, "slice": true,
	"substring": true, "substr": true, "split": true, "trim": true, "toUpperCase": true, "toLowerCase": true, "charAt": true, "charCodeAt": true,
	"match": true, "replace": true, "concat": true, "padStart": true, "padEnd": true, "repeat": true, "readCString": true, "readUtf8String": true}

// spelled is how a program writes the path.
func (a arguments) spelled() string {
	head := "c.args"
	switch {
	case a.ofResult:
		head = "c.ret"
	case a.ofLocals:
		head = "c.locals"
	case a.global != "":
		head = fmt.Sprintf("global(%q)", a.global)
	}
	return strings.Join(append([]string{head}, a.path...), ".")
}

// methodsOf are the methods of a thing that has no value.
func methodsOf(o operand) []string {
	switch o := o.(type) {
	case aggregate:
		if o.keyed {
			return []string{"add", "inc"}
		}
		return []string{"add", "inc", "at"}
	case table:
		return []string{"set", "get", "has", "delete", "inc"}
	case aside:
		return o.methods()
	}
	return nil
}

// count checks the number of arguments; most < 0 means any.
func (s *site) count(least, most int) bool {
	n := len(s.node.ArgumentList)
	if n >= least && (most < 0 || n <= most) {
		return true
	}
	s.l.errorf(s.at, usageHint(s.name), "%s takes %s, not %d", s.name, countRange(least, most), n)
	return false
}

func usageHint(name string) string {
	u := usage(name)
	if u == "" {
		u = methodUsage[name]
	}
	return "write " + u
}

// methodUsage is how the methods of maps, aggregations, text and the context are called.
var methodUsage = map[string]string{
	"add": ".add(value)", "inc": ".inc(), of a map .inc(key)", "at": ".at(key, …).add(value)",
	"set": ".set(key, value)", "get": ".get(key)", "has": ".has(key)", "delete": ".delete(key)",
	"startsWith": ".startsWith(text)", "c.stack": "c.stack(n)", "commit": ".commit()", "discard": ".discard()",
}

// countRange is "1 argument", "1 or 2 arguments", "at least 2 arguments".
func countRange(least, most int) string {
	switch {
	case most < 0:
		return "at least " + count(least, "argument")
	case least == most:
		return count(most, "argument")
	case most == least+1:
		return fmt.Sprintf("%d or %s", least, count(most, "argument"))
	}
	return fmt.Sprintf("%d to %s", least, count(most, "argument"))
}

// count is "1 thing" or "3 things".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// list is "a, b, c".
func list(names []string) string { return strings.Join(names, ", ") }

// arg is the value of an argument.
func (s *site) arg(i int) *expr { return s.l.value(s.node.ArgumentList[i]) }

// integer is the value of an argument that is an integer.
func (s *site) integer(i int) *expr { return s.integerOf(i, s.arg(i)) }

// integerOf is the value e of argument i, which has to be an integer.
func (s *site) integerOf(i int, e *expr) *expr {
	e = asWhole(e)
	if !e.kind.integer() && !e.kind.silent() {
		hint := usageHint(s.name)
		if e.kind == kindFloat {
			hint = "make an integer of the float with trunc(x)"
		}
		s.l.errorf(e.at, hint, "argument %d of %s is %s, not an integer", i+1, s.name, e.kind)
		return poison(e.at)
	}
	return e
}

// optional is an integer argument that may be left out.
func (s *site) optional(i int, otherwise int64) *expr {
	if i < len(s.node.ArgumentList) {
		return s.integer(i)
	}
	return integer(s.at, otherwise)
}

// size is an optional count of bytes, which has a limit.
func (s *site) size(i int, otherwise int64) *expr {
	e := s.optional(i, otherwise)
	if n := int64(e.cmd.V); e.isConst() && (n < 0 || n > runtime.MaxText) {
		many := "too many"
		if n < 0 {
			many = "too few"
		}
		s.l.errorf(e.at, fmt.Sprintf("text and bytes have %d bytes at most", runtime.MaxText), "%d bytes are %s", n, many)
		return poison(e.at)
	}
	return e
}

// text is the value of an argument that is text.
func (s *site) text(i int) *expr {
	e := s.arg(i)
	if e.kind != kindText && e.kind != kindBytes && !e.kind.silent() {
		s.l.errorf(e.at, "read text from a pointer with str(p)", "argument %d of %s is %s, not text", i+1, s.name, e.kind)
		return poison(e.at)
	}
	return e
}

// stack is c.stack(n).
func (s *site) stack() *expr {
	s.name = "c.stack"
	if !s.count(1, 1) {
		return poison(s.at)
	}
	n := s.integer(0)
	if n.kind == kindBad {
		return n
	}
	if frames := int64(n.cmd.V); !n.isConst() || frames < 1 || frames > runtime.MaxStackDepth {
		s.l.errorf(n.at, fmt.Sprintf("write a number from 1 to %d", runtime.MaxStackDepth), "the depth of a stack is not a constant from 1 to %d", runtime.MaxStackDepth)
		return poison(s.at)
	}
	return apply(s.at, kindStack, runtime.OpStack, n)
}

// startsWith is t.startsWith(u).
func (s *site) startsWith(t *expr) *expr {
	if !s.count(1, 1) {
		return poison(s.at)
	}
	u := s.text(0)
	if t.code == codeText && u.code == codeText {
		return boolean(s.at, strings.HasPrefix(t.text, u.text))
	}
	return apply(s.at, kindBool, runtime.OpSprefix, t, u)
}
