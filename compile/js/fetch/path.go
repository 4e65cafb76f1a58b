package fetch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js"
	"gotap/compile/js/report"
	"gotap/compile/js/tree"
	"gotap/runtime/opcode"
)

// Spelling is how a program writes the path.
func (a Path) Spelling() string {
	head := "c.args"
	switch {
	case a.Of != nil:
		head = a.Of.Spelling
	case a.OfResult && a.Result > 0:
		head = fmt.Sprintf("c.rets[%d]", a.Result)
	case a.OfResult:
		head = "c.ret"
	case a.OfLocals:
		head = "c.locals"
	case a.Global != "":
		head = fmt.Sprintf("global(%q)", a.Global)
	}
	return strings.Join(append([]string{head}, a.Names...), ".")
}

// Path is c.args, c.locals and what lies below them, what lies below c.ret, or global(NAME) and what lies below that.
type Path struct {
	Names    []string
	OfLocals bool
	OfResult bool
	Result   int          // which of several results
	Global   string       // name of a variable; "" when the path is not a variable's
	Of       *Given       // the value of a type that the path starts from; nil: none
	Indexes  []*tree.Expr // of elements that the program chooses, in the order of their names
}

// Given is a value of a known type: of a variable, or converted by cast.
type Given struct {
	Value    *tree.Expr
	Ref      compile.TypeRef // zero without a place
	Spelling string
}

// ErrNoFiles is a place whose target's files are not known.
var ErrNoFiles = errors.New("variables of the program are not known here")

// globalAccess asks where a variable of the program is, or what lies below it.
func (f *Fetcher) globalAccess(a Path) (compile.Access, error) {
	if p, ok := f.State.Unit.Place.(js.Globals); ok {
		return p.Global(a.Global, a.Names)
	}
	return compile.Access{}, ErrNoFiles
}

// unknownLocal is the error about a name that is not a local variable in scope.
type unknownLocal struct {
	name string
	have []string
}

func (e *unknownLocal) Error() string {
	return fmt.Sprintf("no local variable %s is in scope at this place", e.name)
}

// Hint names those that are.
func (e *unknownLocal) Hint() string {
	if len(e.have) == 0 {
		return `those of a function are there from its first lines on: probe("@file.c:42", …)`
	}
	return report.Suggestion(e.name, e.have, "in scope: "+strings.Join(e.have, ", "))
}

// locals are the names of the local variables in scope.
func (f *Fetcher) locals() ([]string, error) {
	place, ok := f.State.Unit.Place.(js.Localed)
	if !ok {
		return nil, ErrNoFiles
	}
	return place.Locals()
}

// localAccess asks where a local variable is, or what lies below it.
func (f *Fetcher) localAccess(a Path) (compile.Access, error) {
	have, err := f.locals()
	if err != nil {
		return compile.Access{}, err
	}
	if !slices.Contains(have, a.Names[0]) {
		return compile.Access{}, &unknownLocal{a.Names[0], have}
	}
	return f.State.Unit.Place.Access(a.Names)
}

// RefuseLocals refuses local variables after the function has returned, when its frame no longer exists.
func (f *Fetcher) RefuseLocals(at diag.Span) bool {
	if f.Returning() {
		f.Errorf(at, `probe the line that returns: "@file.c:42"`, "local variables are not available when the function returns")
	}
	return f.Returning()
}

// Below is a member of c.args or of an argument.
func (a Path) Below(name string) Path {
	a.Names = append(append([]string{}, a.Names...), name)
	return a
}

// Resolve asks debug information where something below c.args or c.ret is.
func (f *Fetcher) Resolve(a Path) (compile.Access, error) {
	switch {
	case a.Of != nil:
		return f.typedAccess(a)
	case a.Global != "":
		return f.globalAccess(a)
	case a.OfLocals:
		return f.localAccess(a)
	case a.OfResult && a.Result > 0:
		return f.laterResult(a)
	case a.OfResult:
		return f.State.Unit.Place.ResultMember(a.Names)
	}
	return f.State.Unit.Place.Access(a.Names)
}

// IsGroup reports whether a path has no value, only members: c.args, or a struct in registers.
func (f *Fetcher) IsGroup(a Path) bool {
	if a.IsAll() {
		return true
	}
	if f.State.Unit.Place == nil {
		return false
	}
	_, err := f.Resolve(a)
	return err != nil
}

// ArgumentValue is the value of c.args.NAME.field… or c.ret.field….
func (f *Fetcher) ArgumentValue(a Path, at diag.Span) *tree.Expr {
	if a.IsAll() {
		of := "args"
		if a.OfLocals {
			of = "locals"
		}
		f.Errorf(at, "name one: c."+of+".NAME", "%s are not a value", a.Noun())
		return tree.Poison(at)
	}
	f.State.Result.UsesPlace = true
	if a.IsArgument() {
		f.WarnLateArgument("args."+a.Names[0], at)
	}
	if f.State.Unit.Place == nil {
		e := tree.Apply(at, tree.KindInt, opcode.Arg) // any argument will do: this is compiled again at the place
		e.Ref = &compile.TypeRef{}
		return e
	}
	access, err := f.Resolve(a)
	if err != nil {
		f.Errorf(at, report.HintOf(err), "%v", err)
		return tree.Poison(at)
	}
	return f.access(a, access, at)
}

func (a Path) Noun() string {
	switch {
	case a.Of != nil:
		return "the value"
	case a.OfResult:
		return "the result"
	case a.OfLocals:
		return "the local variables"
	case a.Global != "":
		return "the variable " + a.Global
	}
	return "the arguments"
}

// IsAll reports whether a path is c.args or c.locals itself.
func (a Path) IsAll() bool { return len(a.Names) == 0 && !a.OfResult && a.Global == "" && a.Of == nil }

// IsArgument reports whether a path starts from an argument.
func (a Path) IsArgument() bool {
	return len(a.Names) > 0 && !a.OfResult && !a.OfLocals && a.Global == "" && a.Of == nil
}
