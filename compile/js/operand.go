package js

import (
	"math"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// operand is what an expression denotes before it is asked for its value: many names of the language have no value of their own
// (the context, a map, a function), yet can be passed on, renamed and have members.
type operand interface {
	noun() string // "the context", for messages
}

// place is an operand that has a value and may be assigned to.
type place interface {
	operand
	kind() kind
	get(l *lowering, at diag.Span) *expr
	// set gives the expression that assigns v, of which the kind has been checked against kind().
	set(l *lowering, at diag.Span, v *expr) *expr
}

type (
	// value is an ordinary value.
	value struct{ e *expr }
	// variable is a local.
	variable struct{ sym *symbol }
	// shared is a top-level variable of the script.
	shared struct {
		name   string
		object int
		text   bool
		truth  bool // true or false
	}
	// perThread is a per-thread variable; its value is the member.
	perThread struct {
		name   string
		object int
	}
	threadValue perThread
	// call is `this` of a handler.
	call struct{}
	// callField is one of its members.
	callField struct {
		name string
		f    *field
	}
	// context is the parameter of a handler.
	context struct{}
	// arguments is c.args, c.locals and what lies below them, what lies below c.ret, or global(NAME) and what lies below that.
	arguments struct {
		path     []string
		ofLocals bool
		ofResult bool
		global   string // of a variable; "": it is none
	}
	// argument is a constant that was taken from the arguments or the result: const p = c.args.p has a value and members.
	argument struct{ sym *symbol }
	// registers is c.regs.
	registers struct{}
	// register is one of its members.
	register struct{ name string }
	// result is c.ret where it can be assigned to.
	result struct {
		e    *expr
		high string   // the register with its upper half; "": it is in one
		at   *onStack // on the stack, where Go has it on some processors; nil: in registers

		unknown *compile.NoNumberError // why it is no number
	}
	// aggregate is an aggregation, and with keys what .at(…) gives.
	aggregate struct {
		name   string
		object int
		keys   []*expr
		keyed  bool
	}
	// table is a map.
	table struct {
		name   string
		object int
	}
	// builtin is a function of the language.
	builtin struct{ name string }
	// namespace is a constant object of the script, or a builtin's namespace.
	namespace struct {
		name  string
		scope Scope
	}
	// bad is what has been reported.
	bad struct{}
)

func (v value) noun() string   { return v.e.kind.String() }
func (variable) noun() string  { return "a variable" }
func (s shared) noun() string  { return "a shared variable" }
func (perThread) noun() string { return "a per-thread variable" }
func (threadValue) noun() string {
	return "a per-thread value"
}
func (call) noun() string      { return "the storage of this call" }
func (callField) noun() string { return "a field of this call" }
func (context) noun() string   { return "the context" }
func (a arguments) noun() string {
	switch {
	case a.ofResult:
		return "the result"
	case a.ofLocals:
		return "the local variables"
	case a.global != "":
		return "the variable " + a.global
	}
	return "the arguments"
}
func (a argument) noun() string { return a.sym.meaning().noun() }
func (registers) noun() string  { return "the registers" }
func (register) noun() string   { return "a register" }
func (result) noun() string     { return "the result" }
func (aggregate) noun() string  { return "an aggregation" }
func (table) noun() string      { return "a map" }
func (builtin) noun() string    { return "a builtin function" }
func (*closure) noun() string   { return "a function" }
func (namespace) noun() string  { return "an object" }
func (bad) noun() string        { return "an error" }

// binding is what a free name stands for.
func (l *lowering) binding(name string, b Binding, at diag.Span) operand {
	switch b.Kind {
	case BindInt:
		return value{integer(at, b.Int)}
	case BindBool:
		return value{boolean(at, b.Int != 0)}
	case BindFloat:
		return value{constant(at, kindFloat, math.Float64bits(b.Float))}
	case BindText:
		return value{l.constText(at, b.Text)}
	case BindShared, BindSharedText, BindSharedBool:
		return shared{name, b.Object, b.Kind == BindSharedText, b.Kind == BindSharedBool}
	case BindAgg:
		return aggregate{name: name, object: b.Object}
	case BindMap:
		return table{name, b.Object}
	case BindPerThread:
		return perThread{name, b.Object}
	case BindTrail, BindRecorder:
		return aside{name, b.Object, b.Kind == BindTrail}
	case BindFunction:
		return l.scriptFunction(name, b, at)
	case BindBuiltin:
		if b.Text != "" {
			name = b.Text
		}
		return builtin{name}
	case BindNamespace:
		return namespace{name, b.Scope}
	}
	l.unusable(name, b, at)
	return bad{}
}

// unusable reports a name of the script that a program cannot have.
func (l *lowering) unusable(name string, b Binding, at diag.Span) {
	reason, hint := b.Reason, b.Hint
	if reason == "" {
		reason = "is no value that a program can have"
	}
	if hint == "" {
		hint = "a program can use constants, top-level let variables, aggregations, maps and plain functions of the script"
	}
	l.errorf(at, hint, "cannot use %s in a program: it %s", name, verb(reason))
}

// verb puts "is" before a reason that is a noun: "an array".
func verb(reason string) string {
	for _, article := range []string{"a ", "an ", "the "} {
		if len(reason) > len(article) && reason[:len(article)] == article {
			return "is " + reason
		}
	}
	return reason
}

func (v variable) kind() kind { return v.sym.slot.kind }

// get reads a local. One that nothing was assigned to yet is an integer from here on: it reads 0.
func (v variable) get(_ *lowering, at diag.Span) *expr {
	if v.sym.slot.kind == kindNone {
		v.sym.slot.kind = kindInt
	}
	return local(at, v.sym.slot)
}

func (v variable) set(_ *lowering, at diag.Span, e *expr) *expr {
	if v.sym.slot.kind == kindNone {
		v.sym.slot.kind = e.kind
	}
	return set(at, v.sym.slot, e)
}

func (s shared) kind() kind {
	if s.text {
		return kindText
	}
	return kindInt
}

func (s shared) get(_ *lowering, at diag.Span) *expr {
	if s.text {
		return applyA(at, kindText, runtime.OpPushGVS, uint32(s.object))
	}
	if s.truth {
		return apply(at, kindBool, runtime.OpBool, applyA(at, kindInt, runtime.OpPushGV, uint32(s.object)))
	}
	return applyA(at, kindInt, runtime.OpPushGV, uint32(s.object))
}

func (s shared) set(_ *lowering, at diag.Span, e *expr) *expr {
	if s.text {
		return store(at, runtime.OpPopGVS, uint32(s.object), e)
	}
	return store(at, runtime.OpPopGV, uint32(s.object), e)
}

func (threadValue) kind() kind { return kindInt }

func (t threadValue) get(_ *lowering, at diag.Span) *expr {
	return applyA(at, kindInt, runtime.OpPushPT, uint32(t.object))
}

func (t threadValue) set(_ *lowering, at diag.Span, e *expr) *expr {
	return store(at, runtime.OpPopPT, uint32(t.object), e)
}

func (register) kind() kind { return kindInt }

func (r register) get(_ *lowering, at diag.Span) *expr { return registerValue(r.name, at) }

// programCounters are the names under which the program counter can be written.
var programCounters = map[string]bool{"rip": true, "eip": true, "ip": true, "pc": true}

func (r register) set(l *lowering, at diag.Span, v *expr) *expr {
	l.needUnsafe(at, "changing a register")
	if programCounters[r.name] && (l.handler == Enter || l.returning()) {
		l.errorf(at, "skip(result) leaves the function at once; post(c) and fault(c) can change "+r.name, "the probed instruction still comes and sets %s itself", r.name)
		return poison(at)
	}
	e := store(at, runtime.OpPopR, 0, v)
	e.text = r.name
	return e
}

// NeedsUnsafe ends the text of an error about something that changes the target.
const NeedsUnsafe = "refused without --unsafe"

// needUnsafe reports something that changes the target when that is not allowed.
func (l *lowering) needUnsafe(at diag.Span, what string) {
	if !l.unit.Unsafe {
		l.errorf(at, "run it with --unsafe if the target may be changed", "%s changes the target: %s", what, NeedsUnsafe)
	}
}
