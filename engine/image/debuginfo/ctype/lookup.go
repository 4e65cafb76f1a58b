package ctype

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"
)

// other is something besides a member of its objects that a class declares. It hides members of base classes.
type other struct {
	name string
	tag  dwarf.Tag
}

// AmbiguousError is the error for a member that several base classes have.
type AmbiguousError struct {
	Name, In string
	Full     []string // names that say which one: "Base::x"
	First    Member
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("member %q of %s is ambiguous: several base classes have it", e.Name, e.In)
}

// Hint says how to choose one.
func (e *AmbiguousError) Hint() string {
	return `name the base class: ["` + strings.Join(e.Full, `"] or ["`) + `"] instead of .` + e.Name
}

// NotInObjectError is the error for a name of a class that is not a member of its objects.
type NotInObjectError struct {
	Name, In string
	Static   bool // a static member
}

func (e *NotInObjectError) Error() string {
	if e.Static {
		return fmt.Sprintf("%q is a static member of %s, which its objects do not contain", e.Name, e.In)
	}
	return fmt.Sprintf("%q of %s is a function or a type, which has no value", e.Name, e.In)
}

// Hint says how to read a static member.
func (e *NotInObjectError) Hint() string {
	if e.Static {
		return fmt.Sprintf("global(%q)", e.In+"::"+e.Name)
	}
	return ""
}

// finding is a declaration of a name in a class or in one of its base classes.
type finding struct {
	Member           // its offset counts from the class that is searched
	class   *Type    // that declares it
	bases   []string // on the way to that class
	virtual string   // the last virtual base on the way, or ""
	inside  int64    // offset of the member in that virtual base
	notData dwarf.Tag
}

// FindMember finds a member by name, as C++ does: a name in a class, or in an anonymous member of it, hides that name
// in the base classes. "Base::x" is x in a direct base class. The offset counts from the start of t.
//
// Errors are *AmbiguousError, *NotInObjectError, or those of damaged files.
func (ts *Types) FindMember(t *Type, name string) (m Member, ok bool, err error) {
	all, err := ts.lookup(t, name, 0)
	if err == nil && len(all) == 0 {
		all, err = ts.qualifiedMember(t, name)
	}
	if err != nil || len(all) == 0 {
		return m, false, err
	}
	if len(all) > 1 {
		if all, err = ts.visible(all); err != nil {
			return m, false, err
		}
	}
	first := all[0]
	switch {
	case len(all) > 1:
		return m, false, &AmbiguousError{Name: name, In: ts.Name(t), Full: fullNames(all, name), First: first.Member}
	case first.notData != 0:
		static := first.notData == dwarf.TagVariable || first.notData == dwarf.TagMember
		return m, false, &NotInObjectError{Name: name, In: ts.qualified(first.class.Offset, first.class.Name), Static: static}
	}
	return first.Member, true, nil
}

// lookup returns what a name may mean in t: one thing if t itself declares it, else what its base classes declare.
func (ts *Types) lookup(t *Type, name string, depth int) ([]finding, error) {
	members, err := ts.Members(t)
	if err != nil || depth > MaxNesting {
		return nil, err
	}
	for _, m := range members {
		if !m.base && (m.Name == name || name == "ptr" && m.isGoData(members)) {
			return []finding{{Member: m, class: t, inside: m.Offset}}, nil
		}
	}
	for _, m := range members {
		if m.base || m.Name != "" {
			continue
		}
		if all, err := ts.within(m, name, depth); err != nil || len(all) > 0 {
			return all, err
		}
	}
	for _, o := range t.others {
		if o.name == name {
			return []finding{{class: t, notData: o.tag}}, nil
		}
	}
	var all []finding
	for _, m := range members {
		if !m.base {
			continue
		}
		found, err := ts.within(m, name, depth)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// within looks a name up in an anonymous member or a base class.
func (ts *Types) within(outer Member, name string, depth int) ([]finding, error) {
	inner, err := ts.Strip(outer.Type, true)
	if err != nil {
		return nil, err
	}
	all, err := ts.lookup(inner, name, depth+1)
	for i := range all {
		f := &all[i]
		if outer.base {
			f.bases = append([]string{ts.Name(inner)}, f.bases...)
		}
		if outer.Virtual && f.virtual == "" {
			f.virtual, f.inside = ts.Canonical(inner, 0), f.Offset
		}
		f.Offset += outer.Offset
		f.Bit += outer.Offset * 8
		f.Virtual = f.Virtual || outer.Virtual
	}
	return all, err
}

// qualifiedMember finds "Base::x", the member of a direct base class.
func (ts *Types) qualifiedMember(t *Type, name string) ([]finding, error) {
	if !strings.Contains(name, "::") {
		return nil, nil
	}
	members, err := ts.Members(t)
	for _, m := range members {
		if !m.base {
			continue
		}
		inner, err := ts.Strip(m.Type, true)
		if err != nil {
			return nil, err
		}
		rest, ok := strings.CutPrefix(name, ts.Name(inner)+"::")
		if !ok {
			continue
		}
		found, ok, err := ts.FindMember(inner, rest)
		if err != nil || !ok {
			return nil, err
		}
		found.Offset += m.Offset
		found.Bit += m.Offset * 8
		found.Virtual = found.Virtual || m.Virtual
		return []finding{{Member: found, class: inner}}, nil
	}
	return nil, err
}

// visible leaves out what is hidden and what was reached before: a virtual base class is in an object once, whatever
// the ways that lead to it, and a class that is derived from it hides its members on all of them.
func (ts *Types) visible(all []finding) (out []finding, err error) {
	for i, f := range all {
		hidden := slices.ContainsFunc(all[:i], f.isSame)
		for _, o := range all {
			if f.virtual == "" || hidden || f.isSame(o) {
				continue
			}
			bases, err := ts.Bases(o.class, f.virtual)
			if err != nil {
				return nil, err
			}
			hidden = slices.ContainsFunc(bases, func(b Base) bool { return b.Virtual })
		}
		if !hidden {
			out = append(out, f)
		}
	}
	return out, nil
}

// isSame reports whether two findings are the same thing.
func (f finding) isSame(o finding) bool {
	if f.notData != 0 || o.notData != 0 {
		return f.notData == o.notData && f.class == o.class
	}
	if f.virtual != o.virtual || f.class != o.class {
		return false
	}
	if f.virtual != "" {
		return f.inside == o.inside && f.Bit-f.Offset*8 == o.Bit-o.Offset*8
	}
	return f.Offset == o.Offset && f.Bit == o.Bit
}

// fullNames returns a name for each finding that says which one it is: by the first base class on the way that differs.
func fullNames(all []finding, name string) []string {
	common := 0
	for !slices.ContainsFunc(all, func(f finding) bool {
		return len(f.bases) <= common+1 || f.bases[common] != all[0].bases[common]
	}) {
		common++
	}
	var names []string
	for _, f := range all {
		full := strings.Join(append(slices.Clone(f.bases[:min(common+1, len(f.bases))]), name), "::")
		if !slices.Contains(names, full) {
			names = append(names, full)
		}
	}
	return names
}
