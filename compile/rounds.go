package compile

import (
	"math"
	"slices"

	"gotap/runtime/opcode"
)

// rounds returns the maximum number of times that the header of a loop is entered each time control reaches the loop
// from outside. Every test and every loop command in the loop may prove a bound. One is enough, and the smallest
// counts.
func (f *flow) rounds(part []int, header, set int) (uint64, bool) {
	best, ok := uint64(0), false
	keep := func(n uint64, proved bool) {
		if proved && (!ok || n < best) {
			best, ok = n, true
		}
	}
	tried := map[int]bool{}
	for _, n := range part {
		nd := &f.nodes[n]
		last := f.p.Code[f.blocks[nd.block].end-1].Op
		if last == opcode.Loop {
			keep(f.counterRounds(part, header, set, n))
		} else if temp := int(nd.test.src) - 1; nd.test.rel != noRelation && !tried[temp] && len(tried) < 8 {
			tried[temp] = true
			keep(f.tempRounds(part, header, set, temp))
			keep(f.exactRounds(part, header, set, temp))
		}
	}
	return best, ok
}

// covered reports whether every path from the header back to the header leads through a node that counts. It searches
// without passing counting nodes: if the search returns to the header, some round does not count.
func (f *flow) covered(header, set int, counts func(n int) bool) bool {
	if counts(header) {
		return true
	}
	seen, todo := map[int]bool{header: true}, []int{header}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		back := false
		f.eachNext(n, set, -1, func(m int) {
			back = back || m == header
			if !seen[m] && !counts(m) {
				seen[m] = true
				todo = append(todo, m)
			}
		})
		if back {
			return false
		}
	}
	return true
}

// counterRounds bounds a loop by its loop command. This requires that the counter on the stack is at least 1 when the
// loop is entered, that nothing else in the loop changes it, and that every round passes the command. Programs written
// by hand or translated from DProbes loop this way.
func (f *flow) counterRounds(part []int, header, set, n int) (uint64, bool) {
	slot := f.nodes[n].counter
	if f.nodes[n].mark.inner == set || f.nodes[n].succ[0] < 0 {
		return 0, false
	}
	for _, m := range part {
		if f.touches(m, slot) || m != n && f.nodes[m].counter == slot {
			return 0, false
		}
	}
	at := f.entryState(header, part)
	if slot < at.base || slot >= at.top() {
		return 0, false
	}
	// At least 1, because loop decrements first: a counter of 0 would cause 2^64 rounds.
	lo, hi := at.at(slot).interval()
	if lo < 1 || !f.covered(header, set, func(m int) bool { return m == n }) {
		return 0, false
	}
	return uint64(hi), true
}

// touches reports whether a node, or a routine it calls, changes the word at an index. A routine's lowest index is
// counted from its own entry, which is at the depth of the call.
func (f *flow) touches(n, slot int) bool {
	nd := &f.nodes[n]
	if nd.lowest <= slot {
		return true
	}
	if nd.callee < 0 {
		return false
	}
	return nd.depth+f.routines[nd.callee].lowest <= slot
}

// tempRounds bounds a loop by a scratch word. Every round must move the word by constants, always in one direction, and
// test it against a limit on the far side. This proves "for (let i = 0; i < n; i++)" and its common variants. No single
// command has to look like a loop: only the moves of the word, its tests and the paths between them count.
func (f *flow) tempRounds(part []int, header, set, temp int) (uint64, bool) {
	step, total, ok := f.steps(part, set, temp)
	if !ok || temp >= min(f.p.Temps, followedTemps) {
		return 0, false
	}
	moves := func(n int) bool { return f.movesTemp(n, temp) }
	tests := func(n int) bool { _, ok := f.limit(n, set, temp, step > 0); return ok && f.nodes[n].mark.inner != set }
	if !f.covered(header, set, moves) || !f.covered(header, set, tests) {
		return 0, false
	}
	farthest := int64(math.MinInt64)
	for _, n := range part {
		if l, ok := f.limit(n, set, temp, step > 0); ok && f.nodes[n].mark.inner != set {
			farthest = max(farthest, l)
		}
	}
	start := f.entryState(header, part).words[temp]
	if start.kind != wordValue {
		return 0, false
	}
	return entered(start, farthest, step, total)
}

// entered returns how often the header is entered if a word starts within an interval, moves by at least step and at
// most total each round, and a round continues only while the word (times the sign of step) is below the limit.
func entered(start value, limit, step, total int64) (uint64, bool) {
	lo, hi := start.lo, start.hi
	// A bound above 2^60 rounds is useless. This check comes before any sign is changed: the smallest integer is its
	// own negative, so a step of that size would go backwards.
	const far = 1 << 60 // far enough from the ends that nothing below wraps
	if lo < -far || hi > far || limit > far || limit < -far || total > far || total < -far {
		return 0, false
	}
	if step < 0 {
		lo, step = -hi, -step
	}
	if limit <= lo {
		return 1, true
	}
	return uint64((limit-lo+step-1)/step) + 1, true
}

