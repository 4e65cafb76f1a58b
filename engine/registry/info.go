package registry

import (
	"errors"
	"fmt"
	"strings"

	"gotap/compile"
	"gotap/engine/image/debuginfo"
	"gotap/engine/image/module"
	"gotap/engine/image/symbols"
	"gotap/engine/isa"
	"gotap/engine/place"
	"gotap/runtime"
)

// Info answers the compiler's questions about a place in a file. It implements CodePlace.
type Info struct {
	Files  *symbols.Files
	Target place.Target
	ISA    *isa.ISA
	// Modules returns the files that the target maps, the main program's first; if nil, variables of other files
	// are not found.
	Modules func() []*module.File
}

var _ CodePlace = (*Info)(nil)

// untypedError reports a name that only debug information could resolve, in a module that has none.
type untypedError struct {
	what    string
	instead string // what is known without debug information
}

func (e *untypedError) Error() string {
	return fmt.Sprintf("cannot find %s: %v", e.what, debuginfo.ErrNone)
}

// Unwrap makes the reason available to errors.Is.
func (e *untypedError) Unwrap() error { return debuginfo.ErrNone }

// Hint returns what to do.
func (e *untypedError) Hint() string {
	return e.instead + "; names need debug information: compile with -g, or install the debug package (…-dbgsym, …-dbg, …-debuginfo)"
}

// Name implements PlaceInfo.
func (i *Info) Name() string { return i.Target.Name }

// Addr implements js.Located. It is where the thread is stopped, which in Go is behind the stack check.
func (i *Info) Addr() (addr uint64, ok bool) { return PlantedAt(i.Target), true }

// Access implements PlaceInfo.
func (i *Info) Access(path []string) (compile.Access, error) {
	in, ok := i.Files.Info(i.Target.File)
	if !ok {
		return compile.Access{}, &untypedError{fmt.Sprintf("the argument %s of %s", strings.Join(path, "."), i.Target.Name), "c.arg0 … c.arg9 are its arguments by number"}
	}
	if in, c, ok := i.copied(); ok {
		return i.own(in.CopyAccess(c, path))
	}
	return i.own(in.Access(i.Target.Vaddr, path))
}

// own says in which module the type of an access is.
func (i *Info) own(a compile.Access, err error) (compile.Access, error) {
	if a.Ref.Known() {
		a.Ref.Module = i.Target.File.Path
	}
	return a, err
}

// Parameters implements js.Parametered.
func (i *Info) Parameters() ([]string, error) {
	in, ok := i.Files.Info(i.Target.File)
	if !ok {
		return nil, fmt.Errorf("%s: %w", i.Target.File.Path, debuginfo.ErrNone)
	}
	if in, c, ok := i.copied(); ok {
		return in.CopyParameters(c)
	}
	return in.Parameters(i.Target.Vaddr)
}

// Locals implements js.Localed.
func (i *Info) Locals() ([]string, error) {
	in, ok := i.Files.Info(i.Target.File)
	if !ok {
		return nil, fmt.Errorf("%s: %w", i.Target.File.Path, debuginfo.ErrNone)
	}
	return in.Locals(i.Target.Vaddr)
}

// Mark implements js.Marked.
func (i *Info) Mark() string {
	if m := i.Target.Mark; m != nil {
		return m.Provider + ":" + m.Name
	}
	return ""
}

// ReturnType implements PlaceInfo.
func (i *Info) ReturnType() (compile.Access, bool, error) {
	if i.Target.Copy != nil {
		return compile.Access{}, false, &compile.NoNumberError{Err: fmt.Errorf("an inlined copy of %s does not return", i.Target.Symbol)}
	}
	in, ok := i.Files.Info(i.Target.File)
	if !ok || i.Target.Func == nil {
		return compile.Access{}, false, i.goResult(nil)
	}
	a, err := i.own(in.ResultAccess(i.Target.Func.Addr, 0))
	switch {
	case err == nil && a.Type == compile.TypeVoid:
		return a, false, &compile.NoNumberError{Err: fmt.Errorf("%s returns nothing", i.Target.Func.Name)}
	case err == nil:
		return a, true, nil
	}
	if lost := i.goResult(err); lost != nil {
		return a, false, lost
	}
	if errors.Is(err, debuginfo.ErrNone) || errors.Is(err, debuginfo.ErrSplit) || errors.Is(err, debuginfo.ErrAlt) {
		return a, false, nil // its type is not known
	}
	return a, false, &compile.NoNumberError{Err: err}
}

// ResultMember implements PlaceInfo.
func (i *Info) ResultMember(path []string) (compile.Access, error) {
	in, ok := i.Files.Info(i.Target.File)
	if !ok || i.Target.Func == nil {
		return compile.Access{}, &untypedError{fmt.Sprintf("%s in the result of %s", strings.Join(path, "."), i.Target.Name), "c.ret is its result"}
	}
	return i.own(in.ResultAccess(i.Target.Func.Addr, 0, path...))
}

// Arg implements PlaceInfo.
func (i *Info) Arg(n int) (compile.Access, bool, error) {
	if in, c, ok := i.copied(); ok {
		a, err := in.CopyArgument(c, n)
		return a, true, err
	}
	mark := i.Target.Mark
	switch {
	case mark == nil:
		a, ok := i.goArg(n)
		return a, ok, nil
	case n < 0 || n >= len(mark.Args):
		return compile.Access{Base: compile.BaseConst}, true, nil // 0, not a register that passes arguments elsewhere
	}
	return mark.Args[n].Access, true, mark.Args[n].Err
}

// Global implements js.Globals.
func (i *Info) Global(name string, path []string) (compile.Access, error) {
	return i.globals().Global(name, path)
}

// GlobalAddress implements js.Globals.
func (i *Info) GlobalAddress(name string) (compile.Access, error) {
	return i.globals().GlobalAddress(name)
}

func (i *Info) globals() *Globals {
	return &Globals{Files: i.Files, Modules: i.Modules, own: i.Target.File, pc: i.Target.Vaddr}
}

// File implements js.Located.
func (i *Info) File() string { return i.Target.File.Path }

// Register implements PlaceInfo.
func (i *Info) Register(name string) (index, bits, shift int, ok bool) {
	if index, bits, shift, ok = i.ISA.RegIndex(name); ok {
		return index, bits, shift, ok
	}
	word, ok := i.ISA.FloatWord(name)
	return runtime.FloatWords + word, 64, 0, ok
}

// WordSize implements PlaceInfo.
func (i *Info) WordSize() int { return i.ISA.WordSize() }

// Code implements CodePlace.
func (i *Info) Code(n int) ([]byte, error) {
	code, err := i.Target.File.Code(i.Target.Vaddr, n)
	if err != nil {
		return nil, fmt.Errorf("cannot read the code at %s: %w", i.Target.Name, err)
	}
	return code, nil
}
