package registry

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gotap/compile"
	"gotap/engine/image/debuginfo"
	"gotap/engine/image/module"
	"gotap/engine/image/symbols"
	"gotap/engine/image/symname"
	"gotap/engine/image/symtab"
	"gotap/engine/place"
)

// Globals finds variables of a target's files by name. The zero value finds none. It is safe for concurrent use if
// Modules is.
type Globals struct {
	Files   *symbols.Files
	Modules func() []*module.File // the files that the target maps, the main program's first

	own *module.File // the place's file, which is searched first
	pc  uint64       // the address of the place in that file
}

// GlobalError reports a variable that does not exist or cannot be read.
type GlobalError struct {
	Name   string
	Reason string
	Help   string
}

// Error returns the variable's name and the reason.
func (e *GlobalError) Error() string {
	return fmt.Sprintf("cannot read the variable %s: %s", e.Name, e.Reason)
}

// Hint returns what to write instead.
func (e *GlobalError) Hint() string { return e.Help }

// Global resolves a variable, [MODULE:]NAME, and the members that the path names in it. It uses debug information,
// and if there is none the variable's symbol, which gives its size in bytes. It is then signed.
func (g *Globals) Global(name string, path []string) (compile.Access, error) {
	return g.search(name, func(f *module.File, local string) (compile.Access, error) { return g.inFile(f, local, path) })
}

// GlobalAddress resolves the address of a variable, [MODULE:]NAME.
func (g *Globals) GlobalAddress(name string) (compile.Access, error) {
	return g.search(name, func(f *module.File, local string) (compile.Access, error) {
		v, err := g.symbol(f, local)
		if err == nil {
			return variable(v), nil
		}
		if in, ok := g.Files.Info(f); ok { // variables for which the linker kept no symbol
			a, inErr := in.Global(g.near(f), []string{local})
			if inErr == nil && (a.Base == compile.BaseAddr || a.Base == compile.BaseThread) {
				return compile.Access{Base: a.Base, Value: a.Value}, nil
			}
			return a, errors.Join(err, inErr)
		}
		return compile.Access{}, err
	})
}

// search searches one file after the other.
func (g *Globals) search(name string, in func(f *module.File, local string) (compile.Access, error)) (compile.Access, error) {
	files, local := g.candidates(name)
	for _, f := range files {
		a, err := in(f, local)
		var unknown *debuginfo.UnknownError
		switch {
		case err == nil && a.Wide != nil:
			wide := *a.Wide
			if wide.High, err = g.inProcess(f, name, wide.High); err != nil {
				return a, err
			}
			a.Wide = &wide
			return g.inProcess(f, name, a)
		case err == nil:
			return g.inProcess(f, name, a)
		case errors.Is(err, errNoVariable), errors.As(err, &unknown) && unknown.What == "variable":
			continue
		}
		return a, err
	}
	return compile.Access{}, g.missing(name, local, files)
}

// inProcess makes an access that a file describes one that can be carried out in a process with the file.
func (g *Globals) inProcess(f *module.File, name string, a compile.Access) (compile.Access, error) {
	if a.Base == compile.BaseThread {
		return g.threadLocal(f, name, a)
	}
	if a.Module = f.Path; a.Ref.Known() {
		a.Ref.Module = f.Path
	}
	return g.copied(f, a), nil
}

// copied returns the access to a library's variable, or to the program's copy of it.
func (g *Globals) copied(library *module.File, a compile.Access) compile.Access {
	v, ok := library.VarAt(uint64(a.Value))
	if a.Base != compile.BaseAddr || !ok || g.Modules == nil {
		return a
	}
	for _, f := range g.Modules() {
		if addr, ok := f.CopyOf(library, v); ok {
			a.Module, a.Value = f.Path, a.Value-int64(v.Addr)+int64(addr)
			break
		}
	}
	return a
}

// errNoVariable is the error for a variable that a file does not have.
var errNoVariable = errors.New("no variable of this name")

