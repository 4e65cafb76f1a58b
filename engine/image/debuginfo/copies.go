package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"maps"
	"path"
	"slices"
	"strings"

	"gotap/engine/image/debuginfo/entry"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/lines"
)

// Copy is a call that the compiler inlined.
type Copy struct {
	Caller string // the function that contains the code
	File   string // of the call, without its folder; "" when unknown
	Line   int

	PC    uint64       // address of its first instruction in the file
	Off   dwarf.Offset // of its entry in the debug information
	Exact bool         // each call executes the instruction at PC once, as far as the code shows
}

// maxSearched bounds the size of the debug information that is searched for copies outside the function's unit.
var maxSearched = 8 << 20 // tests change it

// Copies returns the inlined copies of the function at vaddr, which also has code of its own. A function of C has them
// in its own unit. One that several units may define, or that was inlined at link time, is searched for in all units
// when the file has at most maxSearched bytes of debug information. Copies reads whole units, so it must not be called
// for a hit.
func (in *Info) Copies(vaddr uint64) (copies []Copy, err error) {
	if isUncopied(in, vaddr) {
		return nil, nil
	}
	fn, all, err := in.copied(vaddr)
	if err != nil || fn == nil {
		return nil, err
	}
	for _, u := range all {
		found, err := in.copiesIn(u, fn)
		if err != nil {
			return copies, err
		}
		copies = append(copies, found...)
	}
	sortCopies(copies)
	return copies, nil
}

// isUncopied reports whether the unit of the function at vaddr shows that it has no copies, without reading all units.
func isUncopied(in *Info, vaddr uint64) bool {
	none, err := askAlone(in, vaddr)
	return none && err == nil
}

func askAlone(in *Info, vaddr uint64) (none bool, err error) {
	defer in.guard(&err)()
	alone := entry.Alone(in.entries, vaddr, maxSearched)
	if alone == nil {
		return false, nil
	}
	u := alone.Units()[0]
	is := inlines{entries: alone, survey: entry.NewSurvey(alone), functions: function.New(alone), calls: map[*entry.Unit]inlinedCalls{}}
	o, _, err := is.copied(vaddr)
	if err != nil || o == nil {
		return err == nil && u.IsC(), err
	}
	// What identifies the function may be in another unit.
	if !u.IsC() && o.linkage == "" || o.abstract != 0 && !within(u, o.abstract) || is.listInlined(u) != nil {
		return false, nil
	}
	for abstract := range is.calls[u] {
		if abstract == o.abstract || o.linkage != "" && (!within(u, abstract) || is.survey.IsLinkedAs(abstract, o.linkage)) {
			return false, nil
		}
	}
	return true, nil
}

// within reports whether an entry is in a unit.
func within(u *entry.Unit, off dwarf.Offset) bool { return off >= u.Root && off < u.End }

// sortCopies sorts by the line of the call.
func sortCopies(copies []Copy) {
	slices.SortFunc(copies, func(a, b Copy) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Caller, b.Caller), cmp.Compare(a.PC, b.PC))
	})
}

func (in *Info) copied(vaddr uint64) (o *original, all []*entry.Unit, err error) {
	defer in.guard(&err)()
	return in.inlines.copied(vaddr)
}

func (in *Info) copiesIn(u *entry.Unit, o *original) (copies []Copy, err error) {
	defer in.guard(&err)()
	return in.inlines.copiesIn(u, o)
}

// Body returns the line of the function at vaddr that has code in most of its copies, and the number of these pieces of
// code, or 0. The line of the function's head need not have code in each copy. A line behind the end of a short
// function has no code in its range.
func (in *Info) Body(vaddr uint64) (file string, line, most int) {
	var err error
	defer in.guard(&err)()
	fn, err := in.functions.At(vaddr)
	if err != nil {
		return "", 0, 0
	}
	name, head := in.inlines.declared(fn.Unit, fn.DIE)
	r, err := in.functions.Range(vaddr)
	if name == "" || err != nil {
		return "", 0, 0
	}
	pieces := in.functions.Pieces(r)
	places, _ := in.lines.In(lines.Span{File: name, First: head + 1, Last: head + longestHead})
	own, count := map[int]bool{}, map[int]int{}
	for _, p := range places {
		count[p.Line]++
		own[p.Line] = own[p.Line] || slices.ContainsFunc(pieces, func(r function.Range) bool { return p.Addr >= r.Lo && p.Addr < r.Hi })
	}
	for _, n := range slices.Sorted(maps.Keys(count)) {
		if own[n] && count[n] > most {
			line, most = n, count[n]
		}
	}
	return path.Base(name), line, most
}

// inlinedCalls are the inlined calls of a unit by their origin, the abstract function.
type inlinedCalls map[dwarf.Offset][]inlinedCall

// inlinedCall is the entry of an inlined call, and the origin of the function that contains it, 0 if it has none.
type inlinedCall struct{ entry, within dwarf.Offset }

// inlines finds inlined calls.
type inlines struct {
	entries   *entry.Reader
	survey    entry.Survey
	functions *function.Index
	lines     *lines.Tables
	calls     map[*entry.Unit]inlinedCalls // of units that have been read
	last      *inlinedNames                // nil: none was asked for
	searched  int                          // how often a unit was searched for a name
}

// original identifies a function as the origin of inlined code.
type original struct {
	abstract dwarf.Offset // the abstract instance that its copies share; 0 without one
	linkage  string       // the name that identifies it in other units; "" without one
}

