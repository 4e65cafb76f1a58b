package amd64

import (
	"gotap/runtime/arena"
	"gotap/runtime/calls"
	"gotap/runtime/gate"
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
	"gotap/runtime/opcode"
)

// Counting in the share of the thread. Only this thread writes there, so plain instructions are enough; each addition
// is one instruction, which a signal handler cannot interrupt halfway. Where a thread has no share it counts in the
// words that all share, atomically. Which of the two a part uses for a hit is decided once, when it begins.

// shareState says what is known of the share of the thread.
type shareState uint8

const (
	noShare    shareState = iota // it is not used
	maybeShare                   // the register of the stack of calls has the address of the thread's block, or 0
	hasShare                     // it has the address
)

// countable are words of the arena, with copies in shares.
type countable struct {
	words asm.Operand
	copy  uint64 // in a share, in bytes
	ok    bool   // there are copies
}

// countableCell returns the cell of an object without keys.
func (s *words) countableCell(l *arena.Layout, cell asm.Operand) countable {
	w := countable{words: cell}
	if s.share != noShare && l.Table == nil && !l.Banked {
		w.copy, w.ok = l.Share.Offset()
	}
	return w
}

// countGate counts a hit in a word of a gate; gates are like cells of two words.
func (s *words) countGate(g *gate.Gate, word uint64, copyAt uint64) {
	w := countable{words: s.arena(g.Offset() + word)}
	if s.share != noShare {
		w.copy, w.ok = g.Share()
		w.copy += copyAt
	}
	s.count(w, s.inc)
}

// count makes an addition, which add does: to memory that belongs to the thread alone, or atomically. It may be made
// twice.
func (s *words) count(w countable, add func(to asm.Operand, alone bool)) {
	if !w.ok {
		add(w.words, false)
		return
	}
	own := asm.At(s.stackOf, int32(calls.ShareAt+w.copy))
	if s.share == hasShare {
		add(own, true)
		return
	}
	none, done := s.NewLabel(), s.NewLabel()
	s.Test(s.stackOf)
	s.Jcc(asm.E, none)
	add(own, true)
	s.Place(done)
	s.cold = append(s.cold, func() {
		s.Place(none)
		add(w.words, false)
		s.Jmp(done)
	})
}

// inc increments memory.
func (s *words) inc(to asm.Operand, alone bool) {
	if alone {
		s.Inc(to)
	} else {
		s.LockInc(to)
	}
}

// adder returns a function that adds a word to memory. It loads the word into rax, unless that is a constant or in a
// register.
func (s *words) adder(w word) func(to asm.Operand, alone bool) {
	if s.isConst32(w) {
		return func(to asm.Operand, alone bool) {
			if alone {
				s.AluImm(asm.Add, to, int32(w.n))
			} else {
				s.LockAddImm(to, int32(w.n))
			}
		}
	}
	x := s.register(w, asm.RAX)
	return func(to asm.Operand, alone bool) {
		if alone {
			s.Alu(asm.Add, to, asm.R(x))
		} else {
			s.LockAdd(to, x)
		}
	}
}

// sharesGate reports whether a gate has copies in shares.
func (e *emitter) sharesGate(g *gate.Gate) bool {
	if g == nil || !e.site.Shares {
		return false
	}
	_, ok := g.Share()
	return ok
}

// countsInShares reports whether the part of a program adds to anything that has copies in shares, or counts its hits
// there.
func (p *part) countsInShares(g *gate.Gate) bool {
	if !p.site.Shares {
		return false
	}
	if p.sharesGate(g) {
		return true
	}
	for pc := range p.plan.Ops {
		op := &p.plan.Ops[pc]
		if op.Verdict != native.Native || op.Object == nil {
			continue
		}
		if op.Key && p.plan.Insts[pc].Op == opcode.Agg {
			if _, ok := op.Object.KeyShare.Entries(); ok {
				return true
			}
		}
		if !op.Key && op.Object.Table == nil && !op.Object.Banked {
			if _, ok := op.Object.Share.Offset(); ok {
				return true
			}
		}
	}
	return false
}

// findShare loads the register of the stack of calls with the address of the thread's block, or with 0. A thread whose
// own data cannot be read has none. first makes what is counted first, once for threads with a share and once for those
// without: it need not ask which of them the thread is.
func (f *frames) findShare(first func()) {
	none, found := f.NewLabel(), f.NewLabel()
	f.findStack(none, func(instruction func()) { f.mayFail(none, instruction) })
	f.share = hasShare
	first()
	f.Place(found)
	f.share = maybeShare
	f.cold = append(f.cold, func() {
		f.Place(none)
		at := f.share
		f.share = noShare
		first()
		f.share = at
		f.Clear(f.stackOf)
		f.Jmp(found)
	})
}
