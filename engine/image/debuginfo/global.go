package debuginfo

import (
	"debug/dwarf"
	"fmt"
	"gotap/compile/spelling"
	"path"
	"slices"
	"strings"

	"gotap/compile"
	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/location"
)

// AmbiguousError is the error for a variable that several source files define for themselves.
type AmbiguousError struct {
	Name  string
	Files []string // as written behind "@" to choose one
}

// Error lists the full names.
func (e *AmbiguousError) Error() string {
	var each []string
	for _, f := range e.Files {
		each = append(each, e.Name+"@"+f)
	}
	return fmt.Sprintf("several files have a variable %s of their own: use %s", e.Name, strings.Join(each, " or "))
}

// Global returns the access to the static variable path[0] of the module, or to the part of it that the rest of the
// path names, as Access does for parameters. The name may have namespaces ("geo::limit") and, behind "@", a source file
// ("limit@area.c") when several have a variable of that name. Without a file, the variable of the unit around pc is
// preferred. The access has BaseAddr, for a
// thread-local variable BaseThread.
//
// Errors are *UnknownError, *AmbiguousError, *AccessError, or match ErrNone, ErrSplit or ErrAlt.
func (in *Info) Global(pc uint64, path []string) (a compile.Access, err error) {
	defer in.guard(&err)()
	if err := in.entries.Load(); err != nil {
		return a, err
	}
	e, err := in.globals.find(pc, path[0])
	if err != nil {
		return a, err
	}
	p, err := in.globals.place(e)
	if err != nil {
		return a, &AccessError{Name: path[0], Reason: err.Error()}
	}
	off, ok, err := in.entries.TypeRef(e)
	if err != nil {
		return a, err
	}
	w := walk{in: in, place: p, typ: off, ok: ok, pc: pc, name: path[0]}
	return w.along(path[1:])
}

// globals are the static variables of the module.
type globals struct {
	entries   *entry.Reader
	locations *location.Finder
	byName    map[string][]dwarf.Offset // by name without namespaces; nil: not listed yet
}

// find returns the definition of a static variable.
func (gs *globals) find(pc uint64, name string) (*dwarf.Entry, error) {
	name, file, _ := strings.Cut(name, "@")
	var found []*dwarf.Entry
	for _, off := range gs.named(lastName(name)) {
		e, err := gs.entries.At(off)
		if err != nil {
			return nil, err
		}
		if gs.matches(e, name, file) {
			found = append(found, e)
		}
	}
	switch {
	case len(found) == 0 && gs.entries.Supplemented() != nil:
		return nil, gs.entries.Supplemented()
	case len(found) == 0:
		return nil, &UnknownError{Name: name, In: "the debug information", What: "variable", Near: gs.near(name)}
	case len(found) == 1:
		return found[0], nil
	}
	if u, err := gs.entries.UnitAt(pc); err == nil {
		for _, e := range found {
			if gs.entries.UnitOf(e.Offset) == u {
				return e, nil
			}
		}
	}
	return gs.only(name, found)
}

// only returns the variable that all source files share, or an error.
func (gs *globals) only(name string, found []*dwarf.Entry) (*dwarf.Entry, error) {
	var files []string
	for _, e := range found {
		if external, _, _ := gs.entries.Attr(e, dwarf.AttrExternal); external != nil {
			return e, nil
		}
		files = append(files, gs.sourceOf(e))
	}
	slices.Sort(files)
	return nil, &AmbiguousError{Name: name, Files: slices.Compact(files)}
}

// matches reports whether a variable has the name and, when file is not empty, is defined in that source file.
func (gs *globals) matches(e *dwarf.Entry, name, file string) bool {
	if file != "" {
		if source := gs.sourceOf(e); source != file && !strings.HasSuffix(source, "/"+file) && path.Base(source) != file {
			return false
		}
	}
	full := gs.entries.QualifiedName(e)
	return full == name || !strings.Contains(name, "::") && lastName(full) == name
}

// sourceOf returns the base name of the source file of a variable's unit.
func (gs *globals) sourceOf(e *dwarf.Entry) string {
	if u := gs.entries.UnitOf(e.Offset); u != nil {
		name, _ := u.Entry.Val(dwarf.AttrName).(string)
		return path.Base(name)
	}
	return ""
}

// lastName returns a name without the namespaces and classes before it.
func lastName(name string) string { return name[strings.LastIndex(name, ":")+1:] }

// named returns the static variables with a name, without namespaces. The first call reads all units.
func (gs *globals) named(name string) []dwarf.Offset {
	if gs.byName == nil {
		found := map[string][]dwarf.Offset{}
		for _, u := range gs.entries.Units() {
			gs.list(u, found)
		}
		gs.byName = found
	}
	return gs.byName[name]
}

// list adds the static variables that a unit defines at its top level and in namespaces. Damaged data ends the list
// early.
func (gs *globals) list(u *entry.Unit, found map[string][]dwarf.Offset) {
	gs.entries.Seek(u.Root)
	var defined []*dwarf.Entry
	for depth := 0; ; {
		e, err := gs.entries.Next()
		if err != nil || e == nil || e.Offset >= u.End {
			break
		}
		switch {
		case e.Tag == 0:
			depth--
		case e.Children && (e.Offset == u.Root || e.Tag == dwarf.TagNamespace || e.Tag == dwarf.TagModule):
			depth++
		default:
			if e.Tag == dwarf.TagVariable && e.AttrField(dwarf.AttrLocation) != nil {
				defined = append(defined, e)
			}
			gs.entries.SkipChildren()
		}
		if depth <= 0 {
			break
		}
	}
	for _, e := range defined { // reading a name may move the reader to the declaration
		if name := gs.entries.Name(e); name != "" {
			found[name] = append(found[name], e.Offset)
		}
	}
}

// near returns the names of static variables that resemble name.
func (gs *globals) near(name string) []string {
	var all []string
	for n := range gs.byName {
		all = append(all, n)
	}
	slices.Sort(all)
	return spelling.Near(lastName(name), all)
}

// place returns where a static variable is.
func (gs *globals) place(e *dwarf.Entry) (location.Place, error) {
	u := gs.entries.UnitOf(e.Offset)
	loc, ok, err := gs.locations.Of(u, e, 0)
	switch {
	case err != nil:
		return location.Place{}, err
	case !ok:
		return location.Place{}, location.ErrNowhere
	}
	return gs.locations.Locate(&function.Function{Unit: u}, 0, loc.Expr)
}
