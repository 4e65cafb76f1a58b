package js

import (
	"strconv"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// Bounds of what is shown of a value that is made of others. What is left out is marked, as text that was cut is.
const (
	prettyLeaves   = 32 // numbers and texts
	prettyDepth    = 3  // structs and arrays in each other
	prettyElements = 8  // of an array
	prettyText     = 64 // bytes of a text
	recordText     = 256
	prettyMore     = ".."
)

// Parametered is a Place that knows the names of its function's parameters.
type Parametered interface {
	Parameters() ([]string, error)
}

// prettier makes the text of a value that is made of others.
type prettier struct {
	l      *lowering
	at     diag.Span
	leaves int
}

// pretty is pretty(x).
func (s *site) pretty() *expr {
	e := s.node.ArgumentList[0]
	o := s.l.operand(e)
	if a, ok := pathOf(o); ok {
		return s.l.pretty(a, s.l.at(e))
	}
	v := s.l.valueOf(o, s.l.at(e))
	if len(v.enum) > 0 {
		return s.l.named(v)
	}
	t, ok := textOf(v)
	if !ok {
		s.l.errorf(s.l.at(e), "log it as an argument of its own", "cannot make text of %s here", t.kind)
		return poison(s.at)
	}
	return t
}

// pathOf is the path in the debug information that an operand stands for.
func pathOf(o operand) (arguments, bool) {
	switch o := o.(type) {
	case arguments:
		return o, true
	case argument:
		return *o.sym.path, true
	case result:
		return arguments{ofResult: true}, true
	}
	return arguments{}, false
}

// all reports whether a path is c.args or c.locals itself.
func (a arguments) all() bool { return len(a.path) == 0 && !a.ofResult && a.global == "" }

// isComposite reports whether an operand is a path to what is made of others.
func (l *lowering) isComposite(o operand) bool {
	a, ok := pathOf(o)
	return ok && l.composite(a)
}

// composite reports whether what a path names is no number, but made of others: the arguments together, a struct, an array.
func (l *lowering) composite(a arguments) bool {
	if l.unit.Place == nil || a.all() {
		return a.all()
	}
	access, _ := l.resolve(a)
	if access.Shape == nil {
		return false
	}
	switch access.Shape.Kind {
	case compile.ShapeStruct, compile.ShapeArray, compile.ShapeChars:
		return true
	}
	return false
}

// pretty is the text of what a path names: of c.args that of all arguments, of a pointer to a struct that of the struct.
func (l *lowering) pretty(a arguments, at diag.Span) *expr {
	l.compiler.result.UsesPlace = true
	if l.unit.Place == nil {
		return text(at, "") // compiled again at the place
	}
	p := &prettier{l: l, at: at}
	if a.all() {
		return p.parameters(a)
	}
	if !a.ofResult && !a.ofLocals && a.global == "" {
		l.lateArgument("args."+a.path[0], at)
	}
	access, err := l.resolve(a)
	if access.Shape == nil && err != nil {
		l.errorf(at, hintOf(err), "%v", err)
		return poison(at)
	}
	if s := access.Shape; s != nil && s.Kind == compile.ShapePointer && len(s.Members) > 0 {
		pointer := l.access(access, at)
		return p.ifReadable(pointer, func() *expr { return p.members(a, s.Members, 1) })
	}
	return p.value(a, access, err, 0)
}

// names are those of all arguments, or of all local variables; ok is false when an error was reported.
func (p *prettier) names(a arguments) (names []string, ok bool) {
	hint := "name one: c.args.NAME, or c.arg0 … c.arg9 by number"
	err := errNoFiles
	if a.ofLocals {
		hint = "log(global(NAME)) shows a variable of static storage"
		names, err = p.l.locals()
	} else if place, known := p.l.unit.Place.(Parametered); known {
		names, err = place.Parameters()
	}
	if err != nil {
		p.l.errorf(p.at, hint, "the names of %s are not known: %v", a.noun(), err)
	}
	return names, err == nil
}

// parameters is the text of all arguments, or of all local variables.
func (p *prettier) parameters(of arguments) *expr {
	names, ok := p.names(of)
	if !ok {
		return poison(p.at)
	}
	whole := text(p.at, "")
	for i, name := range names {
		lead := name + "="
		if i > 0 {
			lead = ", " + lead
		}
		a := arguments{path: []string{name}, ofLocals: of.ofLocals}
		access, err := p.l.resolve(a)
		whole = p.join(whole, text(p.at, lead), p.value(a, access, err, 0))
	}
	return whole
}

// join puts texts together.
func (p *prettier) join(parts ...*expr) *expr {
	whole := parts[0]
	for _, next := range parts[1:] {
		if whole.code == codeText && whole.text == "" && next.kind == kindText {
			whole = next
			continue
		}
		whole = p.l.arithmetic(token.PLUS, p.at, whole, next)
	}
	return whole
}

// value is the text of one value; what cannot be read is a question mark, as debuggers have it.
func (p *prettier) value(a arguments, access compile.Access, err error, depth int) *expr {
	kind := compile.ShapeNumber
	if access.Shape != nil {
		kind = access.Shape.Kind
	}
	if text, ok := p.counted(a); ok {
		return text
	}
	if kind == compile.ShapeStruct {
		return p.members(a, access.Shape.Members, depth+1)
	}
	if kind == compile.ShapeArray && (err == nil || access.Shape.Len > 0) { // one in registers has no address, but elements
		return p.elements(a, access.Shape.Len, depth+1)
	}
	if err != nil {
		return text(p.at, unknownText)
	}
	if p.leaves++; p.leaves > prettyLeaves {
		return text(p.at, prettyMore)
	}
	e := p.l.access(access, p.at)
	switch kind {
	case compile.ShapePointer:
		return p.hex(e)
	case compile.ShapeText:
		return p.ifReadable(e, func() *expr { return p.quoted(p.l.access(access, p.at), prettyText) })
	case compile.ShapeChars:
		return p.quoted(e, min(max(access.Shape.Len, 1), prettyText))
	}
	if len(e.enum) > 0 {
		return p.l.named(e)
	}
	t, _ := textOf(e)
	return t
}

// members is the text of a struct.
func (p *prettier) members(a arguments, names []string, depth int) *expr {
	if depth > prettyDepth || len(names) == 0 {
		return text(p.at, "{"+prettyMore+"}")
	}
	whole := text(p.at, "{")
	for i, name := range names {
		lead := " ." + name + " = "
		if i > 0 {
			lead = "," + lead
		}
		if p.leaves >= prettyLeaves {
			whole = p.join(whole, text(p.at, ", "+prettyMore))
			break
		}
		inner := a.below(p.l, name).(arguments)
		access, err := p.l.resolve(inner)
		whole = p.join(whole, text(p.at, lead), p.value(inner, access, err, depth))
	}
	return p.join(whole, text(p.at, " }"))
}

// elements is the text of an array.
func (p *prettier) elements(a arguments, n, depth int) *expr {
	if depth > prettyDepth {
		return text(p.at, "["+prettyMore+"]")
	}
	whole := text(p.at, "[")
	for i := range min(n, prettyElements) {
		inner := a.below(p.l, strconv.Itoa(i)).(arguments)
		access, err := p.l.resolve(inner)
		if i > 0 {
			whole = p.join(whole, text(p.at, ","))
		}
		whole = p.join(whole, p.value(inner, access, err, depth))
	}
	if n > prettyElements {
		whole = p.join(whole, text(p.at, ","+prettyMore))
	}
	return p.join(whole, text(p.at, "]"))
}

// quoted is the text at an address, in quotation marks.
func (p *prettier) quoted(address *expr, n int) *expr {
	s := apply(p.at, kindText, runtime.OpStr, address, integer(p.at, int64(n)))
	return p.join(text(p.at, `"`), s, text(p.at, `"`))
}

// chars is the text in an array of characters, or with a length, without quotation marks; ok is false when the path names neither.
func (l *lowering) chars(a arguments, at diag.Span) (e *expr, ok bool) {
	if e, err := l.counted(a, at, recordText); err == nil {
		return e, true
	}
	if l.unit.Place == nil || a.all() {
		return nil, false
	}
	access, err := l.resolve(a)
	if err != nil || access.Shape == nil || access.Shape.Kind != compile.ShapeChars {
		return nil, false
	}
	n := min(max(access.Shape.Len, 1), recordText)
	return apply(at, kindText, runtime.OpStr, l.access(access, at), integer(at, int64(n))), true
}

func (p *prettier) hex(e *expr) *expr { return apply(p.at, kindText, runtime.OpShex, e) }

// ifReadable is the text that there is where an address can be read, and the address where it cannot.
func (p *prettier) ifReadable(address *expr, there func() *expr) *expr {
	test := apply(p.at, kindBool, runtime.OpReadable, address, integer(p.at, 1))
	return p.l.choose(p.at, test, there(), p.hex(address))
}

// named is the name of an enumeration's value, or the number where it has none. Only who asks for it gets it: elsewhere such values
// are numbers.
func (l *lowering) named(e *expr) *expr {
	kept := e
	var body []stmt
	if !l.steady(e) {
		x := l.slots.fresh(e.kind)
		defer l.slots.free(x)
		body = append(body, eval(set(e.at, x, e)))
		kept = local(e.at, x)
	}
	plain := *kept
	plain.enum = nil
	t, _ := textOf(&plain)
	for i := len(e.enum) - 1; i >= 0; i-- {
		is := apply(e.at, kindBool, runtime.OpEq, &plain, integer(e.at, e.enum[i].Value))
		t = l.choose(e.at, is, text(e.at, e.enum[i].Name), t)
	}
	return sequence(e.at, body, t)
}

// composed appends an argument of log that is made of others: all arguments, a struct, an array. It reports false for all else.
func (it *item) composed(e ast.Expression, o operand) bool {
	a, ok := pathOf(o)
	if !ok || !it.l.composite(a) {
		return false
	}
	it.flat(it.l.pretty(a, it.l.at(e)))
	return true
}
