package debuginfo

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"sort"
	"strings"
)

// unit is one compilation unit.
type unit struct {
	version int
	addr    int          // bytes of an address
	wide    bool         // 64-bit DWARF
	root    dwarf.Offset // of the first DIE
	end     dwarf.Offset

	entry     *dwarf.Entry
	low       uint64 // base of the unit's range and location lists
	split     bool   // a skeleton: the rest is in a .dwo file
	functions []funcRange
	listed    bool
	deep      bool // functions inside functions are listed too
	lines     *lineTable
	scopes    []namedScope                    // nil: not listed yet
	inlined   map[dwarf.Offset][]dwarf.Offset // inlined calls by their origin; nil: not listed yet
}

// unitRange is a piece of code that belongs to a unit.
type unitRange struct {
	lo, hi uint64
	unit   *unit
}

// Languages whose functions follow the C calling convention are all but these (DWARF 5, table 7.17).
const (
	langGo   = 0x16
	langRust = 0x1c
)

// language is DW_LANG of the unit, 0 when it does not say, as for assembly.
func (u *unit) language() int64 {
	lang, _ := u.entry.Val(dwarf.AttrLanguage).(int64)
	return lang
}

// isC reports whether the names of structs have a keyword before them.
func (u *unit) isC() bool {
	switch u.language() {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x8001, 0: // assembly, too
		return true
	}
	return false
}

// hasScopes reports whether names are shown with the namespaces around them.
func (u *unit) hasScopes() bool { return u.isCPlusPlus() || u.language() == langRust }

// isCPlusPlus reports whether classes may have constructors.
func (u *unit) isCPlusPlus() bool {
	switch u.language() {
	case 0x04, 0x1a, 0x21, 0x2b, 0x3a:
		return true
	}
	return false
}

// isUnoptimised reports whether gcc, which writes down how it was called, did not optimise. Then a parameter declared "register" is
// said to be all the time where only the prologue puts it. Optimised code says such things with location lists.
func (u *unit) isUnoptimised() bool {
	producer, _ := u.entry.Val(dwarf.AttrProducer).(string)
	if !strings.HasPrefix(producer, "GNU C") {
		return false
	}
	level := "0"
	for _, word := range strings.Fields(producer) {
		if l, ok := strings.CutPrefix(word, "-O"); ok {
			level = l // the last one counts
		}
	}
	return level == "0"
}

// Unit types of DWARF 5, 7.5.1.
const (
	unitType      = 0x02
	unitSkeleton  = 0x04
	unitSplitType = 0x06
)

// Attributes that mark a unit whose rest is elsewhere.
const (
	attrDwoName    = dwarf.Attr(0x76)
	attrGNUDwoName = dwarf.Attr(0x2130)
)

// readUnits reads the headers of all units and the root DIEs of those that have code. From typesAt on the headers are
// those of .debug_types.
func (in *Info) readUnits(typesAt int) error {
	in.sigs = map[uint64]dwarf.Offset{}
	info := in.sections["info"]
	for off := 0; off < len(info); {
		next, err := in.readHeader(info, off, off >= typesAt)
		if err != nil {
			return err
		}
		off = next
	}
	for _, u := range in.units {
		if err := in.readRoot(u); err != nil {
			return err
		}
	}
	sort.Slice(in.ranges, func(i, j int) bool { return in.ranges[i].lo < in.ranges[j].lo })
	return nil
}

