package compile

import (
	"math"

	"gotap/runtime"
	"gotap/runtime/opcode"
	rtvalue "gotap/runtime/value"
)

// walker runs the commands of one node on a state. It works like the machine, with each value replaced by what is known
// of it. If the machine would trap because the program is wrong, the walker reports an error. If it would trap because
// of data, the walker continues, because data are unknown.
type walker struct {
	f  *flow
	n  int // node
	at int // command
	*state
	tested value // condition of the closing conditional jump
	first  int64 // the size given by the lowest operand of the command
}

// run walks a node from the state at its start, and records in the node what loops and bounds need. A node may be
// walked several times, each time with less known. Each walk overwrites the record, so the final record always holds.
func (f *flow) run(n int) *walker {
	nd := &f.nodes[n]
	nd.logged, nd.lowest, nd.writes, nd.counter, nd.failed = 0, math.MaxInt, nd.writes[:0], math.MinInt, false
	w := &walker{f: f, n: n, state: f.copyOf(nd.in)}
	b := f.blocks[nd.block]
	for w.at = b.start; w.at < b.end && !f.nodes[n].failed; w.at++ {
		before := w.top()
		w.step(f.p.Code[w.at])
		if f.depths != nil {
			f.depths[w.at] = [2]int{before, w.top()}
		}
	}
	f.nodes[n].test = w.tested
	f.noteRoutine(n)
	return w
}

// noteRoutine adds the changes of a node to those of its routine. Callers need to know whether a call changes their
// words and counters.
func (f *flow) noteRoutine(n int) {
	nd := &f.nodes[n]
	r := &f.routines[nd.routine]
	r.lowest = min(r.lowest, nd.lowest)
	if nd.counter != math.MinInt {
		r.lowest = min(r.lowest, nd.counter)
	}
	for _, w := range nd.writes {
		r.writes.set(uint32(w.temp), wordValue)
	}
}

// fail reports an error at the command and stops following this path through the program.
func (w *walker) fail(hint, format string, args ...any) {
	w.f.errorf(w.at, hint, format, args...)
	w.f.nodes[w.n].failed = true
}

// pop pops the top word.
func (w *walker) pop() value {
	// A circular stack always has words, and nothing is known about them.
	if w.f.p.Wrap {
		return anyWord()
	}
	if len(w.stack) == 0 {
		w.fail("", "%s", w.underflow())
		return value{}
	}
	v := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	w.touch(w.top())
	return v
}

// touch records a change of the word at an index. A pop counts as a change, because a later push there stores another
// word.
func (w *walker) touch(index int) {
	nd := &w.f.nodes[w.n]
	nd.lowest = min(nd.lowest, index)
}

// underflow returns the error text for an empty stack, here or for one of the callers. A routine may pop words of its
// caller if every caller has pushed them.
func (w *walker) underflow() string {
	if w.f.nodes[w.n].routine != 0 {
		return "takes more from the stack than every caller of the routine has put there"
	}
	return "takes more from the stack than there is"
}

// push pushes a word. Text on a circular stack could be rotated away and read again as a number.
func (w *walker) push(v value) {
	if w.f.p.Wrap {
		if v.kind == textValue {
			w.fail("", "text cannot be kept on a circular stack")
		}
		return
	}
	w.stack = append(w.stack, v)
	w.deep(w.top())
}

// deep records a depth, counted from the routine's entry. The depth of the entry is known only when all calls are.
func (w *walker) deep(depth int) {
	r := &w.f.routines[w.f.nodes[w.n].routine]
	if depth > r.deepest {
		r.deepest, r.deepestAt = depth, w.at
	}
	if depth > runtime.MaxStack {
		w.fail("", "the stack gets deeper than %d words", runtime.MaxStack)
	}
}

// word pops a word that must be a number.
func (w *walker) word() value {
	v := w.pop()
	if v.kind != wordValue && !w.f.nodes[w.n].failed {
		w.fail("", "wants a number, and there is text or either")
	}
	return v
}

// text pops a word that must be text.
func (w *walker) text() value {
	v := w.pop()
	if v.kind != textValue && !w.f.nodes[w.n].failed {
		w.fail("", "wants text, and there is a number or either")
	}
	return v
}

// step runs one command.
func (w *walker) step(c Command) {
	row := opcode.RowOf(c.Op)
	switch {
	case row.Does.Has(opcode.Moves):
		w.moves(c)
	case row.Conditional():
		w.tested = test(c.Op, w.word())
	case row.In == "w" && row.Out == "w":
		w.push(w.one(c))
	case row.In == "ww" && row.Out == "w":
		b, a := w.word(), w.word()
		w.push(onTwo(row, a, b))
	default:
		w.other(c, row)
	}
	w.notes(c, row)
}

// one returns the result of a command on one word.
func (w *walker) one(c Command) value {
	return onOne(opcode.RowOf(c.Op), c.A, w.word())
}

