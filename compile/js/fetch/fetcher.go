package fetch

import (
	"strings"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/operator"
	"gotap/compile/js/report"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// Fetcher reads values that belong to the place of a probe: arguments, results, variables, registers.
type Fetcher struct {
	*report.Report
	Ops     *operator.Operators
	State   *state.State
	Handler js.HandlerKind
}

func New(st *state.State, k js.HandlerKind) *Fetcher {
	return &Fetcher{Report: st.Report, Ops: operator.New(st), State: st, Handler: k}
}

// Mark is c.mark, which is another constant at each place.
func (f *Fetcher) Mark(at diag.Span) *tree.Expr {
	f.State.Result.UsesPlace = true
	if place, ok := f.State.Unit.Place.(js.Marked); ok {
		return tree.Text(at, place.Mark())
	}
	return tree.Text(at, "")
}

// Returning reports whether the handler runs as the function returns.
func (f *Fetcher) Returning() bool {
	return f.Handler == js.Leave || f.Handler == js.When && f.State.Unit.AtReturn
}

// WarnLateArgument warns of arguments by register where the register has long been used for something else.
func (f *Fetcher) WarnLateArgument(name string, at diag.Span) {
	if f.Returning() {
		kept := "this." + name[strings.LastIndex(name, ".")+1:]
		f.Warnf(at, "in enter write "+kept+" = c."+name+", here read "+kept,
			"%s is read when the function returns: its register may hold anything by then", name)
	}
}

// Argument is argument n by calling convention, or operand n of a static mark.
func (f *Fetcher) Argument(n int, at diag.Span) *tree.Expr {
	f.State.Result.UsesArg = true
	if f.State.Unit.Place != nil {
		a, ok, err := f.State.Unit.Place.Arg(n)
		if err != nil {
			hint := ""
			if m, ok := f.State.Unit.Place.(js.Marked); ok && m.Mark() != "" {
				hint = "the other operands of the mark can be read"
			}
			f.Errorf(at, hint, "arg%d: %v", n, err)
			return tree.Poison(at)
		}
		if ok {
			e := f.Access(a, at)
			if e.Kind == tree.KindUint { // a note's 8 bytes are the signed register, as c.argN is everywhere
				e.Kind = tree.KindInt
			}
			return e
		}
	}
	return tree.ApplyA(at, tree.KindInt, opcode.Arg, uint32(n))
}
