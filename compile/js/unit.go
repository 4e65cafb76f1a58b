package js

import (
	"github.com/dop251/goja/ast"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime"
)

// HandlerKind says when a handler runs.
type HandlerKind uint8

// The handlers that are programs.
const (
	Enter HandlerKind = iota // before the probed instruction
	Post                     // after it
	Leave                    // when the function returns
	Fault                    // when the probed instruction faults
	When                     // before all others, to decide whether the hit is one: a program that aborts says no
	numHandlers
)

// Kinds lists them all, in the order in which listings show them.
func Kinds() []HandlerKind { return []HandlerKind{When, Enter, Post, Leave, Fault} }

// String is the name of the handler in a script.
func (k HandlerKind) String() string {
	return [...]string{"enter", "post", "leave", "fault", "when"}[k]
}

// Unit is what is compiled at one time: the handlers of one probe, which share the storage of a call (`this`).
type Unit struct {
	Source *diag.Source
	// Map finds the place in the text as the user wrote it for an offset into a Function's Source, when that text was
	// generated (TypeScript, bundled modules). Nil: they are the same.
	Map      func(offset int) (*diag.Source, int)
	Name     string // of the probe, for listings
	Handlers map[HandlerKind]*Function
	Place    Place          // nil: not known yet, as in `gotap check`
	Arena    *runtime.Arena // where the objects of bindings are; nil: key shapes are not checked
	Unsafe   bool           // destructive builtins are allowed
	WordSize int            // bytes of a pointer in the target; 0: what the Place says, or 8
	Fuel     int            // 0: runtime.DefaultFuel
	LogMax   int            // 0: runtime.DefaultLog
	AtReturn bool           // When is asked as the function returns, and not as it is entered
}

// Function is a function of the script with what its free names mean.
type Function struct {
	Node   ast.Expression // *ast.FunctionLiteral or *ast.ArrowFunctionLiteral
	Scope  Scope
	Source *diag.Source // nil: the unit's
	Base   int          // of the file in its set: an offset is Idx - Base
}

// Place is what the debug information and notes of the place a program runs at say about values there.
type Place interface {
	Name() string
	// Access resolves args.NAME.field…
	Access(path []string) (compile.Access, error)
	// ReturnType is how c.ret is cut to the function's type; ok is false when that is not known: then c.ret is the register, or, with an
	// error, cannot be read.
	ReturnType() (a compile.Access, ok bool, err error)
	// ResultMember resolves c.ret.FIELD…
	ResultMember(path []string) (compile.Access, error)
	// Arg is operand n of a static mark, or why it cannot be read; ok is false elsewhere.
	Arg(n int) (a compile.Access, ok bool, err error)
}

// Sized is a Place that knows the bytes of a pointer in its target.
type Sized interface {
	WordSize() int
}

// Located is a Place that knows its own address in the module's file. Static data of the module lies at a fixed distance from the probed
// instruction (c.pc).
type Located interface {
	Addr() (addr uint64, ok bool)
	File() string // path of the module's file
}

// Globals is a Place that finds variables of the target's files by name, [MODULE:]NAME.
type Globals interface {
	// Global resolves global(NAME).field…
	Global(name string, path []string) (compile.Access, error)
	// GlobalAddress resolves uaddr(NAME).
	GlobalAddress(name string) (compile.Access, error)
}

// Scope resolves the free names of a function as they were when the probe was registered. A Scope that also has
// Names() []string is asked for them when a misspelt name is reported.
type Scope interface {
	Lookup(name string) (Binding, bool)
}

// Binding is what a free name means.
type Binding struct {
	Kind   BindingKind
	Int    int64
	Float  float64
	Text   string // BindText: the text; BindBuiltin: the builtin's own name, "" when it is the name looked up
	Object int    // number in the arena
	Func   *Function
	Scope  Scope  // BindNamespace: the members
	Reason string // BindUnusable: what it is ("an array"), or why not ("changes after the probe is registered")
	Hint   string // BindUnusable: what to do instead; may be ""
}

// BindingKind is what kind of thing a name stands for.
type BindingKind uint8

// The kinds of bindings.
const (
	BindUndefined  BindingKind = iota // no such name
	BindInt                           // constant Int
	BindFloat                         // constant Float
	BindText                          // constant Text
	BindBool                          // constant Int, 0 or 1
	BindShared                        // shared integer variable Object
	BindSharedText                    // shared text variable Object
	BindSharedBool                    // shared variable Object that is true or false; programs may store any integer, which is true
	BindAgg                           // aggregation Object
	BindMap                           // map Object
	BindPerThread                     // per-thread variable Object
	BindTrail                         // trail Object
	BindRecorder                      // recorder Object
	BindFunction                      // plain function Func, inlined where it is called
	BindBuiltin                       // builtin Text
	BindNamespace                     // constant object: its members are in Scope
	BindUnusable                      // anything else: Reason and Hint
)

// Result is what Compile made of a unit.
type Result struct {
	Programs  map[HandlerKind]*compile.Program
	AtReturn  bool // as in the Unit
	ThisBytes int  // storage of a call the handlers need
	UsesPlace bool // args.* or the type of the result is used: compile again for each place
	UsesArg   bool // c.argN is used: compile again for places whose arguments are operands of a static mark
	// Guessed are the maps that the programs read and nothing compiled so far stores in: integers are assumed. Compile again
	// when another unit turns out to store text in one (its Object.Value is ValueText).
	Guessed []int
}

// Compile compiles the handlers of a probe. All errors are found at once; when there is one, the Result holds no programs.
// Compile only reads what the Unit refers to, apart from refining the shape of maps and aggregations in the Arena
// once everything else is right.
func Compile(u Unit) (Result, diag.List) {
	facts := facts{}
	for {
		c := newCompiler(u, facts)
		c.compile()
		// A fact learned late (a map holds text) may change what was compiled before it. Each round adds a fact, and there
		// are only as many as there are names.
		if !c.learned {
			return c.finish()
		}
	}
}
