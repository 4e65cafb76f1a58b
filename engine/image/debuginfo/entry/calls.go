package entry

import (
	"bytes"
	"debug/dwarf"
	"fmt"
	"strings"

	"gotap/engine/image/symname"
)

// Survey answers questions about all entries of a unit. Like its Reader, which it moves, it is not safe for concurrent
// use.
type Survey struct{ rd *Reader }

// NewSurvey returns the survey of what a Reader has loaded.
func NewSurvey(rd *Reader) Survey { return Survey{rd} }

// InlinedCall is a call that a compiler inlined.
type InlinedCall struct {
	Entry  dwarf.Offset
	Origin dwarf.Offset // the abstract function that is called
	Within dwarf.Offset // the origin of the function that contains the call, 0 if that has none
}

// InlinedCalls returns the inlined calls of a unit in their order, without those whose origin is not known. It reads
// the whole unit.
func (sv Survey) InlinedCalls(u *Unit) ([]InlinedCall, error) {
	if calls, ok := scanCalls(u); ok {
		return calls, nil
	}
	return sv.readCalls(u)
}

// callList collects inlined calls from the entries of a unit in their order.
type callList struct {
	calls  []InlinedCall
	around []dwarf.Offset // for each entry that is open, the origin of the function that its children are in
}

// add adds an entry. more is false behind the last one of the unit: a type unit may follow, which cannot be read on
// from here.
func (l *callList) add(at dwarf.Offset, tag dwarf.Tag, origin dwarf.Offset, children bool) (more bool) {
	within := dwarf.Offset(0)
	if n := len(l.around); n > 0 {
		within = l.around[n-1]
	}
	if tag == dwarf.TagSubprogram || tag == dwarf.TagInlinedSubroutine {
		if tag == dwarf.TagInlinedSubroutine && origin != 0 {
			l.calls = append(l.calls, InlinedCall{at, origin, within})
		}
		within = origin
	}
	if children {
		l.around = append(l.around, within)
	}
	return len(l.around) > 0
}

// end ends a list of children. more is false when it was that of the unit.
func (l *callList) end() (more bool) {
	if n := len(l.around); n > 0 {
		l.around = l.around[:n-1]
	}
	return len(l.around) > 0
}

// scanCalls is InlinedCalls by the scanner. ok is false when that cannot read the unit.
func scanCalls(u *Unit) (calls []InlinedCall, ok bool) {
	s := scan(u, u.Root)
	var l callList
	var e brief
	for more := true; more && s.next(&e); {
		if e.abbrev == nil {
			more = l.end()
			continue
		}
		if e.origin == noReference {
			e.origin = 0
		}
		more = l.add(e.at, e.abbrev.tag, e.origin, e.abbrev.children)
	}
	return l.calls, !s.unknown
}

// readCalls is InlinedCalls by the stream.
func (sv Survey) readCalls(u *Unit) ([]InlinedCall, error) {
	var l callList
	sv.rd.Seek(u.Root)
	for more := true; more; {
		e, err := sv.rd.Next()
		if err != nil {
			return nil, err
		}
		switch {
		case e == nil || e.Offset >= u.End:
			more = false
		case e.Tag == 0:
			more = l.end()
		default:
			origin, _ := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
			more = l.add(e.Offset, e.Tag, origin, e.Children)
		}
	}
	return l.calls, nil
}

// IsLinkedAs reports whether the entry at off, or one that it is an instance or a definition of, has a linkage name,
// and that is name.
func (sv Survey) IsLinkedAs(off dwarf.Offset, name string) bool {
	linked, ok := sv.inherited(off, func(e *brief) []byte { return e.linkage })
	if !ok {
		return sv.linkageName(off) == name
	}
	return len(linked) > len(name) && linked[len(name)] == 0 && string(linked[:len(name)]) == name
}

// inherited returns a name of the entry at off, or of the first entry that it is an instance or a definition of and
// that has one, with what follows it. ok is false when the scanner cannot tell.
func (sv Survey) inherited(off dwarf.Offset, of func(*brief) []byte) (name []byte, ok bool) {
	for range MaxOrigins {
		u := sv.rd.UnitOf(off)
		if u == nil {
			return nil, false
		}
		var e brief
		if s := scan(u, off); !s.next(&e) || e.abbrev == nil {
			return nil, false
		}
		switch name := of(&e); {
		case name != nil:
			return name, true
		case e.origin != noReference:
			off = e.origin
		case e.declared != noReference:
			off = e.declared
		default:
			return nil, true
		}
	}
	return nil, true
}

// linkageName is the linkage name of the entry at off as debug/dwarf reads it, or "".
func (sv Survey) linkageName(off dwarf.Offset) string {
	e, err := sv.rd.At(off)
	if err != nil {
		return ""
	}
	f, _, _ := sv.rd.Attr(e, dwarf.AttrLinkageName)
	if f == nil {
		return ""
	}
	name, _ := f.Val.(string)
	return name
}

// Functions calls visit for the functions of a unit that have code, and are at its top level or in an entry with a tag
// for which enter returns true, at any depth. visit must not move the reader.
func (sv Survey) Functions(u *Unit, enter func(dwarf.Tag) bool, visit func(*dwarf.Entry)) error {
	found, ok := scanFunctions(u, enter)
	if !ok {
		return sv.rd.TopLevel(u, func(e *dwarf.Entry) bool {
			if e.Tag == dwarf.TagSubprogram && (e.AttrField(dwarf.AttrLowpc) != nil || e.AttrField(dwarf.AttrRanges) != nil) {
				visit(e)
			}
			return enter(e.Tag)
		})
	}
	for _, at := range found {
		e, err := sv.rd.At(at)
		if err != nil {
			return fmt.Errorf("cannot read the debug information: %w", err)
		}
		visit(e)
	}
	return nil
}

