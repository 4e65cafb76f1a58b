package entry

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
)

// Reading an entry with a stream makes an object of it and of each of its values. Questions about all entries of a
// unit, which may have many megabytes, are answered by a scanner. It passes over what is not asked for and allocates
// nothing, which takes about an eighth of the time. Where it meets what it does not know, the entries are read with
// a stream.

// brief is what the scanner tells of an entry.
type brief struct {
	at       dwarf.Offset
	abbrev   *plan        // of its abbreviation; nil: the end of a list of children
	origin   dwarf.Offset // DW_AT_abstract_origin
	declared dwarf.Offset // DW_AT_specification
	sibling  dwarf.Offset
	// Names, each with what follows it up to the end of its section; nil when there is none.
	name, linkage []byte
}

// scanner passes over the entries of one unit.
type scanner struct {
	part    *part
	unit    *Unit
	abbrevs *abbreviations
	data    []byte // .debug_info up to the end of the unit
	off     int
	unknown bool // it met something that it does not know; it does not move on from there
}

// scan returns a scanner at an entry of a unit.
func scan(u *Unit, at dwarf.Offset) *scanner {
	p := u.body
	s := &scanner{part: p, unit: u, abbrevs: p.abbreviations(u.key()), off: int(at - p.base)}
	info := p.sections["info"]
	end := int(u.End - p.base)
	if u.Split || u.End < p.base || end > len(info) || at < u.Root || at > u.End {
		s.fail()
		return s
	}
	s.data = info[:end]
	return s
}

// fail ends the scan.
func (s *scanner) fail() { s.unknown, s.off, s.data = true, 0, nil }

// next reads the next entry. ok is false at the end of the unit and when the scanner fails.
func (s *scanner) next(e *brief) (ok bool) {
	if s.off >= len(s.data) {
		return false
	}
	*e = brief{at: s.part.base + dwarf.Offset(s.off), origin: noReference, declared: noReference, sibling: noReference}
	code := s.uleb()
	if code == 0 {
		return !s.unknown
	}
	if e.abbrev = s.abbrevs.plan(s.part, code); e.abbrev == nil || e.abbrev.unknown {
		s.fail()
		return false
	}
	for i := range e.abbrev.steps {
		s.step(&e.abbrev.steps[i], e)
	}
	return !s.unknown
}

// step passes over a part of an entry.
func (s *scanner) step(st *step, e *brief) {
	switch st.kind {
	case stepBytes:
		s.skip(uint64(st.size))
	case stepLEB:
		s.passLEB()
	case stepString:
		s.text()
	case stepBlock:
		if st.size == 0 {
			s.skip(s.uleb())
		} else {
			s.skip(s.number(int(st.size)))
		}
	case stepValue:
		s.value(st, e)
	}
}

// value reads an attribute that is wanted.
func (s *scanner) value(st *step, e *brief) {
	switch st.attr {
	case dwarf.AttrAbstractOrigin:
		e.origin = s.reference(st.form)
	case dwarf.AttrSpecification:
		e.declared = s.reference(st.form)
	case dwarf.AttrSibling:
		e.sibling = s.reference(st.form)
	case dwarf.AttrName:
		e.name = s.string(st.form)
	case dwarf.AttrLinkageName:
		e.linkage = s.string(st.form)
	}
}

// skip passes over n bytes.
func (s *scanner) skip(n uint64) {
	if n > uint64(len(s.data)-s.off) {
		s.fail()
		return
	}
	s.off += int(n)
}

// passLEB passes over a number of any length, with or without a sign.
func (s *scanner) passLEB() {
	for s.off < len(s.data) {
		s.off++
		if s.data[s.off-1] < 0x80 {
			return
		}
	}
	s.fail()
}

// uleb reads a number of any length without a sign.
func (s *scanner) uleb() uint64 {
	if s.off < len(s.data) && s.data[s.off] < 0x80 { // most
		s.off++
		return uint64(s.data[s.off-1])
	}
	v, n := binary.Uvarint(s.data[s.off:])
	if n <= 0 {
		s.fail()
		return 0
	}
	s.off += n
	return v
}

