package callconv

import (
	"strings"

	"gotap/compile"
	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/location"
)

// GoWord returns the access to word n, from 0, of the integers and pointers among the arguments of a Go function at its
// entry: a string is two such words, a slice three. ok is false when the function has no such word.
func (cv *Rules) GoWord(fn *function.Function, n int) (a compile.Access, ok bool) {
	g := golang{cv}
	values, err := g.values(fn, false)
	if err != nil || n < 0 {
		return a, false
	}
	for _, v := range values {
		words := g.words(g.AtEntry(v.place), v.typ, n+1)
		if n < len(words) {
			return words[n], true
		}
		n -= len(words)
	}
	return a, false
}

// words returns the integer words of an argument, at least as many as wanted if there are that many: arrays can have
// millions.
func (g golang) words(p location.Place, t *ctype.Type, wanted int) []compile.Access {
	if !p.Memory && len(p.Pieces) == 0 {
		p = location.Place{Pieces: []location.Piece{{Size: g.types.Size(t), Place: p}}}
	}
	var words []compile.Access
	for _, part := range p.Pieces {
		if part.Absent || isVector(part.Place) {
			continue
		}
		if a, err := part.Place.Scalar(min(part.Size, 8), t.Signed, false); err == nil {
			a.Type = compile.TypeInt
			words = append(words, a)
		}
	}
	if !p.Memory || t.Kind == ctype.Float {
		return words
	}
	for off := int64(0); off < g.types.Size(t) && len(words) < wanted; off += g.entries.Word() {
		size := min(g.entries.Word(), g.types.Size(t)-off)
		if a, err := p.Add(off).Scalar(size&-size, t.Signed, false); err == nil {
			a.Type = compile.TypeInt
			words = append(words, a)
		}
	}
	return words
}

// isVector reports whether a place is a vector register, or not a register.
func isVector(p location.Place) bool {
	return p.Base != compile.BaseReg || strings.HasPrefix(p.Reg, "xmm") || p.Reg[0] == 'v' || p.Reg[0] == 'd'
}
