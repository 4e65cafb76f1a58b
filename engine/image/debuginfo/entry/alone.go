package entry

import (
	"debug/dwarf"
	"math"
	"sync"
)

// Which unit has the code at an address is known when the first entries of all units have been read. .debug_aranges says
// it, too, so that a question about one function of a large library needs the entries of one unit only.

// aloneSections are what a reader of one unit needs. Line tables and location lists are not among them.
var aloneSections = [...]string{"aranges", "info", "abbrev", "str", "line_str", "ranges", "rnglists", "addr", "str_offsets", "types"}

// Alone returns a reader of the unit of rd that the code at pc belongs to. Its entries must not be asked for what other
// units contain, nor for lines or location lists. It returns nil where that may not be enough, or all units have been
// read: without .debug_aranges, with split or supplementary files, and for other languages than C, whose functions may
// be described in several units, unless there are more than most bytes of entries.
func Alone(rd *Reader, pc uint64, most int) *Reader {
	if rd.opened {
		return nil
	}
	if name, _ := rd.supplement(); name != "" {
		return nil
	}
	var read [len(aloneSections)]readSection
	var wg sync.WaitGroup
	for i := range read {
		wg.Go(func() { read[i] = readOwn(rd, ".debug_"+aloneSections[i]) })
	}
	wg.Wait()
	sections := map[string][]byte{}
	for i, s := range read {
		if s.err != nil {
			return nil
		}
		sections[aloneSections[i]] = s.data
	}
	off, ok := unitInRanges(sections["aranges"], pc)
	if !ok || len(sections["types"]) > 0 {
		return nil
	}
	much := len(sections["info"]) > most
	whole := &part{sections: sections, typesAt: len(sections["info"])}
	h, err := whole.header(int(off))
	if err != nil || h.isType || h.unit.Split {
		return nil
	}
	alone := &Reader{files: rd.files, machine: rd.machine, opened: true, whole: true, sigs: map[uint64]dwarf.Offset{}}
	p, err := alone.addPart(sections)
	if err != nil {
		return nil
	}
	u := alone.addUnit(p, &h)
	if u == nil || alone.readRoot(u) != nil || u.Entry.Tag != dwarf.TagCompileUnit || u.Split || !u.IsC() && !much {
		return nil
	}
	alone.units = []*Unit{u}
	if _, err := alone.SkeletonAt(pc); err != nil {
		return nil
	}
	return alone
}

// unitInRanges returns where the unit that the code at pc belongs to is in .debug_info, by .debug_aranges (DWARF 5,
// 6.1.2). ok is false if none has it, several have, or the section is damaged.
func unitInRanges(aranges []byte, pc uint64) (unit uint64, ok bool) {
	for c := (Cursor{Data: aranges}); c.Off < len(aranges); {
		start := c.Off
		length := uint64(c.U32())
		if length == math.MaxUint32 || length > uint64(len(aranges)-c.Off) {
			return 0, false
		}
		end := c.Off + int(length)
		version, in, size, segment := c.U16(), uint64(c.U32()), int(c.U8()), c.U8()
		if version != 2 || segment != 0 || size != 4 && size != 8 {
			return 0, false
		}
		c.Off += (2*size - (c.Off-start)%(2*size)) % (2 * size)
		for c.Err == nil && c.Off+2*size <= end {
			low, bytes := c.Word(size), c.Word(size)
			if low == 0 && bytes == 0 {
				break
			}
			if pc < low || pc-low >= bytes {
				continue
			}
			if ok && in != unit {
				return 0, false
			}
			unit, ok = in, true
		}
		if c.Err != nil {
			return 0, false
		}
		c.Off = end
	}
	return unit, ok
}
