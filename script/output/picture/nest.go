package picture

import (
	"maps"
	"slices"
)

// A nester finds out which calls are inside of which. A call is reported as it returns, so a thread's calls come after
// those that they made, with their depths. The times alone do not tell: the time of a call is that of its record, which
// is made some time after the function has begun, and the duration is measured from the beginning on.
type nester struct {
	calls    []Call           // as they came
	children map[int][]int    // of calls, in their order
	roots    map[uint32][]int // by thread, calls that are inside of none so far
}

func newNester() *nester {
	return &nester{children: map[int][]int{}, roots: map[uint32][]int{}}
}

// add takes the next call: the deeper ones of its thread that no other call has are inside of it.
func (n *nester) add(c Call) {
	id, roots := len(n.calls), n.roots[c.Tid]
	first := len(roots)
	for first > 0 && n.calls[roots[first-1]].Depth > c.Depth {
		first--
	}
	if first < len(roots) {
		n.children[id] = slices.Clone(roots[first:])
	}
	n.calls = append(n.calls, c)
	n.roots[c.Tid] = append(roots[:first], id)
}

// nested returns the calls by thread, the outer before the inner. last has the latest time of each thread.
func (n *nester) nested(last map[uint32]uint64) []Call {
	list := make([]Call, 0, len(n.calls))
	var put func(ids []int, outer int, from, until uint64)
	put = func(ids []int, outer int, from, until uint64) {
		for i, id := range ids {
			c := n.calls[id]
			c.Outer, c.Start = outer, min(max(c.Start, from), until)
			end := until
			if i+1 < len(ids) {
				end = max(min(until, n.calls[ids[i+1]].Start), c.Start)
			}
			if c.Returned {
				c.Duration = min(c.Took, end-c.Start)
			} else {
				c.Duration = end - c.Start
				c.Took = c.Duration
			}
			from = c.Start + c.Duration
			list = append(list, c)
			put(n.children[id], len(list)-1, c.Start, from)
		}
	}
	for _, tid := range slices.Sorted(maps.Keys(n.roots)) {
		put(n.roots[tid], -1, 0, last[tid])
	}
	return list
}
