package compile

import (
	"fmt"
	"slices"

	"gotap/compile/diag"
	"gotap/compile/queue"
	"gotap/runtime/opcode"
	rtvalue "gotap/runtime/value"
)

// block is a sequence of commands that control enters only at the first and leaves only after the last.
type block struct {
	start, end int    // commands start … end-1
	succ       [2]int // target of a jump, next block; -1 if there is none
}

// endsBlock reports whether control may continue elsewhere than at the next command.
func endsBlock(op opcode.Op) bool { return jumps(op) || ends(op) }

// jumps reports whether the command has a jump target.
func jumps(op opcode.Op) bool { return op.Has(opcode.Jumps) }

// labels reports whether the operand of the command is a label: that of a jump, or of sx, which does not jump itself.
func labels(op opcode.Op) bool { return jumps(op) || op == opcode.SetX }

// ends reports whether control never continues at the next command.
func ends(op opcode.Op) bool { return op.Has(opcode.Ends) }

// cut divides a program into blocks. The jump targets must be in range. blockAt maps the first command of a block to
// the block. A handler starts a block like the target of a jump, because control arrives there from elsewhere.
func cut(code []Command) (blocks []block, blockAt []int) {
	leader := make([]bool, len(code)+1)
	leader[0] = true
	for i, c := range code {
		if labels(c.Op) {
			leader[c.A] = true
		}
		if endsBlock(c.Op) {
			leader[i+1] = true
		}
	}
	blockAt = make([]int, len(code)+1)
	for i := range code {
		if leader[i] {
			blocks = append(blocks, block{start: i})
		}
		blockAt[i] = len(blocks) - 1
		blocks[len(blocks)-1].end = i + 1
	}
	blockAt[len(code)] = -1
	for i := range blocks {
		blocks[i].succ = successors(code, blocks[i].end, blockAt)
	}
	return blocks, blockAt
}

// successors returns the blocks that control can reach from the command end-1.
func successors(code []Command, end int, blockAt []int) [2]int {
	last, next := code[end-1], [2]int{-1, -1}
	if jumps(last.Op) && last.Op != opcode.Call {
		next[0] = blockAt[last.A]
	}
	if !ends(last.Op) {
		next[1] = blockAt[end]
	}
	return next
}

// routine is a called piece of the program, from its entry to its rets. Routine 0 is the program itself.
type routine struct {
	entry   int    // block
	start   *state // what holds for all its callers
	ret     *state // what holds at all its rets; nil until one is reached
	callers []int  // nodes that end in a call to it
	nodes   []int

	joins     int // number of states joined into start
	deepest   int // greatest depth reached, relative to the entry
	deepestAt int // command that reached it
	lowest    int // lowest stack index that it changes
	writes    assigned
	worst     weight
	base      int // depth at the entry, for the deepest caller
	nested    int // maximum number of nested calls up to here
	state     searchState
	handles   int // first command that sets a handler, -1 if there is none
}

// node is a block as run by one routine. A block that several routines share has a node for each.
type node struct {
	routine, block int
	in             *state
	queued         bool
	rounds         int  // number of states that came from later blocks
	failed         bool // an error ends it early

	// The results of the last visit. The last visit knows least, so its results hold for every run.
	logged  uint64 // maximum number of bytes logged
	lowest  int    // lowest stack index changed, except by a closing loop command
	writes  []tempWrite
	test    value // condition of a closing conditional jump
	counter int   // stack index of the counter of a closing loop command
	callee  int   // routine of a closing call, or -1
	depth   int   // of the stack at the closing call
	succ    [2]int
	catches []int // the handlers that it sets
	handler bool  // exceptions can lead here

	mark loopMark
}

// tempWrite is an assignment to a scratch word. If step is set, the assignment adds the constant by.
type tempWrite struct {
	temp int
	step bool
	by   int64
}

// maxHeld limits the memory that the verifier uses, as a defence against hostile programs. A node holds a stack and
// scratch words, and there can be as many nodes as blocks times routines: 65,536 commands could ask for gigabytes.
const maxHeld = 1 << 19

