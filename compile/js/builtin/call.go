package builtin

import (
	"fmt"
	"strings"

	"github.com/dop251/goja/ast"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operand"
	"gotap/compile/js/operator"
	"gotap/compile/js/report"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// NewCall begins the reading of a call.
func NewCall(l reader, f *fetch.Fetcher, node *ast.CallExpression) *Call {
	return &Call{Report: f.Report, reader: l, ops: f.Ops, fetch: f, state: f.State, Node: node, at: l.At(node)}
}

// reader reads the arguments of a call: the compiler of expressions.
type reader interface {
	At(ast.Node) diag.Span
	Operand(ast.Expression) operand.Operand
	Value(ast.Expression) *tree.Expr
	ValueOf(o operand.Operand, at diag.Span) *tree.Expr
	// any is the value of an expression that may have none.
	Any(ast.Expression) *tree.Expr
	PropertyName(*ast.PropertyKeyed) (name string, ok bool)
	// deeper guards a recursion over the syntax tree; leave ends it.
	Deeper(ast.Node) bool
	Leave()
	// isResult reports whether an expression is c.ret itself.
	IsResult(ast.Expression) bool
}

// Call is one call, being read.
type Call struct {
	*report.Report
	reader reader
	ops    *operator.Operators
	fetch  *fetch.Fetcher
	state  *state.State
	Node   *ast.CallExpression
	Name   string // what is called, for messages
	at     diag.Span
}

// count checks the number of arguments; most < 0 means any.
func (s *Call) count(least, most int) bool {
	n := len(s.Node.ArgumentList)
	if n >= least && (most < 0 || n <= most) {
		return true
	}
	s.Errorf(s.at, usageHint(s.Name), "%s takes %s, not %d", s.Name, countRange(least, most), n)
	return false
}

func usageHint(name string) string {
	u := Usage(name)
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
		return "at least " + report.Count(least, "argument")
	case least == most:
		return report.Count(most, "argument")
	case most == least+1:
		return fmt.Sprintf("%d or %s", least, report.Count(most, "argument"))
	}
	return fmt.Sprintf("%d to %s", least, report.Count(most, "argument"))
}

// arg is the value of an argument.
func (s *Call) arg(i int) *tree.Expr { return s.reader.Value(s.Node.ArgumentList[i]) }

// integer is the value of an argument that is an integer.
func (s *Call) integer(i int) *tree.Expr { return s.integerOf(i, s.ops.Scalar(s.arg(i))) }

// address is the value of an argument that is an address: that of an object, too.
func (s *Call) address(i int) *tree.Expr { return s.integerOf(i, s.arg(i)) }

// integerOf is the value e of argument i, which has to be an integer.
func (s *Call) integerOf(i int, e *tree.Expr) *tree.Expr {
	e = tree.AsWhole(e)
	if !e.Kind.Integer() && !e.Kind.Silent() {
		hint := usageHint(s.Name)
		if e.Kind == tree.KindFloat {
			hint = "make an integer of the float with trunc(x)"
		}
		s.Errorf(e.At, hint, "argument %d of %s is %s, not an integer", i+1, s.Name, e.Kind)
		return tree.Poison(e.At)
	}
	return e
}

// optional is an integer argument that may be left out.
func (s *Call) optional(i int, otherwise int64) *tree.Expr {
	if i < len(s.Node.ArgumentList) {
		return s.integer(i)
	}
	return tree.Integer(s.at, otherwise)
}

// size is an optional count of bytes, which has a limit.
func (s *Call) size(i int, otherwise int64) *tree.Expr {
	e := s.optional(i, otherwise)
	if n := int64(e.Cmd.V); e.IsConst() && (n < 0 || n > value.MaxText) {
		many := "too many"
		if n < 0 {
			many = "too few"
		}
		s.Errorf(e.At, fmt.Sprintf("text and bytes have %d bytes at most", value.MaxText), "%d bytes are %s", n, many)
		return tree.Poison(e.At)
	}
	return e
}

// text is the value of an argument that is text.
func (s *Call) text(i int) *tree.Expr {
	e := s.arg(i)
	if e.Kind != tree.KindText && e.Kind != tree.KindBytes && !e.Kind.Silent() {
		s.Errorf(e.At, "read text from a pointer with str(p)", "argument %d of %s is %s, not text", i+1, s.Name, e.Kind)
		return tree.Poison(e.At)
	}
	return e
}

