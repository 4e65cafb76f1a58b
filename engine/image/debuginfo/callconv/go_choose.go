package callconv

import (
	"slices"
	"strings"

	"gotap/engine/image/debuginfo/ctype"
	"gotap/engine/image/debuginfo/function"
	"gotap/engine/image/debuginfo/location"
)

// resultWay returns the way of assigning results when arguments are assigned in the given way. Results have no
// dictionary.
func resultWay(way int) int {
	if way == goStack {
		return way
	}
	return goRegular
}

// Ways of assigning arguments: regularly, all on the stack, or, for numbers from goDictionary, with a dictionary before
// the argument of that number.
const (
	goRegular    = -1
	goStack      = -2
	goDictionary = 0
)

// choose assigns places to the arguments of fn in the way that its location lists contradict least.
func (g golang) choose(fn *function.Function, list []goValue) (way int) {
	ways := []int{goRegular, goStack}
	if name := g.entries.Name(fn.DIE); strings.Contains(name, "[go.shape.") && !g.hasDictionary(list) {
		ways = []int{goDictionary + 1, goDictionary, goRegular}
		if strings.HasSuffix(name, "]") { // neither a method nor a closure
			ways = ways[1:]
		}
	}
	best, fewest := goRegular, len(list)+1
	for _, way := range ways {
		g.assign(list, way)
		if n := g.contradictions(fn, list); n < fewest {
			best, fewest = way, n
		}
	}
	g.assign(list, best)
	return best
}

// hasDictionary reports whether the arguments include a dictionary, as they do without optimisation.
func (g golang) hasDictionary(list []goValue) bool {
	return slices.ContainsFunc(list, func(v goValue) bool { return g.entries.Name(v.entry) == ".dict" })
}

// assign gives each argument its place. It returns where results on the stack start.
func (g golang) assign(list []goValue, way int) (end int64) {
	s := g.slots()
	g.place(&s, list, way)
	return (s.stack + s.word - 1) / s.word * s.word
}

// place assigns values to the slots that are left.
func (g golang) place(s *goSlots, list []goValue, way int) {
	if way == goStack {
		s.maxInts, s.maxFloats = 0, 0
	}
	for i := range list {
		if i == way {
			g.next(s, &ctype.Type{Kind: ctype.Pointer, Size: s.word})
		}
		list[i].place = g.next(s, list[i].typ)
	}
}

// contradictions counts the values that the compiler describes at another place at the entry. A location outside a list
// is valid for the whole function; it is valid at the entry, too, where arguments are not passed in registers.
func (g golang) contradictions(fn *function.Function, list []goValue) int {
	count, always := 0, g.slots().maxInts == 0
	for _, v := range list {
		loc, ok, err := g.locations.Of(fn.Unit, v.entry, fn.Low)
		if err != nil || !ok || !loc.List && !always {
			continue
		}
		if written, err := g.locations.Locate(fn, fn.Low, loc.Expr); err == nil && !agree(v.place, written) {
			count++
		}
	}
	return count
}

// agree reports whether a place by convention agrees with the one that the compiler described. Unused parts are not
// compared.
func agree(p, written location.Place) bool {
	if len(written.Pieces) == 0 {
		if len(p.Pieces) == 1 {
			p = p.Pieces[0].Place
		}
		return p.Base == written.Base && p.Reg == written.Reg && p.Value == written.Value && p.Memory == written.Memory
	}
	off, next := int64(0), 0
	for _, w := range written.Pieces {
		// Both lists have the order of the value's parts; only one of them has padding and unused parts.
		switch {
		case w.Absent:
		case p.Memory:
			if !agree(p.Add(off), w.Place) {
				return false
			}
		default:
			for next < len(p.Pieces) && (p.Pieces[next].Absent || !agree(p.Pieces[next].Place, w.Place)) {
				next++
			}
			if next == len(p.Pieces) {
				return false
			}
		}
		off += w.Size
	}
	return true
}