// test returns the condition under which a jump is taken. The condition stays tied to the scratch word that was
// compared. So it can bound loops, and both paths know more than before.
func test(op opcode.Op, v value) value {
	switch op {
	case opcode.Jz:
		return onOne(opcode.RowOf(opcode.Lnot), 0, v)
	case opcode.Jnz:
		if v.rel != noRelation {
			return v
		}
		return compared(v, notEqual, constant(0))
	case opcode.Jlt:
		return compared(v, less, constant(0))
	case opcode.Jle:
		return compared(v, lessEqual, constant(0))
	case opcode.Jgt:
		return compared(v, greater, constant(0))
	}
	return compared(v, greaterEqual, constant(0))
}

// moves runs the commands that move words without using their values. What is known of a word moves with it: a counter
// may be copied before it is compared.
func (w *walker) moves(c Command) {
	if w.f.p.Wrap && c.Op != opcode.PushTV && c.Op != opcode.PopTV {
		if c.Op == opcode.RestoreTSP || c.Op == opcode.PickBase || c.Op == opcode.PokeBase {
			w.fail("use push tsp, pop tsp and ros", "a circular stack has no depth to go back to")
		}
		return
	}
	switch c.Op {
	case opcode.Loop:
		w.loop()
	case opcode.Dup:
		w.copies(1)
	case opcode.DupN:
		w.copies(int(c.A))
	case opcode.Xchg:
		b, a := w.pop(), w.pop()
		w.push(b)
		w.push(a)
	case opcode.Over:
		w.pick(1)
	case opcode.Drop:
		for range c.A {
			w.pop()
		}
	case opcode.LogWords:
		for range c.A {
			w.word()
		}
	case opcode.Pick:
		w.pick(int(c.A))
	case opcode.Poke:
		w.poke(int(c.A))
	case opcode.PushTV:
		w.pushTemp(c.A)
	case opcode.PopTV:
		w.popTemp(c.A)
	default:
		w.frame(c)
	}
}

// loop runs the loop command as if it jumps; along removes the counter on the other path. The change of the counter by
// loop itself must not count as a change, so lowest is restored.
func (w *walker) loop() {
	nd := &w.f.nodes[w.n]
	lowest := nd.lowest
	v := w.word()
	if nd.failed {
		return
	}
	nd.lowest, nd.counter = lowest, w.top()
	w.push(onTwo(opcode.RowOf(opcode.Sub), v.plain(), constant(1)))
}

// copies pushes n copies of the top word. It picks the top repeatedly, so that the copies keep what is known of it.
func (w *walker) copies(n int) {
	if len(w.stack) == 0 {
		w.fail("", "%s", w.underflow())
		return
	}
	for i := 0; i < n && !w.f.nodes[w.n].failed; i++ {
		w.pick(0)
	}
}

// pick copies the word n below the top. Below base some callers may have words, but not all of them.
func (w *walker) pick(n int) {
	if n >= len(w.stack) {
		w.fail("", "%s", w.underflow())
		return
	}
	w.push(w.stack[len(w.stack)-1-n])
}

// poke pops a word and stores it at the place n below that word, which may be its own place. In that case it stores
// nothing: index is then the top, which has just been popped.
func (w *walker) poke(n int) {
	index := w.top() - 1 - n
	v := w.pop()
	if index < w.base {
		w.fail("", "%s", w.underflow())
		return
	}
	if index < w.top() {
		*w.state.at(index) = v
		w.touch(index)
	}
}

// pushTemp pushes a scratch word. The pushed word equals the current scratch word, and src records that until the
// scratch word is assigned again.
func (w *walker) pushTemp(t uint32) {
	switch w.temps.of(t) {
	case textValue:
		v := text(rtvalue.MaxText)
		if int(t) < len(w.words) {
			v.hi = w.words[t].hi
		}
		w.push(v)
	case wordValue:
		v := anyWord()
		if int(t) < len(w.words) && w.words[t].kind == wordValue {
			v = w.words[t]
		}
		v.src, v.add, v.rel = uint16(t+1), 0, noRelation
		w.push(v)
	default:
		w.fail("", "scratch word %d is not assigned on every path to here, or not with the same type", t)
	}
}

// popTemp assigns a scratch word. Assigning the word's own old value plus a constant is a step. Any other assignment is
// a jump of the value, which ends proofs by counting.
func (w *walker) popTemp(t uint32) {
	v := w.pop()
	if v.kind == anyValue {
		if !w.f.nodes[w.n].failed {
			w.fail("", "assigns a word that is a number on one path and text on another")
		}
		return
	}
	write := tempWrite{temp: int(t)}
	if v.src == uint16(t+1) && v.rel == noRelation {
		write.step, write.by = true, v.add
	}
	nd := &w.f.nodes[w.n]
	nd.writes = append(nd.writes, write)
	w.forget(int(t))
	w.temps.set(t, v.kind)
	if int(t) < len(w.words) {
		w.words[t] = v.plain()
	}
}

