package fetch

import (
	"strconv"

	"github.com/dop251/goja/token"

	"gotap/compile"
	"gotap/compile/js/tree"
	"gotap/compile/shape"
	"gotap/runtime/opcode"
)

// searched is the text of elements that are found by a search: {1: 2,3: 4}. One that is not found, because the
// container is too large, damaged or being changed, ends the text with the mark of what was cut.
func (p *prettier) searched(a Path, s *shape.Shape, depth int) *tree.Expr {
	opening, closing := "[", "]"
	if s.Set {
		opening, closing = "{", "}"
	}
	if s.Capacity != "" {
		used, err := p.f.valueBelow(a, s.Length, p.at)
		capacity, err2 := p.f.valueBelow(a, s.Capacity, p.at)
		if err != nil || err2 != nil {
			return tree.Text(p.at, UnknownText)
		}
		first, _ := tree.TextOf(used)
		second, _ := tree.TextOf(capacity)
		opening = " " + opening
		return p.join(first, tree.Text(p.at, "/"), second, tree.Text(p.at, opening), p.foundFrom(a, s, 0, depth), tree.Text(p.at, closing))
	}
	return p.join(tree.Text(p.at, opening), p.foundFrom(a, s, 0, depth), tree.Text(p.at, closing))
}

// foundFrom is the text of the elements from i on.
func (p *prettier) foundFrom(a Path, s *shape.Shape, i, depth int) *tree.Expr {
	if i == p.most() || p.leaves >= prettyLeaves {
		return p.whetherMore(a, s, i, tree.Text(p.at, prettyMore))
	}
	addresses := make([]*tree.Expr, len(s.Found))
	for k, f := range s.Found {
		address, err := p.f.valueBelow(a, f.Path+strconv.Itoa(i), p.at)
		if err != nil {
			return tree.Text(p.at, UnknownText)
		}
		addresses[k] = address
	}
	module := p.moduleOf(a)
	text := p.f.Ops.Keep(p.at, addresses, func(kept []*tree.Expr) *tree.Expr {
		parts := make([]Path, len(kept))
		for k, address := range kept {
			ref := compile.TypeRef{Module: module, Offset: s.Found[k].Type, Address: true, Name: s.Found[k].Name}
			parts[k] = Path{Of: &Given{Value: address, Ref: ref}}
		}
		one := p.found(parts, s, depth+1)
		if i > 0 {
			one = p.join(tree.Text(p.at, ","), one)
		}
		there := p.f.Ops.Compare(token.STRICT_NOT_EQUAL, p.at, kept[0], tree.Integer(p.at, 0))
		rest := tree.Text(p.at, prettyMore)
		if s.Length == "" {
			rest = tree.Text(p.at, "")
		}
		return p.f.Ops.Choose(p.at, there, p.join(one, p.foundFrom(a, s, i+1, depth)), rest)
	})
	return p.whetherMore(a, s, i, text)
}

// whetherMore is a text that there is if the container has more than i elements.
func (p *prettier) whetherMore(a Path, s *shape.Shape, i int, text *tree.Expr) *tree.Expr {
	path := s.Length
	if path == "" {
		path = s.Found[0].Path + strconv.Itoa(i)
	}
	n, err := p.f.valueBelow(a, path, p.at)
	if err != nil {
		return tree.Text(p.at, UnknownText)
	}
	more := p.f.Ops.Compare(token.GREATER, p.at, n, tree.Integer(p.at, int64(i)))
	if s.Length == "" {
		if i < p.most() && p.leaves < prettyLeaves {
			return text // says itself whether the element is there
		}
		more = tree.Apply(p.at, tree.KindBool, opcode.Ne, n, tree.Integer(p.at, 0))
	}
	return p.f.Ops.Choose(p.at, more, text, tree.Text(p.at, ""))
}

// found is the text of one element, or of an entry.
func (p *prettier) found(parts []Path, s *shape.Shape, depth int) *tree.Expr {
	if len(parts) == 2 {
		return p.join(p.at1(parts[0], depth), tree.Text(p.at, ": "), p.at1(parts[1], depth))
	}
	if s.Key != "" && s.Mapped == "" {
		return p.at1(parts[0].below(s.Key), depth)
	}
	return p.element(parts[0], s, depth)
}

// moduleOf is the file whose debug information has the type of what a path names.
func (p *prettier) moduleOf(a Path) string {
	access, _ := p.f.Resolve(a)
	return access.Ref.Module
}
