package compile

import (
	"math"
	"slices"
)

// weight is the maximum cost of a piece of program.
type weight struct{ steps, logged uint64 }

// tooMuch is a cost that counts as unbounded. It is far above any fuel, and far below the point where sums of a
// program's costs could wrap.
const tooMuch = 1 << 40

func (a weight) plus(b weight) weight {
	return weight{min(a.steps+b.steps, tooMuch), min(a.logged+b.logged, tooMuch)}
}

func (a weight) most(b weight) weight { return weight{max(a.steps, b.steps), max(a.logged, b.logged)} }

func (a weight) times(n uint64) weight {
	return weight{multiplied(a.steps, n), multiplied(a.logged, n)}
}

func multiplied(a, n uint64) uint64 {
	if n != 0 && a > tooMuch/n {
		return tooMuch
	}
	return a * n
}

// maxNesting is the maximum depth of nested loops for which a bound is searched.
const maxNesting = 24

// unprovedLoop is the first loop in the program for which no bound was found.
type unprovedLoop struct {
	found bool
	at    int // its first command
}

// loopMark holds the data of the loop search for a node.
type loopMark struct {
	set        int // the set of nodes being searched
	inner      int // equal to set if the node is in a loop inside that set's loop
	order, low int // the numbers of Tarjan's algorithm
	onStack    bool
	best       weight // maximum cost from here to the end, inside the set
}

// worstCase returns the maximum cost of a routine. The costs of its callees must be known. Each loop becomes one node
// with the cost of all its rounds; the result is the longest path in the remaining acyclic graph.
func (f *flow) worstCase(r int) weight {
	rt := &f.routines[r]
	entry, _ := f.nodeOf(r, rt.entry)
	set := f.gather(rt.nodes)
	f.pathCost(f.components(rt.nodes, set, -1), set, -1, 0)
	return f.nodes[entry].mark.best
}

// gather marks nodes as one set and returns its number. The marks are in the nodes themselves, because loops nest and a
// separate set for each level would be copied repeatedly.
func (f *flow) gather(nodes []int) int {
	f.level++
	for _, n := range nodes {
		f.nodes[n].mark.set = f.level
	}
	return f.level
}

// eachNext calls fn for the nodes of the same set that can follow n, including through an error. It skips edges to the
// node cutTo.
func (f *flow) eachNext(n, set, cutTo int, fn func(m int)) {
	f.eachFollowing(n, set, cutTo, fn)
	f.eachHandler(n, set, func(m int) {
		if m != cutTo {
			fn(m)
		}
	})
}

// eachFollowing is eachNext without the edges through errors.
func (f *flow) eachFollowing(n, set, cutTo int, fn func(m int)) {
	for _, m := range f.nodes[n].succ {
		if m >= 0 && m != cutTo && f.nodes[m].mark.set == set {
			fn(m)
		}
	}
}

// eachHandler calls fn for the handlers in the same set that a node sets.
func (f *flow) eachHandler(n, set int, fn func(m int)) {
	for _, m := range f.nodes[n].catches {
		if f.nodes[m].mark.set == set {
			fn(m)
		}
	}
}

// components returns the strongly connected components of a set, each after all components that it leads to (Tarjan's
// algorithm). This is reverse topological order, the order in which costs are computed.
func (f *flow) components(nodes []int, set, cutTo int) [][]int {
	t := tarjan{f: f, set: set, cutTo: cutTo}
	for _, n := range nodes {
		f.nodes[n].mark.order = 0
	}
	for _, n := range nodes {
		if f.nodes[n].mark.order == 0 {
			t.visit(n)
		}
	}
	return t.found
}

type tarjan struct {
	f          *flow
	set, cutTo int
	count      int
	stack      []int
	found      [][]int
}

func (t *tarjan) visit(n int) {
	t.count++
	mark := &t.f.nodes[n].mark
	mark.order, mark.low, mark.onStack = t.count, t.count, true
	t.stack = append(t.stack, n)
	t.f.eachNext(n, t.set, t.cutTo, func(m int) {
		next := &t.f.nodes[m].mark
		if next.order == 0 {
			t.visit(m)
			mark.low = min(mark.low, next.low)
		} else if next.onStack {
			mark.low = min(mark.low, next.order)
		}
	})
	if mark.low == mark.order {
		t.found = append(t.found, t.take(n))
	}
}

// take removes a finished component from the stack.
func (t *tarjan) take(root int) []int {
	at := len(t.stack) - 1
	for t.stack[at] != root {
		at--
	}
	part := append([]int(nil), t.stack[at:]...)
	t.stack = t.stack[:at]
	for _, n := range part {
		t.f.nodes[n].mark.onStack = false
	}
	return part
}

