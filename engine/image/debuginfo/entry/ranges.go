package entry

import (
	"debug/dwarf"
	"fmt"
)

// Ranges returns the ranges of addresses that an entry covers.
func (rd *Reader) Ranges(e *dwarf.Entry) ([][2]uint64, error) {
	u := rd.UnitOf(e.Offset)
	if u == nil {
		return nil, nil // a type unit has no code
	}
	return rd.rangesIn(u, e)
}

// rangesIn returns the ranges of an entry of a unit.
func (rd *Reader) rangesIn(u *Unit, e *dwarf.Entry) (list [][2]uint64, err error) {
	if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok {
		switch high := e.Val(dwarf.AttrHighpc).(type) {
		case uint64:
			list = append(list, [2]uint64{low, high})
		case int64:
			list = append(list, [2]uint64{low, low + uint64(high)})
		}
	}
	f := e.AttrField(dwarf.AttrRanges)
	if f == nil {
		return list, nil
	}
	off, p := unsigned(f.Val), rd.partOf(e.Offset)
	if u.Version < 5 {
		data := u.home.sections["ranges"]
		if p != u.home {
			off += uint64(u.rangesBase)
		}
		return oldRanges(u, data, off, list)
	}
	if f.Class == dwarf.ClassRangeListPtr {
		off -= uint64(p.rangesSkip)
	}
	return rd.newRanges(u, p.sections["rnglists"], off, list)
}

// oldRanges reads a list of .debug_ranges (DWARF 4, 2.17.3): pairs of offsets from a base.
func oldRanges(u *Unit, data []byte, off uint64, list [][2]uint64) ([][2]uint64, error) {
	if off >= uint64(len(data)) {
		return nil, fmt.Errorf("range list at %#x is outside .debug_ranges", off)
	}
	c := Cursor{Data: data, Off: int(off)}
	base, last := u.Low, ^uint64(0)>>(64-8*u.Addr)
	for c.More() {
		lo, hi := c.Word(u.Addr), c.Word(u.Addr)
		switch {
		case lo == 0 && hi == 0:
			return list, c.Err
		case lo == last:
			base = hi
		default:
			list = append(list, [2]uint64{base + lo, base + hi})
		}
	}
	return list, c.Err
}

// Entries of .debug_rnglists (DWARF 5, 7.25).
const (
	rleEnd          = 0x00
	rleBaseAddrX    = 0x01
	rleStartXEndX   = 0x02
	rleStartXLength = 0x03
	rleOffsetPair   = 0x04
	rleBaseAddr     = 0x05
	rleStartEnd     = 0x06
	rleStartLength  = 0x07
)

// newRanges reads a list of .debug_rnglists.
func (rd *Reader) newRanges(u *Unit, data []byte, off uint64, list [][2]uint64) ([][2]uint64, error) {
	if off >= uint64(len(data)) {
		return nil, fmt.Errorf("range list at %#x is outside .debug_rnglists", off)
	}
	c := Cursor{Data: data, Off: int(off)}
	base := u.Low
	for c.Err == nil {
		var lo, hi uint64
		switch kind := c.U8(); kind {
		case rleEnd:
			return list, c.Err
		case rleBaseAddrX:
			base = rd.Indexed(u, c.ULEB())
			continue
		case rleBaseAddr:
			base = c.Word(u.Addr)
			continue
		case rleStartXEndX:
			lo = rd.Indexed(u, c.ULEB())
			hi = rd.Indexed(u, c.ULEB())
		case rleStartXLength:
			lo = rd.Indexed(u, c.ULEB())
			hi = lo + c.ULEB()
		case rleOffsetPair:
			lo = base + c.ULEB()
			hi = base + c.ULEB()
		case rleStartEnd:
			lo = c.Word(u.Addr)
			hi = c.Word(u.Addr)
		case rleStartLength:
			lo = c.Word(u.Addr)
			hi = lo + c.ULEB()
		default:
			return nil, fmt.Errorf("range list has an entry of unknown kind %#x", kind)
		}
		list = append(list, [2]uint64{lo, hi})
	}
	return list, c.Err
}
