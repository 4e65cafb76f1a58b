package lower

import (
	"strconv"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/builtin"
	"gotap/compile/js/operand"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// What is put in a variable, in a field of this or in a map keeps its type, so that it has members: this.job.name, and
// n.next for let n = c.args.head.

// keepsType reports an assignment that would give a variable another type after members of it were used.
func (l *lowering) keepsType(to operand.Operand, v *tree.Expr, at diag.Span) bool {
	h := operand.Holding(to)
	if h == nil || !h.Used || h.Fits(v) || h.Ref() == nil {
		return true
	}
	p, _ := to.(operand.Assignable)
	what := "a value of no known type"
	if v.Ref != nil {
		what = v.Ref.Name
	}
	l.Errorf(at, `cast(p, "`+h.Ref().Name+`") says that it is of that type; or use another variable`,
		"%s holds %s, of which members are used: cannot assign %s", operand.Title(p), h.Ref().Name, what)
	return false
}

// chosen is an element whose index the program computes; ok is false for operands without elements.
func (l *lowering) chosen(of operand.Operand, index *tree.Expr, at diag.Span) (operand.Operand, bool) {
	a, ok := operand.PathOf(of)
	if !ok || !operand.HasPathMembers(of) {
		if a, ok = operand.Typed(of, l.fetch, at); !ok {
			return nil, false
		}
	}
	operand.UseType(of)
	index = tree.AsWhole(index)
	if !index.Kind.Integer() {
		l.Errorf(index.At, "an index is an integer", "cannot index with %s", index.Kind)
		return operand.Bad{}, true
	}
	below := a.Below(compile.AnyElement)
	below.Indexes = append(append([]*tree.Expr{}, a.Indexes...), index)
	return below, true
}

// laterResult is c.rets[i].
func (l *lowering) laterResult(index *tree.Expr, at diag.Span) operand.Operand {
	if !index.IsConst() || !index.Kind.Integer() || int64(index.Cmd.V) < 0 || index.Cmd.V > maxResults {
		l.Errorf(at, "c.rets[0] is the first result", "which result is meant has to be a number that is written out")
		return operand.Bad{}
	}
	r, ok := l.fetch.LaterResult(int(index.Cmd.V), at)
	if !ok {
		return operand.Bad{}
	}
	return r
}

// maxResults bounds the number of a result.
const maxResults = 64

// enumerator is the constant of an enumeration of the program; ok is false when it has none of the name. Without a
// place, names that begin like those of constants may be some.
func (l *lowering) enumerator(name string, at diag.Span) (e *tree.Expr, ok bool) {
	if l.state.Unit.Place != nil {
		return l.fetch.Enumerator(name, at)
	}
	if name[0] < 'A' || name[0] > 'Z' || builtin.Find(name) != nil || foreign[name] != "" {
		return nil, false
	}
	l.state.Result.UsesPlace = true
	return tree.ApplyA(at, tree.KindInt, opcode.Arg, 0), true
}

// constantIndex is the name of an element in a path.
func constantIndex(e *tree.Expr) string { return strconv.FormatInt(int64(e.Cmd.V), 10) }

// decides reports whether a test is known at the place. Then what it rules out is not read again: it was checked
// without a place, and names may be missing here, which is what defined(x) asks.
func (l *lowering) decides(test *tree.Expr) bool { return l.state.Unit.Place != nil && test.IsConst() }
