package entry

import (
	"debug/dwarf"
)

// A section of abbreviations is read as far as it is needed, because each unit of a library has a table of its own: a
// question about one function needs a few abbreviations of a thousand units, and all of one.

// abbreviation is what entries with one code have in common.
type abbreviation struct {
	tag      dwarf.Tag
	children bool
	at       int          // where in .debug_abbrev its attributes are
	fields   *[]attribute // nil: not read yet
	plan     *plan        // nil: not made yet
}

// attribute is an attribute as abbreviations describe it.
type attribute struct {
	attr     dwarf.Attr
	form     form
	class    dwarf.Class
	constant int64 // of formImplicitConst
}

// abbrevKey is what the meaning of abbreviations depends on: where they are, and version and sizes of the unit.
type abbrevKey struct {
	off     uint64
	addr    int
	wide    bool
	version int
}

// abbreviations are those of a unit. They are listed up to the one that was asked for.
type abbreviations struct {
	key  abbrevKey
	next Cursor                   // at the first one that is not listed; its data is empty when all are
	list []abbreviation           // by code less 1, as compilers number them
	odd  map[uint64]*abbreviation // those that are numbered otherwise
}

// abbreviations returns those of the units with a key.
func (p *part) abbreviations(key abbrevKey) *abbreviations {
	list, known := p.abbrevs[key]
	if !known {
		list = &abbreviations{key: key}
		if data := p.sections["abbrev"]; key.off < uint64(len(data)) {
			list.next = Cursor{Data: data, Off: int(key.off)}
		}
		if p.abbrevs == nil {
			p.abbrevs = map[abbrevKey]*abbreviations{}
		}
		p.abbrevs[key] = list
	}
	return list
}

// key returns what abbreviations of a unit depend on.
func (u *Unit) key() abbrevKey { return abbrevKey{u.abbrev, u.Addr, u.Wide, u.Version} }

// find returns the abbreviation of a code; nil when there is none, or the table is damaged in front of it. It is valid
// until find is called again.
func (t *abbreviations) find(code uint64) *abbreviation {
	for {
		if code-1 < uint64(len(t.list)) {
			return &t.list[code-1]
		}
		if a := t.odd[code]; a != nil {
			return a
		}
		if !t.listOne() {
			return nil
		}
	}
}

// listOne lists one abbreviation more. It returns false at the end of the table and where that is damaged.
func (t *abbreviations) listOne() bool {
	c := &t.next
	if len(c.Data) == 0 {
		return false
	}
	code := c.ULEB()
	a := abbreviation{tag: dwarf.Tag(c.ULEB()), children: c.U8() != 0, at: c.Off}
	for code != 0 && c.Err == nil {
		attr, f := c.ULEB(), form(c.ULEB())
		if attr == 0 && f == 0 {
			break
		}
		if f == formImplicitConst {
			c.SLEB()
		}
	}
	switch {
	case code == 0 || c.Err != nil:
		t.next = Cursor{}
		return false
	case code == uint64(len(t.list))+1:
		t.list = append(t.list, a)
	default:
		if t.odd == nil {
			t.odd = map[uint64]*abbreviation{}
		}
		t.odd[code] = &a
	}
	return true
}

// attributes returns the attributes of an abbreviation of a part.
func (p *part) attributes(k abbrevKey, a *abbreviation) []attribute {
	if a.fields != nil {
		return *a.fields
	}
	var fields []attribute
	for c := (Cursor{Data: p.sections["abbrev"], Off: a.at}); c.Err == nil; {
		f := attribute{attr: dwarf.Attr(c.ULEB()), form: form(c.ULEB())}
		if f.attr == 0 && f.form == 0 {
			break
		}
		if f.form == formImplicitConst {
			f.constant = c.SLEB()
		}
		f.class = classOf(f.form, f.attr, k.version)
		fields = append(fields, f)
	}
	a.fields = &fields
	return fields
}
