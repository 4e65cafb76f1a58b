package entry

import (
	"debug/dwarf"
	"sort"
)

// extent is where a unit, which may be a type unit, is in a part, and what its entries are read by.
type extent struct {
	start, first, end int // of its header, its first entry, what follows it
	key               abbrevKey
	table             *abbreviations // nil: not used yet
	bases             *indexBases    // nil: not read yet
}

// indexBases are where in their sections the indexes of a unit count from.
type indexBases struct{ addr, str, ranges uint64 }

// stream reads the entries of a part one after the other. It behaves as the reader of debug/dwarf does and returns the
// same entries, but does not read the abbreviations of all units first.
type stream struct {
	part *part
	unit int    // index of the extent that is read
	c    Cursor // its data ends where the unit does
	bare bool   // indexes count as 0
	err  error  // of the last Seek or Next; Seek clears it

	lastRoot     bool // the last entry is that of a unit
	lastChildren bool
	lastSibling  int // where the entry behind its children is; 0 if it does not say
}

// newStream returns a stream at the first entry of a part.
func (p *part) newStream() *stream {
	s := &stream{part: p}
	if len(p.extents) > 0 {
		s.open(0)
	}
	return s
}

// open moves to the first entry of a unit.
func (s *stream) open(unit int) {
	x := &s.part.extents[unit]
	s.unit, s.c = unit, Cursor{Data: s.part.sections["info"][:x.end], Off: x.first}
}

// Seek moves to the entry at off.
func (s *stream) Seek(off dwarf.Offset) {
	s.err, s.lastChildren = nil, false
	at := int(off)
	all := s.part.extents
	i := sort.Search(len(all), func(i int) bool { return all[i].first > at }) - 1
	switch {
	case at == 0 && len(all) > 0:
		s.open(0)
	case i < 0 || at >= all[i].end:
		s.fail("offset out of range")
	default:
		s.open(i)
		s.c.Off = at
	}
}

// fail ends the stream with an error of debug/dwarf.
func (s *stream) fail(what string) {
	if s.err == nil {
		s.err = dwarf.DecodeError{Name: "info", Offset: dwarf.Offset(s.c.Off), Err: what}
	}
}

// Next reads the next entry: nil at the end of the part, one without a tag at the end of a list of children.
func (s *stream) Next() (*dwarf.Entry, error) {
	if s.err != nil {
		return nil, s.err
	}
	for len(s.c.Data) == s.c.Off && s.unit+1 < len(s.part.extents) {
		s.open(s.unit + 1)
	}
	if len(s.c.Data) == s.c.Off {
		return nil, nil
	}
	e := s.read()
	if s.err != nil {
		return nil, s.err
	}
	s.lastRoot = e.Tag == dwarf.TagCompileUnit || e.Tag == dwarf.TagPartialUnit
	s.lastChildren = e.Children
	sibling, _ := e.Val(dwarf.AttrSibling).(dwarf.Offset)
	s.lastSibling = int(sibling)
	return e, nil
}

// read reads the entry at the current position.
func (s *stream) read() *dwarf.Entry {
	x := &s.part.extents[s.unit]
	at := s.c.Off
	code := s.c.ULEB()
	if code == 0 && s.c.Err == nil {
		return &dwarf.Entry{}
	}
	if x.table == nil {
		x.table = s.part.abbreviations(x.key)
	}
	a := x.table.find(code)
	if a == nil {
		s.fail("unknown abbreviation table index")
		return nil
	}
	fields := s.part.attributes(x.key, a)
	e := &dwarf.Entry{Offset: dwarf.Offset(at), Tag: a.tag, Children: a.children, Field: make([]dwarf.Field, len(fields))}
	for i := range fields {
		f := &fields[i]
		if f.form == formIndirect {
			f = &attribute{attr: f.attr, form: form(s.c.ULEB())}
			f.class = classOf(f.form, f.attr, x.key.version)
		}
		e.Field[i] = dwarf.Field{Attr: f.attr, Class: f.class, Val: s.value(x, f)}
		if s.c.Err != nil {
			s.fail("underflow")
		}
		if s.err != nil {
			return nil
		}
	}
	return e
}

// SkipChildren moves behind the children of the entry that Next returned last.
func (s *stream) SkipChildren() {
	if s.err != nil || !s.lastChildren {
		return
	}
	if s.lastSibling >= s.c.Off {
		s.Seek(dwarf.Offset(s.lastSibling))
		return
	}
	if s.lastRoot && s.unit+1 < len(s.part.extents) {
		s.open(s.unit + 1)
		return
	}
	for {
		e, err := s.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return
		}
		if e.Children {
			s.SkipChildren()
		}
	}
}