// isLoop reports whether a component can run again.
func (f *flow) isLoop(part []int, cutTo int) bool {
	if len(part) > 1 {
		return true
	}
	n := part[0]
	return n != cutTo && (f.nodes[n].succ[0] == n || f.nodes[n].succ[1] == n || slices.Contains(f.nodes[n].catches, n))
}

// pathCost sets the cost from every node of a set to the end. Each component follows those that it leads to. The cost
// of a handler is added, and not compared with the other paths, because an error can come after any part of them.
func (f *flow) pathCost(parts [][]int, set, cutTo, depth int) {
	for _, part := range parts {
		var own, after, caught weight
		if f.isLoop(part, cutTo) {
			own = f.loopCost(part, set, cutTo, depth)
			for _, n := range part {
				f.nodes[n].mark.set = -set // edges inside the loop are part of its cost
			}
		} else {
			own = f.nodeCost(part[0])
		}
		for _, n := range part {
			f.eachFollowing(n, set, cutTo, func(m int) { after = after.most(f.nodes[m].mark.best) })
			f.eachHandler(n, set, func(m int) { caught = caught.most(f.nodes[m].mark.best) })
		}
		for _, n := range part {
			f.nodes[n].mark.set, f.nodes[n].mark.best = set, own.plus(after).plus(caught)
		}
	}
}

// nodeCost returns the cost of a block, including the routine that it calls.
func (f *flow) nodeCost(n int) weight {
	nd := &f.nodes[n]
	b := f.blocks[nd.block]
	w := weight{logged: nd.logged, steps: uint64(b.end - b.start)} // each command is one step
	if nd.callee >= 0 {
		w = w.plus(f.routines[nd.callee].worst)
	}
	return w
}

// loopCost returns the cost of all rounds of a loop: the cost of its longest round times the maximum number of entries
// of its header. It cuts the edges back into the header and treats the rest of the loop in the same way, one level
// deeper.
func (f *flow) loopCost(part []int, outer, outerCut, depth int) weight {
	header, ok := f.header(part)
	if !ok || depth >= maxNesting || f.p.Wrap {
		return f.unbounded(part)
	}
	set := f.gather(part)
	if f.rearms(part, set) {
		return f.unbounded(part)
	}
	inner := f.components(part, set, header)
	for _, p := range inner {
		if f.isLoop(p, header) {
			for _, n := range p {
				f.nodes[n].mark.inner = set
			}
		}
	}
	rounds, ok := f.rounds(part, header, set)
	if !ok {
		return f.unbounded(part)
	}
	f.pathCost(inner, set, header, depth+1)
	return f.nodes[header].mark.best.times(rounds)
}

// rearms reports whether a loop leads through a handler that it sets itself. The number of its rounds then depends on
// errors, about which nothing is known.
func (f *flow) rearms(part []int, set int) (found bool) {
	for _, n := range part {
		f.eachHandler(n, set, func(int) { found = true })
	}
	return found
}

// unbounded records a loop without a bound.
func (f *flow) unbounded(part []int) weight {
	first := math.MaxInt
	for _, n := range part {
		first = min(first, f.blocks[f.nodes[n].block].start)
	}
	if !f.unproved.found || first < f.unproved.at {
		f.unproved = unprovedLoop{true, first}
	}
	return weight{tooMuch, tooMuch}
}

// header returns the only node of a loop that is entered from outside; ok is false if there are several. The rounds of
// a loop with two entries cannot be counted, because control may go round without passing a given entry.
func (f *flow) header(part []int) (header int, ok bool) {
	inside := make(map[int]bool, len(part))
	for _, n := range part {
		inside[n] = true
	}
	header = -1
	for _, n := range part {
		if !f.enteredFromOutside(n, inside) {
			continue
		}
		if header >= 0 {
			return 0, false
		}
		header = n
	}
	return header, header >= 0
}

// enteredFromOutside reports whether a node is the entry of the routine, a handler, or the successor of a node outside
// the set.
func (f *flow) enteredFromOutside(n int, inside map[int]bool) bool {
	if f.isEntry(n) || f.nodes[n].handler {
		return true
	}
	for _, m := range f.before(n) {
		if !inside[m] {
			return true
		}
	}
	return false
}

// isEntry reports whether a node is the entry of its routine.
func (f *flow) isEntry(n int) bool { return f.routines[f.nodes[n].routine].entry == f.nodes[n].block }
