package compile

import (
	"math/bits"

	"gotap/runtime"
	"gotap/runtime/opcode"
)

// maxRounds is the maximum number of passes over a program. Each pass can use the results of the previous one. Compiled
// scripts take two or three; the limit protects against programs made to take many.
const maxRounds = 8

// Optimize returns a program that does the same in fewer steps. It evaluates constants, redirects jumps to jumps, and
// removes useless moves of words and unreachable commands. Results, traps, log and state stay the same; the number of
// steps does not. The given program is not changed. The result is not verified yet; Verify accepts it if it accepted
// the original.
func Optimize(p *Program) *Program {
	// Programs are immutable once verified, so this works on a copy, which shares everything except the code.
	q := *p
	q.Bound, q.uses = Bound{}, nil
	q.Code = append([]Command(nil), p.Code...)
	for range maxRounds {
		before := len(q.Code)
		changed := threadJumps(q.Code)
		q.Code = shortened(q.Code)
		q.Code = reached(q.Code)
		if !changed && len(q.Code) == before {
			break
		}
	}
	return &q
}

// threadJumps redirects jumps to jumps to their final target, and replaces a jump to an end by the end. Front ends
// write jumps without examining their target: an if at the end of a loop jumps to the loop's jump.
func threadJumps(code []Command) (changed bool) {
	for i := range code {
		c := &code[i]
		if !jumps(c.Op) || int(c.A) >= len(code) {
			continue
		}
		target := final(code, c.A)
		if target != c.A && c.Op != opcode.Call {
			c.A, changed = target, true
		}
		if end := code[c.A]; c.Op == opcode.Jmp && ends(end.Op) && end.Op != opcode.Jmp {
			*c, changed = end, true
		}
	}
	return changed
}

// final returns where control arrives when it goes to a command: past unconditional jumps, unless they form a cycle.
func final(code []Command, at uint32) uint32 {
	to := at
	// Jumps may form a cycle; after 16 steps any target will do.
	for range 16 {
		if int(to) >= len(code) || code[to].Op != opcode.Jmp {
			return to
		}
		to = code[to].A
	}
	return at
}

// reached returns the program without unreachable commands. The range of a handler is not known here, so a handler
// counts as reached where it is set.
func reached(code []Command) []Command {
	live := make([]bool, len(code))
	todo := []int{0}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at >= len(code) || live[at] {
			continue
		}
		live[at] = true
		if labels(code[at].Op) {
			todo = append(todo, int(code[at].A))
		}
		if !ends(code[at].Op) {
			todo = append(todo, at+1)
		}
	}
	s := shortener{moved: make([]uint32, len(code)+1)}
	for i, c := range code {
		s.moved[i] = uint32(len(s.out))
		if live[i] {
			s.out = append(s.out, c)
		}
	}
	s.moved[len(code)] = uint32(len(s.out))
	return s.done()
}

// shortener rewrites a program and replaces its last commands by shorter ones. It looks through a window of the last
// commands (peephole), but never across a jump target, because control may arrive there with anything on the stack.
type shortener struct {
	out     []Command
	moved   []uint32 // new index of each command of the old program
	barrier int      // commands before this one precede a jump target and stay
}

// shortened returns the program without its small detours.
func shortened(code []Command) []Command {
	target := make([]bool, len(code)+1)
	for _, c := range code {
		if labels(c.Op) && int(c.A) < len(code) {
			target[c.A] = true
		}
	}
	s := shortener{moved: make([]uint32, len(code)+1)}
	for i, c := range code {
		s.moved[i] = uint32(len(s.out))
		if target[i] {
			s.barrier = len(s.out)
		}
		if jumps(c.Op) && c.Op != opcode.Call && c.Op != opcode.Loop && int(c.A) == i+1 {
			c = jumpToNext(c)
		}
		s.out = append(s.out, c)
		for s.reduce() {
		}
	}
	s.moved[len(code)] = uint32(len(s.out))
	return s.done()
}

