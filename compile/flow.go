package compile

import (
	"fmt"
	"slices"

	"gotap/compile/diag"
	"gotap/runtime"
	"gotap/runtime/opcode"
)

// block is a run of commands that is entered only at its first and left only after its last.
type block struct {
	start, end int    // commands start … end-1
	succ       [2]int // block jumped to, block that follows; -1 where there is none
}

// endsBlock reports whether control may go elsewhere than to the next command.
func endsBlock(op opcode.Op) bool { return jumps(op) || ends(op) }

// jumps reports whether the command has a jump target.
func jumps(op opcode.Op) bool { return op.Has(opcode.Jumps) }

// labels reports whether the command names another: a jump, or sx, which does not jump itself.
func labels(op opcode.Op) bool { return jumps(op) || op == opcode.SetX }

// ends reports whether nothing follows the command.
func ends(op opcode.Op) bool { return op.Has(opcode.Ends) }

// cut divides a program, whose jump targets are in range, into blocks. blockAt maps a block's
// first command to it. A handler is a leader like the target of a jump, since control arrives
// there from elsewhere.
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

// successors are the blocks after the command end-1.
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

// routine is a piece of the program that is called: from its entry to its rets. Routine 0 is
// the program itself.
type routine struct {
	entry   int    // block
	start   *state // what all its callers agree on
	ret     *state // what all its rets agree on; nil while none was reached
	callers []int  // nodes that end in a call to it
	nodes   []int

	joins     int // states that came to start
	deepest   int // greatest depth reached, counted from the entry
	deepestAt int // command that reached it
	lowest    int // lowest index of the stack that it changes
	writes    assigned
	worst     weight
	base      int // depth at the entry, for the deepest caller
	nested    int // calls on the way here, at most
	state     searchState
	handles   int // first command that sets a handler, -1 when there is none
}

// node is a block as one routine runs it. A block that several routines share has a node for each.
type node struct {
	routine, block int
	in             *state
	queued         bool
	rounds         int  // states that came from later blocks
	failed         bool // an error ends it early

	// What the last visit saw; the last is the one that knows least, so it holds for every run.
	logged  uint64 // most bytes logged
	lowest  int    // lowest stack index changed, a closing loop command left out
	writes  []tempWrite
	test    value // what a closing conditional jump tests
	counter int   // stack index of the counter of a closing loop command
	callee  int   // routine of a closing call, -1
	depth   int   // of the stack at the closing call
	succ    [2]int
	catches []int // the handlers that it sets
	handler bool  // exceptions come here

	mark loopMark
}

// tempWrite is an assignment to a scratch word. With step the word was changed by a constant.
type tempWrite struct {
	temp int
	step bool
	by   int64
}

// maxHeld limits the memory that verifying takes, against programs made to take much of it. A
// node holds a stack and scratch words, and there can be as many nodes as blocks times
// routines: 65,536 commands could ask for gigabytes.
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
	queue    queue
	diags    *diag.List
	said     map[int]bool // commands that an error was reported at
	uses     map[int]use
	unproved unprovedLoop
	preds    [][]int
	depths   [][2]int // depth before and after each command, when a listing wants it
	spares   []*state // no longer used
	held     int      // values kept in the states of all nodes
	stops    widening
	handling bool // the program sets handlers
	level    int  // numbers the sets of nodes that loops are looked for in
}

// use is how a program uses an object that has keys.
type use struct {
	key   string // kinds of the parts, a byte each
	value runtime.ValueKind
	at    int // the first command that uses it
}

// analyse finds what holds before every command that can be reached.
func analyse(p *Program, diags *diag.List) *flow {
	f := &flow{p: p, diags: diags, entries: map[int]int{}, index: map[[2]int]int{}, said: map[int]bool{}, uses: map[int]use{}}
	f.blocks, f.blockAt = cut(p.Code)
	f.own = make([]int, len(f.blocks))
	f.stops = stops(p.Code)
	f.handling = slices.ContainsFunc(p.Code, func(c Command) bool { return c.Op == opcode.SetX })
	f.routines = []routine{{entry: 0, handles: -1, start: &state{item: -1, words: make([]value, min(p.Temps, followedTemps))}}}
	f.flowInto(0, 0, f.routines[0].start.clone(), false)
	for len(f.queue) > 0 {
		n := f.queue.pop()
		f.nodes[n].queued = false
		f.visit(n)
	}
	return f
}

// errorf reports what is wrong with a command, once.
func (f *flow) errorf(at int, hint, format string, args ...any) {
	if f.said[at] {
		return
	}
	f.said[at] = true
	f.p.errorf(f.diags, at, hint, format, args...)
}

// errorf reports what is wrong with a command, with its number when it has no position of its own.
func (p *Program) errorf(diags *diag.List, at int, hint, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.Code[at].Pos.Source == nil {
		text = fmt.Sprintf("%s: command %d, %s: %s", p.Name, at, p.commandText(at), text)
	}
	diags.Errorf(p.Code[at].Pos, hint, "%s", text)
}

// flowInto brings a state to a block of a routine, and has it visited when that is news. It
// returns the node, and keeps the state. Every way round the program has a step back to an
// earlier block: there, and only there, bounds that keep moving are let go, so that what a loop
// leaves alone stays known in it.
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

// copyOf copies a state into one that is no longer used, if there is one.
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

// widening is how far bounds go when they move in a state that has been joined to n times.
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
		f.queue.push(f.nodes[n].block, n)
	}
}

// visit runs a block on what is known at its start and hands the result on.
// The handlers it sets are reached whatever comes after, so they go first.
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

// pass hands a state on to the blocks that follow.
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

// enter brings a caller's state to the routine it calls. Indexes are shifted so that the
// routine counts from its own entry. What the routine must hold for all callers is joined; a
// caller with more on the stack than another only hides its own words.
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

// leave notes the state a routine returns with, and goes on after its calls when that is news.
// Callers go on from what all rets agree on, because which one it was is not known.
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

// resume goes on after a call, if its routine is known to return. before is the state at the
// call, nil when it is to be found. A routine that never returns (all its ways exit) leaves
// nothing behind its calls to be visited.
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

// afterCall is the state after the call that closes a node: the callee's, on top of the part of the
// caller's stack that the callee cannot have seen.
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
