package x86

import "gotap/arch"

// Scanning whole functions: where instructions start, and which leave the function.

// Boundaries returns the addresses of the instructions of code, whose address is start, by a linear sweep. At the
// first bytes that are not an instruction, or at a last instruction that is cut off, it returns an error and the
// addresses so far.
func Boundaries(code []byte, start uint64, a arch.Arch) ([]uint64, error) {
	var out []uint64
	err := arch.Sweep(a, code, start, func(in arch.Insn) error {
		out = append(out, in.Addr)
		return nil
	})
	return out, err
}

// Exits returns the instructions that leave the function whose code is at start: returns, far returns, iret, and
// jumps to other functions. Bytes that do not decode are an *arch.ScanError, and so is an indirect jump that may be
// a jump table or a call of another function. longjmp, exceptions and exit are not found, because no instruction of
// the function leaves it.
//
// A function may be in several pieces, and each needs a call of its own. own reports whether an address outside code
// belongs to the function, for example to its cold part.
func Exits(code []byte, start uint64, a arch.Arch, own func(addr uint64) bool) ([]arch.Exit, error) {
	s := scanner{exits: arch.Exits{Start: start, End: start + uint64(len(code)), Own: own}}
	if err := arch.Sweep(a, code, start, s.visit); err != nil {
		return nil, err
	}
	return s.exits.Found, nil
}

// scanner collects exits. It remembers the last instructions in order to classify indirect jumps.
type scanner struct {
	exits  arch.Exits
	recent [lookBack]*inst // a ring
	seen   int
	framed bool // an earlier instruction pushed something or lowered the stack pointer
}

// lookBack is the number of instructions in which the parts of a jump through a table are searched.
const lookBack = 24

// ago returns the instruction n before the current one, or nil.
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
	s.remember(op)
	return err
}

// remember makes an instruction the last one.
func (s *scanner) remember(op *inst) {
	s.framed = s.framed || op.makesFrame()
	s.recent[s.seen%lookBack] = op
	s.seen++
}

// indirect classifies an indirect jump by the code in front of it:
//
//   - A notrack prefix occurs only on jump tables (gcc -fcf-protection).
//   - A jump through a scaled index is a table if the index was compared with a bound. Otherwise it may be an
//     array of functions.
//   - A jump to a register that was just added to is a table of offsets if a scaled load precedes the addition.
//   - A jump to a register that was loaded without an index, and a jump through memory without an index, is a tail
//     call: a virtual function, a pointer, a procedure linkage. If the function has a frame, it must be released
//     before the jump: threaded interpreters jump from within.
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

// unframed reports whether the code that leads straight to the jump releases stack.
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

// dropsArguments reports whether the addition to the stack pointer n instructions ago closely follows a call, as in
// 32-bit code that releases arguments.
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

// releases reports pop, leave, additions to the stack pointer and moves into it.
func (in *inst) releases() bool {
	if in.enc != legacy || in.opmap != mapLegacy {
		return false
	}
	toSP := (in.opcode == 0x8b || in.opcode == 0x8d) && in.reg() == 4 || in.opcode == 0x89 && !in.memory() && in.rm() == 4
	return in.opcode >= 0x58 && in.opcode < 0x60 || in.opcode == 0xc9 || toSP || in.addsToSP(aluADD)
}

// scaled reports a memory operand with an index scaled by 4 or 8.
func (in *inst) scaled() bool {
	return in.memory() && in.hasSIB && in.sib>>6 >= 2 && in.sib>>3&7|in.rex&rexX<<2 != 4
}

// bounded reports a comparison with an immediate and an unsigned branch among the last instructions.
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

// register finds out where the target of a jump to a register comes from.
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

// loadedFrom classifies a jump to a value that a mov loaded. With a scaled index it may be a table of labels or of
// functions.
func loadedFrom(in *inst) arch.JumpKind {
	if in.scaled() {
		return arch.UnclearJump
	}
	return arch.TailCall
}

// offsets reports whether this is a jump table of position-independent code: the addition n instructions ago, or a
// load before it, has a scaled index.
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