// Stack is c.stack(n).
func (s *Call) Stack() *tree.Expr {
	s.Name = "c.stack"
	if !s.count(1, 1) {
		return tree.Poison(s.at)
	}
	n := s.integer(0)
	if n.Kind == tree.KindBad {
		return n
	}
	if frames := int64(n.Cmd.V); !n.IsConst() || frames < 1 || frames > value.MaxStackDepth {
		s.Errorf(n.At, fmt.Sprintf("write a number from 1 to %d", value.MaxStackDepth), "the depth of a stack is not a constant from 1 to %d", value.MaxStackDepth)
		return tree.Poison(s.at)
	}
	return tree.Apply(s.at, tree.KindStack, opcode.Stack, n)
}

// StartsWith is t.startsWith(u).
func (s *Call) StartsWith(t *tree.Expr) *tree.Expr {
	if !s.count(1, 1) {
		return tree.Poison(s.at)
	}
	u := s.text(0)
	if t.Code == tree.CodeText && u.Code == tree.CodeText {
		return tree.Boolean(s.at, strings.HasPrefix(t.Text, u.Text))
	}
	return tree.Apply(s.at, tree.KindBool, opcode.Sprefix, t, u)
}

// variableName is the constant text that global and uaddr take; ok is false when an error was reported.
func (s *Call) variableName() (name string, ok bool) {
	if !s.count(1, 1) {
		return "", false
	}
	e := s.arg(0)
	if e.Code == tree.CodeText && e.Text != "" {
		return e.Text, true
	}
	if !e.Kind.Silent() {
		s.Errorf(e.At, "write "+s.Name+`("name") or `+s.Name+`("module:name")`, "the name of the variable is not a constant text")
	}
	return "", false
}

// Global is global(name): what it denotes has a value and members, as arguments have.
func (s *Call) Global() operand.Operand {
	name, ok := s.variableName()
	if !ok {
		return operand.Bad{}
	}
	return fetch.Path{Global: name}
}

// uaddr is uaddr(name).
func (s *Call) uaddr() *tree.Expr {
	name, ok := s.variableName()
	if !ok {
		return tree.Poison(s.at)
	}
	s.state.Result.UsesPlace = true
	if s.state.Unit.Place == nil {
		return tree.Apply(s.at, tree.KindUint, opcode.Arg) // any word will do: this is compiled again at the place
	}
	a, err := compile.Access{}, fetch.ErrNoFiles
	if p, ok := s.state.Unit.Place.(js.Globals); ok {
		a, err = p.GlobalAddress(name)
	}
	if err != nil {
		s.Errorf(s.at, report.HintOf(err), "%v", err)
		return tree.Poison(s.at)
	}
	e := *s.fetch.Access(a, s.at)
	e.Kind = tree.KindUint
	return &e
}

// skip is skip(result).
func skip(s *Call) *tree.Expr {
	if s.fetch.Handler != js.Enter {
		s.Errorf(s.at, "use it in enter(c) { … }", "a function can be skipped only before it runs")
		return tree.Poison(s.at)
	}
	v := s.optional(0, 0)
	a, ok, unknown := s.fetch.ResultAccess(s.at)
	if unknown != nil {
		s.Errorf(s.at, "let it run, and change its inputs", "%v", unknown)
		return tree.Poison(s.at)
	}
	if !ok && a.Type == compile.TypeVoid {
		return tree.Poison(s.at)
	}
	to := s.fetch.OnStack(a, s.at)
	switch {
	case a.Wide != nil:
		s.Errorf(s.at, "let it run, and change its inputs", "a result of more than 8 bytes cannot be changed")
		return tree.Poison(s.at)
	case to == nil && a.Type == compile.TypeF64:
		s.Errorf(s.at, "let it run, and change its inputs", "a floating result is not in a register that can be changed")
		return tree.Poison(s.at)
	case to == nil:
		return tree.Apply(s.at, tree.KindVoid, opcode.Skip, v).With(tree.Writes)
	case !to.Whole:
		s.Errorf(s.at, "let it run, and change the result in leave", "the skipped function returns more than one number")
		return tree.Poison(s.at)
	}
	end := tree.Apply(s.at, tree.KindVoid, opcode.Skip, tree.Integer(s.at, 0)).With(tree.Writes)
	return tree.Sequence(s.at, []tree.Stmt{tree.Eval(to.Store(v, s.at)), tree.Eval(end)}, nil)
}
