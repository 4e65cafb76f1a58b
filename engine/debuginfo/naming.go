package debuginfo

import (
	"debug/dwarf"
	"sort"
	"strings"
)

// funcName is the name of a function with the namespaces and classes around it, "geo::Square::area".
func (in *Info) funcName(e *dwarf.Entry) string {
	_, at, err := in.attr(e, dwarf.AttrName)
	if err != nil || at == nil {
		if f, _, _ := in.attr(e, dwarf.AttrLinkageName); f != nil {
			s, _ := f.Val.(string)
			return s
		}
		return ""
	}
	name, _ := at.Val(dwarf.AttrName).(string)
	u := in.unitOf(at.Offset)
	if u == nil || !u.hasScopes() {
		return name
	}
	return strings.Join(append(in.scopeNames(u, at.Offset), name), "::")
}

// namedScope is a namespace or class: names of what lies between lo and hi start with its name.
type namedScope struct {
	lo, hi dwarf.Offset
	parent int // in the unit's list; -1: none
	name   string
}

// scopeNames are the names of the namespaces and classes around the DIE at off. DIEs do not know their parents, so the
// scopes of a unit are listed when the first of its names is asked for.
func (in *Info) scopeNames(u *unit, off dwarf.Offset) []string {
	if u.scopes == nil {
		u.scopes = in.listScopes(u)
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

// listScopes lists the namespaces and classes of a unit by where they start. A DIE ends where the next one after its
// last child starts, so the ends are filled in one DIE late. Damaged data ends the list early.
func (in *Info) listScopes(u *unit) []namedScope {
	list := []namedScope{}
	open := []int{}  // the scopes around the next DIE; -1 is the unit
	ended := []int{} // scopes whose end is the next DIE
	in.reader.Seek(u.root)
	for {
		e, err := in.reader.Next()
		if err != nil || e == nil || e.Offset >= u.end {
			return list
		}
		if e.Tag == 0 {
			n := len(open) - 1
			if n <= 0 { // the end of the unit, or one without an entry of its own
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
		case e.Offset == u.root && e.Children:
			open = append(open, -1)
		case len(open) == 0:
			return list // a unit without anything in it
		case e.Children && isNamedScope(e.Tag):
			list = append(list, namedScope{lo: e.Offset, hi: u.end, parent: open[len(open)-1], name: scopeName(e)})
			open = append(open, len(list)-1)
		default:
			in.reader.SkipChildren()
		}
	}
}

// isNamedScope reports whether names inside are shown with this one before them.
func isNamedScope(tag dwarf.Tag) bool {
	switch tag {
	case dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagModule:
		return true
	}
	return false
}

// scopeName is the name of a namespace or class; those without one are shown as debuggers do.
func scopeName(e *dwarf.Entry) string {
	if name, _ := e.Val(dwarf.AttrName).(string); name != "" {
		return name
	}
	return noName
}

// noName stands for a scope without a name.
const noName = "(anonymous)"
