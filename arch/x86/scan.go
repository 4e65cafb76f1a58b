package x86

import "gotap/arch"

// Reading whole functions: where their instructions start, and where they are left.

// Boundaries is the starts of the instructions of code, which lies at start: a linear sweep. It stops with an error
// at the first bytes that are no instruction; what it found before is returned too. A last instruction that is cut
// off is such an error.
func Boundaries(code []byte, start uint64, a arch.Arch) ([]uint64, error) {
	var out []uint64
	err := arch.Sweep(a, code, start, func(in arch.Insn) error {
		out = append(out, in.Addr)
		return nil
	})
	return out, err
}

// Exits is the instructions that leave the function code, which lies at start: returns, and jumps to other functions.
// An indirect jump that might be either a jump table of the function or a call of another is an *arch.ScanError, as are bytes
// that do not decode. Far returns and iret are exits too. What leaves a function without an instruction of its own,
// longjmp, exceptions, exit, is not found.
func Exits(code []byte, start uint64, a arch.Arch) ([]arch.Exit, error) {
	return ExitsWith(code, start, a, func(uint64) bool { return false })
}

// ExitsWith is Exits for a function in several pieces: own tells that an address outside of code belongs to the
// function all the same, as its cold part does. Each piece is scanned by a call of its own.
func ExitsWith(code []byte, start uint64, a arch.Arch, own func(addr uint64) bool) ([]arch.Exit, error) {
	s := scanner{exits: arch.Exits{Start: start, End: start + uint64(len(code)), Own: own}}
	if err := arch.Sweep(a, code, start, s.visit); err != nil {
		return nil, err
	}
	return s.exits.Found, nil
}

// scanner collects exits. It remembers the last few instructions, from which the kind of an indirect jump is read.
type scanner struct {
	exits  arch.Exits
	recent [lookBack]*inst // a ring
	seen   int
	framed bool // something was pushed, or the stack pointer lowered, further up
}

// lookBack is how many instructions a compiler may put between the parts of a jump through a table.
const lookBack = 24

// ago is the instruction n before the one being visited, or nil.
func (s *scanner) ago(n int) *inst {
	if n > lookBack || n > s.seen {
		return nil
	}
	return s.recent[(s.seen-n)%lookBack]
}

func (s *scanner) visit(in arch.Insn) error {
	op, ok := in.Op.(*inst)
	if !ok {
		return &arch.ScanError{Start: s.exits.Start, Addr: in.Addr, Reason: "an instruction of another architecture"}
	}
	err := s.exits.Visit(in, func() arch.JumpKind { return s.indirect(op) })
	s.framed = s.framed || op.makesFrame()
	s.recent[s.seen%lookBack] = op
	s.seen++
	return err
}

// indirect tells jump tables from tail calls by the code in front:
//
//   - a notrack prefix stands on jump tables only (gcc -fcf-protection);
//   - a jump through a scaled index is a table when the index was compared with a bound, otherwise it may be an array
//     of functions;
//   - a jump to a register that was just added to is a table of offsets when a scaled load precedes the addition;
//   - a jump to a register that was loaded without an index, from memory or another register, and a jump through memory
//     without an index, is a tail call: a virtual function, a pointer, a procedure linkage. If the function has a frame,
//     it has to be undone in front of the jump: threaded interpreters jump from within.
func (s *scanner) indirect(op *inst) arch.JumpKind {
	switch {
	case op.notrack:
		return arch.TableJump
	case op.opcode == 0xea || op.regField() == 5: // far
		return arch.TailCall
	case op.scaled():
		if s.bounded() {
			return arch.TableJump
		}
		return arch.UnclearJump
	}
	kind := arch.TailCall
	if !op.memory() {
		kind = s.register(op.rm())
	}
	if kind == arch.TailCall && s.framed && !s.unframed() {
		return arch.UnclearJump
	}
	return kind
}

// makesFrame reports push and sub from the stack pointer.
func (in *inst) makesFrame() bool {
	push := in.enc == legacy && in.opmap == mapLegacy && in.opcode >= 0x50 && in.opcode < 0x58
	return push || in.addsToSP(aluSUB)
}

// addsToSP reports add to, or sub from, the stack pointer.
func (in *inst) addsToSP(op uint8) bool {
	return (in.is(mapLegacy, 0x83) || in.is(mapLegacy, 0x81)) && !in.memory() && in.regField() == op && in.rm() == 4
}

