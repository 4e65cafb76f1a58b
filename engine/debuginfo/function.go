package debuginfo

import (
	"debug/dwarf"
	"fmt"
	"sort"
)

// funcRange is a piece of code that belongs to a function.
type funcRange struct {
	lo, hi uint64
	off    dwarf.Offset // of the function's DIE
}

// function is a function that has code.
type function struct {
	unit  *unit
	entry *dwarf.Entry // the DIE with the code
	low   uint64       // address of its first instruction
}

// functionAt finds the function whose code pc is.
func (in *Info) functionAt(pc uint64) (*function, error) {
	if err := in.openLocked(); err != nil {
		return nil, err
	}
	u, err := in.unitAt(pc)
	if err != nil {
		return nil, err
	}
	if err := in.listFunctions(u); err != nil {
		return nil, err
	}
	r, ok := findRange(u.functions, pc)
	if !ok && !u.deep { // a nested function of GNU C, a local class: rare, and dear to look for

		if err := in.listDeep(u); err != nil {
			return nil, err
		}
		r, ok = findRange(u.functions, pc)
	}
	if !ok {
		return nil, fmt.Errorf("%w for the function at %#x", ErrNone, pc)
	}
	e, err := in.die(r.off)
	if err != nil {
		return nil, err
	}
	return &function{unit: u, entry: e, low: in.entryPC(e, r.lo)}, nil
}

// findRange finds the innermost range around pc: functions in functions are listed after their parents.
func findRange(ranges []funcRange, pc uint64) (funcRange, bool) {
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i].lo > pc }) - 1
	for last := i - 8; i >= 0 && i > last; i-- {
		if pc < ranges[i].hi {
			return ranges[i], true
		}
	}
	return funcRange{}, false
}

// entryPC is the address at which a function is called. Of a function in several pieces that is the first of the list.
func (in *Info) entryPC(e *dwarf.Entry, lo uint64) uint64 {
	for _, attr := range []dwarf.Attr{dwarf.AttrEntrypc, dwarf.AttrLowpc} {
		if v, ok := e.Val(attr).(uint64); ok {
			return v
		}
	}
	if ranges, err := in.data.Ranges(e); err == nil && len(ranges) > 0 {
		return ranges[0][0]
	}
	return lo
}

// listFunctions lists the functions of a unit, reading only what can contain one and skipping the rest.
func (in *Info) listFunctions(u *unit) error {
	if u.listed {
		return nil
	}
	return in.list(u, func(tag dwarf.Tag) bool {
		return tag == dwarf.TagNamespace || tag == dwarf.TagModule
	})
}

// listDeep lists every function of a unit, those inside functions and classes too.
func (in *Info) listDeep(u *unit) error {
	u.deep = true
	return in.list(u, func(dwarf.Tag) bool { return true })
}

func (in *Info) list(u *unit, enter func(dwarf.Tag) bool) error {
	var found []funcRange
	err := in.topLevel(u, func(e *dwarf.Entry) bool {
		if e.Tag == dwarf.TagSubprogram {
			found = in.addRanges(found, e)
		}
		return enter(e.Tag)
	})
	if err != nil {
		return err
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].lo < found[j].lo })
	u.functions, u.listed = found, true
	return nil
}

// topLevel reads the DIEs below a unit, and below those for which visit says so. visit must not move the reader. The
// end is found by counting levels: what follows the unit may be a type unit, which has no DIE at its start.
func (in *Info) topLevel(u *unit, visit func(*dwarf.Entry) (enter bool)) error {
	in.reader.Seek(u.root)
	for depth := 0; ; {
		e, err := in.reader.Next()
		if err != nil {
			return fmt.Errorf("cannot read the debug information: %w", err)
		}
		switch {
		case e == nil || e.Offset >= u.end:
			return nil
		case e.Tag == 0:
			depth--
		case e.Children && (e.Offset == u.root || visit(e)):
			depth++
		case e.Children:
			in.reader.SkipChildren()
		default:
			visit(e)
		}
		if depth == 0 {
			return nil
		}
	}
}

// addRanges adds the code of the function e, if it has some that the linker kept.
func (in *Info) addRanges(found []funcRange, e *dwarf.Entry) []funcRange {
	if e.AttrField(dwarf.AttrLowpc) == nil && e.AttrField(dwarf.AttrRanges) == nil {
		return found
	}
	ranges, err := in.data.Ranges(e)
	if err != nil {
		return found
	}
	for _, r := range ranges {
		if r[0] > 1 && r[0] < r[1] {
			found = append(found, funcRange{r[0], r[1], e.Offset})
		}
	}
	return found
}
