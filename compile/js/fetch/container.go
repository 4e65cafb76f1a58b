package fetch

import (
	"strconv"
	"strings"

	"github.com/dop251/goja/token"

	"gotap/compile"
	"gotap/compile/diag"
	"gotap/compile/js/tree"
	"gotap/compile/shape"
	"gotap/runtime/opcode"
)

// Containers and values with alternatives are shown as what programmers think of: elements, the alternative that is
// there.

// checked is a value that is there only if its alternative or its element is. Otherwise reading it traps.
func (f *Fetcher) checked(of Path, c compile.Check, e *tree.Expr, at diag.Span) *tree.Expr {
	if c.Depth > len(of.Names) {
		return tree.Poison(at)
	}
	whole := of
	whole.Names = of.Names[:c.Depth]
	test := f.holds(whole, c, at)
	none := tree.Apply(at, e.Kind, opcode.Within, tree.Integer(at, 0))
	cond := (&tree.Expr{Code: tree.CodeCond, Kind: e.Kind, At: at, Args: []*tree.Expr{test, e, none}}).Complete()
	cond.Enum, cond.Ref = e.Enum, e.Ref
	return cond
}

// holds is whether what a check of the value at a path says is so.
func (f *Fetcher) holds(whole Path, c compile.Check, at diag.Span) *tree.Expr {
	if c.Length == "" {
		return f.isCase(whole.Below(compile.Discriminant), c.Values, c.Other, at)
	}
	length, err := f.valueBelow(whole, c.Length, at)
	if err != nil {
		return tree.Poison(at)
	}
	index := tree.Integer(at, c.Index)
	if c.Chosen {
		index = whole.index(c.Index, at)
	}
	return f.Ops.Compare(token.GREATER, at, length, index)
}

// isCase is whether the number at a path says that an alternative is there.
func (f *Fetcher) isCase(index Path, values []int64, other bool, at diag.Span) *tree.Expr {
	access, err := f.Resolve(index)
	if err != nil || len(values) == 0 {
		return tree.Boolean(at, err == nil && other)
	}
	var any *tree.Expr
	for _, v := range values {
		one := tree.Apply(at, tree.KindBool, opcode.Eq, f.access(index, access, at), tree.Integer(at, v))
		if any == nil {
			any = one
		} else {
			any = tree.Apply(at, tree.KindBool, opcode.Or, any, one)
		}
	}
	if other {
		return tree.Apply(at, tree.KindBool, opcode.Eq, any, tree.Integer(at, 0))
	}
	return any
}

// below is what a path with dots names below another.
func (a Path) below(path string) Path {
	for _, name := range strings.Split(path, ".") {
		a = a.Below(name)
	}
	return a
}

// isOwner reports whether a pointer is a smart one by itself, as a Box of Rust.
func isOwner(s *shape.Shape) bool { return s.Inner == compile.Target }

// isContainer reports whether a shape is shown otherwise than by its members.
func isContainer(s *shape.Shape) bool {
	return s != nil && (s.Sequence || s.Inner != "" || s.Optional.Flag != "" || s.Count != "" || len(s.Parts) > 0 || len(s.Cases) > 0)
}

// handle is the text of the container that a pointer points to.
func (p *prettier) handle(a Path, access compile.Access, depth int) *tree.Expr {
	before := p.within
	defer func() { p.within = before }()
	p.within = depth > 0
	return p.ifReadable(p.f.access(a, access, p.at), func() *tree.Expr {
		return p.container(a.Below(compile.Target), access.Shape, depth+1)
	})
}

// container is the text of a container.
func (p *prettier) container(a Path, s *shape.Shape, depth int) *tree.Expr {
	switch {
	case depth > prettyDepth:
		return tree.Text(p.at, "{"+prettyMore+"}")
	case len(s.Cases) > 0:
		return p.cases(a, s, depth)
	case len(s.Parts) > 0:
		return p.parts(a, s.Parts, depth)
	case s.Optional.Flag != "":
		flag, err := p.f.valueBelow(a, s.Optional.Flag, p.at)
		if err != nil {
			return tree.Text(p.at, UnknownText)
		}
		return p.f.Ops.Choose(p.at, p.f.Ops.Truth(flag), p.optional(a.below(s.Optional.Value), depth), tree.Text(p.at, "none"))
	case s.Inner != "" && s.Sequence:
		return p.array(a.below(s.Inner), s, depth)
	case s.Inner != "":
		return p.inner(a.below(s.Inner), depth)
	case s.Sequence:
		return p.sequence(a, s, depth)
	}
	n, err := p.f.valueBelow(a, s.Count, p.at)
	if err != nil {
		return tree.Text(p.at, UnknownText)
	}
	p.leaves++
	text, _ := tree.TextOf(n)
	return p.join(tree.Text(p.at, "("), text, tree.Text(p.at, ") {"+prettyMore+"}"))
}

