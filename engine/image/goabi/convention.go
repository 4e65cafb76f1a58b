package goabi

import (
	"debug/elf"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/arch/x86"
	"gotap/compile"
)

// Convention is the calling convention of Go's compiler on a processor. It is immutable.
type Convention struct {
	// BehindCheck returns the address behind the stack check at the start of a function, whose code is at vaddr. ok is
	// false when there is none.
	BehindCheck func(code []byte, vaddr uint64) (addr uint64, ok bool)
	// Exits returns the instructions that leave a compiled function.
	Exits func(code []byte, start uint64) ([]arch.Exit, error)
	// Arg returns the access to word n of the arguments of an unknown function.
	Arg func(n int, assembly bool) (compile.Access, bool)
	// OnStack is set when arguments and results are on the stack, results behind the arguments.
	OnStack bool

	g int // index of the register that points to the goroutine, or threadStorage
}

// conventions (src/cmd/compile/abi-internal.md of the Go distribution) are those of the processors that there are
// descriptions of.
var conventions = map[elf.Machine]*Convention{
	elf.EM_X86_64:  {BehindCheck: behindCheck(x86.New64()), Exits: exits(x86.New64()), Arg: Arg, g: x86.R14},
	elf.EM_386:     {BehindCheck: behindCheck(x86.New32()), Exits: exits(x86.New32()), Arg: ArgStack32, OnStack: true, g: threadStorage},
	elf.EM_AARCH64: {BehindCheck: behindCheck(arm64.A64), Exits: func(code []byte, start uint64) ([]arch.Exit, error) { return arm64.Exits(code, start, arch.OnePiece) }, Arg: ArgARM64, g: 28},
	elf.EM_ARM: { // the compiler generates A32 only
		BehindCheck: behindCheck(arm.A32), Arg: ArgStack32, OnStack: true, g: 10,
		Exits: func(code []byte, start uint64) ([]arch.Exit, error) {
			return arm.Exits(code, start, arm.A32, arch.OnePiece)
		},
	},
}

// Pointers reads the memory of a stopped thread.
type Pointers interface {
	// Pointer returns the pointer at an address. ok is false when it cannot be read.
	Pointer(addr uint64) (p uint64, ok bool)
}

// Of returns the convention on a processor, or nil when calls of Go functions are treated as those of C functions
// there.
func Of(m elf.Machine) *Convention { return conventions[m] }

func exits(a arch.Arch) func([]byte, uint64) ([]arch.Exit, error) {
	return func(code []byte, start uint64) ([]arch.Exit, error) { return Exits(code, start, a) }
}

func behindCheck(a arch.Arch) func([]byte, uint64) (uint64, bool) {
	return func(code []byte, vaddr uint64) (uint64, bool) { return EntryAfterCheck(code, vaddr, a) }
}

// threadStorage stands for the register of the goroutine on IA-32, where it is in the last word of thread-local
// storage.
const threadStorage = -1

// Goroutine is the goroutine that a thread runs which is in code of Go's compiler, at the entry of a function behind
// the check of its stack, or at an exit: the address of the runtime's g, and the end of its stack. Pointers have so
// many bytes, and the thread has the stack pointer sp. ok is false if no g is there.
//
// The first two words of a g are the bounds of its stack; compiled code knows that too.
func (c *Convention) Goroutine(regs *arch.Regs, mem Pointers, word, sp uint64) (g, hi uint64, ok bool) {
	if c.g == threadStorage {
		g, ok = stored(regs, mem, word, sp)
	} else {
		g, ok = regs[c.g], true
	}
	if !ok || g == 0 { // 0 stands for calls outside Go, and a machine may have memory there
		return 0, 0, false
	}
	hi, ok = StackEnd(g, mem, word)
	return g, hi, ok && sp <= hi
}

// StackEnd returns the end of a goroutine's stack.
func StackEnd(g uint64, mem Pointers, word uint64) (hi uint64, ok bool) { return mem.Pointer(g + word) }

// stored is the goroutine in thread-local storage, whose end is what the first word of the segment GS points to. A
// program in which C has such storage too may have the goroutine elsewhere there: then what is read has not this stack.
// Where the segment is not known, as with GDB's stubs, there is the register in which the check of the stack has left
// the goroutine, at entries.
func stored(regs *arch.Regs, mem Pointers, word, sp uint64) (g uint64, ok bool) {
	if regs[x86.GSBase] == 0 {
		lo, ok := mem.Pointer(regs[x86.RCX])
		return regs[x86.RCX], ok && lo != 0 && lo <= sp
	}
	end, ok := mem.Pointer(regs[x86.GSBase])
	if !ok {
		return 0, false
	}
	if g, ok = mem.Pointer(end - word); !ok {
		return 0, false
	}
	lo, ok := mem.Pointer(g)
	return g, ok && lo <= sp
}
