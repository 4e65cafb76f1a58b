package ctype

import (
	"slices"
	"strings"
)

// MemberNames returns the names of the members of a struct, including those of anonymous members and base classes. A
// member of a base class that its name alone does not reach has the name of the class, too: "Base::x".
func (ts *Types) MemberNames(t *Type) []string { return ts.namesIn(t, 0) }

// MaxNesting bounds how deep anonymous members, base classes and parts of types are searched.
const MaxNesting = 16

// inBase is a member of a direct base class.
type inBase struct {
	name string // in that class
	base Member
	of   *Type
}

// namesIn returns the member names of t, those of base classes where the base class is.
func (ts *Types) namesIn(t *Type, depth int) []string {
	members, err := ts.Members(t)
	if err != nil || depth > MaxNesting {
		return nil
	}
	var all []inBase
	own, bases := map[string]bool{}, 0
	for _, o := range t.others {
		own[o.name] = true
	}
	for _, m := range members {
		for _, one := range ts.namesOf(m, depth) {
			all = append(all, one)
			own[one.name] = own[one.name] || !m.base
		}
		if m.base {
			bases++
		}
	}
	var names []string
	for _, one := range all {
		name := one.name
		if one.of != nil && (bases > 1 || own[name] || strings.Contains(name, "::")) {
			name = ts.reached(t, one)
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// namesOf returns the names that a member brings: its own, or those in an anonymous member or a base class.
func (ts *Types) namesOf(m Member, depth int) []inBase {
	if m.Name != "" && !m.base {
		return []inBase{{name: m.Name}}
	}
	inner, err := ts.Strip(m.Type, true)
	if err != nil {
		return nil
	}
	var all []inBase
	for _, name := range ts.namesIn(inner, depth+1) {
		one := inBase{name: name}
		if m.base {
			one.base, one.of = m, inner
		}
		all = append(all, one)
	}
	return all
}

// reached returns the name by which t has a member of a base class; "" if that of a virtual base class is hidden, or
// was reached on another way.
func (ts *Types) reached(t *Type, one inBase) string {
	inner, okInner, _ := ts.FindMember(one.of, one.name)
	found, ok, err := ts.FindMember(t, one.name)
	switch {
	case ok && found.Type == inner.Type && (found.Virtual || found.Offset == inner.Offset+one.base.Offset):
		return one.name
	case err == nil && okInner && (inner.Virtual || one.base.Virtual):
		return ""
	}
	return ts.Name(one.of) + "::" + one.name
}
