package unwind

import (
	"errors"
	"fmt"

	"gotap/arch"
)

// ErrNoCaller reports that a frame is the outermost one of its thread.
var ErrNoCaller = errors.New("the frame has no caller")

// Find returns the table of the module that is mapped at pc and the module's load bias: the address in the process
// minus the address in the file. ok is false if no module is mapped at pc; t may be nil for a module without a table.
type Find func(pc uint64) (t *Table, bias uint64, ok bool)

// Walker unwinds threads of one architecture. It caches memory (64 KB), and only one goroutine may use it at a time.
// Make one for each tracing thread and keep it.
type Walker struct {
	layout  *Layout
	pages   pages
	find    Find
	cur     frame
	next    frame
	eval0   evaluator
	exact   bool   // the frame's program counter is the next instruction, not a return address
	toThumb bool   // the last return address leads to Thumb code
	bias    uint64 // of the module of the row that was looked up last
	status  uint64 // CPSR of the innermost frame, on 32-bit ARM
	cfa     uint64
}

// NewWalker returns a walker for threads with these registers.
func NewWalker(l *Layout) *Walker { return &Walker{layout: l} }

// start sets the walker to the innermost frame.
func (w *Walker) start(regs *arch.Regs, mem Memory, find Find) {
	w.pages.start(mem)
	w.find = find
	w.layout.load(&w.cur, regs)
	if w.layout.names.thumb {
		w.status = regs[cpsrIndex]
	}
	w.exact = true
	w.cfa = 0
}

// end drops the references to the caller's memory and modules.
func (w *Walker) end() { w.pages.mem, w.find = nil, nil }

// Walk writes the thread's call chain into out, innermost first, and returns the number of entries, at most len(out):
// the program counter, then return addresses. It ends at the outermost function, at a frame that cannot be unwound, or
// where the stack is inconsistent. All entries that it writes are correct.
func (w *Walker) Walk(regs *arch.Regs, mem Memory, find Find, out []uint64) int {
	return w.WalkFrames(regs, mem, find, out, nil)
}

// WalkFrames is Walk and writes the canonical frame address of each entry's frame into cfas, which is as long as out or
// nil: 0 for the last entry, and for a frame that a signal interrupted, or that a handler returns to.
func (w *Walker) WalkFrames(regs *arch.Regs, mem Memory, find Find, out, cfas []uint64) int {
	if len(out) == 0 {
		return 0
	}
	w.start(regs, mem, find)
	defer w.end()
	n := 0
	for out[n] = w.cur.pc; n+1 < len(out); {
		if w.step() != nil {
			break
		}
		if cfas != nil {
			cfas[n] = w.cfa
		}
		n++
		out[n] = w.cur.pc
	}
	if cfas != nil {
		cfas[n] = 0
	}
	return n + 1
}

// Step changes regs from the registers of a thread's innermost frame to those of its caller. It returns the canonical
// frame address of the innermost frame. Registers that the callee did not save keep their values.
func (w *Walker) Step(regs *arch.Regs, mem Memory, find Find) (cfa uint64, err error) {
	w.start(regs, mem, find)
	defer w.end()
	if err := w.step(); err != nil {
		return 0, err
	}
	w.layout.store(&w.cur, regs)
	return w.cfa, nil
}

// CFA returns the canonical frame address of a thread's innermost frame: the stack pointer before the call that
// made it.
func (w *Walker) CFA(regs *arch.Regs, mem Memory, find Find) (uint64, error) {
	w.start(regs, mem, find)
	defer w.end()
	r, err := w.rowHere()
	if err != nil {
		return 0, err
	}
	if r.table {
		if r = w.fitting(r); r == nil {
			return 0, ErrNoCaller
		}
	}
	return w.frameAddress(r)
}

// fitting returns the row of the innermost frame that yields a return address, or nil.
func (w *Walker) fitting(r *row) *row {
	for _, one := range w.partial(r) {
		cfa, err := w.frameAddress(one)
		if err == nil && w.apply(one, cfa) == nil && (w.afterCall(w.next.pc) || w.returnsToSignal(w.next.pc)) {
			return one
		}
	}
	return nil
}

// rowHere returns the row of the current frame.
func (w *Walker) rowHere() (*row, error) {
	pc := w.cur.pc
	if !w.exact {
		pc--
	}
	t, bias, ok := w.find(pc)
	if !ok || t == nil {
		return nil, fmt.Errorf("%w for address %#x", ErrNoEntry, pc)
	}
	w.bias = bias
	return t.row(w.mask(pc - bias))
}

