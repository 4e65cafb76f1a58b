package compile

import (
	"slices"

	"gotap/runtime"
	"gotap/runtime/opcode"
)

// How handlers of exceptions are verified. While a handler is set, an error may happen at any command, here or in a
// called routine. So at the handler only the guarantees of the machine hold: the stack is as deep as at the entry of
// the routine, with the three words of the exception on top; no scratch word is assigned, and no item or key is begun.
// A routine that pops words of its caller cannot have a handler, because those words might be missing at the handler.
//
// A handler serves once for each sx. So its cost is added to that of the sx, and the sum holds wherever the error
// happens. If a handler leads back to the sx that sets it, the number of rounds depends on errors, and there is no
// bound. Such a program is charged for its steps.

// caught returns the state in which a handler starts.
func (f *flow) caught() *state {
	s := &state{item: -1, words: make([]value, min(f.p.Temps, followedTemps))}
	if !f.p.Wrap {
		s.stack = []value{anyWord(), anyWord(), anyWord()}
	}
	return s
}

// handlers passes that state to the handlers that a node sets.
func (f *flow) handlers(n int) {
	if !f.handling {
		return
	}
	r, b := f.nodes[n].routine, f.blocks[f.nodes[n].block]
	for at := b.start; at < b.end; at++ {
		if f.p.Code[at].Op != opcode.SetX {
			continue
		}
		if f.routines[r].handles < 0 {
			f.routines[r].handles = at
		}
		if f.routines[r].deepest < 3 {
			f.routines[r].deepest, f.routines[r].deepestAt = 3, at
		}
		m := f.flowInto(r, f.blockAt[f.p.Code[at].A], f.caught(), false)
		f.nodes[m].handler = true
		if !slices.Contains(f.nodes[n].catches, m) {
			f.nodes[n].catches = append(f.nodes[n].catches, m)
		}
	}
}

// frame runs the commands that save and restore stack depths, and those that count from the base of the stack. A depth
// must be known when it is restored: it is the result of a save, or a constant.
func (w *walker) frame(c Command) {
	switch c.Op {
	case opcode.RestoreTSP:
		w.restoreTop(w.word())
	case opcode.RestoreSBP:
		v := w.word()
		if w.sbp = unknownBase; v.isConst() && v.lo >= -runtime.MaxStack && v.lo <= runtime.MaxStack {
			w.sbp = int(v.lo)
		}
	case opcode.PickBase:
		if at, ok := w.onBase(c.A); ok {
			w.pick(w.top() - 1 - at)
		}
	case opcode.PokeBase:
		if at, ok := w.onBase(c.A); ok {
			w.poke(w.top() - 1 - at)
		}
	}
}

// restoreTop pops words until a depth is reached.
func (w *walker) restoreTop(v value) {
	switch lo, _ := v.interval(); {
	case w.f.nodes[w.n].failed:
	case !v.isConst():
		w.fail("restore what save tsp gave", "the depth that it goes back to is not known")
	case lo < int64(w.base) || lo > int64(w.top()):
		w.fail("", "goes to a depth of %d, and can go to %d to %d", lo, w.base, w.top())
	default:
		for int64(w.top()) > lo && !w.f.nodes[w.n].failed {
			w.pop()
		}
	}
}

// onBase returns the index of the word that a command names. The word must exist.
func (w *walker) onBase(operand uint32) (index int, ok bool) {
	if w.sbp == unknownBase {
		w.fail("set it with save tsp and restore sbp", "the base of the stack is not known here")
		return 0, false
	}
	index = w.sbp + int(int32(operand))
	if index < w.base || index >= w.top() {
		w.fail("", "the stack has no word %d above the base, only words %d to %d", int32(operand), w.base-w.sbp, w.top()-1-w.sbp)
		return 0, false
	}
	return index, true
}