// flow is one run of the verifier over a program.
type flow struct {
	p        *Program
	blocks   []block
	blockAt  []int
	routines []routine
	entries  map[int]int // routine by entry block
	nodes    []node
	index    map[[2]int]int // node by routine and block
	own      []int          // nodes of routine 0 by block, plus 1
	queue    queue.Queue
	diags    *diag.List
	said     map[int]bool // commands for which an error was reported
	uses     map[int]use
	unproved unprovedLoop
	preds    [][]int
	depths   [][2]int // depth before and after each command, if a listing needs it
	spares   []*state // unused states
	held     int      // values kept in the states of all nodes
	stops    widening
	handling bool // the program sets handlers
	level    int  // numbers the sets of nodes that are searched for loops
}

// use describes how a program uses an object that has keys.
type use struct {
	key   string // kinds of the parts, one byte each
	value rtvalue.Kind
	at    int // the first command that uses it
}

// analyse computes what holds before every reachable command.
func analyse(p *Program, diags *diag.List) *flow {
	f := &flow{p: p, diags: diags, entries: map[int]int{}, index: map[[2]int]int{}, said: map[int]bool{}, uses: map[int]use{}}
	f.blocks, f.blockAt = cut(p.Code)
	f.own = make([]int, len(f.blocks))
	f.stops = stops(p.Code)
	f.handling = slices.ContainsFunc(p.Code, func(c Command) bool { return c.Op == opcode.SetX })
	f.routines = []routine{{entry: 0, handles: -1, start: &state{item: -1, words: make([]value, min(p.Temps, followedTemps))}}}
	f.flowInto(0, 0, f.routines[0].start.clone(), false)
	for len(f.queue) > 0 {
		n := f.queue.Pop()
		f.nodes[n].queued = false
		f.visit(n)
	}
	return f
}

// errorf reports an error at a command, at most one for each command.
func (f *flow) errorf(at int, hint, format string, args ...any) {
	if f.said[at] {
		return
	}
	f.said[at] = true
	f.p.errorf(f.diags, at, hint, format, args...)
}

// errorf reports an error at a command. If the command has no source position, the text includes its number.
func (p *Program) errorf(diags *diag.List, at int, hint, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.Code[at].Pos.Source == nil {
		text = fmt.Sprintf("%s: command %d, %s: %s", p.Name, at, p.commandText(at), text)
	}
	diags.Errorf(p.Code[at].Pos, hint, "%s", text)
}

// flowInto joins a state into a block of a routine, and queues the block if that changes what is known. It returns the
// node and takes ownership of the state. Every cycle of the program has a step back to an earlier block. Only there are
// bounds that keep moving widened, so that the words that a loop does not change stay known in it.
func (f *flow) flowInto(r, b int, s *state, back bool) int {
	n, known := f.nodeOf(r, b)
	if !known {
		n = len(f.nodes)
		f.setNode(r, b, n)
		if f.held += 4 + len(s.stack) + len(s.words); f.held > maxHeld {
			f.errorf(f.blocks[b].start, "", "the program is too large to be verified: its routines share too much code, or its stack is too deep")
			f.nodes = append(f.nodes, node{routine: r, block: b, in: s, callee: -1, succ: [2]int{-1, -1}, failed: true})
			return n
		}
		f.nodes = append(f.nodes, node{routine: r, block: b, in: s, callee: -1, succ: [2]int{-1, -1}})
		f.routines[r].nodes = append(f.routines[r].nodes, n)
		f.enqueue(n)
		return n
	}
	defer func() { f.spares = append(f.spares, s) }()
	to := &f.nodes[n]
	if why := to.in.mismatch(s); why != "" {
		f.errorf(f.blocks[b].start, "", "%s", why)
		return n
	}
	var widen widening
	if back {
		to.rounds++
		widen = f.widening(to.rounds)
	}
	if to.in.join(s, widen) {
		f.enqueue(n)
	}
	return n
}

// copyOf copies a state, into an unused one if there is one.
func (f *flow) copyOf(s *state) *state {
	n := len(f.spares)
	if n == 0 {
		return s.clone()
	}
	c := f.spares[n-1]
	f.spares = f.spares[:n-1]
	stack, words := c.stack[:0], c.words[:0]
	*c = *s
	c.stack, c.words = append(stack, s.stack...), append(words, s.words...)
	return c
}

// widening returns the limits that moving bounds are widened to in a state that has been joined n times.
func (f *flow) widening(n int) widening {
	switch {
	case n <= 3:
		return nil
	case n <= 10:
		return f.stops
	}
	return unlimited
}

func (f *flow) enqueue(n int) {
	if !f.nodes[n].queued {
		f.nodes[n].queued = true
		f.queue.Push(f.nodes[n].block, n)
	}
}

