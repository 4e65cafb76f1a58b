package element

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is how a container keeps its elements.
type Kind uint8

// The kinds, each with its numbers. All are offsets in bytes from the container, unless they say otherwise.
const (
	None        Kind = iota
	Tree             // binary: first node; in nodes: left, right, parent, data
	Slots            // of hashbrown: control bytes, mask; bytes of a slot
	BTree            // of Rust: root, its height; in nodes: number of elements, edges, data; bytes of an element
	Groups           // of Go's maps: directory, its length; in tables: groups, mask; bytes of a group; in groups: slots; bytes of a slot
	Ring             // buffer, capacity, first index; bytes of an element
	Blocks           // table of blocks, first index; elements of a block; bytes of an element
	Deque            // of the first element: block in the table, address, beginning of the block; the same of the end; elements of a block; bytes of an element
	Bits             // the word that begins with the first bit, the last word, how many bits there are from there on
	CountedBits      // the word that begins with the first bit, the number of bits
	numKinds
)

var kinds = [numKinds]struct {
	name    string
	numbers int
}{
	Tree: {"tree", 5}, Slots: {"slots", 3}, BTree: {"btree", 6}, Groups: {"groups", 7}, Ring: {"ring", 4}, Blocks: {"blocks", 4}, Deque: {"deque", 8},
	Bits: {"bits", 3}, CountedBits: {"counted-bits", 2},
}

// Most returns how many elements can be found by number. Where that takes no search, it does not matter how many there
// are before one.
func (k Kind) Most() int64 {
	switch k {
	case Ring, Blocks, Deque, Bits, CountedBits:
		return maxNumber
	}
	return mostSearched
}

// mostSearched bounds searches that go from one element to the next.
const mostSearched = 64

// Layout is how one type of containers keeps its elements.
type Layout struct {
	Kind    Kind
	Numbers []int64
}

// String is the layout as text: "tree 24 16 24 8 32".
func (l Layout) String() string {
	var b strings.Builder
	b.WriteString(kinds[l.Kind].name)
	for _, n := range l.Numbers {
		b.WriteByte(' ')
		b.WriteString(strconv.FormatInt(n, 10))
	}
	return b.String()
}

// maxNumber bounds the numbers of a layout, which are offsets in objects and sizes of elements.
const maxNumber = 1 << 31

// Parse reads what String writes.
func Parse(text string) (Layout, error) {
	name, rest, _ := strings.Cut(text, " ")
	for kind := Tree; kind < numKinds; kind++ {
		if kinds[kind].name != name {
			continue
		}
		l := Layout{Kind: kind}
		for _, word := range strings.Fields(rest) {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil || n < 0 || n >= maxNumber {
				return Layout{}, fmt.Errorf("%q does not describe a container: %s is not a number from 0 to %d", text, word, maxNumber-1)
			}
			l.Numbers = append(l.Numbers, n)
		}
		if len(l.Numbers) != kinds[kind].numbers {
			return Layout{}, fmt.Errorf("%q does not describe a container: %s has %d numbers", text, name, kinds[kind].numbers)
		}
		return l, nil
	}
	return Layout{}, fmt.Errorf("%q does not describe a container: %q is unknown", text, name)
}