// other runs the commands that have a fixed stack effect and whose results need no further analysis.
func (w *walker) other(c Command, row *opcode.Row) {
	sizes := int64(0)
	for i := len(row.In) - 1; i >= 0; i-- {
		if row.In[i] == 's' {
			sizes += w.text().hi
		} else if v := w.word(); i == len(row.In)-1 {
			sizes = size(v)
		} else {
			w.first = size(v)
		}
	}
	if len(row.In) == 1 {
		w.first = sizes
	}
	for _, kind := range row.Out {
		switch {
		case kind == 's':
			w.push(text(w.textSize(row, c, sizes)))
		case c.Op == opcode.PushD:
			w.push(constant(int64(c.V)))
		case c.Op == opcode.SaveTSP && !w.f.p.Wrap:
			w.push(constant(int64(w.top())))
		case c.Op == opcode.SaveSBP && !w.f.p.Wrap && w.sbp != unknownBase:
			w.push(constant(int64(w.sbp)))
		case row.Result == opcode.Length:
			w.push(between(0, sizes))
		default:
			w.push(resultOf(row))
		}
	}
}

// size returns the maximum number of bytes that a word requests as a size, which is unsigned. A word that may be
// negative is, as an unsigned number, larger than any available size.
func size(v value) int64 {
	lo, hi := v.interval()
	if lo < 0 {
		return math.MaxInt64
	}
	return hi
}

// textSize returns the maximum length of the text that a command makes; sizes is the limit given by its operands.
func (w *walker) textSize(row *opcode.Row, c Command, sizes int64) int64 {
	switch row.Result {
	case opcode.AskedText:
		return sizes
	case opcode.JoinedText:
		return sizes + int64(len(rtvalue.Cutmark)) // the first text keeps its mark
	case opcode.StackText:
		return 8 * rtvalue.MaxStackDepth
	case opcode.DigitsText:
		return 20
	case opcode.FloatText:
		return 32
	case opcode.WideText:
		return rtvalue.MaxWideText
	case opcode.FlagsText:
		return min(int64(len(w.f.p.Texts[c.A]))+rtvalue.MaxFlags, rtvalue.MaxText)
	case opcode.CellText:
		return rtvalue.DefaultText
	}
	if row.Operand == opcode.TextOperand {
		return int64(len(w.f.p.Texts[c.A]))
	}
	return rtvalue.MaxText
}

// along returns the state on one of the two ways out of the node, jumped or not. The caller owns it. Both ways start
// from the same words and then differ in what is known of them.
func (w *walker) along(jumped bool) *state {
	s := w.state
	if b := w.f.blocks[w.f.nodes[w.n].block]; b.succ[0] >= 0 && b.succ[1] >= 0 {
		s = w.f.copyOf(s)
	}
	last := w.f.p.Code[w.f.blocks[w.f.nodes[w.n].block].end-1].Op
	if last == opcode.Loop && !jumped && len(s.stack) > 0 {
		s.stack = s.stack[:len(s.stack)-1]
	}
	if jumps(last) && w.tested.rel != noRelation {
		t := w.tested
		if !jumped {
			t.rel = t.rel.negated()
		}
		s.refine(t)
	}
	return s
}

// refine narrows the bounds of a scratch word by a test that was true. After "if (i < 10)" i is below 10 on one path.
// Without refine a loop's counter would have no bounds after the loop's header.
func (s *state) refine(t value) {
	temp := int(t.src) - 1
	if temp >= len(s.words) || s.words[temp].kind != wordValue {
		return
	}
	v := &s.words[temp]
	// The word itself lies in the range of the test minus the constant that the test adds to it, unless that addition
	// may wrap.
	if _, ok := addChecked(v.lo, t.add); !ok {
		return
	}
	if _, ok := addChecked(v.hi, t.add); !ok {
		return
	}
	lo, hi := t.rel.limits(t.lo, t.hi)
	narrow(v, lo, hi, t.add)
}

// limits returns the range of a number x if "x r y" holds for a y within [lo, hi].
func (r relation) limits(lo, hi int64) (xlo, xhi int64) {
	xlo, xhi = math.MinInt64, math.MaxInt64
	switch r {
	case less:
		if hi > math.MinInt64 {
			xhi = hi - 1
		}
	case lessEqual:
		xhi = hi
	case greater:
		if lo < math.MaxInt64 {
			xlo = lo + 1
		}
	case greaterEqual:
		xlo = lo
	case equal:
		return lo, hi
	case belowUnsigned:
		if lo >= 0 {
			return 0, max(hi, 1) - 1
		}
	}
	return xlo, xhi
}

// narrow restricts v to the x with lo <= x+add <= hi, unless nothing would remain.
func narrow(v *value, lo, hi, add int64) {
	if d, ok := addChecked(lo, -add); ok && lo != math.MinInt64 && d > v.lo && d <= v.hi {
		v.lo = d
	}
	if d, ok := addChecked(hi, -add); ok && hi != math.MaxInt64 && d < v.hi && d >= v.lo {
		v.hi = d
	}
}
