package function

import (
	"debug/dwarf"
	"fmt"
	"sort"

	"gotap/engine/image/debuginfo/entry"
)

// Range is a range of code that belongs to a function.
type Range struct {
	Lo, Hi uint64
	Off    dwarf.Offset // of the function's entry
}

// Function is a function that has code.
type Function struct {
	Unit *entry.Unit
	DIE  *dwarf.Entry // the entry with the code
	Low  uint64       // address of its first instruction
}

// unitFunctions are the functions of one unit.
type unitFunctions struct {
	ranges []Range // sorted by address, functions inside functions behind those around them
	deep   bool    // functions inside functions and classes are included
}

// Index finds functions and their scopes by address. It is not safe for concurrent use.
type Index struct {
	entries *entry.Reader
	units   map[*entry.Unit]*unitFunctions
	scopes  map[dwarf.Offset]*Scope
}

// New returns an index of the functions that entries describes. It reads a unit when a function of it is first wanted.
func New(entries *entry.Reader) *Index {
	return &Index{entries: entries, units: map[*entry.Unit]*unitFunctions{}, scopes: map[dwarf.Offset]*Scope{}}
}

// At returns the function whose code is at pc.
func (ix *Index) At(pc uint64) (*Function, error) {
	u, r, err := ix.find(pc)
	if err != nil {
		return nil, err
	}
	e, err := ix.entries.At(r.Off)
	if err != nil {
		return nil, err
	}
	return &Function{Unit: u, DIE: e, Low: ix.entryPC(e, r.Lo)}, nil
}

// Range returns the range of code around pc that belongs to one function.
func (ix *Index) Range(pc uint64) (Range, error) {
	_, r, err := ix.find(pc)
	return r, err
}

// Pieces returns all ranges of the function that r is a range of.
func (ix *Index) Pieces(r Range) []Range {
	list := ix.units[ix.entries.UnitOf(r.Off)]
	if list == nil {
		return []Range{r}
	}
	var pieces []Range
	for _, other := range list.ranges {
		if other.Off == r.Off {
			pieces = append(pieces, other)
		}
	}
	return pieces
}

// find finds the unit and the range around pc. Nested functions of GNU C and functions of local classes are rare, so
// they are listed only when nothing else is found.
func (ix *Index) find(pc uint64) (*entry.Unit, Range, error) {
	if err := ix.entries.Load(); err != nil {
		return nil, Range{}, err
	}
	u, err := ix.entries.UnitAt(pc)
	if err != nil {
		return nil, Range{}, err
	}
	ranges, err := ix.List(u)
	if err != nil {
		return nil, Range{}, err
	}
	r, ok := innermost(ranges, pc)
	if !ok && !ix.units[u].deep {
		if ranges, err = ix.listDeep(u); err != nil {
			return nil, Range{}, err
		}
		r, ok = innermost(ranges, pc)
	}
	if !ok {
		return nil, Range{}, fmt.Errorf("%w for the function at %#x", entry.ErrNone, pc)
	}
	return u, r, nil
}

// innermost returns the innermost range around pc: functions inside functions are listed behind those around them.
func innermost(ranges []Range, pc uint64) (Range, bool) {
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i].Lo > pc }) - 1
	for last := i - 8; i >= 0 && i > last; i-- {
		if pc < ranges[i].Hi {
			return ranges[i], true
		}
	}
	return Range{}, false
}

// entryPC returns the address at which a function is called. For a function in several ranges that is the start of the
// first one in the list.
func (ix *Index) entryPC(e *dwarf.Entry, lo uint64) uint64 {
	for _, attr := range []dwarf.Attr{dwarf.AttrEntrypc, dwarf.AttrLowpc} {
		if v, ok := e.Val(attr).(uint64); ok {
			return v
		}
	}
	if ranges, err := ix.entries.Ranges(e); err == nil && len(ranges) > 0 {
		return ranges[0][0]
	}
	return lo
}

// List returns the ranges of the functions of a unit by address. It reads only entries that may contain a function.
func (ix *Index) List(u *entry.Unit) ([]Range, error) {
	if list := ix.units[u]; list != nil {
		return list.ranges, nil
	}
	return ix.list(u, &unitFunctions{}, func(tag dwarf.Tag) bool {
		return tag == dwarf.TagNamespace || tag == dwarf.TagModule
	})
}

// listDeep lists every function of a unit, including those inside functions and classes.
func (ix *Index) listDeep(u *entry.Unit) ([]Range, error) {
	ix.units[u].deep = true
	return ix.list(u, ix.units[u], func(dwarf.Tag) bool { return true })
}

// list lists the functions of a unit, and of the entries in it for which enter returns true.
func (ix *Index) list(u *entry.Unit, list *unitFunctions, enter func(dwarf.Tag) bool) ([]Range, error) {
	var found []Range
	err := entry.NewSurvey(ix.entries).Functions(u, enter, func(e *dwarf.Entry) { found = ix.addRanges(found, e) })
	if err != nil {
		return nil, err
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Lo < found[j].Lo })
	list.ranges = found
	ix.units[u] = list
	return found, nil
}

// addRanges adds the ranges of the function e that the linker kept.
func (ix *Index) addRanges(found []Range, e *dwarf.Entry) []Range {
	ranges, err := ix.entries.Ranges(e)
	if err != nil {
		return found
	}
	for _, r := range ranges {
		if r[0] > 1 && r[0] < r[1] {
			found = append(found, Range{r[0], r[1], e.Offset})
		}
	}
	return found
}
