package js

import (
	"github.com/dop251/goja/ast"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/runtime/arena"
)

// NeedsUnsafe ends the text of an error about something that changes the target.
const NeedsUnsafe = "refused without --unsafe"

// HandlerKind says when a handler runs.
type HandlerKind uint8

// The handlers that are programs.
const (
	Enter HandlerKind = iota // before the probed instruction
	Post                     // after it
	Leave                    // when the function returns
	Fault                    // when the probed instruction faults
	When                     // before all others, to decide whether the hit is one: a program that aborts says no
	NumHandlers
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
	Place    Place        // nil: not known yet, as in `gotap check`
	Arena    *arena.Arena // where the objects of bindings are; nil: key shapes are not checked
	Held     *HeldTypes   // of the script that the unit belongs to; nil: objects of the arena hold numbers
	Unsafe   bool         // destructive builtins are allowed
	WordSize int          // bytes of a pointer in the target; 0: what the Place says, or 8
	Fuel     int          // 0: runtime.DefaultFuel
	LogMax   int          // 0: record.DefaultLog
	Sample   bool         // the handlers run at moments, not at a place
	AtReturn bool         // When is asked as the function returns, and not as it is entered
}

// Function is a function of the script with what its free names mean.
type Function struct {
	Node   ast.Expression // *ast.FunctionLiteral or *ast.ArrowFunctionLiteral
	Scope  Scope
	Source *diag.Source // nil: the unit's
	Base   int          // of the file in its set: an offset is Idx - Base
}

// Result is what Compile made of a unit.
type Result struct {
	Programs  map[HandlerKind]*compile.Program
	AtReturn  bool // as in the Unit
	ThisBytes int  // storage of a call the handlers need
	UsesPlace bool // args.* or another name that the place resolves is used: compile again for each place
	UsesRet   bool // the result is used: compile again for places that know its type
	UsesArg   bool // c.argN is used: compile again for places whose arguments are operands of a static mark
	// Guessed are the maps that the programs read and nothing compiled so far stores in: integers are assumed. Compile
	// again when another unit turns out to store text in one (its Object.Value is ValueText).
	Guessed []int
	// Untyped are the objects of which members were read without a place, before it was known whether they have any.
	// Compile again when all units have been compiled, unless Unit.Held has a hint of them.
	Untyped []int
	Wanting bool // the type of what an object holds may be known when more has been compiled
}

// NeedsPlace reports whether the place decides the types of what is used.
func (r *Result) NeedsPlace() bool { return r.UsesPlace || r.UsesRet }
