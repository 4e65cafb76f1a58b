package builtin

import (
	"cmp"

	"github.com/dop251/goja/ast"

	"gotap/compile"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operand"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
	"gotap/compile/shape"
	"gotap/runtime/opcode"
	"gotap/runtime/value"
)

// str is str(p, n?): of an address, or of text that has its own length.
func (s *Call) str() *tree.Expr {
	n := s.size(1, value.DefaultText)
	if isPath(s.Node.ArgumentList[0]) {
		o := s.reader.Operand(s.Node.ArgumentList[0])
		if operand.IsBad(o) {
			return tree.Poison(s.at)
		}
		if a, ok := s.path(o, s.at); ok {
			if e := s.typedText(a, n); e != nil {
				return e
			}
		}
	}
	return tree.Apply(s.at, tree.KindText, opcode.Str, s.address(0), n)
}

// typedText is the text that a path names, at most n bytes of it, where its type says what it is: text with a length,
// or no text at all. nil: it is an address.
func (s *Call) typedText(a fetch.Path, n *tree.Expr) *tree.Expr {
	at := s.reader.At(s.Node.ArgumentList[0])
	if n.IsConst() {
		e, err := s.fetch.SizedText(a, s.at, int64(n.Cmd.V))
		if err == nil {
			s.state.Result.UsesPlace = true
			return e
		}
		if err != fetch.ErrNotSizedText {
			s.Errorf(at, report.HintOf(err), "%v", err)
			return tree.Poison(at)
		}
	}
	if s.state.Unit.Place == nil || a.IsAll() {
		return nil
	}
	access, err := s.fetch.Resolve(a)
	if isNumber := access.Shape == nil || access.Shape.Kind == shape.Char; isNumber && err == nil && isNeverAddress(access) {
		s.Errorf(at, "the text of a number is `${x}`", "this is not text: its type is %s", cmp.Or(access.Ctype, "a number"))
		return tree.Poison(at)
	}
	if e, ok := s.fetch.TypedText(a, access, s.at, n); ok && err == nil {
		return e
	}
	if access.Shape == nil || access.Shape.MayBeText() {
		return nil
	}
	s.Errorf(at, textHint(access.Shape), "this is not text: its type is %s", cmp.Or(access.Ctype, "a composite type"))
	return tree.Poison(at)
}

// isNeverAddress reports whether a number cannot be the address of text: a float, a truth value, a constant of an
// enumeration, or an integer that is smaller than an address, or as small as one of 32 bits and signed.
func isNeverAddress(a compile.Access) bool {
	if a.Type != compile.TypeInt || len(a.Enum) > 0 {
		return true
	}
	if len(a.Steps) == 0 {
		return false
	}
	switch last := a.Steps[len(a.Steps)-1]; last.Op {
	case compile.OpBits:
		return true
	case compile.OpLoad, compile.OpTruncate:
		return last.Size < 4 || last.Size == 4 && last.Signed
	}
	return false
}

// textHint says what to read instead of a value that is not text.
func textHint(s *shape.Shape) string {
	if len(s.Members) > 0 {
		return "name a member that is text: " + report.List(s.Members) + "; log(x) and pretty(x) show all of them"
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
	case *ast.ThisExpression:
		return true
	case *ast.BracketExpression:
		_, isNumber := e.Member.(*ast.NumberLiteral)
		_, isName := e.Member.(*ast.Identifier)
		return (isNumber || isName) && isPath(e.Left)
	case *ast.CallExpression:
		callee, ok := e.Callee.(*ast.Identifier)
		return ok && (callee.Name == "global" || callee.Name == "cast" && isPath(e.ArgumentList[0]))
	}
	return false
}

// pretty is pretty(x).
func (s *Call) pretty() *tree.Expr {
	e := s.Node.ArgumentList[0]
	o := s.reader.Operand(e)
	if _, ok := o.(operand.Context); ok {
		text, known := s.fetch.CallText(s.at)
		if known {
			return text
		}
		return s.otherText("the types of the arguments and the result are not known")
	}
	if a, ok := s.path(o, s.at); ok {
		operand.UseType(o)
		if len(s.Node.ArgumentList) > 1 && !s.fetch.Known(a) {
			return s.text(1)
		}
		return s.fetch.Pretty(a, s.reader.At(e))
	}
	v := s.reader.ValueOf(o, s.reader.At(e))
	if len(v.Enum) > 0 {
		return s.ops.EnumName(v)
	}
	t, ok := tree.TextOf(v)
	if !ok {
		s.Errorf(s.reader.At(e), "log it as an argument of its own", "cannot make text of %s here", t.Kind)
		return tree.Poison(s.at)
	}
	return t
}

// otherText is the text that pretty shows where nothing is known, or an error where none is given.
func (s *Call) otherText(why string) *tree.Expr {
	if len(s.Node.ArgumentList) > 1 {
		return s.text(1)
	}
	s.Errorf(s.at, "give the text to show instead: pretty(c, \"?\")", "%s", why)
	return tree.Poison(s.at)
}

// fails is fails(c).
func (s *Call) fails() *tree.Expr {
	e := s.Node.ArgumentList[0]
	if _, ok := s.reader.Operand(e).(operand.Context); !ok {
		s.Errorf(s.reader.At(e), "write fails(c)", "fails takes the context of the call")
		return tree.Poison(s.at)
	}
	return s.fetch.Fails(s.at)
}
