package compile

// queue holds the nodes to be visited; those of earlier blocks come out first, so that most
// nodes are visited after all that lead to them, and few of them twice. It is a binary heap of
// numbers, block<<32 | node: package container/heap would allocate for each of them.
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

// pop takes the node of the earliest block off the queue, which is not empty.
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

// nodeOf finds the node of a block in a routine. The program itself has a slice, because most
// blocks belong to it alone; for all routines that would be as many words as there are blocks
// times routines.
func (f *flow) nodeOf(r, b int) (node int, known bool) {
	if r == 0 {
		node = f.own[b] - 1
		return node, node >= 0
	}
	node, known = f.index[[2]int{r, b}]
	return node, known
}

// setNode notes the node of a block in a routine.
func (f *flow) setNode(r, b, node int) {
	if r == 0 {
		f.own[b] = node + 1
	} else {
		f.index[[2]int{r, b}] = node
	}
}