// visit runs a block on the state at its start and passes the result to its successors. The handlers that it sets can
// be reached whatever follows, so they come first.
func (f *flow) visit(n int) {
	w := f.run(n)
	if f.nodes[n].failed {
		return
	}
	f.handlers(n)
	last := f.p.Code[f.blocks[f.nodes[n].block].end-1]
	switch last.Op {
	case opcode.Call:
		f.enter(n, w.state, int(last.A))
		f.resume(n, w.state)
	case opcode.Ret:
		f.leave(n, w.state)
	default:
		f.pass(n, w)
	}
}

// pass passes a state to the following blocks.
func (f *flow) pass(n int, w *walker) {
	nd := &f.nodes[n]
	r, b := nd.routine, f.blocks[nd.block]
	for way, to := range b.succ {
		if to < 0 {
			continue
		}
		s := w.along(way == 0)
		m := f.flowInto(r, to, s, to <= nd.block)
		f.nodes[n].succ[way] = m
	}
	if b.end == len(f.p.Code) && !ends(f.p.Code[b.end-1].Op) {
		f.errorf(b.end-1, "end every way with exit or abort", "the program runs past its end")
	}
}

// enter joins a caller's state into the routine that it calls. Indexes are shifted so that the routine counts from its
// own entry. The start state holds for all callers. If one caller has more on the stack than another, its extra words
// are hidden from the routine.
func (f *flow) enter(n int, s *state, target int) {
	entry := f.blockAt[target]
	r, known := f.entries[entry]
	at := s.clone()
	at.base -= at.top()
	at.sbp = unknownBase
	at.forget(-1)
	if !known {
		r = len(f.routines)
		f.entries[entry] = r
		f.routines = append(f.routines, routine{entry: entry, handles: -1, start: at.clone()})
	} else if why := f.routines[r].start.mismatch(at); why != "" {
		f.errorf(f.blocks[f.nodes[n].block].end-1, "", "calls of one routine differ: %s", why)
		f.nodes[n].failed = true
		return
	} else {
		f.routines[r].joins++
		f.routines[r].start.join(at, f.widening(f.routines[r].joins))
	}
	f.nodes[n].depth = s.top()
	if f.nodes[n].callee != r {
		f.nodes[n].callee = r
		f.routines[r].callers = append(f.routines[r].callers, n)
	}
	f.flowInto(r, entry, at, f.routines[r].joins > 3)
}

// leave records the state at a return, and continues after the calls of the routine if that changes what is known.
// Callers continue with what holds at all rets, because it is not known which one returned.
func (f *flow) leave(n int, s *state) {
	nd := &f.nodes[n]
	at := f.blocks[nd.block].end - 1
	if nd.routine == 0 {
		f.errorf(at, "end the program with exit", "ret outside a routine")
		return
	}
	r := &f.routines[nd.routine]
	s = s.clone()
	s.forget(-1)
	if r.ret == nil {
		r.ret = s
	} else if why := r.ret.mismatch(s); why != "" {
		f.errorf(at, "", "rets of one routine differ: %s", why)
		return
	} else if !r.ret.join(s, f.widening(r.joins)) {
		return
	}
	for _, caller := range r.callers {
		f.resume(caller, nil)
	}
}

// resume continues after a call if its routine is known to return. before is the state at the call; if it is nil,
// resume computes it. If a routine never returns because all its paths exit, nothing after its calls is visited.
func (f *flow) resume(n int, before *state) {
	b := f.blocks[f.nodes[n].block]
	if f.nodes[n].failed || f.nodes[n].callee < 0 || f.routines[f.nodes[n].callee].ret == nil {
		return
	}
	if b.succ[1] < 0 {
		f.errorf(b.end-1, "end every way with exit or abort", "the program runs past its end")
		return
	}
	if before == nil {
		before = f.run(n).state
	}
	m := f.flowInto(f.nodes[n].routine, b.succ[1], f.afterCall(n, before), false)
	f.nodes[n].succ[1] = m
}

// afterCall returns the state after the call that closes a node: the callee's state on top of the part of the caller's
// stack that the callee cannot have seen.
func (f *flow) afterCall(n int, before *state) *state {
	after := f.routines[f.nodes[n].callee].ret.clone()
	depth := before.top()
	if below := after.base + depth - before.base; below > 0 {
		after.stack = append(append([]value{}, before.stack[:below]...), after.stack...)
		after.base -= below
	}
	after.base += depth
	after.sbp = before.sbp
	return after
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
