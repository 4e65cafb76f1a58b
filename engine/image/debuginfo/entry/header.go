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
	unitSplitType = 0x06
)

// readUnits reads the headers of all units and the root entries of those that have code. Headers at typesAt and above
// come from .debug_types.
func (rd *Reader) readUnits(typesAt int) error {
	rd.sigs = map[uint64]dwarf.Offset{}
	info := rd.sections["info"]
	for off := 0; off < len(info); {
		next, err := rd.readHeader(info, off, off >= typesAt)
		if err != nil {
			return err
		}
		off = next
	}
	for _, u := range rd.units {
		if err := rd.readRoot(u); err != nil {
			return err
		}
	}
	sort.Slice(rd.ranges, func(i, j int) bool { return rd.ranges[i].lo < rd.ranges[j].lo })
	return nil
}

// readHeader reads the unit header at off (DWARF 5, 7.5.1) and returns the offset of the next one.
func (rd *Reader) readHeader(info []byte, off int, types bool) (next int, err error) {
	c := Cursor{Data: info, Off: off}
	size := c.U32()
	u, start := &Unit{}, c.Off
	length := uint64(size)
	if size == 0xffffffff {
		u.Wide = true
		length = c.U64()
		start = c.Off
	}
	if length > uint64(len(info)-start) {
		return 0, fmt.Errorf("unit at offset %#x ends outside its section", off)
	}
	next = start + int(length)
	u.Version = int(c.U16())
	kind := uint8(0)
	if u.Version >= 5 {
		kind, u.Addr = c.U8(), int(c.U8())
		c.Offset(u.Wide)
	} else {
		c.Offset(u.Wide)
		u.Addr = int(c.U8())
	}
	if types || kind == unitType || kind == unitSplitType {
		sig := c.U64()
		rd.sigs[sig] = dwarf.Offset(off) + dwarf.Offset(c.Offset(u.Wide))
		return next, c.Err
	}
	if kind >= unitSkeleton {
		c.U64() // the id that a skeleton and its .dwo share
		u.Split = true
	}
	u.Root, u.End = dwarf.Offset(c.Off), dwarf.Offset(next)
	if u.Root < u.End && c.Err == nil {
		rd.units = append(rd.units, u)
	}
	return next, c.Err
}

// readRoot reads the root entry of a unit and records the code that the unit covers. Ranges at addresses 0 and 1 belong
// to functions that the linker removed.
func (rd *Reader) readRoot(u *Unit) error {
	e, err := rd.At(u.Root)
	if err != nil {
		return err
	}
	u.Entry = e
	u.Low, _ = e.Val(dwarf.AttrLowpc).(uint64)
	if e.Val(attrDwoName) != nil || e.Val(attrGNUDwoName) != nil {
		u.Split = true
	}
	ranges, err := rd.data.Ranges(e)
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