// scanTopLevel is Reader.TopLevel by the scanner. ok is false when that cannot read the unit.
func scanTopLevel(u *Unit, visit func(*brief) (enter bool)) (ok bool) {
	s := scan(u, u.Root)
	var e brief
	for depth := 0; s.next(&e); {
		switch {
		case e.abbrev == nil:
			depth--
		case (e.at == u.Root || visit(&e)) && e.abbrev.children:
			depth++
		default:
			s.pass(&e)
		}
		if depth == 0 {
			break
		}
	}
	return !s.unknown
}

// scanFunctions finds the functions that have code. ok is false when the scanner cannot read the unit.
func scanFunctions(u *Unit, enter func(dwarf.Tag) bool) (found []dwarf.Offset, ok bool) {
	ok = scanTopLevel(u, func(e *brief) bool {
		if e.abbrev.tag == dwarf.TagSubprogram && e.abbrev.code {
			found = append(found, e.at)
		}
		return enter(e.abbrev.tag)
	})
	return found, ok
}

// Values of DW_AT_inline of functions that were inlined (DWARF 5, 3.3.8.1).
const (
	inlInlined         = 1
	inlDeclaredInlined = 3
)

// Inlined returns the functions of a unit that were inlined and have a name, which includes namespaces and classes. A
// name without arguments of templates is that of all instances.
func (sv Survey) Inlined(u *Unit, name string) ([]*dwarf.Entry, error) {
	if !sv.rd.search.mayFind(name, sv.rd.parts) {
		return nil, nil
	}
	found, ok := sv.scanInlined(u, name)
	if !ok {
		var err error
		if found, err = sv.readInlined(u, name); err != nil {
			return nil, err
		}
	}
	return sv.inlinedAs(found, name)
}

// inlinedAs returns the entries of found that were inlined and have this name.
func (sv Survey) inlinedAs(found []dwarf.Offset, name string) (named []*dwarf.Entry, err error) {
	for _, at := range found {
		e, err := sv.rd.At(at)
		if err != nil {
			return nil, err
		}
		if wasInlined(e) && isNamed(sv.rd.QualifiedName(e), name) {
			named = append(named, e)
		}
	}
	return named, nil
}

// InlinedNames returns the names of the functions of a unit that were inlined, with namespaces and classes.
func (sv Survey) InlinedNames(u *Unit) (names []string, err error) {
	var found []dwarf.Offset
	err = sv.rd.TopLevel(u, func(e *dwarf.Entry) (enter bool) {
		if wasInlined(e) {
			found = append(found, e.Offset)
		}
		return IsNamedScope(e.Tag)
	})
	for _, at := range found {
		if e, err := sv.rd.At(at); err == nil {
			names = append(names, sv.rd.QualifiedName(e))
		}
	}
	return names, err
}

// wasInlined reports whether an entry describes a function that was inlined.
func wasInlined(e *dwarf.Entry) bool {
	how, _ := e.Val(dwarf.AttrInline).(int64)
	return how == inlInlined || how == inlDeclaredInlined
}

// scanInlined returns the functions that may be what Inlined returns: their names without scopes end the name. ok is
// false when the scanner cannot read the unit.
func (sv Survey) scanInlined(u *Unit, name string) (found []dwarf.Offset, ok bool) {
	ok = scanTopLevel(u, func(e *brief) bool {
		if e.abbrev.inline && sv.mayEnd(e, name) {
			found = append(found, e.at)
		}
		return IsNamedScope(e.abbrev.tag)
	})
	return found, ok
}

// mayEnd reports whether a qualified name may end in the name of an entry. One without a name may be known by its
// linkage name.
func (sv Survey) mayEnd(e *brief, qualified string) bool {
	text := e.name
	if text == nil {
		inherited, ok := sv.inherited(e.at, func(e *brief) []byte { return e.name })
		if !ok || inherited == nil {
			return true
		}
		text = inherited
	}
	length := bytes.IndexByte(text, 0)
	return length > 0 && endsIn(qualified, string(text[:length]))
}

// isNamed reports whether a qualified name is the one that was asked for, or an instance of that template.
func isNamed(name, asked string) bool {
	return name == asked || strings.Contains(name, "<") && symname.Bare(name) == asked
}

// endsIn reports whether the name that was asked for ends in a name without scopes, or in that of its template.
func endsIn(asked, name string) bool {
	return strings.HasSuffix(asked, name) || strings.Contains(name, "<") && strings.HasSuffix(asked, symname.Bare(name))
}

// readInlined is scanInlined by the stream.
func (sv Survey) readInlined(u *Unit, name string) (found []dwarf.Offset, err error) {
	err = sv.rd.TopLevel(u, func(e *dwarf.Entry) (enter bool) {
		if e.AttrField(dwarf.AttrInline) != nil {
			if text, _ := e.Val(dwarf.AttrName).(string); endsIn(name, text) {
				found = append(found, e.Offset)
			}
		}
		return IsNamedScope(e.Tag)
	})
	return found, err
}
