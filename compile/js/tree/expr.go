package tree

import (
	"slices"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/opcode"
	"gotap/runtime/record"
	"gotap/runtime/value"
)

// Pushes reports whether an expression leaves a value.
func (x *Expr) Pushes() bool { return x.Kind != KindVoid && x.Kind != KindNever }

// Logical folds left && right or left || right.
func Logical(and bool, at diag.Span, left, right *Expr, k Kind) *Expr {
	if left.IsConst() {
		if (left.Cmd.V != 0) == and {
			return right
		}
		return left
	}
	c := CodeOr
	if and {
		c = CodeAnd
	}
	return (&Expr{Code: c, Kind: k, At: at, Args: []*Expr{left, right}}).Complete()
}

// UsedAt is a leaf with the position of its use: that of its origin would send the reader of a listing to and fro.
func (e *Expr) UsedAt(at diag.Span) *Expr {
	here := *e
	here.At, here.Cmd.Pos = at, at
	return &here
}

// Keyed is an operation on an object under a key. Values follow the key.
func Keyed(at diag.Span, k Kind, op opcode.Op, object int, keys []*Expr, values ...*Expr) *Expr {
	args := append(append([]*Expr{}, keys...), values...)
	e := (&Expr{Code: CodeKeyed, Kind: k, At: at, Args: args, Keys: len(keys)}).Complete().With(UsesKey)
	e.Cmd.Op, e.Cmd.A, e.Cmd.Pos = op, uint32(object), at
	return e
}

// Code is what an expression of the tree does.
type Code uint8

const (
	CodeConst  Code = iota // the word cmd.V
	CodeText               // the constant text
	CodeOp                 // the arguments in order, then cmd
	CodeLocal              // the variable slot
	CodeZero               // zero of the type slot has in the end
	CodeSet                // args[0] is assigned to slot; its value stays when it is used
	CodeStore              // args[0] is stored by cmd; its value stays when it is used
	CodeAfter              // args[1] is done after the value of args[0] has been taken
	CodeAnd                // args[0] && args[1]
	CodeOr                 // args[0] || args[1]
	CodeCond               // args[0] ? args[1] : args[2]
	CodeSeq                // body, then args[0] when there is one
	CodeKeyed              // args[:keys] make the key, the rest is pushed, then cmd
	CodeTextOf             // args[0] as text
	CodeSwap               // args[0] and args[1] are pushed, then exchanged
	CodeItem               // an item of the log: args are the fields that are not literal
)

// Effect is what evaluating an expression touches besides its value.
type Effect uint8

const (
	UsesKey Effect = 1 << iota // the key buffer of the hit
	UsesLog                    // the log of the hit
	Writes                     // variables, shared state, the target; or ends the program
)

// Expr is an expression of the typed tree between the script's syntax tree and commands. Trees are checked and folded
// while they are built; what reaches the emitter cannot be wrong.
type Expr struct {
	Code        Code
	Kind        Kind
	Effects     Effect
	At          diag.Span
	Args        []*Expr
	Cmd         compile.Command
	Keys        int // codeKeyed
	Text        string
	Slot        *Slot
	Body        []Stmt
	Format      *record.Format
	DeferredEnd *compile.Command     // codeItem: what ends it, when it does not go to the host
	Enum        []compile.Enumerator // names of its values, when it is of an enumeration
	Ref         *compile.TypeRef     // the type that debug information gives it; nil: none worth keeping
	Quotient    *Expr                // the integer division that the value of a variable came from
	Shows       value.Kind           // KindQuoted, KindWhole, KindDump: it is what pretty makes; else KindInt
	Intended    bool                 // an integer division that needs no warning: the script cuts it itself, or a warning was given
	StackNeed   int                  // words of stack, roughly: decides what is computed first
}

// Poison is the value of an expression that was reported as wrong.
func Poison(at diag.Span) *Expr { return &Expr{Code: CodeConst, Kind: KindBad, At: at} }

func Constant(at diag.Span, k Kind, word uint64) *Expr {
	return &Expr{Code: CodeConst, Kind: k, At: at, StackNeed: 1, Cmd: compile.Command{Op: opcode.PushD, V: word, Pos: at}}
}

func Integer(at diag.Span, v int64) *Expr { return Constant(at, KindInt, uint64(v)) }

func Boolean(at diag.Span, v bool) *Expr {
	if v {
		return Constant(at, KindBool, 1)
	}
	return Constant(at, KindBool, 0)
}

func Text(at diag.Span, s string) *Expr {
	return &Expr{Code: CodeText, Kind: KindText, At: at, Text: s, StackNeed: 1}
}

// Apply is an operation on the values of args. Effects of the operation itself are given; those of args are added.
func Apply(at diag.Span, k Kind, op opcode.Op, args ...*Expr) *Expr {
	e := &Expr{Code: CodeOp, Kind: k, At: at, Args: args, Cmd: compile.Command{Op: op, Pos: at}}
	return e.Complete()
}

