package amd64

import (
	"gotap/runtime/native"
	"gotap/runtime/native/amd64/asm"
)

// word is a word of the operand stack while code is made.
type word struct {
	kind wordKind
	n    uint64 // the constant, the register of the target, the scratch word, or the index of the home
}

type wordKind uint8

const (
	constant     wordKind = iota
	original              // a register of the target, with its value at the place
	temporary             // a scratch word, until that is assigned
	inField               // of the log
	threadNumber          // of the thread
	atHome                // except while a key is built, n is the place of the word on the stack
)

// words are the words that a part computes with: those of the operand stack, scratch words, the fields of the log and
// the words of a key.
//
// The operand stack exists only while code is made: each of its words is a constant, a register of the target, a
// scratch word, or lies in its home. Results are computed in the home of their place on the stack, which is a register
// if there are enough. Where ways join, all words are in their homes.
//
// rax, rcx and rdx belong to single operations, and rbx where pairs are swapped. Their values at the place are read
// from where they were saved.
type words struct {
	*emitter
	index    int              // of the part, in emitter.needs
	saved    [asm.NumRegs]int // like emitter.savedAt
	stack    []word
	logged   []word // the fields of the log
	key      keyed
	assigned native.TempSet

	vectors       *home       // where vector registers are saved; nil: they are not used
	slots         int         // homes on the target's stack
	homes         []home      // by index on the stack
	temps         []home      // of scratch words
	fields        []home      // of the log
	memoryOfTexts *textMemory // nil: no texts are made
	time          *home       // the time that was read last; nil: it is not kept
	timeKept      bool        // it has been read in this block
	thread        home        // the number of the thread, while a variable of its own is searched
	stackOf       asm.Reg     // the address of the thread's stack of calls, if it is used
	share         shareState
}

// home is a place for a word: a register, or a slot on the target's stack.
type home struct {
	reg    asm.Reg
	slot   int
	onSlot bool
}

// operandOf returns where a word lies that is not a constant.
func (s *words) operandOf(w word) asm.Operand {
	switch w.kind {
	case original:
		return s.originalOf(asm.Reg(w.n))
	case temporary:
		return s.homeOperand(s.temps[w.n])
	case threadNumber:
		return s.homeOperand(s.thread)
	case inField:
		return s.homeOperand(s.fields[w.n])
	}
	return s.homeOperand(s.homes[w.n])
}

// originalOf returns where a register's value at the place is: in the register, or where it was saved.
func (s *words) originalOf(x asm.Reg) asm.Operand {
	if d := s.saved[x]; d > 0 {
		return asm.At(asm.RSP, int32(s.below-d))
	}
	return asm.R(x)
}

func (s *words) homeOperand(h home) asm.Operand {
	if h.onSlot {
		return asm.At(asm.RSP, int32(8*h.slot))
	}
	return asm.R(h.reg)
}

// used notes that a register is written, and returns it.
func (s *words) used(x asm.Reg) asm.Reg {
	s.found[s.index].regs.add(x)
	return x
}

// written notes that a home is written, and returns it as an operand.
func (s *words) written(h home) asm.Operand {
	if h.onSlot {
		s.found[s.index].slots = max(s.found[s.index].slots, h.slot+1)
	} else {
		s.used(h.reg)
	}
	return s.homeOperand(h)
}

// pop pops a word.
func (s *words) popWord() word {
	w := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	return w
}

func (s *words) pushWord(w word)        { s.stack = append(s.stack, w) }
func (s *words) pushConst(v uint64)     { s.pushWord(word{constant, v}) }
func (s *words) pushOriginal(x asm.Reg) { s.pushWord(word{original, uint64(x)}) }
func (s *words) isConst32(w word) bool  { return w.kind == constant && asm.Fits32(w.n) }

// load loads a word into a register. The flags stay.
func (s *words) load(x asm.Reg, w word) {
	s.used(x)
	if w.kind == constant {
		s.MovImm(x, w.n)
		return
	}
	s.Mov(asm.R(x), s.operandOf(w))
}

// source returns a word as an operand. A constant is loaded into the given register.
func (s *words) source(w word, spare asm.Reg) asm.Operand {
	if w.kind == constant {
		s.load(spare, w)
		return asm.R(spare)
	}
	return s.operandOf(w)
}

// register returns a register that holds a word: its own, or the given one.
func (s *words) register(w word, spare asm.Reg) asm.Reg {
	if w.kind != constant {
		if o := s.operandOf(w); o.IsReg() {
			return o.Reg
		}
	}
	s.load(spare, w)
	return spare
}

