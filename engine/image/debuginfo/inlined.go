package debuginfo

import (
	"debug/dwarf"
	"path"
	"slices"

	"gotap/engine/image/debuginfo/entry"
)

// Inlined finds a function that has no code of its own because all its calls were inlined. The name includes
// namespaces. file and line are those of its first line behind the head that has code, because the head itself need not
// have code in each copy. ok is false when there is no such function or the debug information cannot be read. Inlined
// reads everything, so it is for error messages only.
func (in *Info) Inlined(name string) (file string, line int, ok bool) {
	file, head := func() (string, int) {
		var err error
		defer in.guard(&err)() // until AddrsOf below
		return in.inlines.headOf(name)
	}()
	if file == "" {
		return "", 0, false
	}
	for line = head + 1; line <= head+longestHead; line++ {
		if addrs, _, _ := in.AddrsOf(file, line); len(addrs) > 0 {
			return path.Base(file), line, true
		}
	}
	return path.Base(file), head, true
}

// InlinedNames returns the names of all functions that were inlined, with namespaces, once each and in order: those of
// units that can be read. It reads the outermost entries of all units, so it is for error messages only, and it returns
// none of a file with more than maxNamed bytes of debug information.
func (in *Info) InlinedNames() (names []string) {
	var err error
	defer in.guard(&err)()
	if in.entries.Load() != nil || in.entries.Size() > maxNamed {
		return nil
	}
	for _, u := range in.entries.Units() {
		of, _ := in.inlines.survey.InlinedNames(u)
		names = append(names, of...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// longestHead is how many lines behind the name of a function its first statement is searched.
const longestHead = 20

// headOf returns where such a function is defined, or "".
func (is *inlines) headOf(name string) (file string, line int) {
	if is.entries.Load() != nil {
		return "", 0
	}
	found, _ := is.named(name)
	if len(found) == 0 {
		return "", 0
	}
	return is.declared(found[0].unit, found[0].entry)
}

// inlinedNames are the functions that were inlined and have a name.
type inlinedNames struct {
	name  string
	found []inlinedName
	err   error // why units behind those of found have not been searched
}

// inlinedName is such a function, in a unit.
type inlinedName struct {
	unit  *entry.Unit
	entry *dwarf.Entry
}

// named returns the functions of a name that were inlined. It reads the outermost entries of all units. Whether there
// is one is asked several times before a name is refused, so the last answer is kept.
func (is *inlines) named(name string) ([]inlinedName, error) {
	if is.last == nil || is.last.name != name {
		last := &inlinedNames{name: name}
		for _, u := range is.entries.Units() {
			is.searched++
			entries, err := is.survey.Inlined(u, name)
			if err != nil {
				last.err = err
				break
			}
			for _, e := range entries {
				last.found = append(last.found, inlinedName{u, e})
			}
		}
		is.last = last
	}
	return is.last.found, is.last.err
}

// maxNamed bounds the size of the debug information in which a name without a function is searched for.
const maxNamed = 64 << 20

// CopiesOf returns the inlined copies of functions of a name, which includes namespaces, that have no code of their
// own. It reads the outermost entries of all units, and whole units that have such a function. A file with more than
// maxNamed bytes of debug information is not searched.
func (in *Info) CopiesOf(name string) (copies []Copy, err error) {
	defer in.guard(&err)()
	if err := in.entries.Load(); err != nil {
		return nil, err
	}
	info := in.entries.Size()
	if info > maxNamed {
		return nil, nil
	}
	named, err := in.inlines.named(name)
	if err != nil {
		return nil, err
	}
	var origins []*original
	var with []*entry.Unit
	for _, n := range named {
		origins = append(origins, &original{abstract: n.entry.Offset})
		if len(with) == 0 || with[len(with)-1] != n.unit {
			with = append(with, n.unit)
		}
	}
	if len(origins) > 0 && info <= maxSearched { // link-time optimisation inlines across units
		with = in.entries.Units()
	}
	for _, u := range with {
		for _, o := range origins {
			found, err := in.inlines.copiesIn(u, o)
			if err != nil {
				return copies, err
			}
			copies = append(copies, found...)
		}
	}
	sortCopies(copies)
	return copies, nil
}

// declared returns the line where a function is defined. That of a method may be at its declaration in the class.
func (is *inlines) declared(u *entry.Unit, e *dwarf.Entry) (file string, line int) {
	number := func(attr dwarf.Attr) int64 {
		f, at, _ := is.entries.Attr(e, attr)
		if f == nil {
			return -1
		}
		if in := is.entries.UnitOf(at.Offset); in != nil {
			u = in // link-time optimisation and dwz move declarations to other units, which have files of their own
		}
		n, _ := f.Val.(int64)
		return n
	}
	line = int(number(dwarf.AttrDeclLine))
	declared := number(dwarf.AttrDeclFile)
	t, err := is.lines.Of(u)
	if err != nil {
		return "", 0
	}
	return t.File(declared), line
}