// copied returns what identifies the function at vaddr, and the units that may have copies. It returns nil when there
// are none.
func (is *inlines) copied(vaddr uint64) (o *original, all []*entry.Unit, err error) {
	fn, err := is.functions.At(vaddr)
	if err != nil {
		return nil, nil, err
	}
	o = &original{}
	o.abstract, _ = fn.DIE.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if f, _, _ := is.entries.Attr(fn.DIE, dwarf.AttrLinkageName); f != nil {
		o.linkage, _ = f.Val.(string)
	}
	if fn.Unit.IsC() {
		o.linkage = "" // only this unit defines the function
	}
	elsewhere := o.linkage != "" || o.abstract != 0 && (o.abstract < fn.Unit.Root || o.abstract >= fn.Unit.End) || fn.Unit.Language() == entry.Go
	switch {
	case o.abstract == 0 && o.linkage == "":
		return nil, nil, nil
	case elsewhere && is.entries.Size() <= maxSearched:
		return o, is.entries.Units(), nil
	}
	return o, []*entry.Unit{fn.Unit}, nil
}

// copiesIn returns the copies in one unit.
func (is *inlines) copiesIn(u *entry.Unit, o *original) (copies []Copy, err error) {
	if err := is.listInlined(u); err != nil {
		return nil, err
	}
	for abstract, calls := range is.calls[u] {
		if abstract != o.abstract && (o.linkage == "" || !is.survey.IsLinkedAs(abstract, o.linkage)) {
			continue
		}
		same := repeats{inlines: is}
		for _, call := range calls {
			e, err := is.entries.At(call.entry)
			if err != nil {
				return copies, err
			}
			c, ok := is.copyAt(u, e)
			if ok {
				same.add(u, e, c.PC)
			}
			if ok && !is.remainder(u, e, call.within) {
				copies = append(copies, c)
			}
		}
		for i := range copies {
			copies[i].Exact = copies[i].Exact && !same.at(copies[i].PC)
		}
	}
	return copies, nil
}

// remainder reports whether an inlined call stands for the rest of the function that contains it. A compiler splits a
// function to inline its beginning alone; where it then puts the rest back, the debug information has a call of the
// function in itself, made where it is declared. The program makes no such call. Without columns it looks like a
// function of one line that calls itself, and is taken for a call. within is the origin of the function that contains
// the call: another one may be declared at the same place, by a macro or as an instance of the same template.
func (is *inlines) remainder(u *entry.Unit, e *dwarf.Entry, within dwarf.Offset) bool {
	if within == 0 || within != originOf(e) {
		return false
	}
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	column, _ := e.Val(dwarf.AttrCallColumn).(int64)
	field, origin, err := is.entries.Attr(e, dwarf.AttrDeclColumn)
	if err != nil || field == nil || column == 0 || field.Val != column {
		return false
	}
	called, err := is.lines.Of(u)
	if err != nil {
		return false
	}
	file, _ := e.Val(dwarf.AttrCallFile).(int64)
	name, declared := is.declared(is.entries.UnitOf(origin.Offset), origin)
	return int64(declared) == line && name == called.File(file)
}

// listInlined lists the inlined calls of a unit by their origin, once.
func (is *inlines) listInlined(u *entry.Unit) error {
	if is.calls[u] != nil {
		return nil
	}
	calls, err := is.survey.InlinedCalls(u)
	if err != nil {
		return err
	}
	found := inlinedCalls{}
	for _, c := range calls {
		found[c.Origin] = append(found[c.Origin], inlinedCall{c.Entry, c.Within})
	}
	is.calls[u] = found
	return nil
}

// originOf returns the abstract function of which an entry is an instance, 0 if there is none.
func originOf(e *dwarf.Entry) dwarf.Offset {
	origin, _ := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	return origin
}

// namedEntry returns the address that an inlined call names as its entry, or 0. The first of its ranges begins at low.
func namedEntry(e *dwarf.Entry, low uint64) uint64 {
	pc, _ := e.Val(dwarf.AttrEntrypc).(uint64)
	if offset, ok := e.Val(dwarf.AttrEntrypc).(int64); ok { // DWARF 5, 2.18: from the lowest address
		if at, ok := e.Val(dwarf.AttrLowpc).(uint64); ok {
			low = at
		}
		pc = low + uint64(offset)
	}
	return pc
}

// copyAt describes an inlined call. ok is false when the call has no code.
func (is *inlines) copyAt(u *entry.Unit, e *dwarf.Entry) (c Copy, ok bool) {
	ranges, err := is.entries.Ranges(e)
	if err != nil || len(ranges) == 0 || ranges[0][0] <= 1 {
		return c, false
	}
	if fn, err := is.functions.At(ranges[0][0]); err == nil {
		c.Caller = is.entries.QualifiedName(fn.DIE)
	}
	named := namedEntry(e, ranges[0][0])
	if ranges = slices.DeleteFunc(ranges, func(r [2]uint64) bool { return r[0] >= r[1] }); len(ranges) == 0 {
		return c, false
	}
	c.Off = e.Offset
	c.PC, c.Exact = is.lines.Entry(named, ranges)
	file, okFile := e.Val(dwarf.AttrCallFile).(int64)
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	if t, err := is.lines.Of(u); err == nil && okFile {
		if name := t.File(file); name != "" {
			c.File, c.Line = path.Base(name), int(line)
		}
	}
	return c, true
}
