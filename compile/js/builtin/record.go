package builtin

import (
	"strings"

	"github.com/dop251/goja/ast"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operand"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// composed appends an argument of log that is made of others: all arguments, a struct, an array. It reports false for
// all else.
func (it *item) composed(e ast.Expression, o operand.Operand) bool {
	a, ok := it.s.path(o, it.s.reader.At(e))
	if !ok || !it.s.fetch.IsComposite(a) {
		return false
	}
	operand.UseType(o)
	it.flat(it.s.fetch.Pretty(a, it.s.reader.At(e)))
	return true
}

// item is an item of the log being put together: what the host prints or hands to a callback, and the values that the
// program logs for it.
type item struct {
	s      *Call
	format record.Format
	args   []*tree.Expr
	part   int
	bad    bool
}

// add appends a value as a field.
func (it *item) add(name string, e *tree.Expr) {
	if e.Kind == tree.KindBad {
		it.bad = true
		return
	}
	it.format.Fields = append(it.format.Fields, record.Field{Name: name, Kind: shownKind(e), Part: it.part})
	it.args = append(it.args, e)
}

// shownKind is the kind of the field that holds a value.
func shownKind(e *tree.Expr) value.Kind {
	if e.Kind == tree.KindText && e.Shows.Class() == value.ClassText {
		return e.Shows
	}
	return e.Kind.ValueKind()
}

// literal appends constant text, which takes no room in the log.
func (it *item) literal(s string) {
	n := len(it.format.Fields)
	if n > 0 && it.format.Fields[n-1].IsLiteral && it.format.Fields[n-1].Part == it.part {
		it.format.Fields[n-1].Literal += s
		return
	}
	it.format.Fields = append(it.format.Fields, record.Field{Kind: value.KindText, Literal: s, IsLiteral: true, Part: it.part})
}

// expr is the finished item; what follows it is cmd, when the item is the record of an exit.
func (it *item) expr(at diag.Span, k tree.Kind) *tree.Expr {
	if it.bad {
		return tree.Poison(at)
	}
	e := &tree.Expr{Code: tree.CodeItem, Kind: k, At: at, Args: it.args, Format: &it.format}
	return e.Complete().With(tree.UsesLog | tree.Writes)
}

// log is log(…).
func (s *Call) log() *tree.Expr {
	it := &item{s: s, format: record.Format{Kind: record.ItemLog}}
	for i, a := range s.Node.ArgumentList {
		it.part = i
		it.value(a)
	}
	return it.expr(s.at, tree.KindVoid)
}

// value appends what an argument of log prints. Templates and objects are taken apart, so that the
// program logs only the values in them.
func (it *item) value(e ast.Expression) {
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
	o := it.s.reader.Operand(e)
	if r, ok := o.(fetch.Result); ok && r.Unknown != nil && !it.s.isComposite(o) {
		it.literal(fetch.UnknownText)
		return
	}
	if !it.composed(e, o) {
		it.flat(it.s.reader.ValueOf(o, it.s.reader.At(e)))
	}
}

func (it *item) template(e *ast.TemplateLiteral) {
	if !it.s.reader.Deeper(e) {
		it.bad = true
		return
	}
	defer it.s.reader.Leave()
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
func (it *item) flat(e *tree.Expr) {
	switch {
	case e.Kind == tree.KindBad:
		it.bad = true
	case e.Code == tree.CodeText:
		it.literal(e.Text)
	case e.IsConst() && e.Kind.Integer():
		it.literal(tree.ConstString(e))
	case e.Code == tree.CodeOp && e.Cmd.Op == opcode.Scat:
		it.flat(e.Args[0])
		it.flat(e.Args[1])
	case e.Code == tree.CodeTextOf:
		it.add("", it.s.ops.Shown(e.Args[0]))
	default:
		it.add("", it.s.ops.Shown(e))
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
		e := it.s.reader.Value(v)
		if e.Kind != tree.KindText {
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
	for _, p := range o.Value {
		switch p := p.(type) {
		case *ast.PropertyShort:
			f(p.Name.Name.String(), it.s.reader.At(&p.Name), &p.Name)
		case *ast.PropertyKeyed:
			if p.Kind != ast.PropertyKindValue {
				it.s.Errorf(it.s.reader.At(p.Key), "write name: value", "a record has values, no methods")
				it.bad = true
				continue
			}
			name, ok := it.s.reader.PropertyName(p)
			if !ok {
				it.bad = true
				continue
			}
			f(name, it.s.reader.At(p.Key), p.Value)
		default:
			it.s.Errorf(it.s.reader.At(p), "name the fields: { a: x, b: y }", "a record cannot be spread from another")
			it.bad = true
		}
	}
}

// exit is exit(record) and its kin.
func (s *Call) exit(k outcome.ExitKind) *tree.Expr {
	if s.state.Unit.Sample && k != outcome.ExitEvent {
		s.Errorf(s.at, "exit({ … }) lets it go on", "a sample cannot keep a thread: %s goes with a probe", s.Name)
		return tree.Poison(s.at)
	}
	e := s.event(tree.KindNever)
	if e.Code == tree.CodeItem {
		e.Cmd = compile.Command{Op: opcode.Exit, A: uint32(k), Pos: s.at}
	}
	return e
}

// emit is emit(record).
func (s *Call) emit() *tree.Expr { return s.event(tree.KindVoid) }

// event is the item with the record of an event. The program ends after it if k is tree.KindNever.
func (s *Call) event(k tree.Kind) *tree.Expr {
	it := &item{s: s, format: record.Format{Kind: record.ItemEvent}}
	if len(s.Node.ArgumentList) == 1 {
		o, ok := s.Node.ArgumentList[0].(*ast.ObjectLiteral)
		if !ok {
			s.Errorf(s.reader.At(s.Node.ArgumentList[0]), "write "+s.Name+"({ value: … })", "%s takes a record", s.Name)
			s.reader.Any(s.Node.ArgumentList[0])
			return tree.Poison(s.at)
		}
		it.record("", o, map[string]bool{})
	}
	return it.expr(s.at, k)
}

// record appends the fields of an event's record, those of nested records with dotted names.
func (it *item) record(prefix string, o *ast.ObjectLiteral, seen map[string]bool) {
	if !it.s.reader.Deeper(o) {
		it.bad = true
		return
	}
	defer it.s.reader.Leave()
	it.properties(o, func(name string, at diag.Span, v ast.Expression) {
		full := prefix + name
		if inner, ok := v.(*ast.ObjectLiteral); ok {
			it.record(full+".", inner, seen)
			return
		}
		if seen[full] {
			it.s.Errorf(at, "leave one out", "the record has two fields %s", full)
			it.bad = true
			return
		}
		seen[full] = true
		it.add(full, it.field(v))
	})
}

// field is the value of a field of a record. What is made of others is text there, as log shows it: an address would be
// of no use once the thread goes on.
func (it *item) field(v ast.Expression) *tree.Expr {
	o := it.s.reader.Operand(v)
	if a, ok := it.s.path(o, it.s.reader.At(v)); ok && it.s.fetch.IsComposite(a) && !it.s.fetch.IsLongFloat(a) {
		operand.UseType(o)
		whole := it.s.fetch.Pretty(a, it.s.reader.At(v))
		if bare, ok := it.s.fetch.Chars(a, it.s.reader.At(v)); ok && whole.Kind != tree.KindBad {
			return bare
		}
		return whole
	}
	if r, ok := o.(fetch.Result); ok && r.Unknown != nil {
		return tree.Text(it.s.reader.At(v), fetch.UnknownText)
	}
	return it.s.ops.Shown(it.s.reader.ValueOf(o, it.s.reader.At(v)))
}

// printf is printf(format, …).
func (s *Call) printf() *tree.Expr {
	args := s.Node.ArgumentList
	format := s.reader.Value(args[0])
	if format.Code != tree.CodeText {
		if format.Kind != tree.KindBad {
			s.Errorf(s.reader.At(args[0]), "write the format as a text", "the format of printf is not constant")
		}
		return tree.Poison(s.at)
	}
	it := &item{s: s, format: record.Format{Kind: record.ItemPrintf, Text: format.Text}}
	var kinds []value.Kind
	for i, a := range args[1:] {
		it.part = i
		e := s.ops.Scalar(s.reader.Value(a))
		switch want := conversion(format.Text, i); {
		case len(e.Enum) > 0 && want == 's':
			e = s.ops.EnumName(e)
		case strings.IndexByte("diuxXocp", want) >= 0:
			e = tree.AsWhole(e)
		default:
			s.ops.WarnCutBefore(e, "it is shown")
		}
		it.add("", e)
		kinds = append(kinds, e.Kind.ValueKind())
	}
	if it.bad {
		return tree.Poison(s.at)
	}
	if err := value.CheckPrintf(format.Text, kinds); err != nil {
		s.Errorf(s.reader.At(args[0]), "one conversion for each value: %d %u %x %o %c %p for integers, %f %g %e for floats, %s for text", "%v", err)
		return tree.Poison(s.at)
	}
	return it.expr(s.at, tree.KindVoid)
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

// isComposite reports whether an operand is a path to what is made of others.
func (s *Call) isComposite(o operand.Operand) bool {
	a, ok := s.path(o, s.at)
	return ok && s.fetch.IsComposite(a)
}