// optional is the text of a value that may not be there. One that is itself optional is in parentheses, so that (none)
// is not none.
func (p *prettier) optional(a Path, depth int) *tree.Expr {
	access, err := p.f.Resolve(a)
	text := p.value(a, access, err, depth)
	if access.Shape != nil && access.Shape.Optional.Flag != "" {
		return p.join(tree.Text(p.at, "("), text, tree.Text(p.at, ")"))
	}
	return text
}

// at1 is the text of what a path names.
func (p *prettier) at1(a Path, depth int) *tree.Expr {
	access, err := p.f.Resolve(a)
	return p.value(a, access, err, depth)
}

// inner is the text of what a smart pointer points to.
func (p *prettier) inner(a Path, depth int) *tree.Expr {
	access, err := p.f.Resolve(a)
	if err != nil || access.Shape == nil || access.Shape.Kind != shape.Pointer {
		return p.value(a, access, err, depth)
	}
	target, err := p.f.Resolve(a.Below("0"))
	if err != nil && target.Shape == nil { // of void, or of a class that is only declared
		return p.hex(p.f.access(a, access, p.at))
	}
	return p.ifReadable(p.f.access(a, access, p.at), func() *tree.Expr {
		return p.join(tree.Text(p.at, "&"), p.value(a.Below("0"), target, err, depth+1))
	})
}

// array is the text of the array that a smart pointer points to, whose length may not be known.
func (p *prettier) array(a Path, s *shape.Shape, depth int) *tree.Expr {
	access, err := p.f.Resolve(a)
	if err != nil {
		return tree.Text(p.at, UnknownText)
	}
	return p.ifReadable(p.f.access(a, access, p.at), func() *tree.Expr {
		if s.Len == 0 {
			return tree.Text(p.at, "&["+prettyMore+"]")
		}
		return p.join(tree.Text(p.at, "&"), p.elements(a, s.Len, depth))
	})
}

// cases is the text of the alternative that is there.
func (p *prettier) cases(a Path, s *shape.Shape, depth int) *tree.Expr {
	index := a.Below(compile.Discriminant)
	if s.Index != "" {
		index = a.below(s.Index)
	}
	whole := tree.Text(p.at, UnknownText)
	for i := len(s.Cases) - 1; i >= 0; i-- {
		c := s.Cases[i]
		if p.leaves >= prettyLeaves {
			return tree.Text(p.at, prettyMore)
		}
		path, name := c.Path, ""
		if path == "" {
			path, name = c.Name, c.Name
		}
		text := p.alternative(a.below(path), name, depth)
		if c.Sole {
			return text
		}
		whole = p.f.Ops.Choose(p.at, p.f.isCase(index, c.Values, c.Other, p.at), text, whole)
	}
	return whole
}

// alternative is the text of one: Some(5), Circle{ .r = 1.5 }, None.
func (p *prettier) alternative(a Path, name string, depth int) *tree.Expr {
	access, err := p.f.Resolve(a)
	if name == "" || access.Shape == nil || access.Shape.Kind != shape.Struct {
		return p.value(a, access, err, depth+1)
	}
	members := access.Shape.Members
	switch {
	case len(members) == 0:
		return tree.Text(p.at, name)
	case members[0] != "__0":
		return p.join(tree.Text(p.at, name), p.members(a, members, depth+1))
	}
	return p.join(tree.Text(p.at, name), p.parts(a, members, depth))
}