// ApplyA is apply with an operand.
func ApplyA(at diag.Span, k Kind, op opcode.Op, a uint32, args ...*Expr) *Expr {
	e := Apply(at, k, op, args...)
	e.Cmd.A = a
	return e
}

// With adds effects.
func (e *Expr) With(f Effect) *Expr {
	e.Effects |= f
	return e
}

// Complete works out what follows from the arguments: effects, stack, and that a bad argument makes a bad whole.
func (e *Expr) Complete() *Expr {
	e.StackNeed = 1
	for i, a := range e.Args {
		e.Effects |= a.Effects
		e.StackNeed = max(e.StackNeed, i+a.StackNeed)
		if a.Kind == KindBad {
			e.Kind = KindBad
		}
	}
	if e.Code != CodeOp {
		e.StackNeed += 2
	}
	for i := range e.Body {
		e.Effects |= e.Body[i].effects()
		e.StackNeed = max(e.StackNeed, e.Body[i].need())
	}
	return e
}

// AnyCommand reports whether a command of the tree is one that f recognises.
func (e *Expr) AnyCommand(f func(*compile.Command) bool) bool {
	if (e.Code == CodeOp || e.Code == CodeStore || e.Code == CodeKeyed) && f(&e.Cmd) {
		return true
	}
	return slices.ContainsFunc(e.Args, func(a *Expr) bool { return a.AnyCommand(f) }) || anyOf(e.Body, f)
}

func anyOf(list []Stmt, f func(*compile.Command) bool) (found bool) {
	for i := range list {
		list[i].children(func(e *Expr) { found = found || e.AnyCommand(f) }, func(list []Stmt) { found = found || anyOf(list, f) })
	}
	return found
}

func (e *Expr) IsConst() bool { return e.Code == CodeConst && e.Kind != KindBad }

// IsLeaf reports whether e is one command whose value nothing else in an expression can change, registers that are
// assigned to excepted: see steady.
func (e *Expr) IsLeaf() bool {
	return e.Code == CodeConst || e.Code == CodeText || e.Code == CodeLocal && e.Slot.Fixed ||
		e.Code == CodeOp && len(e.Args) == 0 && e.Effects == 0 && stable[e.Cmd.Op]
}

// IsPlaceText reports whether e is a text that is the same at every hit of a place.
func (e *Expr) IsPlaceText() bool {
	return e.Code == CodeOp && e.Cmd.Op == opcode.Text && runtime.TextField(e.Cmd.A).OfPlace()
}

// Straight reports whether e is computed by commands in a row: without jumps, and without assignments.
func (e *Expr) Straight() bool {
	switch e.Code {
	case CodeAnd, CodeOr, CodeCond, CodeSeq, CodeSet, CodeStore, CodeAfter:
		return false
	case CodeTextOf:
		if e.Args[0].Kind == KindBool {
			return false
		}
	}
	return e.Effects&Writes == 0 && !slices.ContainsFunc(e.Args, func(a *Expr) bool { return !a.Straight() })
}

// stable are the operations without arguments that give the same value throughout a hit.
var stable = map[opcode.Op]bool{opcode.Arg: true, opcode.ArgF: true, opcode.Retval: true, opcode.PushR: true}

// Local reads a variable.
func Local(at diag.Span, s *Slot) *Expr {
	return &Expr{Code: CodeLocal, Kind: s.Kind, At: at, Slot: s, Ref: s.Held.Ref(), Quotient: s.quotient, Shows: s.Held.Shows(), StackNeed: 1}
}

// Set assigns to a variable.
func Set(at diag.Span, s *Slot, v *Expr) *Expr {
	k := v.Kind
	if !k.Silent() {
		k = s.Kind
	}
	if s.quotient == nil {
		s.quotient = QuotientIn(v)
	}
	s.Held.Put(v)
	return (&Expr{Code: CodeSet, Kind: k, At: at, Slot: s, Args: []*Expr{v}, Effects: Writes}).Complete()
}

// Store is an assignment by the command op.
func Store(at diag.Span, op opcode.Op, a uint32, v *Expr) *Expr {
	return (&Expr{Code: CodeStore, Kind: v.Kind, At: at, Args: []*Expr{v}, Effects: Writes,
		Cmd: compile.Command{Op: op, A: a, Pos: at}}).Complete()
}

// After takes the value of v, then does e.
func After(v, e *Expr) *Expr {
	return (&Expr{Code: CodeAfter, Kind: v.Kind, At: v.At, Args: []*Expr{v, e}}).Complete()
}

// Sequence does body and gives v; v may be nil.
func Sequence(at diag.Span, body []Stmt, v *Expr) *Expr {
	e := &Expr{Code: CodeSeq, Kind: KindVoid, At: at, Body: body}
	if v != nil {
		e.Args, e.Kind = []*Expr{v}, v.Kind
	}
	if len(body) == 0 && v != nil {
		return v
	}
	if v == nil && NeverFallsThrough(body) {
		e.Kind = KindNever
	}
	return e.Complete()
}
