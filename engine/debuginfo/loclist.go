package debuginfo

import (
	"debug/dwarf"
	"errors"
	"fmt"
)

// errNowhere is a location list without an entry for the address asked.
var errNowhere = errors.New("the compiler kept it nowhere at this address")

// location is what a DIE says of where its value is.
type location struct {
	expr []byte
	list bool // from a location list, which holds at exactly the address asked
}

// locationOf finds the location expression of e at pc. ok is false when e has no location at all.
func (in *Info) locationOf(u *unit, e *dwarf.Entry, pc uint64) (loc location, ok bool, err error) {
	f := e.AttrField(dwarf.AttrLocation)
	if f == nil {
		return loc, false, nil
	}
	switch v := f.Val.(type) {
	case []byte:
		return location{expr: v}, len(v) > 0, nil
	case int64:
		loc.expr, err = in.findInList(u, uint64(v), pc)
	case uint64: // clang: an index into the offsets that precede the lists
		base, _ := u.entry.Val(dwarf.AttrLoclistsBase).(int64)
		size := 4
		if u.wide {
			size = 8
		}
		c := cursor{data: in.sections["loclists"], off: int(base) + int(v)*size}
		off := c.offset(u.wide)
		if c.err != nil {
			return loc, false, c.err
		}
		loc.expr, err = in.findInList(u, uint64(base)+off, pc)
	default:
		return loc, false, fmt.Errorf("odd location at %#x", e.Offset)
	}
	loc.list = true
	if err == nil && len(loc.expr) == 0 {
		err = errNowhere
	}
	return loc, true, err
}

// findInList finds the expression for pc in the list at off of the section that the unit's version has.
func (in *Info) findInList(u *unit, off, pc uint64) ([]byte, error) {
	name := "loclists"
	if u.version < 5 {
		name = "loc"
	}
	data := in.sections[name]
	if off >= uint64(len(data)) {
		return nil, fmt.Errorf("location list at %#x lies outside .debug_%s", off, name)
	}
	c := &cursor{data: data, off: int(off)}
	if u.version < 5 {
		return findInOldList(u, c, pc)
	}
	return in.findInNewList(u, c, pc)
}

// findInOldList searches a list of .debug_loc (DWARF 4, 2.6.2): pairs of offsets from a base, each with an expression.
func findInOldList(u *unit, c *cursor, pc uint64) ([]byte, error) {
	// Lists may overlap in time of writing, not in addresses: the first entry that covers pc is the only one.
	base, last := u.low, ^uint64(0)>>(64-8*u.addr)
	for c.err == nil {
		lo, hi := c.word(u.addr), c.word(u.addr)
		switch {
		case lo == 0 && hi == 0:
			return nil, errNowhere
		case lo == last:
			base = hi
			continue
		}
		expr := c.bytes(int(c.u16()))
		if lo+base <= pc && pc < hi+base {
			return expr, c.err
		}
	}
	return nil, c.err
}

// The entries of .debug_loclists (DWARF 5, 7.7.3), and GNU's pair of view numbers, which says nothing of addresses.
const (
	lleEnd          = 0x00
	lleBaseAddrX    = 0x01
	lleStartXEndX   = 0x02
	lleStartXLength = 0x03
	lleOffsetPair   = 0x04
	lleDefault      = 0x05
	lleBaseAddr     = 0x06
	lleStartEnd     = 0x07
	lleStartLength  = 0x08
	lleViewPair     = 0x09
)

// findInNewList searches a list of .debug_loclists.
func (in *Info) findInNewList(u *unit, c *cursor, pc uint64) ([]byte, error) {
	base := u.low
	var fallback []byte
	for c.err == nil {
		var lo, hi uint64
		kind := c.u8()
		switch kind {
		case lleEnd:
			if fallback != nil {
				return fallback, nil
			}
			return nil, errNowhere
		case lleBaseAddrX:
			base = in.indexed(u, c.uleb())
			continue
		case lleBaseAddr:
			base = c.word(u.addr)
			continue
		case lleViewPair:
			c.uleb()
			c.uleb()
			continue
		default:
			if lo, hi = in.listBounds(u, c, kind, base); c.err != nil {
				return nil, c.err
			}
		}
		expr := c.bytes(int(c.uleb()))
		if kind == lleDefault {
			fallback = expr
		} else if lo <= pc && pc < hi {
			return expr, c.err
		}
	}
	return nil, c.err
}

// listBounds reads the addresses of an entry that has an expression.
func (in *Info) listBounds(u *unit, c *cursor, kind uint8, base uint64) (lo, hi uint64) {
	switch kind {
	case lleStartXEndX:
		lo = in.indexed(u, c.uleb())
		hi = in.indexed(u, c.uleb())
	case lleStartXLength:
		lo = in.indexed(u, c.uleb())
		hi = lo + c.uleb()
	case lleOffsetPair:
		lo = base + c.uleb()
		hi = base + c.uleb()
	case lleStartEnd:
		lo = c.word(u.addr)
		hi = c.word(u.addr)
	case lleStartLength:
		lo = c.word(u.addr)
		hi = lo + c.uleb()
	case lleDefault:
	default:
		c.err = fmt.Errorf("location list has an entry of kind %#x, which is unknown", kind)
	}
	return lo, hi
}

// indexed is an address of .debug_addr; 0 when there is none.
func (in *Info) indexed(u *unit, index uint64) uint64 {
	base, ok := u.entry.Val(dwarf.AttrAddrBase).(int64)
	if !ok { // GNU's form in DWARF 4
		base, _ = u.entry.Val(dwarf.Attr(0x2133)).(int64)
	}
	c := cursor{data: in.sections["addr"], off: int(base) + int(index)*u.addr}
	v := c.word(u.addr)
	if c.err != nil {
		return 0
	}
	return v
}
