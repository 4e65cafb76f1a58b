package js

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// Limits of what is compiled. They keep a hostile script from making the compiler itself run for ever.
const (
	maxNesting  = 5_000 // expressions and statements inside one another, inlined calls included
	maxNodes    = 200_000
	maxCommands = 1 << 16
)

// compiler compiles one unit once. What it reports is kept apart from what is asked of the unit.
type compiler struct {
	unit    Unit
	facts   facts
	learned bool // a fact was added: what is compiled now is thrown away
	diags   diag.List
	cuts    []int // which of them warn of divisions of integers
	said    map[said]bool
	storage storage
	shapes  shapes
	result  Result
	trees   []tree
	nodes   int
	depth   int
}

// facts are types that are known only after the text that needs them: "this.name" and "map 3". They
// only ever go from nothing to a type.
type facts map[string]kind

// said identifies a message: a function inlined twice reports its errors once.
type said struct {
	source     *diag.Source
	start, end int
	text       string
}

// tree is a checked handler.
type tree struct {
	kind  HandlerKind
	body  []stmt
	temps int
	at    diag.Span
}

func newCompiler(u Unit, f facts) *compiler {
	if p, ok := u.Place.(Sized); ok && u.WordSize == 0 {
		u.WordSize = p.WordSize()
	}
	if u.WordSize == 0 {
		u.WordSize = 8
	}
	return &compiler{unit: u, facts: f, said: map[said]bool{}, storage: newStorage(), shapes: shapes{},
		result: Result{AtReturn: u.AtReturn, Programs: map[HandlerKind]*compile.Program{}}}
}

// compile checks all handlers, in the order in which they run during a call.
func (c *compiler) compile() {
	for k := Enter; k < numHandlers; k++ {
		if fn := c.unit.Handlers[k]; fn != nil && !c.learned {
			c.trees = append(c.trees, c.check(k, fn))
		}
	}
}

// finish emits what was checked.
func (c *compiler) finish() (Result, diag.List) {
	c.withoutCuts()
	c.unsetFields()
	if !c.diags.HasErrors() {
		for _, t := range c.trees {
			if p := c.emit(t); p != nil {
				c.result.Programs[t.kind] = p
			}
		}
	}
	if !c.diags.HasErrors() {
		c.refine()
	}
	if c.diags.HasErrors() {
		c.result.Programs = map[HandlerKind]*compile.Program{}
	}
	c.result.ThisBytes, c.result.Guessed = c.storage.size(), c.guesses()
	return c.result, c.diags
}

// errorf reports an error, once. An error inside the range of an error already reported is a consequence
// of it only if the expression is poisoned, so nothing else is suppressed here.
func (c *compiler) errorf(at diag.Span, hint, format string, args ...any) {
	d := diag.Diagnostic{Span: at, Text: fmt.Sprintf(format, args...), Hint: hint}
	c.say(d)
}

func (c *compiler) warnf(at diag.Span, hint, format string, args ...any) {
	c.say(diag.Diagnostic{Span: at, Severity: diag.Warning, Text: fmt.Sprintf(format, args...), Hint: hint})
}

func (c *compiler) say(d diag.Diagnostic) {
	key := said{d.Span.Source, d.Span.Start, d.Span.End, d.Text}
	if !c.said[key] {
		c.said[key] = true
		c.diags = append(c.diags, d)
	}
}

// learn records a fact that earlier text was compiled without. It reports whether that is new.
func (c *compiler) learn(name string, k kind) bool {
	if c.facts[name] != kindNone {
		return false
	}
	c.facts[name], c.learned = k, true
	return true
}

// span is where a node is, in the text as the user wrote it.
func (c *compiler) span(fn *Function, from, to file.Idx) diag.Span {
	source := c.sourceOf(fn)
	start, end := int(from)-fn.Base, int(to)-fn.Base
	if c.unit.Map == nil || source == nil {
		return diag.Span{Source: source, Start: start, End: end}
	}
	return c.mapped(source, start, end)
}

// sourceOf is the text that a function stands in.
func (c *compiler) sourceOf(fn *Function) *diag.Source {
	if fn.Source == nil {
		return c.unit.Source
	}
	return fn.Source
}

// mapped finds a span of generated text in the original. Source maps know where tokens begin, not where they end: the
// length is kept when the text is the same there, otherwise the first word is taken.
func (c *compiler) mapped(source *diag.Source, start, end int) diag.Span {
	original, at := c.unit.Map(start)
	if original == nil {
		return diag.Span{Source: source, Start: start, End: end}
	}
	piece := source.Text[clamp(start, source):clamp(max(start, end), source)]
	rest := original.Text[clamp(at, original):]
	if strings.HasPrefix(rest, piece) {
		return diag.Span{Source: original, Start: at, End: at + len(piece)}
	}
	word := strings.IndexFunc(rest, func(r rune) bool { return !isWord(r) })
	if word < 0 {
		word = len(rest)
	}
	return diag.Span{Source: original, Start: at, End: at + max(1, word)}
}

func clamp(offset int, s *diag.Source) int { return max(0, min(offset, len(s.Text))) }

func isWord(r rune) bool {
	return r == '_' || r == '$' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f
}

// refine tells the arena the shapes of the maps and aggregations that were used.
func (c *compiler) refine() {
	if c.unit.Arena == nil {
		return
	}
	for _, id := range c.shapes.order() {
		s := c.shapes[id]
		if err := c.unit.Arena.RefineUse(id, s.keys, s.value); err != nil {
			c.errorf(s.at, hintOf(err), "%v", err)
		}
	}
}

// shapes are the keys and values of objects as this unit uses them, by object.
type shapes map[int]*shape

// shape is how an object is used.
type shape struct {
	name  string
	keys  []runtime.ValueKind
	value runtime.ValueKind
	read  bool      // a map's values are read
	at    diag.Span // the first use
}

func (s shapes) order() []int {
	ids := make([]int, 0, len(s))
	for id := range s {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// params is the parameter list of a function of either syntax.
func params(n ast.Node) *ast.ParameterList {
	switch n := n.(type) {
	case *ast.FunctionLiteral:
		return n.ParameterList
	case *ast.ArrowFunctionLiteral:
		return n.ParameterList
	}
	return nil
}