// exactRounds bounds a loop by a scratch word that moves by one between any two tests. The tests leave the loop when
// the word equals a constant that it cannot have passed: "while (i--)". "i != n" implies no order. So only steps of one
// with a test between any two of them prove that the word reaches n.
func (f *flow) exactRounds(part []int, header, set, temp int) (uint64, bool) {
	step, total, ok := f.steps(part, set, temp)
	if !ok || temp >= min(f.p.Temps, followedTemps) || step != total || abs(step) != 1 {
		return 0, false
	}
	test, target := f.equality(part, set, temp)
	if test < 0 {
		return 0, false
	}
	moves := func(n int) bool { return f.movesTemp(n, temp) }
	tests := func(n int) bool { return n == test }
	mover := part[slices.IndexFunc(part, moves)]
	if !f.covered(header, set, moves) || !f.covered(test, set, moves) || !f.covered(mover, set, tests) {
		return 0, false
	}
	start := f.entryState(header, part).words[temp]
	lo, hi := start.lo, start.hi
	const far = 1 << 60
	if start.kind != wordValue || lo < -far || hi > far {
		return 0, false
	}
	if step > 0 {
		lo, hi, target = -hi, -lo, -target
	}
	if test != header || moves(header) {
		lo-- // the first step may come before the first test
	}
	if lo < target {
		return 0, false
	}
	return uint64(hi-target) + 2, true
}

// equality returns the only test of a scratch word in a loop, if it leaves the loop for one value of the word;
// otherwise -1. With two such tests the word could stay between their values and meet neither.
func (f *flow) equality(part []int, set, temp int) (test int, target int64) {
	test = -1
	for _, n := range part {
		t := f.nodes[n].test
		if t.rel == noRelation || int(t.src)-1 != temp {
			continue
		}
		rel, leaves := f.staying(n, set)
		const far = 1 << 60
		if test >= 0 || !leaves || rel != notEqual || t.lo != t.hi || abs(t.lo) > far || abs(t.add) > far || f.nodes[n].mark.inner == set {
			return -1, 0
		}
		test, target = n, t.lo-t.add
	}
	return test, target
}

// staying returns the relation that holds after a node's closing test if control stays in the loop. leaves is false if
// both ways stay in the loop or both leave it; such a test limits nothing.
func (f *flow) staying(n, set int) (rel relation, leaves bool) {
	nd := &f.nodes[n]
	jumped := nd.succ[0] >= 0 && f.nodes[nd.succ[0]].mark.set == set
	falls := nd.succ[1] >= 0 && f.nodes[nd.succ[1]].mark.set == set
	if falls {
		return nd.test.rel.negated(), !jumped
	}
	return nd.test.rel, jumped
}

// steps examines all assignments to a scratch word in a loop. They must all add constants of one sign, once a round.
// step is the smallest of them, total their sum. A move in an inner loop could happen any number of times in one round,
// and moves in routines are not followed, so neither is allowed.
func (f *flow) steps(part []int, set, temp int) (step, total int64, ok bool) {
	for _, n := range part {
		nd := &f.nodes[n]
		if nd.callee >= 0 && f.routines[nd.callee].writes.of(uint32(temp)) != anyValue {
			return 0, 0, false
		}
		for _, w := range nd.writes {
			if w.temp != temp {
				continue
			}
			if !w.step || w.by == 0 || nd.mark.inner == set || total != 0 && (w.by > 0) != (total > 0) {
				return 0, 0, false
			}
			sum, fits := addChecked(total, w.by)
			if !fits {
				return 0, 0, false
			}
			if total == 0 || abs(w.by) < abs(step) {
				step = w.by
			}
			total = sum
		}
	}
	return step, total, total != 0
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// movesTemp reports whether a node assigns a scratch word.
func (f *flow) movesTemp(n, temp int) bool {
	for _, w := range f.nodes[n].writes {
		if w.temp == temp {
			return true
		}
	}
	return false
}

// limit returns the limit that a node's closing test sets for a scratch word x if control stays in the loop: x < limit
// if the loop counts up, -x < limit if it counts down. Counting down is counting up the negated word, so one proof
// serves both.
func (f *flow) limit(n, set, temp int, up bool) (int64, bool) {
	nd := &f.nodes[n]
	t := nd.test
	if t.rel == noRelation || int(t.src)-1 != temp {
		return 0, false
	}
	rel, leaves := f.staying(n, set)
	if !leaves {
		return 0, false
	}
	t.rel = rel
	const far = 1 << 60
	if abs(t.add) > far || t.add == math.MinInt64 {
		return 0, false
	}
	lo, hi := t.rel.limits(t.lo, t.hi)
	if up && hi < far && hi > -far {
		return hi + 1 - t.add, true
	}
	if !up && lo > -far && lo < far {
		return -(lo - 1 - t.add), true
	}
	return 0, false
}

// entryState returns the state in which a loop is entered from outside. The state at the header cannot be used: it has
// already been joined with the states of the rounds, and widened.
func (f *flow) entryState(header int, part []int) *state {
	inside := make(map[int]bool, len(part))
	for _, n := range part {
		inside[n] = true
	}
	var at *state
	add := func(s *state) {
		if at == nil {
			at = s
		} else {
			at.join(s, nil)
		}
	}
	if f.nodes[header].handler {
		add(f.caught())
	}
	if f.isEntry(header) {
		add(f.routines[f.nodes[header].routine].start.clone())
	}
	for _, n := range f.before(header) {
		if !inside[n] {
			add(f.outOf(n, header))
		}
	}
	return at
}

// outOf returns the state on the path from a node to one of its successors. It walks the node again, because states are
// kept for nodes only.
func (f *flow) outOf(n, to int) *state {
	w := f.run(n)
	nd := &f.nodes[n]
	if nd.callee >= 0 {
		return f.afterCall(n, w.state)
	}
	s := w.along(nd.succ[0] == to)
	if nd.succ[0] == to && nd.succ[1] == to {
		s.join(w.along(false), nil)
	}
	return s
}
