package operand

import (
	"slices"

	"github.com/dop251/goja/token"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/fetch"
	"gotap/compile/js/operator"
	"gotap/compile/js/tree"
	"gotap/runtime/arena"
	"gotap/runtime/opcode"
)

// StoresTo recognises commands that change a variable which others share.
func StoresTo(p Assignable) func(*compile.Command) bool {
	var ops []opcode.Op
	var object uint32
	switch p := p.(type) {
	case Shared:
		object, ops = uint32(p.Object), []opcode.Op{opcode.PopGV, opcode.AddGV, opcode.IncGV, opcode.DecGV, opcode.FetchAddGV}
	case ThreadValue:
		object, ops = uint32(p.Object), []opcode.Op{opcode.PopPT, opcode.AddPT}
	}
	return func(c *compile.Command) bool { return c.A == object && slices.Contains(ops, c.Op) }
}

// Add is += or -= on a shared integer.
func (s Shared) Add(ops *operator.Operators, op token.Token, at diag.Span, by *tree.Expr, used bool) *tree.Expr {
	by, object := Addend(op, at, by), uint32(s.Object)
	switch {
	case !used && by.IsConst() && int64(by.Cmd.V) == 1:
		return tree.ApplyA(at, tree.KindVoid, opcode.IncGV, object).With(tree.Writes)
	case !used && by.IsConst() && int64(by.Cmd.V) == -1:
		return tree.ApplyA(at, tree.KindVoid, opcode.DecGV, object).With(tree.Writes)
	case !used:
		return tree.ApplyA(at, tree.KindVoid, opcode.AddGV, object, by).With(tree.Writes)
	case ops.State.Repeatable(by):
		before := tree.ApplyA(at, tree.KindInt, opcode.FetchAddGV, object, by).With(tree.Writes)
		return tree.Apply(at, tree.KindInt, opcode.Add, before, by)
	}
	x := ops.Slots.Fresh(tree.KindInt)
	defer ops.Slots.Free(x)
	body := []tree.Stmt{tree.Eval(tree.Set(at, x, by))}
	before := tree.ApplyA(at, tree.KindInt, opcode.FetchAddGV, object, tree.Local(at, x)).With(tree.Writes)
	return tree.Sequence(at, body, tree.Apply(at, tree.KindInt, opcode.Add, before, tree.Local(at, x)))
}

// Addend is what is added: by, or -by.
func Addend(op token.Token, at diag.Span, by *tree.Expr) *tree.Expr {
	if op == token.MINUS {
		return tree.Fold(tree.Apply(at, tree.KindInt, opcode.Neg, by))
	}
	return by
}

func (v Variable) Kind() tree.Kind { return v.Sym.Slot.Kind }

// Get reads a local. One that nothing was assigned to yet is an integer from here on: it reads 0.
func (v Variable) Get(_ *fetch.Fetcher, at diag.Span) *tree.Expr {
	if v.Sym.Slot.Kind == tree.KindNone {
		v.Sym.Slot.Kind = tree.KindInt
	}
	return tree.Local(at, v.Sym.Slot)
}

func (v Variable) Set(_ *fetch.Fetcher, at diag.Span, e *tree.Expr) *tree.Expr {
	if v.Sym.Slot.Kind == tree.KindNone {
		v.Sym.Slot.Kind = e.Kind
	}
	return tree.Set(at, v.Sym.Slot, e)
}

func (s Shared) Kind() tree.Kind {
	if s.Text {
		return tree.KindText
	}
	return tree.KindInt
}

func (s Shared) Get(f *fetch.Fetcher, at diag.Span) *tree.Expr {
	if s.Text {
		return tree.ApplyA(at, tree.KindText, opcode.PushGVS, uint32(s.Object))
	}
	if s.Bool {
		return tree.Apply(at, tree.KindBool, opcode.Bool, tree.ApplyA(at, tree.KindInt, opcode.PushGV, uint32(s.Object)))
	}
	e := tree.ApplyA(at, tree.KindInt, opcode.PushGV, uint32(s.Object))
	e.Ref = f.State.HeldType(s.Object)
	return e
}

func (s Shared) Set(f *fetch.Fetcher, at diag.Span, e *tree.Expr) *tree.Expr {
	if s.Text {
		return tree.Store(at, opcode.PopGVS, uint32(s.Object), e)
	}
	if !s.Bool && !f.State.Hold(s.Object, s.Name, e, at) {
		return tree.Poison(at)
	}
	return tree.Store(at, opcode.PopGV, uint32(s.Object), e)
}

func (ThreadValue) Kind() tree.Kind { return tree.KindInt }

func (t ThreadValue) Get(f *fetch.Fetcher, at diag.Span) *tree.Expr {
	e := tree.ApplyA(at, tree.KindInt, opcode.PushPT, uint32(t.Object))
	e.Ref = f.State.HeldType(t.Object)
	return e
}

func (t ThreadValue) Set(f *fetch.Fetcher, at diag.Span, e *tree.Expr) *tree.Expr {
	if !f.State.Hold(t.Object, t.Name+".value", e, at) {
		return tree.Poison(at)
	}
	return tree.Store(at, opcode.PopPT, uint32(t.Object), e)
}

func (c ThisField) Kind() tree.Kind {
	if c.Kept == nil {
		return tree.KindNone
	}
	return c.Kept.Kind
}

func (c ThisField) Get(f *fetch.Fetcher, at diag.Span) *tree.Expr {
	kept := c.Kept
	if kept == nil {
		kept = f.State.Storage.Field(c.Name, tree.KindInt)
	}
	if kept.Read.Source == nil {
		kept.Read = at
	}
	if kept.Kind == tree.KindText {
		e := tree.ApplyA(at, tree.KindText, opcode.PushThisS, uint32(kept.Offset))
		e.Shows = kept.Held.Shows()
		return e
	}
	e := tree.ApplyA(at, kept.Kind, opcode.PushThis, uint32(kept.Offset/8))
	e.Quotient, e.Ref = kept.Quotient, kept.Held.Ref()
	return e
}

func (c ThisField) Set(f *fetch.Fetcher, at diag.Span, v *tree.Expr) *tree.Expr {
	kept := f.State.Storage.Field(c.Name, v.Kind)
	kept.Set = true
	kept.Held.Put(v)
	if kept.Quotient == nil {
		kept.Quotient = tree.QuotientIn(v)
	}
	if f.State.Storage.Size() > arena.MaxThisBytes {
		f.Errorf(at, "keep fewer texts, or only their hash()", "more than %d bytes are kept for a call", arena.MaxThisBytes)
	}
	if kept.Kind == tree.KindText {
		return tree.Store(at, opcode.PopThisS, uint32(kept.Offset), v)
	}
	return tree.Store(at, opcode.PopThis, uint32(kept.Offset/8), v)
}