// jumpToNext returns the rest of a jump to the next command. A conditional jump to the next command decides nothing,
// but it pops a word, so it becomes a drop.
func jumpToNext(c Command) Command {
	if c.Op == opcode.Jmp {
		return Command{Op: opcode.Nop, Pos: c.Pos}
	}
	return Command{Op: opcode.Drop, A: 1, Pos: c.Pos}
}

// done stores the new indexes in the jumps.
func (s *shortener) done() []Command {
	for i := range s.out {
		if c := &s.out[i]; labels(c.Op) {
			c.A = s.moved[c.A]
		}
	}
	return s.out
}

// last returns the command n before the end if it may be changed. Otherwise it returns a command with the invalid
// operation NumOps, which matches no rule.
func (s *shortener) last(n int) Command {
	if at := len(s.out) - 1 - n; at >= s.barrier {
		return s.out[at]
	}
	return Command{Op: opcode.NumOps}
}

// replace replaces the last n commands by others. They get the position of the last one, which does what remains to be
// done.
func (s *shortener) replace(n int, with ...Command) bool {
	pos := s.out[len(s.out)-1].Pos
	s.out = s.out[:len(s.out)-n]
	for _, c := range with {
		c.Pos = pos
		s.out = append(s.out, c)
	}
	return true
}

// reduce shortens the end of the program by one step if possible.
func (s *shortener) reduce() bool {
	if len(s.out) <= s.barrier {
		return false
	}
	c, before := s.last(0), s.last(1)
	switch {
	case c.Op == opcode.Nop, c.Op == opcode.Drop && c.A == 0:
		return s.replace(1)
	case c.Op == opcode.Drop:
		return s.dropped(c, before)
	case before.Op == opcode.PushD:
		return s.onConstant(c, before.V)
	case c.Op == opcode.Jz || c.Op == opcode.Jnz:
		return s.tested(c, before)
	}
	return false
}

// mayTrap reports whether a field of the context may not be known, which is a trap.
func mayTrap(f runtime.Field) bool { return f == runtime.FieldErrno || f == runtime.FieldRunTime }

// dropped joins drops, and removes commands whose only result is dropped. It removes only commands that cannot trap:
// reading memory is an effect even if the result is not used.
func (s *shortener) dropped(c, before Command) bool {
	switch {
	case before.Op == opcode.Field && mayTrap(runtime.Field(before.A)):
	case before.Op == opcode.Drop:
		if c.A+before.A < runtime.MaxStack {
			return s.replace(2, Command{Op: opcode.Drop, A: c.A + before.A})
		}
	case before.Op.Has(opcode.Pure):
		return s.replace(2, Command{Op: opcode.Drop, A: c.A - 1})
	}
	return false
}

// tested makes a jump test a word directly, without the command before it that only converts the word to a truth value.
// Scripts contain "if (!a)" and "if (a == 0)", and both compute a truth value only to test it.
func (s *shortener) tested(c, before Command) bool {
	switch before.Op {
	case opcode.Bool:
		return s.replace(2, c)
	case opcode.Lnot:
		c.Op = opcode.Jz + opcode.Jnz - c.Op
		return s.replace(2, c)
	}
	return false
}

// onConstant evaluates a command on a constant. Folding uses the same integer functions as the machine, and a test
// compares both on random programs.
func (s *shortener) onConstant(c Command, v uint64) bool {
	if taken, jumps := constantJump(c.Op, v); jumps {
		if taken {
			return s.replace(2, Command{Op: opcode.Jmp, A: c.A})
		}
		return s.replace(2)
	}
	if r, ok := foldOne(c.Op, c.A, v); ok {
		return s.replace(2, Command{Op: opcode.PushD, V: r})
	}
	if below := s.last(2); below.Op == opcode.PushD {
		if r, ok := foldTwo(c.Op, below.V, v); ok {
			return s.replace(3, Command{Op: opcode.PushD, V: r})
		}
	}
	if changesNothing(c.Op, v) {
		return s.replace(2)
	}
	return false
}

