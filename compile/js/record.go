package js

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// item is an item of the log being put together: what the host prints or hands to a callback, and the values that the
// program logs for it.
type item struct {
	l      *lowering
	format runtime.Format
	args   []*expr
	part   int
	bad    bool
}

// add appends a value as a field.
func (it *item) add(name string, e *expr) {
	if e.kind == kindBad {
		it.bad = true
		return
	}
	it.format.Fields = append(it.format.Fields, runtime.RecordField{Name: name, Kind: e.kind.valueKind(), Part: it.part})
	it.args = append(it.args, e)
}

// literal appends constant text, which takes no room in the log.
func (it *item) literal(s string) {
	n := len(it.format.Fields)
	if n > 0 && it.format.Fields[n-1].IsLiteral && it.format.Fields[n-1].Part == it.part {
		it.format.Fields[n-1].Literal += s
		return
	}
	it.format.Fields = append(it.format.Fields, runtime.RecordField{Kind: runtime.ValueText, Literal: s, IsLiteral: true, Part: it.part})
}

// expr is the finished item; what follows it is cmd, when the item is the record of an exit.
func (it *item) expr(at diag.Span, k kind) *expr {
	if it.bad {
		return poison(at)
	}
	e := &expr{code: codeItem, kind: k, at: at, args: it.args, format: &it.format}
	return e.close().with(effLog | effWrite)
}

// log is log(…).
func (s *site) log() *expr {
	it := &item{l: s.l, format: runtime.Format{Kind: runtime.ItemLog}}
	for i, a := range s.node.ArgumentList {
		it.part = i
		it.value(a)
	}
	return it.expr(s.at, kindVoid)
}

// value appends what an argument of log prints. Templates and objects are taken apart, so that the
// program logs only the values in them.
func (it *item) value(e ast.Expression) {
	l := it.l
	switch e := e.(type) {
	case *ast.TemplateLiteral:
		if e.Tag == nil {
			it.template(e)
			return
		}
	case *ast.ObjectLiteral:
		it.object(e)
		return
	}
	o := l.operand(e)
	if r, ok := o.(result); ok && r.unknown != nil && !it.l.isComposite(o) {
		it.literal(unknownText)
		return
	}
	if !it.composed(e, o) {
		it.flat(l.valueOf(o, l.at(e)))
	}
}

func (it *item) template(e *ast.TemplateLiteral) {
	if !it.l.deeper(e) {
		it.bad = true
		return
	}
	defer func() { it.l.depth-- }()
	for i, piece := range e.Elements {
		if s := piece.Parsed.String(); s != "" || len(e.Elements) == 1 {
			it.literal(s)
		}
		if i < len(e.Expressions) {
			it.value(e.Expressions[i])
		}
	}
}

// flat appends a value; text that is put together is appended piece by piece.
func (it *item) flat(e *expr) {
	switch {
	case e.kind == kindBad:
		it.bad = true
	case e.code == codeText:
		it.literal(e.text)
	case e.isConst() && e.kind.integer():
		it.literal(constString(e))
	case e.code == codeOp && e.cmd.Op == runtime.OpScat:
		it.flat(e.args[0])
		it.flat(e.args[1])
	case e.code == codeTextOf:
		it.add("", it.l.shown(e.args[0]))
	default:
		it.add("", it.l.shown(e))
	}
}

// object appends an object as the console shows one: { a: 1, b: 'x' }.
func (it *item) object(o *ast.ObjectLiteral) {
	if len(o.Value) == 0 {
		it.literal("{}")
		return
	}
	lead := "{ "
	it.properties(o, func(name string, at diag.Span, v ast.Expression) {
		it.literal(lead + name + ": ")
		lead = ", "
		if inner, ok := v.(*ast.ObjectLiteral); ok {
			it.object(inner)
			return
		}
		e := it.l.value(v)
		if e.kind != kindText {
			it.flat(e)
			return
		}
		it.literal("'")
		it.flat(e)
		it.literal("'")
	})
	it.literal(" }")
}

// properties calls f for each property of a record.
func (it *item) properties(o *ast.ObjectLiteral, f func(name string, at diag.Span, v ast.Expression)) {
	l := it.l
	for _, p := range o.Value {
		switch p := p.(type) {
		case *ast.PropertyShort:
			f(p.Name.Name.String(), l.at(&p.Name), &p.Name)
		case *ast.PropertyKeyed:
			if p.Kind != ast.PropertyKindValue {
				l.errorf(l.at(p.Key), "write name: value", "a record has values, no methods")
				it.bad = true
				continue
			}
			name, ok := l.propertyName(p)
			if !ok {
				it.bad = true
				continue
			}
			f(name, l.at(p.Key), p.Value)
		default:
			l.errorf(l.at(p), "name the fields: { a: x, b: y }", "a record cannot be spread from another")
			it.bad = true
		}
	}
}

