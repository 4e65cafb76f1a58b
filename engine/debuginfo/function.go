package debuginfo

import (
	"debug/dwarf"
	"fmt"
	"sort"
	"strings"
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
	if !ok && !u.deep {
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

// scope is a function, a block or an inlined call, and what is declared in it.
type scope struct {
	entry    *dwarf.Entry
	ranges   [][2]uint64 // none: the same as the parent's
	params   []*dwarf.Entry
	vars     []*dwarf.Entry
	variadic bool
	children []*scope
}

// maxScopes bounds the cache of scope trees.
const maxScopes = 512

// scopeOf reads the tree of blocks and inlined calls of a function.
func (in *Info) scopeOf(f *function) (*scope, error) {
	if s := in.scopes[f.entry.Offset]; s != nil {
		return s, nil
	}
	s, err := in.readScope(f.entry)
	if err != nil {
		return nil, err
	}
	if len(in.scopes) >= maxScopes {
		clear(in.scopes)
	}
	in.scopes[f.entry.Offset] = s
	return s, nil
}

// readScope reads e and what is below it in one pass.
func (in *Info) readScope(e *dwarf.Entry) (*scope, error) {
	top := &scope{entry: e}
	if !e.Children {
		return top, nil
	}
	in.reader.Seek(e.Offset)
	if _, err := in.reader.Next(); err != nil {
		return nil, err
	}
	stack := []*scope{top}
	for len(stack) > 0 {
		c, err := in.reader.Next()
		if err != nil {
			return nil, fmt.Errorf("cannot read the debug information: %w", err)
		}
		if c == nil || c.Tag == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		if inner := in.addToScope(stack[len(stack)-1], c); inner != nil && c.Children {
			stack = append(stack, inner)
		} else {
			in.reader.SkipChildren()
		}
	}
	return top, nil
}

// addToScope notes child c of s, and returns the scope it opens.
func (in *Info) addToScope(s *scope, c *dwarf.Entry) *scope {
	switch c.Tag {
	case dwarf.TagFormalParameter:
		s.params = append(s.params, c)
	case dwarf.TagVariable:
		s.vars = append(s.vars, c)
	case dwarf.TagUnspecifiedParameters:
		s.variadic = true
	case dwarf.TagLexDwarfBlock, dwarf.TagInlinedSubroutine, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock:
		inner := &scope{entry: c}
		inner.ranges, _ = in.data.Ranges(c)
		s.children = append(s.children, inner)
		return inner
	}
	return nil
}

func (s *scope) contains(pc uint64) bool {
	for _, r := range s.ranges {
		if r[0] <= pc && pc < r[1] {
			return true
		}
	}
	return false
}

// path is the chain of scopes around pc, outermost first, starting with s itself.
func (s *scope) path(pc uint64) []*scope {
	chain := []*scope{s}
	for {
		next := chain[len(chain)-1].inner(pc)
		if next == nil {
			return chain
		}
		chain = append(chain, next)
	}
}

// inner is the child around pc. A child without code of its own, which happens to blocks of abstract functions, has none.
func (s *scope) inner(pc uint64) *scope {
	for _, c := range s.children {
		if c.contains(pc) {
			return c
		}
	}
	return nil
}

// funcName is the name of a function with the namespaces and classes around it, "geo::Square::area".
func (in *Info) funcName(e *dwarf.Entry) string {
	_, at, err := in.attr(e, dwarf.AttrName)
	if err != nil || at == nil {
		if f, _, _ := in.attr(e, dwarf.AttrLinkageName); f != nil {
			s, _ := f.Val.(string)
			return s
		}
		return ""
	}
	name, _ := at.Val(dwarf.AttrName).(string)
	u := in.unitOf(at.Offset)
	if u == nil || !u.isCPlusPlus() && u.language() != langRust {
		return name
	}
	return strings.Join(append(in.scopeNames(u, at.Offset), name), "::")
}

// scopeNames are the names of the namespaces and classes around the DIE at off. DIEs do not know their parents, so the
// way down from the unit is searched, skipping all that ends before off.
func (in *Info) scopeNames(u *unit, off dwarf.Offset) []string {
	var names []string
	in.reader.Seek(u.root)
	if e, err := in.reader.Next(); err != nil || e == nil {
		return nil
	}
	for {
		last, err := in.childAround(off)
		if err != nil || last == nil || last.Offset == off {
			return names
		}
		switch last.Tag {
		case dwarf.TagNamespace, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
			name, _ := last.Val(dwarf.AttrName).(string)
			if name == "" {
				name = "(anonymous)"
			}
			names = append(names, name)
		}
		in.reader.Seek(last.Offset)
		if _, err := in.reader.Next(); err != nil {
			return names
		}
	}
}

// childAround reads siblings from where the reader is until the next would lie behind off, and returns the last.
func (in *Info) childAround(off dwarf.Offset) (last *dwarf.Entry, err error) {
	for {
		e, err := in.reader.Next()
		if err != nil {
			return last, err
		}
		if e == nil || e.Tag == 0 || e.Offset > off {
			return last, nil
		}
		last = e
		if e.Offset == off {
			return last, nil
		}
		in.reader.SkipChildren()
	}
}