// step makes the caller's frame the current one.
func (w *Walker) step() error {
	r, err := w.rowHere()
	if err != nil {
		return w.guess(err)
	}
	if r.table && w.exact && !r.signal {
		if r = w.fitting(r); r == nil {
			return fmt.Errorf("%w: no return address was found at %#x", ErrNoCaller, w.cur.pc)
		}
	}
	cfa, err := w.frameAddress(r)
	if err != nil {
		return err
	}
	// Each frame is higher on the stack than its callee. A signal handler may have a separate stack, and only the
	// innermost frame may have none at all.
	if w.cfa != 0 && cfa <= w.cfa && !r.signal {
		return fmt.Errorf("%w: the stack does not grow at %#x", ErrNoCaller, w.cur.pc)
	}
	if err := w.apply(r, cfa); err != nil {
		return err
	}
	if _, _, ok := w.find(w.next.pc); !ok && !r.signal && !w.afterCall(w.next.pc) {
		return fmt.Errorf("%w: %#x is not a return address", ErrNoCaller, w.next.pc)
	}
	w.cur, w.cfa, w.exact = w.next, cfa, r.signal
	if r.signal {
		w.cfa = 0
	}
	return nil
}

// frameAddress returns the canonical frame address of the current frame.
func (w *Walker) frameAddress(r *row) (uint64, error) {
	switch r.cfa.kind {
	case ruleRegister:
		v, ok := w.cur.get(r.cfa.reg)
		if !ok {
			return 0, fmt.Errorf("cannot find the frame at %#x: %s is lost", w.cur.pc, w.layout.names.name(r.cfa.reg))
		}
		return w.mask(v + uint64(r.cfa.off)), nil
	case ruleValExpr:
		return w.eval(r.cfa.expr, &w.cur)
	}
	return 0, fmt.Errorf("cannot find the frame at %#x: its entry does not say where it is", w.cur.pc)
}

// apply computes the registers of the caller into next.
func (w *Walker) apply(r *row, cfa uint64) error {
	w.next = w.cur
	w.next.set(w.layout.names.sp, cfa)
	for i := range r.rules {
		if err := w.applyRule(&r.rules[i], cfa, r.ra); err != nil {
			return err
		}
	}
	pc, ok := w.next.get(min(r.ra, noReg))
	if r.signed {
		pc = stripPAC(pc)
	}
	if !ok || pc == 0 {
		return ErrNoCaller
	}
	w.toThumb = w.layout.names.thumb && pc&1 != 0
	w.next.pc = w.layout.names.address(pc)
	return nil
}

// applyRule computes one register of the caller. Rules read the callee's registers, so their order does not matter.
func (w *Walker) applyRule(r *rule, cfa uint64, ra uint8) (err error) {
	v := w.mask(cfa + uint64(r.off))
	switch r.kind {
	case ruleUndefined:
		w.next.forget(r.target)
		return nil
	case ruleOffset:
		// Compilers do not say that the end of a function has loaded a register again. What is below the stack pointer
		// there is where it was saved.
		if over, ok := w.pages.mem.(Overwritten); ok && w.exact && over.Overwritten(v) {
			return nil
		}
		v, err = w.pages.load(v, w.layout.names.word)
	case ruleRegister:
		var ok bool
		if v, ok = w.cur.get(r.reg); !ok {
			w.next.forget(r.target)
			return nil
		}
	case ruleExpression:
		if v, err = w.eval(r.expr, &w.cur, cfa); err == nil {
			v, err = w.pages.load(v, w.layout.names.word)
		}
	case ruleValExpr:
		v, err = w.eval(r.expr, &w.cur, cfa)
	}
	if err != nil && r.target != ra {
		w.next.forget(r.target) // the register is lost, but the frame is still useful
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot find the caller of %#x: %w", w.cur.pc, err)
	}
	w.next.set(r.target, v)
	return nil
}

// address returns the address that a return address refers to.
func (n *regNames) address(ra uint64) uint64 {
	if n.thumb {
		return ra &^ 1
	}
	return ra
}

// stripPAC removes the pointer authentication code from an address of user space: with 48 bits of address all bits
// above are zero (Arm ARM, D8.10).
func stripPAC(pc uint64) uint64 { return pc & (1<<48 - 1) }
