package fetch

import (
	"errors"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// errNoGo is a place that knows no program of Go.
var errNoGo = errors.New("goroutines are not known here")

// goMember is a member of the runtime's g, with the kind of what it is and how much of memory.
type goMember struct {
	name string
	kind tree.Kind
	load opcode.Op
}

// goMembers are those that members of the context show.
var goMembers = map[string]goMember{
	"goid":    {"goid", tree.KindInt, opcode.Load64},
	"gopc":    {"gopc", tree.KindUint, opcode.LoadPtr},
	"gostart": {"startpc", tree.KindUint, opcode.LoadPtr},
}

// OfGoroutine reports whether a member of the context tells of the goroutine.
func OfGoroutine(member string) bool { return goMembers[member].name != "" }

// Goroutine is c.goid, c.gopc or c.gostart: of the goroutine that the thread runs, 0 when it runs none.
func (f *Fetcher) Goroutine(member string, at diag.Span) *tree.Expr {
	m := goMembers[member]
	f.State.Result.UsesPlace = true
	if f.State.Unit.Place == nil {
		return tree.Apply(at, m.kind, opcode.Arg) // any word will do: this is compiled again at the place
	}
	g, err := f.goroutine(member)
	if err != nil {
		f.Errorf(at, report.HintOf(err), "%v", err)
		return tree.Poison(at)
	}
	base := registerValue(g.Register, at)
	if g.Module != "" {
		// The bias is not used, but asking for it is a trap in a process of another program.
		bias := tree.Apply(at, tree.KindInt, opcode.Bias)
		bias.Text = g.Module
		base = tree.Apply(at, tree.KindInt, opcode.Add, base, tree.Apply(at, tree.KindInt, opcode.And, bias, tree.Integer(at, 0)))
	}
	read := func(current *tree.Expr) *tree.Expr {
		return tree.Apply(at, m.kind, m.load, offset(current, g.Member, at))
	}
	ofThread := func(thread *tree.Expr) *tree.Expr {
		machine := loadPointer(thread, g.M, at)
		return f.unlessZero(loadPointer(machine, g.Current, at), at, read)
	}
	if !g.Stored {
		return f.unlessZero(base, at, ofThread)
	}
	return f.unlessZero(base, at, func(base *tree.Expr) *tree.Expr { // 0: the thread has no storage yet
		return f.unlessZero(loadPointer(base, g.Offset, at), at, ofThread)
	})
}

// goroutine asks the place for it.
func (f *Fetcher) goroutine(member string) (js.Goroutine, error) {
	p, ok := f.State.Unit.Place.(js.Goroutines)
	if !ok {
		return js.Goroutine{}, errNoGo
	}
	return p.Goroutine(goMembers[member].name)
}

// KnowsGoroutine reports whether c.goid, c.gopc or c.gostart is known at the place.
func (f *Fetcher) KnowsGoroutine(member string) bool {
	if f.State.Unit.Place == nil {
		return true
	}
	_, err := f.goroutine(member)
	return err == nil
}

// loadPointer reads a pointer behind an address.
func loadPointer(p *tree.Expr, by int64, at diag.Span) *tree.Expr {
	return tree.Apply(at, tree.KindInt, opcode.LoadPtr, offset(p, by, at))
}

// unlessZero is use of a value that is not 0, and else 0.
func (f *Fetcher) unlessZero(v *tree.Expr, at diag.Span, use func(*tree.Expr) *tree.Expr) *tree.Expr {
	return f.Ops.Keep(at, []*tree.Expr{v}, func(kept []*tree.Expr) *tree.Expr {
		return f.Ops.Choose(at, tree.Apply(at, tree.KindBool, opcode.Ne, kept[0], tree.Integer(at, 0)), use(kept[0]), tree.Integer(at, 0))
	})
}
