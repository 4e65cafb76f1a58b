package compile

// queue holds the nodes to be visited. Nodes of earlier blocks come first, so that most nodes are visited after all
// their predecessors, and few of them twice. It is a binary heap of numbers, block<<32
//
// node, because package container/heap would allocate for each node.
type queue []uint64

// push adds a node.
func (q *queue) push(block, node int) {
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

// pop removes and returns the node of the earliest block. The queue must not be empty.
func (q *queue) pop() (node int) {
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

// nodeOf finds the node of a block in a routine. The program itself has a slice, because most blocks belong to it
// alone. Slices for all routines would take as many words as blocks times routines.
func (f *flow) nodeOf(r, b int) (node int, known bool) {
	if r == 0 {
		node = f.own[b] - 1
		return node, node >= 0
	}
	node, known = f.index[[2]int{r, b}]
	return node, known
}

// setNode records the node of a block in a routine.
func (f *flow) setNode(r, b, node int) {
	if r == 0 {
		f.own[b] = node + 1
	} else {
		f.index[[2]int{r, b}] = node
	}
}
