package location

import (
	"debug/dwarf"
	"errors"
	"fmt"

	"gotap/engine/image/debuginfo/entry"
)

// ErrNowhere reports that a location list has no entry for the address.
var ErrNowhere = errors.New("it is nowhere at this address")

// Location is the location of a value as an entry describes it.
type Location struct {
	Expr []byte
	List bool // from a location list, so it is exact at the address
}

// Of returns the location expression of e at pc. ok is false when e has no location.
func (fd *Finder) Of(u *entry.Unit, e *dwarf.Entry, pc uint64) (loc Location, ok bool, err error) {
	f := e.AttrField(dwarf.AttrLocation)
	if f == nil {
		return loc, false, nil
	}
	switch v := f.Val.(type) {
	case []byte:
		return Location{Expr: v}, len(v) > 0, nil
	case int64:
		loc.Expr, err = fd.findInList(u, uint64(v), pc)
	case uint64: // an index into the offsets before the lists, as clang writes it
		base, size := u.LocBase, 4
		if u.Wide {
			size = 8
		}
		c := entry.Cursor{Data: fd.entries.Lists(u, "loclists"), Off: int(base) + int(v)*size}
		off := c.Offset(u.Wide)
		if c.Err != nil {
			return loc, false, c.Err
		}
		loc.Expr, err = fd.findInList(u, uint64(base)+off, pc)
	default:
		return loc, false, fmt.Errorf("the entry at %#x has a location of unknown form", e.Offset)
	}
	loc.List = true
	if err == nil && len(loc.Expr) == 0 {
		err = ErrNowhere
	}
	return loc, true, err
}

// findInList returns the expression for pc in the list at off, in the section for the version of the unit.
func (fd *Finder) findInList(u *entry.Unit, off, pc uint64) ([]byte, error) {
	name := "loclists"
	if u.Version < 5 {
		name = "loc"
	}
	data := fd.entries.Lists(u, name)
	if off >= uint64(len(data)) {
		return nil, fmt.Errorf("location list at %#x is outside .debug_%s", off, name)
	}
	c := &entry.Cursor{Data: data, Off: int(off)}
	switch {
	case u.Version < 5 && u.Joined():
		return fd.findInSplitList(u, c, pc)
	case u.Version < 5:
		return findInOldList(u, c, pc)
	}
	return fd.findInNewList(u, c, pc)
}

// findInOldList searches a list of .debug_loc (DWARF 4, 2.6.2): pairs of offsets from a base, each with an expression.
func findInOldList(u *entry.Unit, c *entry.Cursor, pc uint64) ([]byte, error) {
	// Entries do not overlap, so the first one that covers pc is the only one.
	base, last := u.Low, ^uint64(0)>>(64-8*u.Addr)
	for c.Err == nil {
		lo, hi := c.Word(u.Addr), c.Word(u.Addr)
		switch {
		case lo == 0 && hi == 0:
			return nil, ErrNowhere
		case lo == last:
			base = hi
			continue
		}
		expr := c.Bytes(int(c.U16()))
		if lo+base <= pc && pc < hi+base {
			return expr, c.Err
		}
	}
	return nil, c.Err
}

// Entries of .debug_loc.dwo, GNU's form of split DWARF 4. Addresses are indexes.
const (
	oldEnd         = 0x00
	oldBaseAddr    = 0x01
	oldStartEnd    = 0x02
	oldStartLength = 0x03
	oldOffsetPair  = 0x04
)

// findInSplitList searches a list of .debug_loc.dwo.
func (fd *Finder) findInSplitList(u *entry.Unit, c *entry.Cursor, pc uint64) ([]byte, error) {
	base := u.Low
	for c.Err == nil {
		var lo, hi uint64
		switch kind := c.U8(); kind {
		case oldEnd:
			return nil, ErrNowhere
		case oldBaseAddr:
			base = fd.entries.Indexed(u, c.ULEB())
			continue
		case oldStartEnd:
			lo = fd.entries.Indexed(u, c.ULEB())
			hi = fd.entries.Indexed(u, c.ULEB())
		case oldStartLength:
			lo = fd.entries.Indexed(u, c.ULEB())
			hi = lo + uint64(c.U32())
		case oldOffsetPair:
			lo = base + uint64(c.U32())
			hi = base + uint64(c.U32())
		default:
			return nil, fmt.Errorf("location list has an entry of unknown kind %#x", kind)
		}
		expr := c.Bytes(int(c.U16()))
		if lo <= pc && pc < hi {
			return expr, c.Err
		}
	}
	return nil, c.Err
}

// Entries of .debug_loclists (DWARF 5, 7.7.3). lleViewPair is a GNU extension and carries no addresses.
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
func (fd *Finder) findInNewList(u *entry.Unit, c *entry.Cursor, pc uint64) ([]byte, error) {
	base := u.Low
	var fallback []byte
	for c.Err == nil {
		var lo, hi uint64
		kind := c.U8()
		switch kind {
		case lleEnd:
			if fallback != nil {
				return fallback, nil
			}
			return nil, ErrNowhere
		case lleBaseAddrX:
			base = fd.entries.Indexed(u, c.ULEB())
			continue
		case lleBaseAddr:
			base = c.Word(u.Addr)
			continue
		case lleViewPair:
			c.ULEB()
			c.ULEB()
			continue
		default:
			if lo, hi = fd.listBounds(u, c, kind, base); c.Err != nil {
				return nil, c.Err
			}
		}
		expr := c.Bytes(int(c.ULEB()))
		if kind == lleDefault {
			fallback = expr
		} else if lo <= pc && pc < hi {
			return expr, c.Err
		}
	}
	return nil, c.Err
}

// listBounds reads the addresses of an entry that has an expression.
func (fd *Finder) listBounds(u *entry.Unit, c *entry.Cursor, kind uint8, base uint64) (lo, hi uint64) {
	switch kind {
	case lleStartXEndX:
		lo = fd.entries.Indexed(u, c.ULEB())
		hi = fd.entries.Indexed(u, c.ULEB())
	case lleStartXLength:
		lo = fd.entries.Indexed(u, c.ULEB())
		hi = lo + c.ULEB()
	case lleOffsetPair:
		lo = base + c.ULEB()
		hi = base + c.ULEB()
	case lleStartEnd:
		lo = c.Word(u.Addr)
		hi = c.Word(u.Addr)
	case lleStartLength:
		lo = c.Word(u.Addr)
		hi = lo + c.ULEB()
	case lleDefault:
	default:
		c.Err = fmt.Errorf("location list has an entry of unknown kind %#x", kind)
	}
	return lo, hi
}
