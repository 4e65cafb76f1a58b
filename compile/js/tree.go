package js

import (
	"slices"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// kind is the type of a value as this compiler sees it.
type kind uint8

const (
	kindNone  kind = iota // a variable that nothing has been assigned to yet
	kindInt               // 64-bit two's complement
	kindUint              // the same, printed unsigned: what is known to be a pointer or an unsigned word
	kindBool              // 0 or 1, printed true or false; an integer elsewhere
	kindFloat             // IEEE 754 double
	kindText              // a reference to text
	kindBytes             // a reference to bytes
	kindStack             // a reference to return addresses
	kindVoid              // no value
	kindNever             // control does not come back
	kindBad               // an error was reported: everything made of it is silently bad too
)

// String is what messages call a value of the type.
func (k kind) String() string {
	return [...]string{"nothing", "an integer", "an integer", "true or false", "a float", "text", "bytes", "a stack",
		"no value", "no value", "an error"}[k]
}

// integer reports whether the word is a plain integer.
func (k kind) integer() bool { return k == kindInt || k == kindUint || k == kindBool }

func (k kind) number() bool { return k.integer() || k == kindFloat }

// silent reports whether complaints about the type make no sense.
func (k kind) silent() bool { return k == kindBad || k == kindNever }

// valueKind is the kind of a field that holds such a value.
func (k kind) valueKind() runtime.ValueKind {
	switch k {
	case kindUint:
		return runtime.ValueUint
	case kindBool:
		return runtime.ValueBool
	case kindFloat:
		return runtime.ValueFloat
	case kindText:
		return runtime.ValueText
	case kindBytes:
		return runtime.ValueBytes
	case kindStack:
		return runtime.ValueStack
	}
	return runtime.ValueInt
}

// code is what an expression of the tree does.
type code uint8

const (
	codeConst  code = iota // the word cmd.V
	codeText               // the constant text
	codeOp                 // the arguments in order, then cmd
	codeLocal              // the variable slot
	codeZero               // zero of the type slot has in the end
	codeSet                // args[0] is assigned to slot; its value stays when it is used
	codeStore              // args[0] is stored by cmd; its value stays when it is used
	codeAfter              // args[1] is done after the value of args[0] has been taken
	codeAnd                // args[0] && args[1]
	codeOr                 // args[0] || args[1]
	codeCond               // args[0] ? args[1] : args[2]
	codeSeq                // body, then args[0] when there is one
	codeKeyed              // args[:keys] make the key, the rest is pushed, then cmd
	codeTextOf             // args[0] as text
	codeSwap               // args[0] and args[1] are pushed, then exchanged
	codeItem               // an item of the log: args are the fields that are not literal
)

// effect is what evaluating an expression touches besides its value.
type effect uint8

const (
	effKey   effect = 1 << iota // the key buffer of the hit
	effLog                      // the log of the hit
	effWrite                    // variables, shared state, the target; or ends the program
)

// expr is an expression of the typed tree between the script's syntax tree and commands. Trees are checked and folded while
// they are built; what reaches the emitter cannot be wrong.
type expr struct {
	code     code
	kind     kind
	effects  effect
	at       diag.Span
	args     []*expr
	cmd      compile.Command
	keys     int // codeKeyed
	text     string
	slot     *slot
	body     []stmt
	format   *runtime.Format
	aside    *compile.Command     // codeItem: what ends it, when it does not go to the host
	enum     []compile.Enumerator // names of its values, when it is of an enumeration
	quotient *expr                // the integer division that the value of a variable came from
	meant    bool                 // an integer division that is no surprise: the script cuts it itself, or has been told
	need     int                  // words of stack, roughly: decides what is computed first
}

// slot is a local variable or an intermediate value: a scratch word of the hit.
type slot struct {
	index int
	kind  kind
	fixed bool // is assigned once, before every read

	quotient *expr // the integer division that it has a value from
}

// stmtCode is what a statement of the tree does.
type stmtCode uint8

const (
	stmtEval  stmtCode = iota // e, without its value
	stmtIf                    // e ? body : alt
	stmtLoop                  // loop
	stmtJump                  // to label
	stmtLabel                 // label is here
	stmtEnd                   // the program ends
)

// stmt is a statement of the tree.
type stmt struct {
	code  stmtCode
	at    diag.Span
	e     *expr
	body  []stmt
	alt   []stmt
	label *label
	loop  *loop
}

// loop is any of the loops of the language.
type loop struct {
	test     *expr // nil: for ever
	body     []stmt
	post     []stmt
	next     *label // continue goes there
	done     *label // break goes there
	testLast bool   // do … while
}

// label is a place in a program that is jumped to.
type label struct {
	jumps  int           // jumps to it in the tree
	target compile.Label // once the emitter has met it
	made   bool          // target is valid
	live   bool          // a jump to it was emitted
	depth  int           // words on the stack there
}

// poison is the value of what was reported as wrong.
func poison(at diag.Span) *expr { return &expr{code: codeConst, kind: kindBad, at: at} }

func constant(at diag.Span, k kind, word uint64) *expr {
	return &expr{code: codeConst, kind: k, at: at, need: 1, cmd: compile.Command{Op: runtime.OpPushD, V: word, Pos: at}}
}

func integer(at diag.Span, v int64) *expr { return constant(at, kindInt, uint64(v)) }

func boolean(at diag.Span, v bool) *expr {
	if v {
		return constant(at, kindBool, 1)
	}
	return constant(at, kindBool, 0)
}

func text(at diag.Span, s string) *expr {
	return &expr{code: codeText, kind: kindText, at: at, text: s, need: 1}
}

// apply is an operation on the values of args. Effects of the operation itself are given; those of args are added.
func apply(at diag.Span, k kind, op runtime.Op, args ...*expr) *expr {
	e := &expr{code: codeOp, kind: k, at: at, args: args, cmd: compile.Command{Op: op, Pos: at}}
	return e.close()
}

// applyA is apply with an operand.
func applyA(at diag.Span, k kind, op runtime.Op, a uint32, args ...*expr) *expr {
	e := apply(at, k, op, args...)
	e.cmd.A = a
	return e
}

// with adds effects.
func (e *expr) with(f effect) *expr {
	e.effects |= f
	return e
}

// close works out what follows from the arguments: effects, stack, and that a bad argument makes a bad whole.
func (e *expr) close() *expr {
	e.need = 1
	for i, a := range e.args {
		e.effects |= a.effects
		e.need = max(e.need, i+a.need)
		if a.kind == kindBad {
			e.kind = kindBad
		}
	}
	if e.code != codeOp {
		e.need += 2
	}
	for i := range e.body {
		e.effects |= e.body[i].effects()
		e.need = max(e.need, e.body[i].need())
	}
	return e
}

// children calls f for the statement's parts.
func (s *stmt) children(f func(*expr), g func([]stmt)) {
	if s.e != nil {
		f(s.e)
	}
	g(s.body)
	g(s.alt)
	if s.loop != nil {
		if s.loop.test != nil {
			f(s.loop.test)
		}
		g(s.loop.body)
		g(s.loop.post)
	}
}

func (s *stmt) effects() (all effect) {
	if s.code == stmtEnd {
		return effWrite
	}
	s.children(func(e *expr) { all |= e.effects }, func(list []stmt) {
		for i := range list {
			all |= list[i].effects()
		}
	})
	return all
}

func (s *stmt) need() (most int) {
	s.children(func(e *expr) { most = max(most, e.need) }, func(list []stmt) {
		for i := range list {
			most = max(most, list[i].need())
		}
	})
	return most
}

// any reports whether a command of the tree is one that f recognises.
func (e *expr) any(f func(*compile.Command) bool) bool {
	if (e.code == codeOp || e.code == codeStore || e.code == codeKeyed) && f(&e.cmd) {
		return true
	}
	return slices.ContainsFunc(e.args, func(a *expr) bool { return a.any(f) }) || anyOf(e.body, f)
}

func anyOf(list []stmt, f func(*compile.Command) bool) (found bool) {
	for i := range list {
		list[i].children(func(e *expr) { found = found || e.any(f) }, func(list []stmt) { found = found || anyOf(list, f) })
	}
	return found
}

func (e *expr) isConst() bool { return e.code == codeConst && e.kind != kindBad }

// leaf reports whether e is one command whose value nothing else in an expression can change, registers that are assigned to
// excepted: see steady.
func (e *expr) leaf() bool {
	return e.code == codeConst || e.code == codeText || e.code == codeLocal && e.slot.fixed ||
		e.code == codeOp && len(e.args) == 0 && e.effects == 0 && stable[e.cmd.Op]
}

// steady reports whether e may be computed later, or twice, than the text has it. A program that is allowed to change registers may do so
// between.
func (c *compiler) steady(e *expr) bool { return e.leaf() && (!c.unit.Unsafe || e.code != codeOp) }

// stable are the operations without arguments that give the same value throughout a hit.
var stable = map[runtime.Op]bool{runtime.OpArg: true, runtime.OpArgF: true, runtime.OpRetval: true, runtime.OpPushR: true}

// local reads a variable.
func local(at diag.Span, s *slot) *expr {
	return &expr{code: codeLocal, kind: s.kind, at: at, slot: s, quotient: s.quotient, need: 1}
}

// set assigns to a variable.
func set(at diag.Span, s *slot, v *expr) *expr {
	k := v.kind
	if !k.silent() {
		k = s.kind
	}
	if s.quotient == nil {
		s.quotient = quotientIn(v)
	}
	return (&expr{code: codeSet, kind: k, at: at, slot: s, args: []*expr{v}, effects: effWrite}).close()
}

// store is an assignment by the command op.
func store(at diag.Span, op runtime.Op, a uint32, v *expr) *expr {
	return (&expr{code: codeStore, kind: v.kind, at: at, args: []*expr{v}, effects: effWrite,
		cmd: compile.Command{Op: op, A: a, Pos: at}}).close()
}

// after takes the value of v, then does e.
func after(v, e *expr) *expr {
	return (&expr{code: codeAfter, kind: v.kind, at: v.at, args: []*expr{v, e}}).close()
}

// sequence does body and gives v; v may be nil.
func sequence(at diag.Span, body []stmt, v *expr) *expr {
	e := &expr{code: codeSeq, kind: kindVoid, at: at, body: body}
	if v != nil {
		e.args, e.kind = []*expr{v}, v.kind
	}
	if len(body) == 0 && v != nil {
		return v
	}
	if v == nil && ends(body) {
		e.kind = kindNever
	}
	return e.close()
}

func eval(e *expr) stmt { return stmt{code: stmtEval, e: e, at: e.at} }

func (l *label) jump(at diag.Span) stmt {
	l.jumps++
	return stmt{code: stmtJump, label: l, at: at}
}

func (l *label) here() stmt { return stmt{code: stmtLabel, label: l} }

// ends reports whether control cannot come out at the end of the statements.
func ends(list []stmt) bool {
	dead := false
	for i := range list {
		s := &list[i]
		if s.code == stmtLabel {
			dead = dead && s.label.jumps == 0
			continue
		}
		dead = dead || s.ends()
	}
	return dead
}

func (s *stmt) ends() bool {
	switch s.code {
	case stmtJump, stmtEnd:
		return true
	case stmtEval:
		return s.e.kind == kindNever
	case stmtIf:
		return ends(s.body) && ends(s.alt)
	case stmtLoop:
		return s.loop.test == nil && s.loop.done.jumps == 0
	}
	return false
}
