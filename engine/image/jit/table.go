package jit

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what is kept of one process.
const (
	maxEntries = 1 << 20   // pieces of code
	maxText    = 256 << 20 // bytes that are read of a map
	maxName    = 1 << 10   // bytes of a name; the rest is cut
	maxLines   = 1 << 22   // line numbers of a dump
	maxCode    = 1 << 30   // bytes of one piece of code
)

// code is one piece of generated code.
type code struct {
	start, end uint64
	name       string
	lines      []line // by address
}

// line says which line of the source an address and those behind it belong to.
type line struct {
	addr uint64
	file string
	line int
}

// segment is a range of addresses that belongs to one piece of code.
type segment struct {
	start, end uint64
	code       int32
}

// table finds the latest piece of code at an address.
type table struct {
	all      []code // in the order in which they were written
	segments []segment
	built    int // pieces that are in the segments
}

// add notes a piece of code. It is left out if it makes no sense or there are too many.
func (t *table) add(c code) {
	if c.end <= c.start || c.end-c.start > maxCode || c.name == "" || len(t.all) == maxEntries {
		return
	}
	t.all = append(t.all, c)
}

// find returns the latest piece of code at an address, or nil.
func (t *table) find(addr uint64) *code {
	if t.built != len(t.all) {
		t.build()
	}
	i, exact := slices.BinarySearchFunc(t.segments, addr, func(s segment, addr uint64) int { return cmp.Compare(s.start, addr) })
	if !exact {
		i--
	}
	if i < 0 || addr >= t.segments[i].end {
		return nil
	}
	return &t.all[t.segments[i].code]
}

// latest is a heap of pieces of code, the one written last on top.
type latest []int32

func (l latest) Len() int           { return len(l) }
func (l latest) Less(i, j int) bool { return l[i] > l[j] }
func (l latest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *latest) Push(x any)        { *l = append(*l, x.(int32)) }
func (l *latest) Pop() any {
	last := len(*l) - 1
	x := (*l)[last]
	*l = (*l)[:last]
	return x
}

// build cuts the addresses into segments. It goes through the pieces by their start and keeps those that have begun in
// a heap.
func (t *table) build() {
	order := make([]int32, len(t.all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(t.all[a].start, t.all[b].start) })
	t.segments, t.built = t.segments[:0], len(t.all)
	var begun latest
	at := uint64(0)
	for next := 0; next < len(order) || len(begun) > 0; {
		for len(begun) > 0 && t.all[begun[0]].end <= at {
			heap.Pop(&begun)
		}
		if len(begun) == 0 {
			if next == len(order) {
				return
			}
			at = max(at, t.all[order[next]].start)
		}
		for ; next < len(order) && t.all[order[next]].start <= at; next++ {
			heap.Push(&begun, order[next])
		}
		if t.all[begun[0]].end <= at {
			continue
		}
		end := t.all[begun[0]].end
		if next < len(order) {
			end = min(end, t.all[order[next]].start)
		}
		t.cover(segment{at, end, begun[0]})
		at = end
	}
}

// cover appends a segment, or makes the last one longer.
func (t *table) cover(s segment) {
	if n := len(t.segments); n > 0 && t.segments[n-1].code == s.code && t.segments[n-1].end == s.start {
		t.segments[n-1].end = s.end
		return
	}
	t.segments = append(t.segments, s)
}

// at returns the source line of an address.
func (c *code) at(addr uint64) (file string, number int) {
	i, exact := slices.BinarySearchFunc(c.lines, addr, func(l line, addr uint64) int { return cmp.Compare(l.addr, addr) })
	if !exact {
		i--
	}
	if i < 0 {
		return "", 0
	}
	return c.lines[i].file, c.lines[i].line
}

// clean returns a name as it can be shown: bounded, and without control characters, which only a broken file has.
func clean(name string) string {
	if len(name) > maxName {
		name = name[:maxName]
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; c < ' ' || c >= 0x7f {
			return strings.Map(printable, strings.ToValidUTF8(name, "?"))
		}
	}
	return name
}

// printable replaces control characters.
func printable(r rune) rune {
	if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
		return '?'
	}
	return r
}
