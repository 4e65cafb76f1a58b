package picture

import (
	"slices"
	"strings"

	"gotap/compile/diag"
)

// Bounds of the stacks that are counted together. Frames beyond the depth, the innermost, are left out: what they count
// is their caller's. Stacks beyond the limits are counted together, as the stack otherStacks.
const (
	maxDepth    = 500
	maxNodes    = 500_000
	maxFrames   = 2_000_000 // of all different stacks together
	otherStacks = "(other stacks)"
)

// A node is a stack: a frame, and the stack of its callers.
type node struct {
	callers int // 0: none
	depth   int // frames of the stack
	name    string
	value   int64
}

// An edge leads from a stack to one with a further frame.
type edge struct {
	callers int
	name    string // as the target has it
}

// A folder adds up the values of equal stacks, which are numbers of nodes. 0 is the stack without frames.
type folder struct {
	nodes  []node
	ids    map[edge]int
	frames int // of the stacks that have a value
}

// other is the node of otherStacks.
const other = 1

func newFolder() *folder {
	return &folder{nodes: []node{{}, {name: otherStacks, depth: 1}}, ids: map[edge]int{}}
}

// inside returns the stack in which a function is called by the innermost of another stack.
func (f *folder) inside(callers int, name string) int {
	if callers == other || f.nodes[callers].depth == maxDepth {
		return callers
	}
	id, known := f.ids[edge{callers, name}]
	switch {
	case known:
		return id
	case len(f.nodes) == maxNodes:
		return other
	}
	id = len(f.nodes)
	f.ids[edge{callers, name}] = id
	f.nodes = append(f.nodes, node{callers: callers, depth: f.nodes[callers].depth + 1, name: shown(name)})
	return id
}

// stack returns the stack with these frames, outermost first.
func (f *folder) stack(frames ...string) (id int) {
	for _, name := range frames {
		id = f.inside(id, name)
	}
	return id
}

// add adds to the value of a stack. What is not above 0 is left out: no format has a place for it.
func (f *folder) add(id int, n int64) {
	if id == 0 || n <= 0 {
		return
	}
	if f.nodes[id].value == 0 && id != other {
		if f.frames+f.nodes[id].depth > maxFrames {
			id = other
		} else {
			f.frames += f.nodes[id].depth
		}
	}
	f.nodes[id].value += n
}

// stacks returns the stacks that have a value, in the order of their frames.
func (f *folder) stacks(name, unit string) Stacks {
	s := Stacks{Name: shown(name), Unit: unit}
	for _, n := range f.nodes {
		if n.value > 0 {
			s.List = append(s.List, Stack{f.names(n), n.value})
		}
	}
	slices.SortFunc(s.List, func(a, b Stack) int { return slices.Compare(a.Frames, b.Frames) })
	return s
}

// names returns the frames of a stack, outermost first.
func (f *folder) names(n node) []string {
	names := make([]string, n.depth)
	for i := n.depth - 1; i >= 0; i-- {
		names[i], n = n.name, f.nodes[n.callers]
	}
	return names
}

// shown returns a name, which comes from the target, as one line of UTF-8 that a terminal can show.
func shown(name string) string {
	return strings.ToValidUTF8(diag.Escape(strings.ReplaceAll(name, "\n", " ")), "?")
}
