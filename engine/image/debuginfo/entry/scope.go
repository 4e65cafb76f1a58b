package entry

import (
	"debug/dwarf"
	"sort"
)

// scope is a unit, or a namespace or class in it. The qualified names of entries between lo and hi contain its name.
// What is inside is listed up to the entry that was asked for, because a unit may have megabytes behind it.
type scope struct {
	lo, hi dwarf.Offset
	name   string
	inside []*scope     // namespaces and classes directly inside, in front of next
	next   dwarf.Offset // the entry at which listing continues; lo: nothing is listed; 0: all is
	skips  bool         // of a unit: entries say where the next one is
}

// hasSiblings reports whether the first entry of a unit with children says where the entry behind them is. Otherwise
// skipping children means reading them.
func hasSiblings(u *Unit) bool {
	r := u.body.newStream()
	r.Seek(u.Root - u.body.base)
	for first := true; ; first = false {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 || e.Offset+u.body.base >= u.End {
			return false
		}
		if !first && e.Children {
			return e.AttrField(dwarf.AttrSibling) != nil
		}
	}
}

// names returns the names of the scopes around the entry at off in a unit, outermost first, below s.
func (s *scope) names(u *Unit, off dwarf.Offset) (names []string) {
	for range maxNested {
		s.list(u, off)
		i := sort.Search(len(s.inside), func(i int) bool { return s.inside[i].lo >= off }) - 1
		if i < 0 || off >= s.inside[i].hi {
			break
		}
		s = s.inside[i]
		names = append(names, s.name)
	}
	return names
}

// maxNested bounds how deep scopes are searched. Each level of damaged data may have to be read to its end.
const maxNested = 64

// list lists what is directly inside a scope, up to off. The end of a scope is where the next entry starts. Damaged
// data ends the list early.
func (s *scope) list(u *Unit, off dwarf.Offset) {
	if s.next == 0 || s.next >= off {
		return
	}
	p := u.body
	r := p.newStream() // a reader of its own, so that callers may be reading entries
	r.Seek(s.next - p.base)
	if s.next == s.lo {
		if e, err := r.Next(); err != nil || e == nil || !e.Children {
			s.next = 0
			return
		}
	}
	var last *scope // whose end is not known yet
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 || e.Offset+p.base >= s.hi {
			s.next = 0
			return
		}
		p.place(e)
		at := e.Offset
		if last != nil {
			last.hi, last = at, nil
		}
		if at >= off {
			s.next = at
			return
		}
		if e.Children && IsNamedScope(e.Tag) {
			last = &scope{lo: at, hi: s.hi, next: at, name: scopeName(e)}
			s.inside = append(s.inside, last)
		}
		r.SkipChildren()
	}
}