// constantJump returns whether a conditional jump on a constant is taken; ok is false for other commands. Such jumps
// come from conditions that were folded: "if (DEBUG)".
func constantJump(op opcode.Op, v uint64) (taken, ok bool) {
	switch n := int64(v); op {
	case opcode.Jz:
		return n == 0, true
	case opcode.Jnz:
		return n != 0, true
	case opcode.Jlt:
		return n < 0, true
	case opcode.Jle:
		return n <= 0, true
	case opcode.Jgt:
		return n > 0, true
	case opcode.Jge:
		return n >= 0, true
	}
	return false, false
}

// changesNothing reports whether "push d,v" and a command leave the word below unchanged. The word is still known to be
// a number, because Verify would not accept the command on text. Shifts take their count modulo 64, so a shift by 64 is
// a shift by 0.
func changesNothing(op opcode.Op, v uint64) bool {
	switch op {
	case opcode.Add, opcode.Sub, opcode.Or, opcode.Xor:
		return v == 0
	case opcode.Shl, opcode.Shr, opcode.Sar, opcode.Rol, opcode.Ror:
		return v&63 == 0
	case opcode.Mul, opcode.Quo:
		return v == 1
	case opcode.And:
		return v == 1<<64-1
	}
	return false
}

// foldOne evaluates a command on one number. It does not fold floats, because the machine determines their rounding.
func foldOne(op opcode.Op, n uint32, v uint64) (uint64, bool) {
	switch op {
	case opcode.Neg:
		return -v, true
	case opcode.Not:
		return ^v, true
	case opcode.Lnot:
		return truth(v == 0), true
	case opcode.Bool:
		return truth(v != 0), true
	case opcode.Abs:
		if int64(v) < 0 {
			v = -v
		}
		return v, true
	case opcode.Clz:
		return uint64(bits.LeadingZeros64(v)), true
	case opcode.Popcnt:
		return uint64(bits.OnesCount64(v)), true
	case opcode.Ext:
		return uint64(int64(v<<(64-n)) >> (64 - n)), n > 0 && n < 64
	case opcode.Zext:
		return v & (1<<n - 1), n < 64
	}
	return 0, false
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// foldTwo evaluates a command on two numbers. It leaves division by 0 to the machine: the trap happens at the hit and
// counts there with its place, and a program may never reach it.
func foldTwo(op opcode.Op, a, b uint64) (uint64, bool) {
	if r, ok := foldBits(op, a, b); ok {
		return r, true
	}
	x, y := int64(a), int64(b)
	switch op {
	case opcode.Quo:
		if y != 0 {
			return uint64(x / y), true
		}
	case opcode.Rem:
		if y != 0 {
			return uint64(x % y), true
		}
	case opcode.Eq:
		return truth(a == b), true
	case opcode.Ne:
		return truth(a != b), true
	case opcode.Lt:
		return truth(x < y), true
	case opcode.Le:
		return truth(x <= y), true
	case opcode.Gt:
		return truth(x > y), true
	case opcode.Ge:
		return truth(x >= y), true
	case opcode.Ult:
		return truth(a < b), true
	case opcode.Ule:
		return truth(a <= b), true
	case opcode.Min:
		return uint64(min(x, y)), true
	case opcode.Max:
		return uint64(max(x, y)), true
	}
	return 0, false
}

// foldBits evaluates sums, products and bitwise operations.
func foldBits(op opcode.Op, a, b uint64) (uint64, bool) {
	switch op {
	case opcode.Add:
		return a + b, true
	case opcode.Sub:
		return a - b, true
	case opcode.Mul:
		return a * b, true
	case opcode.And:
		return a & b, true
	case opcode.Or:
		return a | b, true
	case opcode.Xor:
		return a ^ b, true
	case opcode.Shl:
		return a << (b & 63), true
	case opcode.Shr:
		return a >> (b & 63), true
	case opcode.Sar:
		return uint64(int64(a) >> (b & 63)), true
	case opcode.Rol:
		return bits.RotateLeft64(a, int(b&63)), true
	case opcode.Ror:
		return bits.RotateLeft64(a, -int(b&63)), true
	}
	return 0, false
}