// readHeader reads the unit header at off (DWARF 5, 7.5.1) and returns where the next one is.
func (in *Info) readHeader(info []byte, off int, types bool) (next int, err error) {
	c := cursor{data: info, off: off}
	size := c.u32()
	u, start := &unit{}, c.off
	length := uint64(size)
	if size == 0xffffffff {
		u.wide = true
		length = c.u64()
		start = c.off
	}
	if length > uint64(len(info)-start) {
		return 0, fmt.Errorf("unit at offset %#x ends outside its section", off)
	}
	next = start + int(length)
	u.version = int(c.u16())
	kind := uint8(0)
	if u.version >= 5 {
		kind, u.addr = c.u8(), int(c.u8())
		c.offset(u.wide)
	} else {
		c.offset(u.wide)
		u.addr = int(c.u8())
	}
	if types || kind == unitType || kind == unitSplitType {
		sig := c.u64()
		in.sigs[sig] = dwarf.Offset(off) + dwarf.Offset(c.offset(u.wide))
		return next, c.err
	}
	if kind >= unitSkeleton {
		c.u64() // the id that a skeleton and its .dwo share
		u.split = true
	}
	u.root, u.end = dwarf.Offset(c.off), dwarf.Offset(next)
	if u.root < u.end && c.err == nil {
		in.units = append(in.units, u)
	}
	return next, c.err
}

// readRoot reads a unit's own DIE and notes which code it covers. Ranges at address 0 and 1 are of functions that the
// linker dropped.
func (in *Info) readRoot(u *unit) error {
	e, err := in.die(u.root)
	if err != nil {
		return err
	}
	u.entry = e
	u.low, _ = e.Val(dwarf.AttrLowpc).(uint64)
	if e.Val(attrDwoName) != nil || e.Val(attrGNUDwoName) != nil {
		u.split = true
	}
	ranges, err := in.data.Ranges(e)
	if err != nil {
		return nil // a unit with a damaged range list is one without code
	}
	for _, r := range ranges {
		if r[0] > 1 && r[0] < r[1] {
			in.ranges = append(in.ranges, unitRange{r[0], r[1], u})
		}
	}
	return nil
}

// unitAt finds the unit whose code pc is.
func (in *Info) unitAt(pc uint64) (*unit, error) {
	i := sort.Search(len(in.ranges), func(i int) bool { return in.ranges[i].lo > pc }) - 1
	for last := i - 8; i >= 0 && i > last; i-- {
		if r := in.ranges[i]; pc < r.hi {
			if r.unit.split {
				return nil, ErrSplit
			}
			return r.unit, nil
		}
	}
	return nil, fmt.Errorf("%w for the code at %#x", ErrNone, pc)
}

// unitOf finds the unit that holds the DIE at off; nil for type units.
func (in *Info) unitOf(off dwarf.Offset) *unit {
	i := sort.Search(len(in.units), func(i int) bool { return in.units[i].root > off }) - 1
	if i >= 0 && off < in.units[i].end {
		return in.units[i]
	}
	return nil
}

// die reads one DIE.
func (in *Info) die(off dwarf.Offset) (*dwarf.Entry, error) {
	in.reader.Seek(off)
	e, err := in.reader.Next()
	if err == nil && e == nil {
		err = fmt.Errorf("no entry at offset %#x", off)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the debug information: %w", err)
	}
	return e, nil
}

// children calls visit for each child of e. It must not keep reading by in.reader across calls: visit may move it, so
// the children are gathered first.
func (in *Info) children(e *dwarf.Entry, visit func(*dwarf.Entry) error) error {
	if !e.Children {
		return nil
	}
	list, err := in.childList(e)
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := visit(c); err != nil {
			return err
		}
	}
	return nil
}

// childList reads the children of e, without theirs.
func (in *Info) childList(e *dwarf.Entry) ([]*dwarf.Entry, error) {
	in.reader.Seek(e.Offset)
	if _, err := in.reader.Next(); err != nil {
		return nil, err
	}
	var list []*dwarf.Entry
	for {
		c, err := in.reader.Next()
		if err != nil {
			return nil, fmt.Errorf("cannot read the debug information: %w", err)
		}
		if c == nil || c.Tag == 0 {
			return list, nil
		}
		list = append(list, c)
		in.reader.SkipChildren()
	}
}