// parts is the text of what has no names: (1,2.5).
func (p *prettier) parts(a Path, names []string, depth int) *tree.Expr {
	whole := tree.Text(p.at, "(")
	for i, m := range names {
		if i > 0 {
			whole = p.join(whole, tree.Text(p.at, ","))
		}
		if p.leaves >= prettyLeaves {
			whole = p.join(whole, tree.Text(p.at, prettyMore))
			break
		}
		whole = p.join(whole, p.at1(a.Below(m), depth+1))
	}
	return p.join(whole, tree.Text(p.at, ")"))
}

// sequence is the text of elements that follow by number.
func (p *prettier) sequence(a Path, s *shape.Shape, depth int) *tree.Expr {
	switch {
	case s.First != "":
		return p.join(tree.Text(p.at, "["), p.linked(a, s, 0, depth), tree.Text(p.at, "]"))
	case len(s.Found) > 0:
		return p.searched(a, s, depth)
	case s.Length == "" && s.End == "":
		return p.elements(a, s.Len, depth)
	}
	length := func() *tree.Expr {
		if s.Length != "" {
			n, err := p.f.valueBelow(a, s.Length, p.at)
			return orPoison(n, err, p.at)
		}
		start, err := p.f.valueBelow(a, s.Start, p.at)
		end, err2 := p.f.valueBelow(a, s.End, p.at)
		if err != nil || err2 != nil || s.Stride <= 0 && s.Rest == "" {
			return tree.Poison(p.at)
		}
		bytes := tree.Apply(p.at, tree.KindInt, opcode.Sub, end, start)
		if s.Rest != "" {
			rest, err := p.f.valueBelow(a, s.Rest, p.at)
			bits := tree.Apply(p.at, tree.KindInt, opcode.Mul, bytes, tree.Integer(p.at, 8))
			return orPoison(tree.Apply(p.at, tree.KindInt, opcode.Add, bits, orPoison(rest, err, p.at)), err, p.at)
		}
		return tree.Apply(p.at, tree.KindInt, opcode.Quo, bytes, tree.Integer(p.at, s.Stride))
	}
	if length().Kind == tree.KindBad {
		return tree.Text(p.at, UnknownText)
	}
	above := func(i int) *tree.Expr {
		return p.f.Ops.Compare(token.GREATER, p.at, length(), tree.Integer(p.at, int64(i)))
	}
	opening, closing := "[", "]"
	if s.Set {
		opening, closing = "{", "}"
	}
	whole := tree.Text(p.at, opening)
	shown := 0
	for ; shown < prettyElements && p.leaves < prettyLeaves; shown++ {
		text := p.element(a.Below(strconv.Itoa(shown)), s, depth+1)
		if shown > 0 {
			text = p.join(tree.Text(p.at, ","), text)
		}
		whole = p.join(whole, p.f.Ops.Choose(p.at, above(shown), text, tree.Text(p.at, "")))
	}
	more := p.f.Ops.Choose(p.at, above(shown), tree.Text(p.at, prettyMore), tree.Text(p.at, ""))
	return p.join(whole, more, tree.Text(p.at, closing))
}

// linked is the text of the elements from i on, up to a null link.
func (p *prettier) linked(a Path, s *shape.Shape, i, depth int) *tree.Expr {
	link, err := p.f.valueBelow(a, s.First+strings.Repeat("."+s.Next, i), p.at)
	if err != nil {
		return tree.Text(p.at, UnknownText)
	}
	there := tree.Text(p.at, prettyMore)
	if i < prettyElements && p.leaves < prettyLeaves {
		there = p.join(p.element(a.Below(strconv.Itoa(i)), s, depth+1), p.linked(a, s, i+1, depth))
		if i > 0 {
			there = p.join(tree.Text(p.at, ","), there)
		}
	}
	return p.f.Ops.Choose(p.at, p.f.Ops.Truth(link), there, tree.Text(p.at, ""))
}

// element is the text of one element of a sequence: 5, "a": 5.
func (p *prettier) element(a Path, s *shape.Shape, depth int) *tree.Expr {
	if s.Key == "" {
		return p.at1(a, depth)
	}
	return p.join(p.at1(a.below(s.Key), depth), tree.Text(p.at, ": "), p.at1(a.below(s.Mapped), depth))
}

func orPoison(e *tree.Expr, err error, at diag.Span) *tree.Expr {
	if err != nil {
		return tree.Poison(at)
	}
	return e
}
