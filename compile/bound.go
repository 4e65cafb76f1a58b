package compile

import (
	"fmt"
	"slices"

	"gotap/runtime"
	"gotap/runtime/record"
)

// searchState is the progress of the search through the calls for one routine.
type searchState uint8

const (
	notSeen searchState = iota
	onTheWay
	finished
)

// bound computes p.Bound from the results of the analysis, or reports errors in calls and depths.
func (f *flow) bound() {
	// The analysis so far found what holds where. The rest counts: first depths over calls, then costs.
	f.findPreds()
	order, recursive := f.callOrder()
	if recursive >= 0 && !f.p.Wrap {
		f.errorf(recursive, "use a loop, or a circular stack", "a routine calls itself")
		return
	}
	b := Bound{Verified: true, Stack: f.stackBound(order), Fuel: f.p.fuel()}
	if f.diags.HasErrors() {
		return
	}
	// Only a circular stack allows recursion. Recursion is limited by the depth of calls and by fuel, and has no bound
	// of its own.
	if recursive >= 0 {
		f.unproved = unprovedLoop{true, recursive}
	} else {
		f.costs(order)
	}
	if f.diags.HasErrors() {
		return
	}
	worst := f.routines[0].worst
	b.Proved = !f.unproved.found && worst.steps < tooMuch
	// The log never exceeds its maximum size, so the bound is the smaller of that and of what the program can write.
	b.LogBytes = int(min(worst.logged+f.p.traceBytes(), uint64(f.p.logMax())))
	if b.Proved {
		b.Steps = worst.steps
	} else if b.LogBytes = f.p.logMax(); f.unproved.found {
		b.Loop = f.p.Code[f.unproved.at].Pos
	}
	f.p.Bound = b
	f.p.uses = f.uses
}

// fuel returns the fuel of the program, or the default for 0. Files store the default as 0 too, so the default can
// change without a change of the files.
func (p *Program) fuel() uint32 {
	if p.Fuel == 0 {
		return runtime.DefaultFuel
	}
	return p.Fuel
}

// logMax returns the size of the log, or the default for 0.
func (p *Program) logMax() int {
	if p.LogMax == 0 {
		return record.DefaultLog
	}
	return p.LogMax
}

// traceBytes returns the maximum number of log bytes that the trace takes. The trace has its own limit, but it finally
// becomes an item of the log.
func (p *Program) traceBytes() uint64 {
	n := p.TraceMax
	switch {
	case p.traceFormat() == 0:
		return 0
	case n == 0:
		n = runtime.MaxTrace
	}
	return itemBytes + textBytes(int64(n))
}

// stackSize returns the size of the operand stack, or the default for 0. It is the size that the program requests.
// Bound.Stack is the size that it actually needs, and the one that the machine provides.
func (p *Program) stackSize() int {
	if p.Stack == 0 {
		return runtime.DefaultStack
	}
	return p.Stack
}

// findPreds computes the predecessors of the nodes. It ignores edges through errors, because a handler is entered in a
// state of its own, whichever node set it.
func (f *flow) findPreds() {
	f.preds = make([][]int, len(f.nodes))
	for n := range f.nodes {
		succ := f.nodes[n].succ
		for way, m := range succ {
			if m >= 0 && (way == 0 || m != succ[0]) {
				f.preds[m] = append(f.preds[m], n)
			}
		}
	}
}

// before returns the nodes of the same routine that lead to a node.
func (f *flow) before(n int) []int { return f.preds[n] }

// callOrder returns the routines in an order in which each follows those that it calls. It also returns a call by which
// a routine calls itself, or -1. It searches depth first and appends a routine when all its callees have been appended.
// A call of an unfinished routine is recursion.
func (f *flow) callOrder() (order []int, recursive int) {
	recursive = -1
	var visit func(r int)
	visit = func(r int) {
		f.routines[r].state = onTheWay
		for _, n := range f.routines[r].nodes {
			callee := f.nodes[n].callee
			if callee < 0 {
				continue
			}
			switch f.routines[callee].state {
			case notSeen:
				visit(callee)
			case onTheWay:
				recursive = f.blocks[f.nodes[n].block].end - 1
			}
		}
		f.routines[r].state = finished
		order = append(order, r)
	}
	visit(0)
	return order, recursive
}

// stackBound returns the depth of the deepest operand stack. It reports too deep a stack or nest of calls where it
// occurs. Each routine was walked once, with depths relative to its entry. The depth of the entry is computed here from
// the callers down, for the caller that has most on the stack.
func (f *flow) stackBound(order []int) int {
	if f.p.Wrap {
		return f.p.stackSize()
	}
	deepest := 0
	for _, r := range slices.Backward(order) {
		rt := &f.routines[r]
		for _, n := range rt.nodes {
			if f.nodes[n].callee >= 0 {
				callee := &f.routines[f.nodes[n].callee]
				callee.base = max(callee.base, rt.base+f.nodes[n].depth)
				callee.nested = max(callee.nested, rt.nested+1)
			}
		}
		if depth := rt.base + rt.deepest; depth > f.p.stackSize() {
			f.errorf(rt.deepestAt, "", "the stack gets %d words deep, and the program has %d", depth, f.p.stackSize())
		} else {
			deepest = max(deepest, depth)
		}
		if rt.nested > runtime.MaxCalls {
			f.errorf(f.blocks[rt.entry].start, "", "calls are nested more than %d deep", runtime.MaxCalls)
		}
	}
	return deepest
}

// costs computes the cost of each routine after those that it calls. The changes of a routine to the stack and to
// scratch words include the changes by its callees, because the loops of callers need them.
func (f *flow) costs(order []int) {
	for _, r := range order {
		rt := &f.routines[r]
		for _, n := range rt.nodes {
			if f.nodes[n].callee >= 0 {
				callee := &f.routines[f.nodes[n].callee]
				rt.lowest = min(rt.lowest, f.nodes[n].depth+callee.lowest)
				for i := range rt.writes {
					rt.writes[i] |= callee.writes[i]
				}
			}
		}
		if rt.handles >= 0 && r != 0 && rt.lowest < 0 && !f.p.Wrap {
			f.errorf(rt.handles, "leave them to the caller", "the routine takes words of its caller from the stack, and a handler would not find them")
		}
		rt.worst = f.worstCase(r)
	}
}

// String returns the bound as `gotap check` prints it. A bound above the fuel is printed with both numbers: the proof
// shows that the program ends, and the fuel may end it sooner.
func (b Bound) String() string {
	if !b.Verified {
		return "not verified"
	}
	steps := fmt.Sprintf("at most %d steps", b.Steps)
	switch {
	case !b.Proved && b.Loop.Source != nil:
		steps = fmt.Sprintf("no bound for the loop at %s: ended after %d steps of fuel", b.Loop.Source.Position(b.Loop.Start), b.Fuel)
	case !b.Proved:
		steps = fmt.Sprintf("no bound seen: ended after %d steps of fuel", b.Fuel)
	case b.Steps > uint64(b.Fuel):
		steps += fmt.Sprintf(", ended after %d steps of fuel", b.Fuel)
	}
	return fmt.Sprintf("%s, %d words of stack, %d bytes of log", steps, b.Stack, b.LogBytes)
}
