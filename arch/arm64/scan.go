package arm64

import "gotap/arch"

// Scanning whole functions: which instructions leave them.

// Exits returns the instructions that leave the function code at start: returns, and jumps to other functions.
// Words that do not decode are an *arch.ScanError, and so is an indirect jump that may be a jump table or a call of
// another function. longjmp, exceptions and exit are not found, because no instruction of the function leaves it.
//
// A function may be in several pieces, and each needs a call of its own. own reports whether an address outside code
// belongs to the function, for example to its cold part.
func Exits(code []byte, start uint64, own func(addr uint64) bool) ([]arch.Exit, error) {
	s := scanner{exits: arch.Exits{Start: start, End: start + uint64(len(code)), Own: own}}
	if err := arch.Sweep(A64, code, start, s.visit); err != nil {
		return nil, err
	}
	return s.exits.Found, nil
}

// scanner collects exits. It remembers the last instructions in order to classify indirect jumps.
type scanner struct {
	exits  arch.Exits
	recent [lookBack]arch.Insn // a ring
	seen   int
	framed bool // an earlier instruction made a frame
}

// lookBack is the number of instructions in which the parts of a jump through a table are searched.
const lookBack = 32

// ago returns the word of the instruction n before the current one. ok is false before the function, and if n is
// too large.
func (s *scanner) ago(n int) (w uint32, how arch.Control, ok bool) {
	if n > lookBack || n > s.seen {
		return 0, 0, false
	}
	in := &s.recent[(s.seen-n)%lookBack]
	return in.Op.(*inst).word, in.Control, true
}

func (s *scanner) visit(in arch.Insn) error {
	err := s.exits.Visit(in, func() arch.JumpKind { return s.indirect(rn(in.Op.(*inst).word)) })
	s.framed = s.framed || makesFrame(in.Op.(*inst).word)
	s.recent[s.seen%lookBack] = in
	s.seen++
	return err
}

// indirect classifies an indirect jump by the source of its register:
//
//   - The sum of a base and a loaded offset is a jump table: gcc and clang have no other.
//   - A word loaded with an index is a table if the index was compared with a bound. Otherwise it may be an array of
//     functions.
//   - A word loaded without an index is a pointer to a function, and so is an argument. If the function has a frame,
//     it must be released before the jump: threaded interpreters jump from within.
func (s *scanner) indirect(reg uint32) arch.JumpKind {
	kind := s.origin(reg)
	if kind == arch.TailCall && s.framed && !s.unframed() {
		return arch.UnclearJump
	}
	return kind
}

// origin finds the instruction that set the register of a jump.
func (s *scanner) origin(reg uint32) arch.JumpKind {
	for n := 1; ; n++ {
		w, how, ok := s.ago(n)
		switch {
		case !ok && n <= lookBack:
			return arch.TailCall // an argument
		case !ok:
			return arch.UnclearJump
		case (how == arch.Call || how == arch.IndirCall) && reg < 19:
			return arch.UnclearJump // a result, or lost
		case isVector(w) || rd(w) != reg:
			continue
		case isAddition(w):
			return s.sum(n)
		case isIndexedLoad(w):
			return s.indexed()
		case w&0xffe0ffe0 == 0xaa0003e0: // mov
			reg = rm(w)
		case isPlainLoad(w), w&0x9f000000 == 0x90000000: // adrp
			return arch.TailCall
		}
	}
}

// isAddition reports add of registers, extended or shifted.
func isAddition(w uint32) bool { return w&0xff200000 == 0x8b000000 || w&0xffe00000 == 0x8b200000 }

// isIndexedLoad reports loads with a register offset: of a doubleword, word, halfword or byte.
func isIndexedLoad(w uint32) bool { return w&0x3f200c00 == 0x38200800 && field(w, 22, 2) != 0 }

// isPlainLoad reports loads of a doubleword with an immediate offset, and literals.
func isPlainLoad(w uint32) bool {
	return w&0xffc00000 == 0xf9400000 || w&0xffe00000 == 0xf8400000 || w&0xff000000 == 0x58000000
}

// sum classifies a jump to a sum made n instructions ago. In a table jump, a loaded offset precedes the sum. An
// address within a structure has an immediate addition, which is a different instruction.
func (s *scanner) sum(n int) arch.JumpKind {
	for n++; ; n++ {
		w, how, ok := s.ago(n)
		switch {
		case !ok, how == arch.Return, how == arch.IndirJump:
			return arch.UnclearJump
		case !isVector(w) && isIndexedLoad(w):
			return arch.TableJump
		}
	}
}

// indexed classifies a jump to a value loaded with an index: it is a table if an unsigned comparison bounds the
// index.
func (s *scanner) indexed() arch.JumpKind {
	above := false
	for n := 1; ; n++ {
		w, _, ok := s.ago(n)
		switch {
		case !ok:
			return arch.UnclearJump
		case w&0xff00001e == 0x54000008 || w&0xff00001e == 0x54000002: // b.hi, b.ls, b.cs, b.cc
			above = true
		case above && w&0x7f80001f == 0x7100001f: // cmp with an immediate
			return arch.TableJump
		}
	}
}

// makesFrame reports instructions that lower the stack pointer: sub, and stores of pairs and registers with
// pre-index.
func makesFrame(w uint32) bool {
	sub := w&0xff8003ff == 0xd10003ff
	pair := w&0xffc003e0 == 0xa98003e0
	single := w&0xffe00fe0 == 0xf8000fe0
	return sub || pair || single
}

// releases reports instructions that raise the stack pointer: add, mov, and loads of pairs and registers with
// post-index.
func releases(w uint32) bool {
	add := w&0xff80001f == 0x9100001f
	pair := w&0xffc003e0 == 0xa8c003e0
	single := w&0xffe00fe0 == 0xf84007e0
	return add || pair || single
}

// unframed reports whether the code that leads straight to the jump releases stack.
func (s *scanner) unframed() bool {
	for n := 1; ; n++ {
		w, how, ok := s.ago(n)
		if !ok || how != arch.Plain && how != arch.CondJump {
			return false
		}
		if releases(w) {
			return true
		}
	}
}
