// Package catalog lists the places that can be probed in files and in the modules of processes. It traces nothing.
package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"gotap/engine/image/module"
	"gotap/engine/image/symbols"
	"gotap/engine/isa"
	"gotap/engine/linux/syscallnames"
	"gotap/engine/place"
	"gotap/engine/registry"
)

// Catalog lists places. It is safe for concurrent use.
type Catalog struct {
	// Detail adds to entries what takes long to find out: the inlined copies of functions, for which much debug
	// information is read, and whether programs can run there without a stop, for which all code of a file is decoded.
	// Set it before the first use.
	Detail bool
	// Brief leaves out of entries what debug information has: signatures. No debug information is read for a function
	// that has code. Set it before the first use, and not with Detail.
	Brief bool

	modules    module.Cache
	names      symbols.Files
	overlooked place.Overlooked
}

// Entry is one place of a listing.
type Entry struct {
	Text      string          // in the syntax of scripts
	Signature string          // parameters and their types, and local variables in scope; the operands of a mark; "" when unknown or with Catalog.Brief
	Where     string          // "0x1139 in /bin/prog"; "" for system calls
	Copies    registry.Copies // with Catalog.Detail: inlined calls of the function, by the debug information
	Inlined   bool            // all calls of the function are inlined
	Inline    *Inline         // with Catalog.Detail; nil for what is not an instruction
	Beside    string          // the module, when the place needs it because the main program has such a place, too; else ""
}

// New returns an empty catalogue, which fetches debug files with fetch unless it is nil.
func New(fetch module.Fetcher) *Catalog { return &Catalog{modules: module.Cache{Fetch: fetch}} }

// Close closes the files.
func (c *Catalog) Close() error { return c.modules.Close() }

// FreshMissing returns errors for files with debug information that are missing, and for patterns that mean inlined
// functions of the main program, each once.
func (c *Catalog) FreshMissing() []error {
	return append(c.names.FreshMissing(), c.overlooked.Fresh()...)
}

// Process returns the places that a specification stands for in the modules of a process.
func (c *Catalog) Process(pid int, spec place.Spec) ([]Entry, error) {
	if spec.Kind == place.Syscall {
		return listCalls(spec)
	}
	mods, err := c.modules.Load(pid)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = syscall.ESRCH
		}
		return nil, fmt.Errorf("cannot read the modules of process %d: %w", pid, err)
	}
	return c.list(spec, module.Files(module.MainFirst(pid, mods)))
}

// File returns the places that a specification stands for in the file that its module part names: a path, a program in
// PATH, or a library in the usual directories.
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
	if len(all) == 0 { // with other files of the name, this one is a linker script, like libc.so
		return nil, first
	}
	return c.list(spec, all)
}

func (c *Catalog) list(spec place.Spec, all []*module.File) ([]Entry, error) {
	r := &place.Resolver{Lines: c.names.Lines, Boundaries: isa.Boundaries, Callees: isa.Callees}
	if spec.Of == place.Callees {
		listed, err := r.ListCallees(spec, all)
		var found []Entry
		for _, l := range listed {
			found = append(found, c.entry(l))
		}
		return found, err
	}
	searched := place.Candidates(spec, all)
	if len(searched) == 0 {
		return nil, &place.NotFoundError{Spec: spec, What: place.NoModule}
	}
	var found []Entry
	var first error
	var missing *place.NotFoundError // of the first
	inMain := false
	for i, f := range searched {
		listed, err := r.List(spec, f)
		if err != nil && first == nil {
			first = err
		}
		if i == 0 {
			errors.As(err, &missing)
		}
		for _, l := range listed {
			e := c.entry(l)
			if inMain {
				e.Beside = f.Path
			}
			found = append(found, e)
		}
		if i == 0 { // the marks of a process are few, and all are listed
			inMain = spec.Module == "" && spec.Kind != place.Mark && len(found) > 0
		}
	}
	if len(found) > 0 {
		c.overlooked.Note(spec, searched[0], missing)
		return found, nil
	}
	for _, f := range searched {
		if e, ok := c.inlined(spec, f); ok {
			return []Entry{e}, nil
		}
	}
	return nil, first
}

// inlined returns the entry of a function whose calls are all inlined; ok is false if there is none of the name in a
// file.
func (c *Catalog) inlined(spec place.Spec, f *module.File) (e Entry, ok bool) {
	in, ok := c.names.Info(f)
	if !ok || spec.Kind != place.Function || spec.Of != place.Named || spec.HasOff || spec.Every || spec.Pattern() {
		return e, false
	}
	calls, err := in.CopiesOf(spec.Name)
	if err != nil || len(calls) == 0 {
		return e, false
	}
	e = Entry{Text: f.Path + ":" + spec.Name, Inlined: true, Copies: registry.Copies{Func: spec.Name, Calls: calls}}
	e.Signature, _ = in.CopySignature(calls[0])
	return e, true
}

func (c *Catalog) entry(l place.Listed) Entry {
	t := l.Target
	e := c.described(l)
	if c.Detail && t.Var == nil {
		e.Inline = inlineAt(t)
	}
	return e
}

func (c *Catalog) described(l place.Listed) Entry {
	t := l.Target
	e := Entry{Text: l.Text, Where: fmt.Sprintf("%#x in %s", t.Vaddr, t.File.Path)}
	switch {
	case t.Mark != nil:
		e.Signature = t.Mark.Note
	case t.Func != nil && !c.Brief:
		if in, ok := c.names.Info(t.File); ok {
			e.Signature, _ = in.Signature(t.Func.Addr)
			if c.Detail {
				e.Copies, _ = (&registry.Info{Files: &c.names, Target: t}).Copies()
			}
			if locals, err := in.Locals(t.Vaddr); err == nil && len(locals) > 0 {
				e.Signature += "; locals " + strings.Join(locals, ", ")
			}
		}
	}
	return e
}

// listCalls returns the system calls that a specification stands for, for processes of the same kind as this one.
func listCalls(spec place.Spec) ([]Entry, error) {
	var found []Entry
	for _, name := range syscallnames.Names(isa.Natives()[0]) {
		if name != "" && spec.Matches(name) {
			found = append(found, Entry{Text: "syscall:" + name, Signature: syscallnames.Signature(name)})
		}
	}
	slices.SortFunc(found, func(a, b Entry) int { return strings.Compare(a.Text, b.Text) })
	if len(found) == 0 {
		return nil, fmt.Errorf("cannot list %s: %w", spec, place.NoCall(spec, syscallnames.Names(isa.Natives()[0])))
	}
	return found, nil
}

// libraryDirs are where loaders search libraries (ld.so(8)), including the per-architecture directories of Debian.
var libraryDirs = []string{"/lib/*-linux-gnu*", "/usr/lib/*-linux-gnu*", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}

// findModule returns the files that a module part stands for without a process: one path, or all libraries of a name in
// the first directory that has any.
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

// isLink reports whether a path is another name of a listed file.
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
