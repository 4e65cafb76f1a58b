// Package catalog lists the places that probes may be put at, in files and in what processes map. It traces nothing.
package catalog

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gotap/engine/isa"
	"gotap/engine/module"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/symbols"
	"gotap/engine/syscalls"
)

// Catalog lists places. It is safe for concurrent use.
type Catalog struct {
	// Copies has entries tell of inlined copies of functions, for which much debug information is read. It is set before the first use.
	Copies bool

	modules module.Cache
	names   symbols.Files
}

// Entry is one place of a listing.
type Entry struct {
	Text      string          // as a script may write it
	Signature string          // with parameters and their types and the local variables in scope, or the operands of a mark; "" when nothing tells
	Where     string          // "0x1139 in /bin/prog"; "" for what is no code of a file
	Copies    registry.Copies // Catalog.Copies: calls of the function that the compiler inlined; none where no debug information tells
	Beside    string          // the module, when the place is meant only with it: the main program has such places too; else ""
}

// New makes an empty catalogue.
func New() *Catalog { return new(Catalog) }

// Close gives the files back.
func (c *Catalog) Close() error { return c.modules.Close() }

// Process lists the places that a specification means in what a process maps.
func (c *Catalog) Process(pid int, spec place.Spec) ([]Entry, error) {
	if spec.Kind == place.Syscall {
		return listCalls(spec)
	}
	mods, err := c.modules.Load(pid)
	if err != nil {
		return nil, fmt.Errorf("cannot read the modules of process %d: %w", pid, err)
	}
	return c.list(spec, module.Files(module.MainFirst(pid, mods)))
}

// File lists the places that a specification means in the file that its module part names: a path, a program in PATH, or a
// library in the usual directories.
func (c *Catalog) File(spec place.Spec) ([]Entry, error) {
	if spec.Kind == place.Syscall {
		return listCalls(spec)
	}
	paths := findModule(spec.Module)
	if len(paths) == 0 {
		return nil, &place.NotFoundError{Spec: spec, What: place.NoModule}
	}
	var all []*module.File
	var first error
	for _, path := range paths {
		f, err := c.modules.OpenPath(path)
		if err == nil {
			all = append(all, f)
		} else if first == nil {
			first = fmt.Errorf("cannot read %s: %w", path, err)
		}
	}
	if len(all) == 0 { // with others of the name it is a linker's script, as libc.so is
		return nil, first
	}
	return c.list(spec, all)
}

func (c *Catalog) list(spec place.Spec, all []*module.File) ([]Entry, error) {
	r := &place.Resolver{Lines: c.names.Lines, Boundaries: isa.Boundaries}
	searched := place.Candidates(spec, all)
	if len(searched) == 0 {
		return nil, &place.NotFoundError{Spec: spec, What: place.NoModule}
	}
	var found []Entry
	var first error
	inMain := false
	for i, f := range searched {
		listed, err := r.List(spec, f)
		if err != nil && first == nil {
			first = err
		}
		for _, l := range listed {
			e := c.entry(l)
			if inMain {
				e.Beside = f.Path
			}
			found = append(found, e)
		}
		if i == 0 { // the marks of a process are few, and all told
			inMain = spec.Module == "" && spec.Kind != place.Mark && len(found) > 0
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, first
}

func (c *Catalog) entry(l place.Listed) Entry {
	t := l.Target
	e := Entry{Text: l.Text, Where: fmt.Sprintf("%#x in %s", t.Vaddr, t.File.Path)}
	switch {
	case t.Mark != nil:
		e.Signature = t.Mark.Note
	case t.Func != nil:
		if in, ok := c.names.Info(t.File); ok {
			e.Signature, _ = in.Signature(t.Func.Addr)
			if c.Copies {
				e.Copies, _ = (&registry.Info{Files: &c.names, Target: t}).Copies()
			}
			if locals, err := in.Locals(t.Vaddr); err == nil && len(locals) > 0 {
				e.Signature += "; locals " + strings.Join(locals, ", ")
			}
		}
	}
	return e
}

// listCalls lists the system calls that a specification means, of processes of the same kind as this one.
func listCalls(spec place.Spec) ([]Entry, error) {
	var found []Entry
	for _, name := range syscalls.Names(isa.Natives()[0]) {
		if name != "" && spec.Matches(name) {
			found = append(found, Entry{Text: "syscall:" + name, Signature: syscalls.Signature(name)})
		}
	}
	slices.SortFunc(found, func(a, b Entry) int { return strings.Compare(a.Text, b.Text) })
	if len(found) == 0 {
		return nil, fmt.Errorf("cannot list %s: %w", spec, place.NoCall(spec, syscalls.Names(isa.Natives()[0])))
	}
	return found, nil
}

// libraryDirs are where loaders look for libraries (ld.so(8)), with the per-architecture directories of Debian.
var libraryDirs = []string{"/lib/*-linux-gnu*", "/usr/lib/*-linux-gnu*", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}

// findModule finds the files that a module part may mean without a process: one path, or all libraries of a name in the first
// directory that has any.
func findModule(name string) []string {
	if strings.ContainsRune(name, '/') {
		return []string{name}
	}
	if path, err := exec.LookPath(name); err == nil {
		return []string{path}
	}
	for _, dir := range libraryDirs {
		var found []string
		paths, _ := filepath.Glob(dir + "/*.so*")
		for _, path := range paths {
			if place.MatchModule(name, path) && !isLink(path, paths) {
				found = append(found, path)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// isLink reports whether a path is only another name of a file that is listed as well.
func isLink(path string, paths []string) bool {
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	if to == path {
		return false
	}
	return slices.Contains(paths, to)
}