// number reads a number of up to 8 bytes.
func (s *scanner) number(size int) (v uint64) {
	if size > len(s.data)-s.off {
		s.fail()
		return 0
	}
	for i := size - 1; i >= 0; i-- {
		v = v<<8 | uint64(s.data[s.off+i])
	}
	s.off += size
	return v
}

// offset reads an offset into a section.
func (s *scanner) offset() uint64 {
	if s.unit.Wide {
		return s.number(8)
	}
	return s.number(4)
}

// text passes over a string and returns it with what follows it.
func (s *scanner) text() []byte {
	start := s.data[s.off:]
	n := bytes.IndexByte(start, 0)
	if n < 0 {
		s.fail()
		return nil
	}
	s.off += n + 1
	return start
}

// reference reads a reference to another entry.
func (s *scanner) reference(f form) dwarf.Offset {
	switch f {
	case formRef1, formRef2, formRef4, formRef8:
		return s.unit.Start + dwarf.Offset(s.number(sizes[f]))
	case formRefUdata:
		return s.unit.Start + dwarf.Offset(s.uleb())
	case formRefAddr:
		if s.unit.Version < 3 {
			return s.part.base + dwarf.Offset(s.number(s.unit.Addr))
		}
		return s.part.base + dwarf.Offset(s.offset())
	case formRefSup4, formRefSup8:
		return s.supplementary(s.number(sizes[f]))
	case formGNURefAlt:
		return s.supplementary(s.offset())
	}
	s.fail()
	return noReference
}

// supplementary returns where an offset in the supplementary file is.
func (s *scanner) supplementary(off uint64) dwarf.Offset {
	if p := s.part.alt; p != nil && off < uint64(p.size) {
		return p.base + dwarf.Offset(off)
	}
	return noReference
}

// string reads a string, and returns it with what follows it in its section.
func (s *scanner) string(f form) []byte {
	switch f {
	case formString:
		return s.text()
	case formStrp:
		return cut(s.part.sections["str"], int64(s.offset()))
	case formLineStrp:
		return cut(s.part.sections["line_str"], int64(s.offset()))
	case formStrx, formGNUStrIndex:
		return s.indexed(s.uleb())
	case formStrx1, formStrx2, formStrx3, formStrx4:
		return s.indexed(s.number(sizes[f]))
	case formStrpSup, formGNUStrpAlt:
		if off := s.offset(); s.part.alt != nil {
			return cut(s.part.alt.sections["str"], int64(off))
		}
		return nil
	}
	s.fail()
	return nil
}

// indexed returns a string by its index in .debug_str_offsets, with what follows it.
func (s *scanner) indexed(index uint64) []byte {
	size := 4
	if s.unit.Wide {
		size = 8
	}
	offsets := s.part.sections["str_offsets"]
	if index >= uint64(len(offsets)) {
		return nil
	}
	c := Cursor{Data: cut(offsets, s.unit.strBase+int64(index)*int64(size))}
	off := c.Offset(s.unit.Wide)
	if c.Err != nil {
		return nil
	}
	return cut(s.part.sections["str"], int64(off))
}

// pass passes over the children of an entry that was read last.
func (s *scanner) pass(e *brief) {
	if !e.abbrev.children {
		return
	}
	if e.sibling != noReference {
		at := int(e.sibling) - int(s.part.base)
		if at < s.off || at > len(s.data) {
			s.fail()
			return
		}
		s.off = at
		return
	}
	for depth := 1; depth > 0; {
		var child brief
		if !s.next(&child) {
			return
		}
		switch {
		case child.abbrev == nil:
			depth--
		case child.abbrev.children && child.sibling != noReference:
			s.pass(&child)
		case child.abbrev.children:
			depth++
		}
	}
}
