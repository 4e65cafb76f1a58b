package debuginfo

import (
	"debug/dwarf"
	"fmt"
	"path"
	"slices"
	"strings"

	"gotap/compile"
)

// AmbiguousError is a variable of which several files of source have one of their own.
type AmbiguousError struct {
	Name  string
	Files []string // of source, as a name behind "@" chooses one
}

// Error lists how each is named.
func (e *AmbiguousError) Error() string {
	var each []string
	for _, f := range e.Files {
		each = append(each, e.Name+"@"+f)
	}
	return fmt.Sprintf("several files have a variable %s of their own: name %s", e.Name, strings.Join(each, " or "))
}

// errThread is a variable that each thread has its own of.
var errThread = fmt.Errorf("it is thread-local: each thread has its own, and where is the loader's business")

// Global says how to fetch the static variable path[0] of the module, or what the rest of the path names in it, as Access does for
// parameters. The name may have namespaces ("geo::limit") and, behind "@", the file of source ("limit@area.c") where several have a
// variable of that name. Without, the one of the source around pc is meant, where that has one. The access has BaseAddr.
//
// Errors are *UnknownError, *AmbiguousError, *AccessError, or match ErrNone, ErrSplit or ErrAlt.
func (in *Info) Global(pc uint64, path []string) (a compile.Access, err error) {
	defer in.guard(&err)()
	if err := in.openLocked(); err != nil {
		return a, err
	}
	e, err := in.findGlobal(pc, path[0])
	if err != nil {
		return a, err
	}
	p, err := in.staticPlace(e)
	if err != nil {
		return a, &AccessError{Name: path[0], Reason: err.Error()}
	}
	off, ok, err := in.typeRef(e)
	if err != nil {
		return a, err
	}
	w := walk{in: in, place: p, typ: off, ok: ok, pc: pc, name: path[0]}
	return w.along(path[1:])
}

// findGlobal finds the definition of a static variable.
func (in *Info) findGlobal(pc uint64, name string) (*dwarf.Entry, error) {
	name, file, _ := strings.Cut(name, "@")
	var found []*dwarf.Entry
	for _, off := range in.globalsNamed(lastName(name)) {
		e, err := in.die(off)
		if err != nil {
			return nil, err
		}
		if in.isGlobal(e, name, file) {
			found = append(found, e)
		}
	}
	switch {
	case len(found) == 0:
		return nil, &UnknownError{Name: name, In: "the debug information", What: "variable", Near: in.globalsNear(name)}
	case len(found) == 1:
		return found[0], nil
	}
	if u, err := in.unitAt(pc); err == nil {
		for _, e := range found {
			if in.unitOf(e.Offset) == u {
				return e, nil
			}
		}
	}
	return in.onlyGlobal(name, found)
}

// onlyGlobal chooses the variable that all files of source share.
func (in *Info) onlyGlobal(name string, found []*dwarf.Entry) (*dwarf.Entry, error) {
	var files []string
	for _, e := range found {
		if external, _, _ := in.attr(e, dwarf.AttrExternal); external != nil {
			return e, nil
		}
		files = append(files, in.sourceOf(e))
	}
	slices.Sort(files)
	return nil, &AmbiguousError{Name: name, Files: slices.Compact(files)}
}

// isGlobal reports whether a variable has a name, and is of a file of source when one is given.
func (in *Info) isGlobal(e *dwarf.Entry, name, file string) bool {
	if file != "" {
		if source := in.sourceOf(e); source != file && !strings.HasSuffix(source, "/"+file) && path.Base(source) != file {
			return false
		}
	}
	full := in.funcName(e)
	return full == name || !strings.Contains(name, "::") && lastName(full) == name
}

// sourceOf is the file of source of a variable's unit, by its last part.
func (in *Info) sourceOf(e *dwarf.Entry) string {
	if u := in.unitOf(e.Offset); u != nil {
		name, _ := u.entry.Val(dwarf.AttrName).(string)
		return path.Base(name)
	}
	return ""
}

// lastName is a name without the namespaces and classes before it.
func lastName(name string) string { return name[strings.LastIndex(name, ":")+1:] }

// globalsNamed lists the static variables of a name without namespaces. All units are read when the first is asked for.
func (in *Info) globalsNamed(name string) []dwarf.Offset {
	if in.globals == nil {
		globals := map[string][]dwarf.Offset{}
		for _, u := range in.units {
			if !u.split {
				in.listGlobals(u, globals)
			}
		}
		in.globals = globals
	}
	return in.globals[name]
}

// listGlobals adds the static variables that a unit defines: those at its top, and in namespaces. Damaged data ends the list early.
func (in *Info) listGlobals(u *unit, globals map[string][]dwarf.Offset) {
	in.reader.Seek(u.root)
	var defined []*dwarf.Entry
	for depth := 0; ; {
		e, err := in.reader.Next()
		if err != nil || e == nil || e.Offset >= u.end {
			break
		}
		switch {
		case e.Tag == 0:
			depth--
		case e.Children && (e.Offset == u.root || e.Tag == dwarf.TagNamespace || e.Tag == dwarf.TagModule):
			depth++
		default:
			if e.Tag == dwarf.TagVariable && e.AttrField(dwarf.AttrLocation) != nil {
				defined = append(defined, e)
			}
			in.reader.SkipChildren()
		}
		if depth <= 0 {
			break
		}
	}
	for _, e := range defined { // names may be at the declaration, which moves the reader
		if name := in.name(e); name != "" {
			globals[name] = append(globals[name], e.Offset)
		}
	}
}

// globalsNear are the names of static variables that resemble one.
func (in *Info) globalsNear(name string) []string {
	var all []string
	for n := range in.globals {
		all = append(all, n)
	}
	slices.Sort(all)
	return near(lastName(name), all)
}

// staticPlace is where a static variable is.
func (in *Info) staticPlace(e *dwarf.Entry) (place, error) {
	u := in.unitOf(e.Offset)
	loc, ok, err := in.locationOf(u, e, 0)
	switch {
	case err != nil:
		return place{}, err
	case !ok:
		return place{}, errNowhere
	}
	const tlsOld, tls = 0xe0, 0x9b // the last operation of a thread-local variable's location
	if last := loc.expr[len(loc.expr)-1]; len(loc.expr) > 1 && (last == tls || last == tlsOld) {
		return place{}, errThread
	}
	return in.locate(&function{unit: u}, 0, loc.expr)
}
