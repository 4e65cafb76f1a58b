package entry

import (
	"bytes"
	"debug/dwarf"
)

// value reads the value of an attribute, as the type that debug/dwarf has for it.
func (s *stream) value(x *extent, f *attribute) any {
	c := &s.c
	switch f.form {
	case formAddr:
		return s.address(c, x.key.addr)
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
		return s.indexedAddress(x, s.index(f.form))
	case formBlock1:
		return s.block(uint64(c.U8()))
	case formBlock2:
		return s.block(uint64(c.U16()))
	case formBlock4:
		return s.block(uint64(c.U32()))
	case formBlock, formExprloc:
		return s.block(c.ULEB())
	case formData1:
		return int64(c.U8())
	case formData2:
		return int64(c.U16())
	case formData4:
		return int64(c.U32())
	case formData8:
		return int64(c.U64())
	case formData16:
		return s.block(16)
	case formSdata:
		return c.SLEB()
	case formUdata:
		return int64(c.ULEB())
	case formImplicitConst:
		return f.constant
	case formFlag:
		return c.U8() == 1
	case formFlagPresent:
		return true
	case formSecOffset, formGNURefAlt, formGNUStrpAlt:
		return int64(c.Offset(x.key.wide))
	case formLoclistx:
		return c.ULEB()
	case formRnglistx:
		return s.indexedRanges(x, c.ULEB())
	}
	if f.class == dwarf.ClassString {
		return s.text(x, f.form)
	}
	return s.reference(x, f.form)
}

// reference reads a reference to another entry.
func (s *stream) reference(x *extent, f form) any {
	c := &s.c
	switch f {
	case formRef4:
		return dwarf.Offset(c.U32()) + dwarf.Offset(x.start)
	case formRef1, formRef2, formRef8:
		return dwarf.Offset(c.Word(sizes[f])) + dwarf.Offset(x.start)
	case formRefUdata:
		return dwarf.Offset(c.ULEB()) + dwarf.Offset(x.start)
	case formRefAddr:
		if x.key.version < 3 {
			return dwarf.Offset(s.address(c, x.key.addr))
		}
		return dwarf.Offset(c.Offset(x.key.wide))
	case formRefSig8, formRefSup8:
		return c.U64()
	case formRefSup4:
		return c.U32()
	}
	s.fail("unknown attribute form")
	return nil
}

// text reads a string. One of a supplementary file that is known by its offset stays that.
func (s *stream) text(x *extent, f form) any {
	c, wide := &s.c, x.key.wide
	switch f {
	case formString:
		return s.textIn(c.Data, uint64(c.Off), &c.Off)
	case formStrp:
		return s.textIn(s.part.sections["str"], c.Offset(wide), nil)
	case formLineStrp:
		return s.textIn(s.part.sections["line_str"], c.Offset(wide), nil)
	case formStrpSup:
		if wide {
			return c.U64()
		}
		return c.U32()
	}
	offsets := s.part.sections["str_offsets"]
	at := s.index(f)
	if s.bare {
		return ""
	}
	o := Cursor{Data: offsets, Off: s.position(s.basesOf(x).str, at, offsetSize(wide), len(offsets))}
	off := o.Offset(wide)
	if o.Err != nil {
		s.fail("string index out of range")
		return ""
	}
	return s.textIn(s.part.sections["str"], off, nil)
}

// textIn returns the string at off, up to its terminating zero, and where what follows it starts.
func (s *stream) textIn(data []byte, off uint64, next *int) string {
	if off < uint64(len(data)) {
		if n := bytes.IndexByte(data[off:], 0); n >= 0 {
			if next != nil {
				*next = int(off) + n + 1
			}
			return string(data[off : int(off)+n])
		}
	}
	s.fail("underflow")
	return ""
}

// block reads n bytes.
func (s *stream) block(n uint64) []byte {
	if n > uint64(len(s.c.Data)-s.c.Off) {
		s.fail("underflow")
		return nil
	}
	return s.c.Bytes(int(n))
}

// address reads an address.
func (s *stream) address(c *Cursor, size int) uint64 {
	switch size {
	case 1, 2, 4, 8:
		return c.Word(size)
	}
	s.fail("unknown address size")
	return 0
}

// index reads an index of one of the forms for addresses and strings.
func (s *stream) index(f form) uint64 {
	c := &s.c
	switch f {
	case formAddrx1, formStrx1:
		return uint64(c.U8())
	case formAddrx2, formStrx2:
		return uint64(c.U16())
	case formAddrx3, formStrx3:
		b := c.Bytes(3)
		return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
	case formAddrx4, formStrx4:
		return uint64(c.U32())
	}
	return c.ULEB()
}

// position returns where in a section of some size an element is, or the size when it is outside.
func (s *stream) position(base, index uint64, element, size int) int {
	if base > uint64(size) || index > uint64(size)/uint64(element) {
		return size
	}
	return min(int(base)+int(index)*element, size)
}

// offsetSize returns how many bytes an offset has.
func offsetSize(wide bool) int {
	if wide {
		return 8
	}
	return 4
}

// indexedAddress returns the address with an index.
func (s *stream) indexedAddress(x *extent, index uint64) uint64 {
	if s.bare {
		return 0
	}
	data := s.part.sections["addr"]
	c := Cursor{Data: data, Off: s.position(s.basesOf(x).addr, index, max(x.key.addr, 1), len(data))}
	v := s.address(&c, x.key.addr)
	if c.Err != nil {
		s.fail("address index out of range")
	}
	return v
}

// indexedRanges returns where in .debug_rnglists the list with an index is.
func (s *stream) indexedRanges(x *extent, index uint64) uint64 {
	if s.bare {
		return 0
	}
	data, base := s.part.sections["rnglists"], s.basesOf(x).ranges
	c := Cursor{Data: data, Off: s.position(base, index, offsetSize(x.key.wide), len(data))}
	off := c.Offset(x.key.wide)
	if c.Err != nil {
		s.fail("range list index out of range")
	}
	return base + off
}

// basesOf returns where the indexes of a unit count from, which its first entry says since DWARF 5. That entry may have
// indexes itself.
func (s *stream) basesOf(x *extent) *indexBases {
	if x.bases != nil {
		return x.bases
	}
	bases := &indexBases{}
	if x.key.version >= 5 {
		root := &stream{part: s.part, unit: s.unit, bare: true, c: Cursor{Data: s.part.sections["info"][:x.end], Off: x.first}}
		if e := root.read(); e != nil {
			bases.addr = uint64(base(e, dwarf.AttrAddrBase))
			bases.str = uint64(base(e, dwarf.AttrStrOffsetsBase))
			bases.ranges = uint64(base(e, dwarf.AttrRnglistsBase))
		}
	}
	x.bases = bases
	return bases
}