// exit is exit(record) and its kin.
func (s *site) exit(k runtime.ExitKind) *expr {
	it := &item{l: s.l, format: runtime.Format{Kind: runtime.ItemEvent}}
	if len(s.node.ArgumentList) == 1 {
		o, ok := s.node.ArgumentList[0].(*ast.ObjectLiteral)
		if !ok {
			s.l.errorf(s.l.at(s.node.ArgumentList[0]), "write "+s.name+"({ value: … })", "%s takes a record", s.name)
			s.l.any(s.node.ArgumentList[0])
			return poison(s.at)
		}
		it.record("", o, map[string]bool{})
	}
	e := it.expr(s.at, kindNever)
	e.cmd = compile.Command{Op: runtime.OpExit, A: uint32(k), Pos: s.at}
	return e
}

// record appends the fields of an event's record, those of nested records with dotted names.
func (it *item) record(prefix string, o *ast.ObjectLiteral, seen map[string]bool) {
	if !it.l.deeper(o) {
		it.bad = true
		return
	}
	defer func() { it.l.depth-- }()
	it.properties(o, func(name string, at diag.Span, v ast.Expression) {
		full := prefix + name
		if inner, ok := v.(*ast.ObjectLiteral); ok {
			it.record(full+".", inner, seen)
			return
		}
		if seen[full] {
			it.l.errorf(at, "leave one out", "the record has two fields %s", full)
			it.bad = true
			return
		}
		seen[full] = true
		it.add(full, it.field(v))
	})
}

// unknownText stands for a value that cannot be read, as debuggers have it.
const unknownText = "?"

// field is the value of a field of a record. What is made of others is text there, as log shows it: an address would be of no use
// once the thread goes on.
func (it *item) field(v ast.Expression) *expr {
	o := it.l.operand(v)
	if a, ok := pathOf(o); ok && it.l.composite(a) {
		whole := it.l.pretty(a, it.l.at(v))
		if bare, ok := it.l.chars(a, it.l.at(v)); ok && whole.kind != kindBad {
			return bare
		}
		return whole
	}
	if r, ok := o.(result); ok && r.unknown != nil {
		return text(it.l.at(v), unknownText)
	}
	return it.l.shown(it.l.valueOf(o, it.l.at(v)))
}

// printf is printf(format, …).
func (s *site) printf() *expr {
	l, args := s.l, s.node.ArgumentList
	format := l.value(args[0])
	if format.code != codeText {
		if format.kind != kindBad {
			l.errorf(l.at(args[0]), "write the format as a text", "the format of printf is not constant")
		}
		return poison(s.at)
	}
	it := &item{l: l, format: runtime.Format{Kind: runtime.ItemPrintf, Text: format.text}}
	var kinds []runtime.ValueKind
	for i, a := range args[1:] {
		it.part = i
		e := l.value(a)
		switch want := conversion(format.text, i); {
		case len(e.enum) > 0 && want == 's':
			e = l.named(e)
		case strings.IndexByte("diuxXocp", want) >= 0:
			e = asWhole(e)
		}
		it.add("", e)
		kinds = append(kinds, e.kind.valueKind())
	}
	if it.bad {
		return poison(s.at)
	}
	if err := runtime.CheckPrintf(format.text, kinds); err != nil {
		l.errorf(l.at(args[0]), "one conversion for each value: %d %u %x %o %c %p for integers, %f %g %e for floats, %s for text", "%v", err)
		return poison(s.at)
	}
	return it.expr(s.at, kindVoid)
}

// conversion is the letter of conversion i of a format, 0 when it has none.
func conversion(format string, i int) byte {
	for at := 0; at < len(format); at++ {
		if format[at] != '%' {
			continue
		}
		for at++; at < len(format) && strings.IndexByte("-+ #0123456789.lhzjt", format[at]) >= 0; at++ {
		}
		if at >= len(format) || format[at] == '%' {
			continue
		}
		if i == 0 {
			return format[at]
		}
		i--
	}
	return 0
}

// template is a template literal for its value: text.
func (l *lowering) template(e *ast.TemplateLiteral) *expr {
	at := l.at(e)
	if e.Tag != nil {
		l.errorf(at, "call the function with plain arguments", "a tagged template cannot be used in a program")
		return poison(at)
	}
	whole := text(at, "")
	for i, piece := range e.Elements {
		whole = l.append(at, whole, l.constText(at, piece.Parsed.String()))
		if i < len(e.Expressions) {
			whole = l.append(at, whole, l.value(e.Expressions[i]))
		}
	}
	return whole
}

// append is text followed by a value.
func (l *lowering) append(at diag.Span, whole, next *expr) *expr {
	switch {
	case next.code == codeText && next.text == "":
		return whole
	case whole.code == codeText && whole.text == "" && next.kind == kindText:
		return next
	}
	return l.arithmetic(token.PLUS, at, whole, next)
}
