package operand

import (
	"github.com/dop251/goja/ast"

	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/fetch"
	"gotap/compile/js/state"
	"gotap/compile/js/tree"
)

// Deferred is where items wait instead of going to the host: a trail or a recorder.
type Deferred struct {
	Name   string
	Object int
	Trail  bool
}

func (a Deferred) Noun() string {
	if a.Trail {
		return "a trail"
	}
	return "a recorder"
}

// Methods are what programs can do with it.
func (a Deferred) Methods() []string {
	list := []string{"log", "print", "printf", "emit", "exit"}
	if a.Trail {
		list = append(list, "commit", "discard")
	}
	return list
}

// Hint is what a program can do with it, in words.
func (a Deferred) Hint() string {
	if a.Trail {
		return a.Name + ".log(…) and " + a.Name + ".exit({ … }) wait until " + a.Name + ".commit() or " + a.Name + ".discard()"
	}
	return a.Name + ".log(…) and " + a.Name + ".exit({ … }) are kept until a callback calls " + a.Name + ".dump()"
}

// Title names a target.
func Title(p Assignable) string {
	switch p := p.(type) {
	case Variable:
		return p.Sym.Name
	case Shared:
		return p.Name
	case ThisField:
		return "this." + p.Name
	case ThreadValue:
		return p.Name + ".value"
	}
	return "this"
}

// MethodsOf are the methods of a thing that has no value.
func MethodsOf(o Operand) []string {
	switch o := o.(type) {
	case Aggregation:
		if o.Keyed {
			return []string{"add", "inc"}
		}
		return []string{"add", "inc", "at"}
	case Map:
		return []string{"set", "get", "has", "delete", "inc"}
	case Deferred:
		return o.Methods()
	}
	return nil
}

// HasPathMembers reports whether debug information knows the members of an operand.
func HasPathMembers(o Operand) bool {
	switch o := o.(type) {
	case fetch.Path:
		return o.OfResult || o.Global != "" || o.Of != nil || len(o.Names) > 0
	case PathConst, fetch.Result:
		return true
	}
	return false
}

func IsBad(o Operand) bool {
	v, ok := o.(Value)
	return o == Bad{} || ok && v.Expr.Kind == tree.KindBad
}

// HasValue reports whether an operand can be asked for its value.
func HasValue(o Operand) bool {
	switch o.(type) {
	case Value, Variable, PathConst, Shared, ThreadValue, ThisField, fetch.Register, fetch.Result, Bad:
		return true
	}
	return false
}

// Closure is a plain function. It is copied into the program wherever it is called, so that it costs no call and its
// parameters can be things without a value: the context, a map, another function.
type Closure struct {
	Name  string
	Node  ast.Node // *ast.FunctionLiteral or *ast.ArrowFunctionLiteral
	Scope *Scope   // where it was declared in a program; nil: a function of the script
	Fn    *js.Function
}

// Title is the name of a function for messages.
func (f *Closure) Title() string {
	if f.Name == "" {
		return "the function"
	}
	return f.Name
}

// Operand is what an expression denotes before it is asked for its value: many names of the language have no value of
// their own (the context, a map, a function), yet can be passed on, renamed and have members.
type Operand interface {
	Noun() string // "the context", for messages
}

// Assignable is an operand that has a value and may be assigned to.
type Assignable interface {
	Operand
	Kind() tree.Kind
	Get(f *fetch.Fetcher, at diag.Span) *tree.Expr
	// set gives the expression that assigns v, of which the kind has been checked against kind().
	Set(f *fetch.Fetcher, at diag.Span, v *tree.Expr) *tree.Expr
}

type (
	// Value is an ordinary value.
	Value struct{ Expr *tree.Expr }
	// Variable is a local.
	Variable struct{ Sym *Symbol }
	// Shared is a top-level variable of the script.
	Shared struct {
		Name   string
		Object int
		Text   bool
		Bool   bool // true or false
	}
	// PerThread is a per-thread variable; its value is the member.
	PerThread struct {
		Name   string
		Object int
	}
	ThreadValue PerThread
	// This is `this` of a handler.
	This struct{}
	// ThisField is one of its members.
	ThisField struct {
		Name string
		Kept *state.Field
	}
	// Context is the parameter of a handler.
	Context struct{}
	// PathConst is a constant that was taken from the arguments or the result: const p = c.args.p has a value and
	// members.
	PathConst struct{ Sym *Symbol }
	// Registers is c.regs.
	Registers struct{}
	// Results is c.rets.
	Results struct{}
	// Aggregation is an aggregation, and with keys what .at(…) gives.
	Aggregation struct {
		Name   string
		Object int
		Keys   []*tree.Expr
		Keyed  bool
	}
	// Map is a map.
	Map struct {
		Name   string
		Object int
	}
	// Builtin is a function of the language.
	Builtin struct{ Name string }
	// Namespace is a constant object of the script, or a builtin's namespace.
	Namespace struct {
		Name  string
		Scope js.Scope
	}
	// Bad stands for an expression that was reported as wrong.
	Bad struct{}
)

func (v Value) Noun() string { return v.Expr.Kind.String() }

func (Variable) Noun() string { return "a variable" }

func (s Shared) Noun() string { return "a shared variable" }

func (PerThread) Noun() string { return "a per-thread variable" }

func (ThreadValue) Noun() string {
	return "a per-thread value"
}

func (This) Noun() string { return "the storage of this call" }

func (ThisField) Noun() string { return "a field of this call" }

func (Context) Noun() string { return "the context" }

func (a PathConst) Noun() string { return a.Sym.Denotes().Noun() }

func (Registers) Noun() string { return "the registers" }

func (Results) Noun() string { return "the results" }

func (Aggregation) Noun() string { return "an aggregation" }

func (Map) Noun() string { return "a map" }

func (Builtin) Noun() string { return "a builtin function" }

func (*Closure) Noun() string { return "a function" }

func (Namespace) Noun() string { return "an object" }

func (Bad) Noun() string { return "an error" }

// PathOf is the path in the debug information that an operand stands for.
func PathOf(o Operand) (fetch.Path, bool) {
	switch o := o.(type) {
	case fetch.Path:
		return o, true
	case PathConst:
		return *o.Sym.Path, true
	case fetch.Result:
		return fetch.Path{OfResult: true, Result: o.Index}, true
	}
	return fetch.Path{}, false
}
