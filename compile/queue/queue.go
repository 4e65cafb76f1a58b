// Package queue has the order in which the verifier visits the nodes of a program. It has no state of its own, and one
// goroutine at a time uses a Queue.
package queue

// Queue holds the nodes to be visited. Nodes of earlier blocks come first, so that most nodes are visited after all
// their predecessors, and few of them twice. It is a binary heap of numbers, block<<32 + node, because package
// container/heap would allocate for each node.
type Queue []uint64

// Push adds a node. Blocks and nodes are below 1<<32.
func (q *Queue) Push(block, node int) {
	*q = append(*q, uint64(block)<<32|uint64(uint32(node)))
	h := *q
	for at := len(h) - 1; at > 0; {
		parent := (at - 1) / 2
		if h[parent] <= h[at] {
			break
		}
		h[parent], h[at] = h[at], h[parent]
		at = parent
	}
}

// Pop removes and returns the node of the earliest block. The queue must not be empty.
func (q *Queue) Pop() (node int) {
	h := *q
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	*q = h
	for at := 0; ; {
		child := 2*at + 1
		if child >= len(h) {
			return int(uint32(first))
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[at] <= h[child] {
			return int(uint32(first))
		}
		h[at], h[child] = h[child], h[at]
		at = child
	}
}
