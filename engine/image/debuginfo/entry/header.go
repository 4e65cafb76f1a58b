package entry

import (
	"debug/dwarf"
	"fmt"
	"sort"
)

// Unit types of DWARF 5, 7.5.1.
const (
	unitType      = 0x02
	unitSkeleton  = 0x04
	unitSplit     = 0x05
	unitSplitType = 0x06
)

// readUnits reads the headers of all units and the root entries of those that have code.
func (rd *Reader) readUnits() error {
	for _, p := range rd.parts {
		if err := rd.listUnits(p); err != nil {
			return err
		}
	}
	for _, u := range rd.units {
		if err := rd.readRoot(u); err != nil {
			return err
		}
	}
	sort.Slice(rd.ranges, func(i, j int) bool { return rd.ranges[i].lo < rd.ranges[j].lo })
	return rd.readImports()
}

// listUnits reads the unit headers of a part.
func (rd *Reader) listUnits(p *part) error {
	for off := 0; off < len(p.sections["info"]); {
		h, err := p.header(off)
		if err != nil {
			return err
		}
		off = h.next
		if u := rd.addUnit(p, &h); u != nil {
			rd.units = append(rd.units, u)
		}
	}
	return nil
}

// addUnit adds a unit to a part. It returns nil for a type unit.
func (rd *Reader) addUnit(p *part, h *header) *Unit {
	if h.isType {
		if _, known := rd.sigs[h.id]; !known {
			rd.sigs[h.id] = p.base + h.typ
		}
		return nil
	}
	if h.unit.Root >= h.unit.End {
		return nil
	}
	u := h.unit
	u.home, u.body, u.id = p, p, h.id
	p.units = append(p.units, placedUnit{u.Root, u.End, &u})
	return &u
}

// header is the header of a unit (DWARF 5, 7.5.1).
type header struct {
	unit   Unit // only what the header says
	kind   uint8
	id     uint64 // the signature of a type unit, or what a skeleton and its rest share
	isType bool
	typ    dwarf.Offset // where in the part a type unit has its type
	next   int          // offset of the next header in the part
}

// header reads the unit header at off.
func (p *part) header(off int) (h header, err error) {
	info := p.sections["info"]
	c := Cursor{Data: info, Off: off}
	size := c.U32()
	u, start := &h.unit, c.Off
	length := uint64(size)
	if size == 0xffffffff {
		u.Wide = true
		length = c.U64()
		start = c.Off
	}
	if length > uint64(len(info)-start) {
		return h, fmt.Errorf("unit at offset %#x ends outside its section", off)
	}
	h.next = start + int(length)
	u.Version = int(c.U16())
	if length > 0 && (u.Version < 2 || u.Version > 5) {
		return h, fmt.Errorf("version %d of DWARF is not supported", u.Version)
	}
	if u.Version >= 5 {
		h.kind, u.Addr = c.U8(), int(c.U8())
		u.abbrev = c.Offset(u.Wide)
	} else {
		u.abbrev = c.Offset(u.Wide)
		u.Addr = int(c.U8())
	}
	switch {
	case off >= p.typesAt || h.kind == unitType || h.kind == unitSplitType:
		h.isType, h.id = true, c.U64()
		h.typ = dwarf.Offset(off) + dwarf.Offset(c.Offset(u.Wide))
	case h.kind == unitSkeleton || h.kind == unitSplit:
		h.id = c.U64()
		u.Split = h.kind == unitSkeleton
	}
	u.Start = p.base + dwarf.Offset(off)
	u.Root, u.End = p.base+dwarf.Offset(c.Off), p.base+dwarf.Offset(h.next)
	return h, c.Err
}

// readRoot reads the root entry of a unit and records the code that the unit covers. Ranges at addresses 0 and 1 belong
// to functions that the linker removed.
func (rd *Reader) readRoot(u *Unit) error {
	e, err := rd.At(u.Root)
	if err != nil {
		return err
	}
	u.Entry = e
	u.top, u.homeKey = e, u.key()
	u.Low, _ = e.Val(dwarf.AttrLowpc).(uint64)
	u.addrBase = base(e, dwarf.AttrAddrBase, attrGNUAddrBase)
	u.LocBase = base(e, dwarf.AttrLoclistsBase)
	u.rangesBase = base(e, attrGNURangesBase)
	u.strBase = base(e, dwarf.AttrStrOffsetsBase)
	if e.Val(attrDwoName) != nil || e.Val(attrGNUDwoName) != nil {
		u.Split = true
		if id, ok := e.Val(attrGNUDwoID).(int64); ok {
			u.id = uint64(id)
		}
	}
	ranges, err := rd.rangesIn(u, e)
	if err != nil {
		return nil // a unit with a damaged range list counts as one without code
	}
	for _, r := range ranges {
		if r[0] > 1 && r[0] < r[1] {
			rd.ranges = append(rd.ranges, unitRange{r[0], r[1], u})
		}
	}
	return nil
}

// base returns the first of some attributes that an entry has, or 0.
func base(e *dwarf.Entry, attrs ...dwarf.Attr) int64 {
	for _, attr := range attrs {
		if v, ok := e.Val(attr).(int64); ok {
			return v
		}
	}
	return 0
}