// unframed reports that the code that leads straight to the jump releases stack.
func (s *scanner) unframed() bool {
	for n := 1; n <= lookBack; n++ {
		in := s.ago(n)
		if in == nil {
			return false
		}
		switch in.control() {
		case arch.Return, arch.Jump, arch.IndirJump, arch.Call, arch.IndirCall:
			return false
		}
		if in.releases() && !s.dropsArguments(n, in) {
			return true
		}
	}
	return false
}

// dropsArguments reports an addition to the stack pointer n instructions ago that follows close on a call, as
// 32-bit code gets rid of arguments.
func (s *scanner) dropsArguments(n int, add *inst) bool {
	if add.long || !add.addsToSP(aluADD) {
		return false
	}
	for _, older := range []int{n + 1, n + 2, n + 3} {
		if in := s.ago(older); in != nil && (in.control() == arch.Call || in.control() == arch.IndirCall) {
			return true
		}
	}
	return false
}

// releases reports pop, leave, add to the stack pointer, and moves into it.
func (in *inst) releases() bool {
	if in.enc != legacy || in.opmap != mapLegacy {
		return false
	}
	toSP := (in.opcode == 0x8b || in.opcode == 0x8d) && in.reg() == 4 || in.opcode == 0x89 && !in.memory() && in.rm() == 4
	return in.opcode >= 0x58 && in.opcode < 0x60 || in.opcode == 0xc9 || toSP || in.addsToSP(aluADD)
}

// scaled reports a memory operand with an index that is scaled by the size of a word or an offset.
func (in *inst) scaled() bool {
	return in.memory() && in.hasSIB && in.sib>>6 >= 2 && in.sib>>3&7|in.rex&rexX<<2 != 4
}

// bounded reports a comparison with an immediate and an unsigned branch within the last instructions.
func (s *scanner) bounded() bool {
	above := false
	for n := 1; n <= lookBack; n++ {
		in := s.ago(n)
		switch {
		case in == nil:
			return false
		case in.aboveBranch():
			above = true
		case above && (in.is(mapLegacy, 0x83) || in.is(mapLegacy, 0x81) || in.is(mapLegacy, 0x80)) && in.regField() == aluCMP,
			above && (in.is(mapLegacy, 0x3c) || in.is(mapLegacy, 0x3d)):
			return true
		}
	}
	return false
}

// aboveBranch reports ja, jae, jb and jbe.
func (in *inst) aboveBranch() bool {
	cond := in.opcode & 15
	unsigned := cond == 2 || cond == 3 || cond == 6 || cond == 7
	return unsigned && in.enc == legacy && (in.opmap == mapLegacy && in.opcode>>4 == 7 || in.opmap == map0F && in.opcode>>4 == 8)
}

// register follows a jump to a register back to where its value comes from.
func (s *scanner) register(reg uint8) arch.JumpKind {
	for n := 1; n <= lookBack; n++ {
		in := s.ago(n)
		if in == nil {
			return arch.UnclearJump
		}
		switch {
		case in.control() == arch.Call || in.control() == arch.IndirCall:
			if reg == 0 {
				return arch.UnclearJump // the result of a call
			}
		case in.is(mapLegacy, 0x01) && !in.memory() && in.rm() == reg, // add
			in.is(mapLegacy, 0x03) && in.reg() == reg:
			return s.offsets(n, in)
		case in.is(mapLegacy, 0x8b) && in.reg() == reg: // mov
			return loadedFrom(in)
		case in.is(mapLegacy, 0x89) && !in.memory() && in.rm() == reg:
			return arch.TailCall
		case in.is(mapLegacy, 0x8d) && in.reg() == reg: // lea
			return arch.TailCall
		}
	}
	return arch.UnclearJump
}

// loadedFrom is the kind of a jump to what a mov loaded. A scaled index may be a table of labels or of functions.
func loadedFrom(in *inst) arch.JumpKind {
	if in.scaled() {
		return arch.UnclearJump
	}
	return arch.TailCall
}

// offsets reports the jump table of position-independent code: before the addition n instructions ago there is a
// load of an offset with a scaled index, or the addition itself is one.
func (s *scanner) offsets(n int, add *inst) arch.JumpKind {
	if add.scaled() {
		return arch.TableJump
	}
	for n++; n <= lookBack; n++ {
		in := s.ago(n)
		if in == nil {
			return arch.UnclearJump
		}
		if (in.is(mapLegacy, 0x63) || in.is(mapLegacy, 0x8b)) && in.scaled() {
			return arch.TableJump
		}
	}
	return arch.UnclearJump
}
