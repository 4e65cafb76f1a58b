package goabi

import "gotap/arch"

// Bounds on the parts of a stack check, in instructions. The longest check is that of a huge frame: seven with the load
// of the goroutine from thread-local storage; the block that calls morestack saves and restores fifteen floating and
// nine other registers in the worst case, and sets one more.
const (
	longestCheck = 10
	longestBlock = 2*(15+9) + 8
)

// longestInsn is the length of the longest instruction of x86, in bytes.
const longestInsn = 15

// EntryAfterCheck returns the address of the instruction behind the stack check at the start of a Go function. code is
// the whole function, which is at vaddr. ok is false when it has no check; then its first instruction is executed once
// for each call.
//
// Between the entry and the returned address no register with an argument, the stack pointer or memory changes. Only
// scratch registers (r12 on x86-64, cx on 386, x16, x17 and x27 on AArch64, r1, r2 and r11 on 32-bit ARM, which passes
// no argument in one) and flags may. The pointer to the goroutine is in r14, x28 or r10 at both addresses, except in
// functions in assembly.
//
// The check is recognised by its shape, because its instructions depend on the size of the frame: a conditional branch
// near the entry leads to a block that makes one call and then jumps back to the entry. Nothing else has this shape: a
// function needs a frame to call anything, and jumping to its start would not set it up again.
func EntryAfterCheck(code []byte, vaddr uint64, a arch.Arch) (addr uint64, ok bool) {
	s := checker{code: code, start: vaddr, a: a}
	for at, n := vaddr, 0; n < longestCheck; n++ {
		in, ok := s.decode(at)
		if !ok {
			break
		}
		switch in.Control {
		case arch.Plain:
		case arch.CondJump:
			// A huge frame has two branches to the same block: one for frames larger than the address space below.
			if !s.isMoreStack(in.Target) {
				return addr, addr != 0
			}
			addr = at + uint64(in.Len)
		default:
			return addr, addr != 0
		}
		at += uint64(in.Len)
	}
	return addr, addr != 0
}

// checker decodes one function.
type checker struct {
	code  []byte
	start uint64
	a     arch.Arch
}

// decode decodes the instruction at an address of the function.
func (s *checker) decode(at uint64) (arch.Insn, bool) {
	if at < s.start || at-s.start >= uint64(len(s.code)) {
		return arch.Insn{}, false
	}
	rest := s.code[at-s.start:]
	in, err := s.a.Decode(rest[:min(len(rest), longestInsn)], at)
	return in, err == nil
}

// isMoreStack reports whether a block makes one call and jumps back to the start of the function.
func (s *checker) isMoreStack(at uint64) bool {
	called := false
	for range longestBlock {
		in, ok := s.decode(at)
		if !ok {
			return false
		}
		switch in.Control {
		case arch.Plain:
		case arch.Call:
			if called {
				return false
			}
			called = true
		case arch.Jump:
			return called && in.Target == s.start
		default:
			return false
		}
		at += uint64(in.Len)
	}
	return false
}