// candidates returns the files to which a variable's name refers, and the name without the module.
func (g *Globals) candidates(name string) (files []*module.File, local string) {
	var all []*module.File
	if g.Modules != nil {
		all = g.Modules()
	}
	file, local, named := cutModule(name)
	if named {
		return place.Candidates(place.Spec{Module: file}, all), local
	}
	if g.own != nil {
		all = append([]*module.File{g.own}, slices.DeleteFunc(all, func(f *module.File) bool { return f == g.own })...)
	}
	return all, local
}

// cutModule splits "libc:environ". The colons of "geo::limit" belong to the name.
func cutModule(name string) (file, local string, ok bool) {
	for i := 0; i < len(name); i++ {
		if name[i] != ':' {
			continue
		}
		if strings.HasPrefix(name[i:], "::") {
			i++
			continue
		}
		return name[:i], name[i+1:], true
	}
	return "", name, false
}

// near returns the address of the code whose source is searched for a name first.
func (g *Globals) near(f *module.File) uint64 {
	if f == g.own {
		return g.pc
	}
	return 0
}

// inFile resolves a variable in one file.
func (g *Globals) inFile(f *module.File, name string, path []string) (compile.Access, error) {
	if in, ok := g.Files.Info(f); ok {
		a, err := in.Global(g.near(f), append([]string{name}, path...))
		var unknown *debuginfo.UnknownError
		if err == nil || !(errors.As(err, &unknown) && unknown.What == "variable") {
			return a, err
		}
	}
	v, err := g.symbol(f, name)
	if err != nil {
		return compile.Access{}, err
	}
	a := variable(v)
	switch {
	case len(path) > 0:
		return a, &untypedError{fmt.Sprintf("%s in the variable %s of %s", strings.Join(path, "."), name, filepath.Base(f.Path)),
			fmt.Sprintf("uaddr(%q) is its address", name)}
	case v.Size == 1 || v.Size == 2 || v.Size == 4 || v.Size == 8:
		a.Steps = []compile.AccessStep{{Op: compile.OpLoad, Size: int(v.Size), Signed: true}}
	}
	return a, nil
}

// symbol finds a variable by its symbol.
func (g *Globals) symbol(f *module.File, name string) (*symtab.Var, error) {
	var found *symtab.Var
	if symname.IsGlob(name) {
		return nil, errNoVariable
	}
	for _, v := range f.LookupVar(name) {
		switch {
		case found != nil && found.Addr != v.Addr:
			return nil, &GlobalError{name, fmt.Sprintf("%s has several of that name", filepath.Base(f.Path)), fmt.Sprintf("with debug information %s@FILE.c names one", name)}
		}
		found = v
	}
	if found == nil {
		return nil, errNoVariable
	}
	return found, nil
}

// missing returns the error for a variable that no file has.
func (g *Globals) missing(name, local string, files []*module.File) error {
	if len(files) == 0 {
		file, _, named := cutModule(name)
		if !named {
			return &GlobalError{name, "no file is mapped", ""}
		}
		return &GlobalError{name, "no module " + file + " is mapped", "a library is there once the program has loaded it; gotap list MODULE:* shows one"}
	}
	e := &GlobalError{Name: name, Reason: "there is none in " + filepath.Base(files[0].Path)}
	if n := len(files) - 1; n > 0 {
		e.Reason += fmt.Sprintf(" and %d other modules", n)
	}
	var near []string
	for _, f := range files {
		near = append(near, f.SuggestVar(local)...)
		if in, ok := g.Files.Info(f); ok && len(near) == 0 {
			_, err := in.Global(0, []string{local})
			var unknown *debuginfo.UnknownError
			if errors.As(err, &unknown) {
				near = append(near, unknown.Near...)
			}
		}
		if len(near) >= mostSuggested {
			break
		}
	}
	e.Help = "variables of static storage have names here: " + `global("limit"), global("libc:environ"), global("limit@file.c")`
	if len(near) > 0 {
		e.Help = "did you mean " + strings.Join(near[:min(len(near), mostSuggested)], " or ") + "?"
	}
	return e
}

// mostSuggested is the maximum number of names in a hint.
const mostSuggested = 3
