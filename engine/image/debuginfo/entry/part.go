package entry

import (
	"debug/dwarf"
	"fmt"
	"math"
	"sort"
)

// part is a set of sections that refer to one another by offset: those of the module's own files, those of a unit that
// is split off, or those of a supplementary file. All parts share one space of offsets, in which each has its place.
type part struct {
	base, size dwarf.Offset
	raw        *stream
	sections   map[string][]byte // by name without ".debug_" and ".dwo"; info is followed by types
	typesAt    int               // where in info those of .debug_types start
	extents    []extent          // of all units, in their order
	units      []placedUnit      // in their order, without type units
	refers     bool              // there is a supplementary file
	alt        *part             // it; nil when it is missing
	abbrevs    map[abbrevKey]*abbreviations
	rangesSkip int64 // bytes that were cut off from the start of rnglists
}

// placedUnit is where a unit is in a part.
type placedUnit struct {
	first, end dwarf.Offset
	unit       *Unit
}

// addPart adds a part.
func (rd *Reader) addPart(s map[string][]byte) (*part, error) {
	p := &part{sections: s, typesAt: len(s["info"])}
	if n := len(rd.parts); n > 0 {
		p.base = rd.parts[n-1].base + rd.parts[n-1].size
	}
	// Type units of DWARF 4 have a section of their own, which debug/dwarf reads only through its own model of types,
	// and that lacks base classes. Appended to .debug_info, type units are read like all other units.
	if len(s["types"]) > 0 {
		s["info"] = append(append(make([]byte, 0, p.typesAt+len(s["types"])), s["info"]...), s["types"]...)
	}
	if uint64(p.base)+uint64(len(s["info"])) > math.MaxUint32 {
		return nil, fmt.Errorf("cannot read the debug information: it has more than 4 GB")
	}
	p.size = dwarf.Offset(len(s["info"]))
	if err := p.listExtents(); err != nil {
		return nil, fmt.Errorf("cannot read the debug information: %w", err)
	}
	p.raw = p.newStream()
	rd.parts = append(rd.parts, p)
	if rd.cur == nil {
		rd.cur = p
	}
	return p, nil
}

// listExtents lists the units of a part.
func (p *part) listExtents() error {
	for off := 0; off < len(p.sections["info"]); {
		h, err := p.header(off)
		if err != nil {
			return err
		}
		if first := int(h.unit.Root - p.base); first <= h.next {
			p.extents = append(p.extents, extent{start: off, first: first, end: h.next, key: h.unit.key()})
		}
		off = h.next
	}
	return nil
}

// partOf returns the part that has the entry at off; nil when none has.
func (rd *Reader) partOf(off dwarf.Offset) *part {
	i := sort.Search(len(rd.parts), func(i int) bool { return rd.parts[i].base > off }) - 1
	if i < 0 || off-rd.parts[i].base >= rd.parts[i].size {
		return nil
	}
	return rd.parts[i]
}

// Seek positions the reader at the entry at off.
func (rd *Reader) Seek(off dwarf.Offset) {
	if off < rd.cur.base || off-rd.cur.base >= rd.cur.size {
		if p := rd.partOf(off); p != nil {
			rd.cur = p
		}
	}
	rd.cur.raw.Seek(off - rd.cur.base)
}

// Next reads the entry at the current position, and moves behind it. It returns nil at the end of the section, and an
// entry without a tag at the end of a list of children.
func (rd *Reader) Next() (*dwarf.Entry, error) {
	e, err := rd.cur.raw.Next()
	if e != nil && e.Tag != 0 {
		rd.cur.place(e)
	}
	return e, err
}

// SkipChildren moves behind the children of the entry that Next returned last.
func (rd *Reader) SkipChildren() { rd.cur.raw.SkipChildren() }

// place changes the offsets in an entry of a part to those of the space that all parts share, and resolves references
// to the supplementary file. Those that cannot be resolved stay as they are.
func (p *part) place(e *dwarf.Entry) {
	if p.base == 0 && !p.refers {
		return
	}
	e.Offset += p.base
	for i := range e.Field {
		f := &e.Field[i]
		if f.Class == dwarf.ClassReference {
			if off, ok := f.Val.(dwarf.Offset); ok {
				f.Val = off + p.base
				continue
			}
			f.Class = dwarf.ClassReferenceAlt // debug/dwarf has another class for GNU's form alone
		}
		if _, ok := f.Val.(string); !ok && f.Class == dwarf.ClassString {
			f.Class = dwarf.ClassStringAlt
		}
		if p.alt != nil {
			p.resolve(f)
		}
	}
}

// resolve resolves a reference to the supplementary file.
func (p *part) resolve(f *dwarf.Field) {
	switch f.Class {
	case dwarf.ClassReferenceAlt:
		if off := unsigned(f.Val); off < uint64(p.alt.size) {
			f.Val, f.Class = p.alt.base+dwarf.Offset(off), dwarf.ClassReference
		}
	case dwarf.ClassStringAlt:
		f.Val, f.Class = textAt(p.alt.sections["str"], unsigned(f.Val)), dwarf.ClassString
	}
}

// unsigned returns an offset of one of the types that debug/dwarf has for them.
func unsigned(v any) uint64 {
	switch v := v.(type) {
	case int64:
		return uint64(v)
	case uint64:
		return v
	case uint32:
		return uint64(v)
	}
	return math.MaxUint64
}

// textAt returns the string at off, up to its terminating zero.
func textAt(data []byte, off uint64) string {
	if off >= uint64(len(data)) {
		return ""
	}
	data = data[off:]
	for i, b := range data {
		if b == 0 {
			return string(data[:i])
		}
	}
	return ""
}
