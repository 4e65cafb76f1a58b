package debuginfo

import (
	"debug/dwarf"
	"fmt"
)

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
		if result, _ := c.Val(dwarf.AttrVarParam).(bool); result { // how Go lists what a function returns
			s.vars = append(s.vars, c)
		} else {
			s.params = append(s.params, c)
		}
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

// contains is linear: a block that an optimiser tore apart has a handful of pieces.
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