// ref follows a reference attribute. ok is false when e has none.
func (in *Info) ref(e *dwarf.Entry, attr dwarf.Attr) (off dwarf.Offset, ok bool, err error) {
	f := e.AttrField(attr)
	if f == nil {
		return 0, false, nil
	}
	switch v := f.Val.(type) {
	case dwarf.Offset:
		return v, true, nil
	case uint64:
		if f.Class == dwarf.ClassReferenceSig {
			off, ok := in.sigs[v]
			if !ok {
				return 0, false, fmt.Errorf("cannot read the debug information: type unit %#x is missing", v)
			}
			return off, true, nil
		}
	}
	if f.Class == dwarf.ClassReferenceAlt {
		return 0, false, ErrAlt
	}
	return 0, false, fmt.Errorf("cannot read the debug information: odd reference at %#x", e.Offset)
}

// maxOrigins bounds chains of references between DIEs: a damaged file may have a circle.
const maxOrigins = 8

// attr looks an attribute up in e, and in the DIEs it is an instance or a definition of.
func (in *Info) attr(e *dwarf.Entry, attr dwarf.Attr) (*dwarf.Field, *dwarf.Entry, error) {
	for range maxOrigins {
		if f := e.AttrField(attr); f != nil {
			return f, e, nil
		}
		next, err := in.origin(e)
		if err != nil || next == nil {
			return nil, nil, err
		}
		e = next
	}
	return nil, nil, nil
}

// origin is what e is an instance or a definition of; nil when it is neither.
func (in *Info) origin(e *dwarf.Entry) (*dwarf.Entry, error) {
	off, ok, err := in.ref(e, dwarf.AttrAbstractOrigin)
	if err == nil && !ok {
		off, ok, err = in.ref(e, dwarf.AttrSpecification)
	}
	if err != nil || !ok {
		return nil, err
	}
	return in.die(off)
}

// name is the name of e in the source; "" when it has none, or none that can be read.
func (in *Info) name(e *dwarf.Entry) string {
	f, _, err := in.attr(e, dwarf.AttrName)
	if err != nil || f == nil {
		return ""
	}
	s, _ := f.Val.(string)
	return s
}

// typeRef is the type that e refers to; ok is false for void.
func (in *Info) typeRef(e *dwarf.Entry) (off dwarf.Offset, ok bool, err error) {
	f, at, err := in.attr(e, dwarf.AttrType)
	if err != nil || f == nil {
		return 0, false, err
	}
	return in.ref(at, dwarf.AttrType)
}

// cursor reads little-endian fields and remembers the first failure.
type cursor struct {
	data []byte
	off  int
	err  error
}

func (c *cursor) bytes(n int) []byte {
	if n < 0 || n > len(c.data)-c.off {
		c.err = fmt.Errorf("debug information ends early")
		c.off = len(c.data)
		return make([]byte, max(0, min(n, 8)))
	}
	b := c.data[c.off : c.off+n]
	c.off += n
	return b
}

func (c *cursor) more() bool  { return c.err == nil && c.off < len(c.data) }
func (c *cursor) u8() uint8   { return c.bytes(1)[0] }
func (c *cursor) u16() uint16 { return binary.LittleEndian.Uint16(c.bytes(2)) }
func (c *cursor) u32() uint32 { return binary.LittleEndian.Uint32(c.bytes(4)) }
func (c *cursor) u64() uint64 { return binary.LittleEndian.Uint64(c.bytes(8)) }

// word reads an unsigned integer of 1, 2, 4 or 8 bytes.
func (c *cursor) word(size int) uint64 {
	switch size {
	case 1:
		return uint64(c.u8())
	case 2:
		return uint64(c.u16())
	case 4:
		return uint64(c.u32())
	}
	return c.u64()
}

// signed reads a two's complement integer.
func (c *cursor) signed(size int) int64 {
	shift := 64 - 8*uint(size)
	return int64(c.word(size)<<shift) >> shift
}

// offset reads an offset into a section.
func (c *cursor) offset(wide bool) uint64 {
	if wide {
		return c.u64()
	}
	return uint64(c.u32())
}

func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 || c.err != nil {
			return v
		}
	}
}

func (c *cursor) sleb() int64 {
	var v int64
	for shift := uint(0); ; {
		b := c.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b&0x80 != 0 && c.err == nil {
			continue
		}
		if b&0x40 != 0 && shift < 64 {
			v |= -1 << shift
		}
		return v
	}
}
