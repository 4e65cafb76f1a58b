package fetch

import (
	"strconv"

	"github.com/dop251/goja/token"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
	"gotap/compile/shape"
	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// Bounds of what is shown of a value that is made of others. What is left out is marked, as text that was cut is.
const (
	prettyLeaves   = 32 // numbers and texts
	prettyDepth    = 3  // structs and arrays in each other
	prettyElements = 8  // of an array
	handleElements = 2  // of a map in a structure, whose other members are to be seen, too
	prettyText     = 64 // bytes of a text
	recordText     = 256
	prettyMore     = ".."
	prettyWords    = 160 // words of a program that are in use, where all of it would take too many
)

// prettier makes the text of a value that is made of others.
type prettier struct {
	f      *Fetcher
	at     diag.Span
	leaves int
	within bool // a map in a structure
	words  int  // when so many words of the program are in use, no further value is shown
}

// bounded returns what show makes, with fewer values if all of them would take more words than a program has.
func (f *Fetcher) bounded(at diag.Span, show func(p *prettier) *tree.Expr) *tree.Expr {
	before := f.Ops.Slots
	whole := show(&prettier{f: f, at: at, words: runtime.MaxTemps})
	if f.Ops.Slots.Most <= runtime.MaxTemps {
		return marked(whole)
	}
	f.Ops.Slots = before
	return marked(show(&prettier{f: f, at: at, words: prettyWords}))
}

// most is how many elements of a container are shown.
func (p *prettier) most() int {
	if p.within {
		return handleElements
	}
	return prettyElements
}

// IsComposite reports whether a path names a composite value, not a number: the arguments together, a struct, an
// array.
func (f *Fetcher) IsComposite(a Path) bool {
	if f.State.Unit.Place == nil || a.IsAll() {
		return a.IsAll()
	}
	access, _ := f.Resolve(a)
	if access.Shape == nil {
		return false
	}
	switch access.Shape.Kind {
	case shape.Struct, shape.Array, shape.Chars, shape.Wide, shape.Complex:
		return true
	}
	return false
}

// Pretty is the text of what a path names: of c.args that of all arguments, of a pointer to a struct that of the
// struct.
func (f *Fetcher) Pretty(a Path, at diag.Span) *tree.Expr {
	f.State.Result.UsesPlace = true
	if f.State.Unit.Place == nil {
		return tree.Text(at, "") // compiled again at the place
	}
	return f.bounded(at, func(p *prettier) *tree.Expr {
		return f.once(a, at, func(a Path) *tree.Expr { return p.path(a) })
	})
}

// marked notes that the text of a value is put together at the probe, but for the parts of which more is known. Texts in
// quotation marks are escaped when they leave the machine as a field.
func marked(e *tree.Expr) *tree.Expr {
	switch {
	case e.Kind != tree.KindText || e.Code == tree.CodeText || e.Code == tree.CodeTextOf || e.Shows != value.KindInt:
	default:
		e.Shows = value.KindDump
		if e.Code == tree.CodeOp && e.Cmd.Op == opcode.Scat {
			marked(e.Args[0])
			marked(e.Args[1])
		}
	}
	return e
}

// oneText notes that what is shown is one text in quotation marks, or something that does not begin with one.
func oneText(e *tree.Expr) *tree.Expr {
	if e.Code == tree.CodeCond {
		e.Shows = value.KindWhole
	}
	return e
}

// inQuotes puts texts in quotation marks.
func (p *prettier) inQuotes(texts ...*tree.Expr) *tree.Expr {
	quoted := tree.Text(p.at, `"`)
	for _, t := range texts {
		if t.Code != tree.CodeText {
			t.Shows = value.KindQuoted
		}
		quoted = p.join(quoted, t)
	}
	return p.join(quoted, tree.Text(p.at, `"`))
}

// path is Pretty of a path whose values may be computed several times.
func (p *prettier) path(a Path) *tree.Expr {
	f, at := p.f, p.at
	if a.IsAll() {
		return p.parameters(a)
	}
	if a.IsArgument() {
		f.WarnLateArgument("args."+a.Names[0], at)
	}
	access, err := f.Resolve(a)
	if access.Shape == nil && err != nil {
		f.Errorf(at, report.HintOf(err), "%v", err)
		return tree.Poison(at)
	}
	if text, ok := p.sizedText(a); ok {
		return text
	}
	if s := access.Shape; s != nil && s.Kind == shape.Pointer && isContainer(s) && !isOwner(s) {
		return p.handle(a, access, 0)
	}
	if s := access.Shape; s != nil && s.Kind == shape.Pointer && len(s.Members) > 0 {
		pointer := f.access(a, access, at)
		return p.ifReadable(pointer, func() *tree.Expr { return p.members(a, s.Members, 1) })
	}
	return p.value(a, access, err, 0)
}

// Known reports whether debug information tells what a path names.
func (f *Fetcher) Known(a Path) bool {
	f.State.Result.UsesPlace = true
	switch {
	case f.State.Unit.Place == nil:
		return true
	case a.IsAll():
		_, err := f.names(a)
		return err == nil
	}
	access, err := f.Resolve(a)
	return err == nil || access.Shape != nil
}

// CallText is the text of a call in a trace: of its arguments as it begins; as it returns of its result, which is void
// where there is none. ok is false where the types are not known.
func (f *Fetcher) CallText(at diag.Span) (text *tree.Expr, ok bool) {
	of := Path{OfResult: f.Returning()}
	if !f.Known(of) {
		return nil, false
	}
	if f.State.Unit.Place == nil || !of.OfResult {
		return f.Pretty(of, at), true
	}
	access, known, err := f.State.Unit.Place.ReturnType()
	switch {
	case access.Type == compile.TypeVoid:
		return tree.Text(at, "void"), true
	case !known && access.Shape == nil:
		return nil, false
	}
	return f.bounded(at, func(p *prettier) *tree.Expr {
		first := p.value(of, access, err, 0)
		if n := f.results(); n > 1 {
			return p.results(first, n)
		}
		return first
	}), true
}

// results is how many results the function has, as far as that is known.
func (f *Fetcher) results() int {
	p, ok := f.State.Unit.Place.(js.Typed)
	if !ok {
		return 1
	}
	return p.Results()
}

// results is the text of several results, of which the first is given: ("abc", nil).
func (p *prettier) results(first *tree.Expr, n int) *tree.Expr {
	whole := p.join(tree.Text(p.at, "("), first)
	for i := 1; i < n; i++ {
		a := Path{OfResult: true, Result: i}
		access, err := p.f.Resolve(a)
		whole = p.join(whole, tree.Text(p.at, ", "), p.value(a, access, err, 0))
	}
	return p.join(whole, tree.Text(p.at, ")"))
}

// names are those of all arguments, or of all local variables.
func (f *Fetcher) names(a Path) ([]string, error) {
	if a.OfLocals {
		return f.locals()
	}
	if place, known := f.State.Unit.Place.(js.Parametered); known {
		return place.Parameters()
	}
	return nil, ErrNoFiles
}

// names are those of the fetcher; ok is false when an error was reported.
func (p *prettier) names(a Path) (names []string, ok bool) {
	names, err := p.f.names(a)
	if err != nil {
		hint := "name one: c.args.NAME, or c.arg0 … c.arg9 by number"
		if a.OfLocals {
			hint = "log(global(NAME)) shows a variable of static storage"
		}
		p.f.Errorf(p.at, hint, "the names of %s are not known: %v", a.Noun(), err)
	}
	return names, err == nil
}

// parameters is the text of all arguments, or of all local variables.
func (p *prettier) parameters(of Path) *tree.Expr {
	names, ok := p.names(of)
	if !ok {
		return tree.Poison(p.at)
	}
	whole := tree.Text(p.at, "")
	for i, name := range names {
		lead := name + "="
		if i > 0 {
			lead = ", " + lead
		}
		a := Path{Names: []string{name}, OfLocals: of.OfLocals}
		access, err := p.f.Resolve(a)
		whole = p.join(whole, tree.Text(p.at, lead), p.value(a, access, err, 0))
	}
	return whole
}

// join puts texts together.
func (p *prettier) join(parts ...*tree.Expr) *tree.Expr {
	whole := parts[0]
	for _, next := range parts[1:] {
		if whole.Code == tree.CodeText && whole.Text == "" && next.Kind == tree.KindText {
			whole = next
			continue
		}
		whole = p.f.Ops.Arithmetic(token.PLUS, p.at, whole, next)
	}
	return whole
}

// value is the text of one value; what cannot be read is a question mark, as debuggers have it.
func (p *prettier) value(a Path, access compile.Access, err error, depth int) *tree.Expr {
	kind := shape.Number
	if access.Shape != nil {
		kind = access.Shape.Kind
	}
	if p.f.Ops.Slots.Most > p.words {
		return tree.Text(p.at, prettyMore)
	}
	if text, ok := p.sizedText(a); ok {
		return text
	}
	if kind == shape.Struct && access.Shape.Dynamic != nil {
		return p.dynamic(a, access.Shape.Dynamic)
	}
	if kind == shape.Struct && isContainer(access.Shape) {
		return p.container(a, access.Shape, depth+1)
	}
	if kind == shape.Pointer && err == nil && access.Shape.Handle && isContainer(access.Shape) {
		return p.handle(a, access, depth)
	}
	if kind == shape.Pointer && err == nil && isOwner(access.Shape) && depth < prettyDepth {
		return p.inner(a, depth)
	}
	if kind == shape.Struct && len(access.Shape.Members) > 0 && access.Shape.Members[0] == "__0" { // a tuple of Rust
		return p.parts(a, access.Shape.Members, depth+1)
	}
	if kind == shape.Struct {
		return p.members(a, access.Shape.Members, depth+1)
	}
	if kind == shape.Array && err == nil && access.Shape.Len == 0 { // of unknown length, at the end of a struct
		return tree.Text(p.at, "["+prettyMore+"]")
	}
	if kind == shape.Array && (err == nil || access.Shape.Len > 0) { // one in registers has no address, but elements
		return p.elements(a, access.Shape.Len, depth+1)
	}
	if kind == shape.Complex {
		return p.complex(a, depth)
	}
	if err != nil {
		return tree.Text(p.at, UnknownText)
	}
	if p.leaves++; p.leaves > prettyLeaves {
		return tree.Text(p.at, prettyMore)
	}
	if access.Wide != nil {
		return p.wide(a, access)
	}
	e := p.f.access(a, access, p.at)
	switch kind {
	case shape.Pointer:
		return p.hex(e)
	case shape.Text:
		return oneText(p.ifReadable(e, func() *tree.Expr { return p.quoted(access.Shape, p.f.access(a, access, p.at)) }))
	case shape.Chars:
		return p.quoted(access.Shape, e)
	}
	if len(e.Enum) > 0 {
		return p.f.Ops.EnumName(e)
	}
	t, _ := tree.TextOf(e)
	return t
}

// members is the text of a struct.
func (p *prettier) members(a Path, names []string, depth int) *tree.Expr {
	if depth > prettyDepth || len(names) == 0 || p.leaves >= prettyLeaves {
		return tree.Text(p.at, "{"+prettyMore+"}")
	}
	whole := tree.Text(p.at, "{")
	for i, name := range names {
		lead := " ." + name + " = "
		if i > 0 {
			lead = "," + lead
		}
		if p.leaves >= prettyLeaves {
			whole = p.join(whole, tree.Text(p.at, ", "+prettyMore))
			break
		}
		inner := a.Below(name)
		access, err := p.f.Resolve(inner)
		whole = p.join(whole, tree.Text(p.at, lead), p.value(inner, access, err, depth))
	}
	return p.join(whole, tree.Text(p.at, " }"))
}

// elements is the text of an array.
func (p *prettier) elements(a Path, n, depth int) *tree.Expr {
	if depth > prettyDepth {
		return tree.Text(p.at, "["+prettyMore+"]")
	}
	whole := tree.Text(p.at, "[")
	for i := range min(n, prettyElements) {
		inner := a.Below(strconv.Itoa(i))
		access, err := p.f.Resolve(inner)
		if i > 0 {
			whole = p.join(whole, tree.Text(p.at, ","))
		}
		whole = p.join(whole, p.value(inner, access, err, depth))
	}
	if n > prettyElements {
		whole = p.join(whole, tree.Text(p.at, ","+prettyMore))
	}
	return p.join(whole, tree.Text(p.at, "]"))
}

// quoted is the text at an address, in quotation marks.
func (p *prettier) quoted(s *shape.Shape, address *tree.Expr) *tree.Expr {
	return p.inQuotes(p.f.textAt(s, address, tree.Integer(p.at, prettyText), p.at))
}

// Chars is the text in an array of characters, or with a length, without quotation marks; ok is false when the path
// names neither.
func (f *Fetcher) Chars(a Path, at diag.Span) (e *tree.Expr, ok bool) {
	if e, err := f.SizedText(a, at, recordText); err == nil {
		return e, true
	}
	if f.State.Unit.Place == nil || a.IsAll() {
		return nil, false
	}
	access, err := f.Resolve(a)
	if err != nil || access.Shape == nil || access.Shape.Kind != shape.Chars {
		return nil, false
	}
	return f.textAt(access.Shape, f.access(a, access, at), tree.Integer(at, recordText), at), true
}

func (p *prettier) hex(e *tree.Expr) *tree.Expr {
	return tree.Apply(p.at, tree.KindText, opcode.Shex, e)
}

// ifReadable is the text that there is where an address can be read, and the address where it cannot.
func (p *prettier) ifReadable(address *tree.Expr, there func() *tree.Expr) *tree.Expr {
	test := tree.Apply(p.at, tree.KindBool, opcode.Readable, address, tree.Integer(p.at, 1))
	return p.f.Ops.Choose(p.at, test, there(), p.hex(address))
}

// UnknownText is shown for a value that cannot be read, as debuggers do.
const UnknownText = "?"
