package entry

import (
	"bytes"
	"debug/dwarf"
	"sort"
	"strings"
)

// QualifiedName returns the name of a function with the namespaces and classes around it, as in "geo::Square::area".
func (rd *Reader) QualifiedName(e *dwarf.Entry) string {
	_, at, err := rd.Attr(e, dwarf.AttrName)
	if err != nil || at == nil {
		if f, _, _ := rd.Attr(e, dwarf.AttrLinkageName); f != nil {
			s, _ := f.Val.(string)
			return s
		}
		return ""
	}
	name, _ := at.Val(dwarf.AttrName).(string)
	u := rd.UnitOf(at.Offset)
	if u == nil || !u.HasScopes() {
		return name
	}
	return strings.Join(append(rd.ScopeNames(u, at.Offset), name), "::")
}

// nameSearch finds out which names no entry of the module can have. It remembers the last answer: a name is asked for
// unit by unit.
type nameSearch struct {
	name  string
	parts int // how many the module had, of which there may be more later
	found bool
}

// mayFind reports whether an entry in some of the parts may have a qualified name. It has not when no string of the
// debug information ends as the name does, in the whole of it or behind one of its "::"; most names that are looked for
// in vain are found out so, without any entry being read.
func (n *nameSearch) mayFind(qualified string, parts []*part) bool {
	if n.name != qualified || n.parts != len(parts) {
		*n = nameSearch{qualified, len(parts), hasEnd(parts, qualified)}
	}
	return n.found
}

// hasEnd reports whether a string of some part is the name or what follows a "::" in it. Linkers let a string be the
// end of another one, so what is in front of it does not matter.
func hasEnd(parts []*part, qualified string) bool {
	for rest, more := qualified, true; more; _, rest, more = strings.Cut(rest, "::") {
		for _, end := range []string{"\x00", "<"} { // a template has its arguments behind its name
			text := []byte(rest + end)
			for _, p := range parts {
				if bytes.Contains(p.sections["str"], text) || bytes.Contains(p.sections["line_str"], text) || bytes.Contains(p.sections["info"], text) {
					return true
				}
			}
		}
	}
	return false
}

// namedScope is a namespace or class. The qualified names of entries between lo and hi contain its name.
type namedScope struct {
	lo, hi dwarf.Offset
	parent int // index in the unit's list; -1: none
	name   string
}

// ScopeNames returns the names of the namespaces and classes around the entry at off, outermost first. Entries do not
// refer to their parents, so scopes are searched from the outside inwards where entries say where the next one is, as
// gcc's do. Otherwise the first call for a unit lists all its scopes.
func (rd *Reader) ScopeNames(u *Unit, off dwarf.Offset) []string {
	if u.around == nil {
		u.around = &scope{lo: u.Root, hi: u.End, next: u.Root, skips: hasSiblings(u)}
	}
	if u.around.skips {
		return u.around.names(u, off)
	}
	return listedNames(rd, u, off)
}

// listedNames is ScopeNames by the list of all scopes.
func listedNames(rd *Reader, u *Unit, off dwarf.Offset) []string {
	if u.scopes == nil {
		u.scopes = rd.listScopes(u)
	}
	var names []string
	i := sort.Search(len(u.scopes), func(i int) bool { return u.scopes[i].lo >= off }) - 1
	for ; i >= 0; i = u.scopes[i].parent {
		if s := u.scopes[i]; off < s.hi {
			names = append([]string{s.name}, names...)
		}
	}
	return names
}

// listScopes lists the namespaces and classes of a unit in the order of their offsets. A scope ends where the first
// entry behind its children starts, so its end is set when that entry is read. Damaged data ends the list early.
func (rd *Reader) listScopes(u *Unit) []namedScope {
	list := []namedScope{}
	open := []int{}  // the scopes around the next entry; -1 is the unit
	ended := []int{} // scopes whose end is the next entry
	rd.Seek(u.Root)
	for {
		e, err := rd.Next()
		if err != nil || e == nil || e.Offset >= u.End {
			return list
		}
		if e.Tag == 0 {
			n := len(open) - 1
			if n <= 0 { // the end of the unit, or of a unit without a root
				return list
			}
			ended = append(ended, open[n])
			open = open[:n]
			continue
		}
		for _, i := range ended {
			list[i].hi = e.Offset
		}
		ended = ended[:0]
		switch {
		case e.Offset == u.Root && e.Children:
			open = append(open, -1)
		case len(open) == 0:
			return list // an empty unit
		case e.Children && IsNamedScope(e.Tag):
			list = append(list, namedScope{lo: e.Offset, hi: u.End, parent: open[len(open)-1], name: scopeName(e)})
			open = append(open, len(list)-1)
		default:
			rd.SkipChildren()
		}
	}
}

// IsNamedScope reports whether the qualified names of the entries inside contain the name of an entry with this tag.
func IsNamedScope(tag dwarf.Tag) bool {
	switch tag {
	case dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagModule:
		return true
	}
	return false
}

// scopeName returns the name of a namespace or class, or NoName.
func scopeName(e *dwarf.Entry) string {
	if name, _ := e.Val(dwarf.AttrName).(string); name != "" {
		return name
	}
	return NoName
}

// NoName stands for the name of an anonymous scope, as in debuggers.
const NoName = "(anonymous)"
