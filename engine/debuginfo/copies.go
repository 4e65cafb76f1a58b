package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"path"
	"slices"
	"strings"
)

// Copy is a call of a function that the compiler put into the code of the caller.
type Copy struct {
	Caller string // the function whose code it is now part of
	File   string // of the call, without its folders; "" when it is not known
	Line   int
}

// maxSearched bounds the debug information in which copies of one function are looked for besides that of its own unit.
const maxSearched = 8 << 20

// Copies lists the inlined copies of the function at vaddr, which has code of its own as well. A function of C has them in its
// own unit. One that may be defined in several units, or was put into another at link time, is looked for in all, if the
// file has no more than maxSearched bytes of debug information. This reads whole units, so it is not for the way of a hit.
func (in *Info) Copies(vaddr uint64) (copies []Copy, err error) {
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
	slices.SortFunc(copies, func(a, b Copy) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Caller, b.Caller))
	})
	return copies, nil
}

// Body is the line of the function at vaddr that has code in most of its copies, and how many pieces of code that is; 0 when none is
// found. Of the line with the function's head there need not be a piece for each.
func (in *Info) Body(vaddr uint64) (file string, line, most int) {
	var err error
	defer in.guard(&err)()
	fn, err := in.functionAt(vaddr)
	if err != nil {
		return "", 0, 0
	}
	name, head := in.declared(fn.unit, fn.entry)
	if name == "" {
		return "", 0, 0
	}
	search := lineSearch{in: in, file: path.Clean(name)}
	tables, err := search.tables()
	for n := head + 1; err == nil && n <= head+longestHead; n++ {
		search.line, search.lines, search.addrs = n, map[int]bool{}, nil
		for _, t := range tables {
			search.table(t)
		}
		if pieces := len(slices.Compact(slices.Sorted(slices.Values(search.addrs)))); pieces > most {
			most, line = pieces, n
		}
	}
	return path.Base(name), line, most
}

// original is what identifies a function among the origins of inlined code.
type original struct {
	abstract dwarf.Offset // of the description that its copies share; 0: its unit has none
	linkage  string       // the name that makes it the same function in other units; "": it has none
}

// copied finds what identifies the function at vaddr, and the units that may have copies; nil when nothing may.
func (in *Info) copied(vaddr uint64) (o *original, all []*unit, err error) {
	defer in.guard(&err)()
	fn, err := in.functionAt(vaddr)
	if err != nil {
		return nil, nil, err
	}
	o = &original{}
	o.abstract, _ = fn.entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if f, _, _ := in.attr(fn.entry, dwarf.AttrLinkageName); f != nil {
		o.linkage, _ = f.Val.(string)
	}
	if fn.unit.isC() {
		o.linkage = "" // another name for the linker, of a function that this unit alone defines
	}
	elsewhere := o.linkage != "" || o.abstract != 0 && (o.abstract < fn.unit.root || o.abstract >= fn.unit.end) || fn.unit.language() == langGo
	switch {
	case o.abstract == 0 && o.linkage == "":
		return nil, nil, nil
	case elsewhere && len(in.sections["info"]) <= maxSearched:
		return o, in.units, nil
	}
	return o, []*unit{fn.unit}, nil
}

// copiesIn lists the copies in one unit.
func (in *Info) copiesIn(u *unit, o *original) (copies []Copy, err error) {
	defer in.guard(&err)()
	if err := in.listInlined(u); err != nil {
		return nil, err
	}
	for abstract, entries := range u.inlined {
		if abstract != o.abstract && (o.linkage == "" || in.linkageOf(abstract) != o.linkage) {
			continue
		}
		for _, off := range entries {
			e, err := in.die(off)
			if err != nil {
				return copies, err
			}
			if c, ok := in.copyAt(u, e); ok {
				copies = append(copies, c)
			}
		}
	}
	return copies, nil
}

// linkageOf is the linkage name of an abstract function, "" when it has none.
func (in *Info) linkageOf(abstract dwarf.Offset) string {
	e, err := in.die(abstract)
	if err != nil {
		return ""
	}
	f, _, _ := in.attr(e, dwarf.AttrLinkageName)
	if f == nil {
		return ""
	}
	name, _ := f.Val.(string)
	return name
}

// listInlined lists the inlined calls of a unit by their origin, once.
func (in *Info) listInlined(u *unit) error {
	if u.inlined != nil {
		return nil
	}
	found := map[dwarf.Offset][]dwarf.Offset{}
	in.reader.Seek(u.root)
	for {
		e, err := in.reader.Next()
		if err != nil {
			return err
		}
		if e == nil || e.Offset >= u.end {
			break
		}
		if e.Tag == dwarf.TagInlinedSubroutine {
			if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
				found[origin] = append(found[origin], e.Offset)
			}
		}
	}
	u.inlined = found
	return nil
}

// copyAt describes an inlined call; ok is false when no code of it is left.
func (in *Info) copyAt(u *unit, e *dwarf.Entry) (c Copy, ok bool) {
	ranges, err := in.data.Ranges(e)
	if err != nil || len(ranges) == 0 || ranges[0][0] <= 1 {
		return c, false
	}
	if fn, err := in.functionAt(ranges[0][0]); err == nil {
		c.Caller = in.funcName(fn.entry)
	}
	file, okFile := e.Val(dwarf.AttrCallFile).(int64)
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	if t, err := in.linesOf(u); err == nil && okFile {
		if name := t.file(file); name != "" {
			c.File, c.Line = path.Base(name), int(line)
		}
	}
	return c, true
}
