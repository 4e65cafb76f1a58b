package function

import (
	"debug/dwarf"
	"fmt"
)

// Scope is a function, a block or an inlined call, with its declarations.
type Scope struct {
	DIE      *dwarf.Entry
	ranges   [][2]uint64 // empty: those of the parent
	Params   []*dwarf.Entry
	Vars     []*dwarf.Entry
	variadic bool
	children []*Scope
}

// maxScopes bounds the cache of scope trees.
const maxScopes = 512

// Scope returns the tree of blocks and inlined calls of a function.
func (ix *Index) Scope(f *Function) (*Scope, error) {
	if s := ix.scopes[f.DIE.Offset]; s != nil {
		return s, nil
	}
	s, err := ix.readScope(f.DIE)
	if err != nil {
		return nil, err
	}
	if len(ix.scopes) >= maxScopes {
		clear(ix.scopes)
	}
	ix.scopes[f.DIE.Offset] = s
	return s, nil
}

// readScope reads e and everything below it in one pass.
func (ix *Index) readScope(e *dwarf.Entry) (*Scope, error) {
	top := &Scope{DIE: e}
	if !e.Children {
		return top, nil
	}
	ix.entries.Seek(e.Offset)
	if _, err := ix.entries.Next(); err != nil {
		return nil, err
	}
	stack := []*Scope{top}
	for len(stack) > 0 {
		c, err := ix.entries.Next()
		if err != nil {
			return nil, fmt.Errorf("cannot read the debug information: %w", err)
		}
		if c == nil || c.Tag == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		if inner := ix.addToScope(stack[len(stack)-1], c); inner != nil && c.Children {
			stack = append(stack, inner)
		} else {
			ix.entries.SkipChildren()
		}
	}
	return top, nil
}

// addToScope adds the child c to s. It returns the scope that c opens, or nil.
func (ix *Index) addToScope(s *Scope, c *dwarf.Entry) *Scope {
	switch c.Tag {
	case dwarf.TagFormalParameter:
		if result, _ := c.Val(dwarf.AttrVarParam).(bool); result { // Go lists results as parameters
			s.Vars = append(s.Vars, c)
		} else {
			s.Params = append(s.Params, c)
		}
	case dwarf.TagVariable:
		s.Vars = append(s.Vars, c)
	case dwarf.TagUnspecifiedParameters:
		s.variadic = true
	case dwarf.TagLexDwarfBlock, dwarf.TagInlinedSubroutine, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock:
		inner := &Scope{DIE: c}
		inner.ranges, _ = ix.entries.Ranges(c)
		s.children = append(s.children, inner)
		return inner
	}
	return nil
}

// Find returns the scope in s, or s itself, whose entry is at an offset; nil if there is none.
func (s *Scope) Find(off dwarf.Offset) *Scope {
	if s.DIE.Offset == off {
		return s
	}
	for _, c := range s.children {
		if found := c.Find(off); found != nil {
			return found
		}
	}
	return nil
}

// contains reports whether pc is in one of the ranges of s. The search is linear, because a block has few ranges.
func (s *Scope) contains(pc uint64) bool {
	for _, r := range s.ranges {
		if r[0] <= pc && pc < r[1] {
			return true
		}
	}
	return false
}

// Path returns the scopes around pc, outermost first, starting with s.
func (s *Scope) Path(pc uint64) []*Scope {
	chain := []*Scope{s}
	for {
		next := chain[len(chain)-1].inner(pc)
		if next == nil {
			return chain
		}
		chain = append(chain, next)
	}
}

// inner returns the child around pc, or nil. Blocks of abstract functions have no ranges and are never found.
func (s *Scope) inner(pc uint64) *Scope {
	for _, c := range s.children {
		if c.contains(pc) {
			return c
		}
	}
	return nil
}