// spare returns a register for single operations other than x.
func spare(x asm.Reg) asm.Reg {
	if x == asm.RAX {
		return asm.RDX
	}
	return asm.RAX
}

// setHome stores a word in a home. The flags stay; rax may change.
func (s *words) setHome(h home, w word) {
	to := s.written(h)
	switch {
	case !h.onSlot:
		s.load(h.reg, w)
	case s.isConst32(w):
		s.StoreImm(to, int32(w.n))
	default:
		s.Mov(to, asm.R(s.register(w, asm.RAX)))
	}
}

// toHome moves the word at an index of the stack to its home.
func (s *words) toHome(i int) {
	if home := (word{atHome, uint64(i)}); s.stack[i] != home {
		s.setHome(s.homes[i], s.stack[i])
		s.stack[i] = home
	}
}

// settle moves all words of the stack, and the fields of the log, to their homes.
func (s *words) settle() {
	s.settleFields()
	for i := range s.stack {
		s.toHome(i)
	}
}

// nextHome returns the index of the home of the next result: its place on the stack. While a key is built, all homes
// stay as they are, because a doorbell may stand before its first part, and each result gets another one.
func (s *words) nextHome() int {
	if s.key.begun {
		return s.key.nextHome
	}
	return len(s.stack)
}

// target returns the register in which the next result is computed: its home, or rax if that is a slot or holds one of
// the words that are still needed.
func (s *words) target(needed ...word) asm.Reg {
	h := s.homes[s.nextHome()]
	if h.onSlot {
		return s.used(asm.RAX)
	}
	for _, w := range needed {
		if w.kind == atHome && s.homes[w.n] == h {
			return s.used(asm.RAX)
		}
	}
	return s.used(h.reg)
}

// result pushes the result that is in a register.
func (s *words) result(x asm.Reg) {
	i := s.nextHome()
	s.Mov(s.written(s.homes[i]), asm.R(x))
	s.pushWord(word{atHome, uint64(i)})
	if s.key.begun {
		s.key.nextHome++
	}
}

// copyOf pushes a copy of the word at an index.
func (s *words) copyOf(i int) {
	w := s.stack[i]
	s.pushWord(w)
	if w.kind == atHome && !s.key.begun {
		s.toHome(len(s.stack) - 1)
	}
}

// exchange exchanges the two top words.
func (s *words) exchange() {
	top := len(s.stack) - 1
	a, b := s.stack[top-1], s.stack[top]
	if a.kind == atHome && b.kind == atHome {
		x, y := s.register(a, asm.RAX), s.register(b, asm.RDX)
		if x != asm.RAX && y != asm.RDX {
			s.Xchg(x, y)
			return
		}
		s.load(asm.RAX, a)
		s.load(asm.RDX, b)
		s.Mov(s.homeOperand(s.homes[top-1]), asm.R(asm.RDX))
		s.Mov(s.homeOperand(s.homes[top]), asm.R(asm.RAX))
		return
	}
	s.stack[top-1], s.stack[top] = b, a
	if a.kind == atHome {
		s.toHome(top)
	}
	if b.kind == atHome {
		s.toHome(top - 1)
	}
}

// poke stores the top word, which is popped, at an index.
func (s *words) poke(i int) {
	w := s.popWord()
	if i == len(s.stack) {
		return
	}
	s.stack[i] = w
	if w.kind == atHome {
		s.toHome(i)
	}
}

// assign pops a word into a scratch word. Words on the stack that stand for its old value are moved to their homes.
func (s *words) assign(n uint32) {
	w, old := s.popWord(), word{temporary, uint64(n)}
	for i := range s.stack {
		if s.stack[i] == old {
			s.toHome(i)
		}
	}
	s.assigned.Add(n)
	if w != old {
		s.setHome(s.temps[n], w)
	}
}

// locate describes where a word lies.
func (s *words) locate(w word) native.Word {
	if w.kind == constant {
		return native.Word{Kind: native.Constant, Value: w.n}
	}
	return s.locateOperand(s.operandOf(w))
}

func (s *words) locateOperand(o asm.Operand) native.Word {
	if o.IsReg() {
		return native.Word{Kind: native.Register, Value: uint64(fileIndex[o.Reg])}
	}
	return native.Word{Kind: native.Memory, Value: uint64(o.Disp)}
}
