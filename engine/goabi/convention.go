package goabi

import (
	"debug/elf"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/arch/x86"
	"gotap/compile"
)

// Convention is what Go's compiler does on a processor. Values are made once and never changed.
type Convention struct {
	// BehindCheck is the address behind the check of the stack at the start of a function, whose code lies at vaddr; ok is false when
	// there is none.
	BehindCheck func(code []byte, vaddr uint64) (addr uint64, ok bool)
	// Exits finds the instructions that leave a compiled function.
	Exits func(code []byte, start uint64) ([]arch.Exit, error)
	// Arg is word n of the arguments of a function of which nothing else is known.
	Arg func(n int, assembly bool) (compile.Access, bool)
	// OnStack says that there are no registers for arguments and results: both are on the stack, results behind the arguments.
	OnStack bool

	g int // index of the register that points to the goroutine, or threadStorage
}

// conventions (src/cmd/compile/abi-internal.md of the Go distribution) are those of the processors that there are descriptions of.
var conventions = map[elf.Machine]*Convention{
	elf.EM_X86_64:  {BehindCheck: behindCheck(x86.New64()), Exits: exits(x86.New64()), Arg: Arg, g: x86.R14},
	elf.EM_386:     {BehindCheck: behindCheck(x86.New32()), Exits: exits(x86.New32()), Arg: ArgStack32, OnStack: true, g: threadStorage},
	elf.EM_AARCH64: {BehindCheck: behindCheck(arm64.A64), Exits: arm64.Exits, Arg: ArgARM64, g: 28},
	elf.EM_ARM: { // the compiler makes A32 alone
		BehindCheck: behindCheck(arm.A32), Arg: ArgStack32, OnStack: true, g: 10,
		Exits: func(code []byte, start uint64) ([]arch.Exit, error) { return arm.Exits(code, start, arm.A32) },
	},
}

// Pointers reads memory, of a stopped thread.
type Pointers interface {
	// Pointer is the pointer at an address; ok is false where none can be read.
	Pointer(addr uint64) (p uint64, ok bool)
}

// Of is the convention on a processor; nil when calls of Go functions are taken for calls of C functions there.
func Of(m elf.Machine) *Convention { return conventions[m] }

func exits(a arch.Arch) func([]byte, uint64) ([]arch.Exit, error) {
	return func(code []byte, start uint64) ([]arch.Exit, error) { return Exits(code, start, a) }
}

func behindCheck(a arch.Arch) func([]byte, uint64) (uint64, bool) {
	return func(code []byte, vaddr uint64) (uint64, bool) { return EntryAfterCheck(code, vaddr, a) }
}

// threadStorage stands for the register of the goroutine on IA-32, where it is kept in the word below the end of thread-local storage.
const threadStorage = -1

// Goroutine is the goroutine that a thread runs which is in code of Go's compiler, at the entry of a function behind the check of its stack,
// or at an exit: the address of the runtime's g, and the end of its stack. Pointers have so many bytes, and the thread has the stack
// pointer sp. ok is false when what is there is no g.
//
// The first two words of a g are the bounds of its stack; compiled code knows that too.
func (c *Convention) Goroutine(regs *arch.Regs, mem Pointers, word, sp uint64) (g, hi uint64, ok bool) {
	if c.g == threadStorage {
		g, ok = stored(regs, mem, word, sp)
	} else {
		g, ok = regs[c.g], true
	}
	if !ok || g == 0 { // 0 stands for calls that are none of Go's, and a machine may have memory there
		return 0, 0, false
	}
	hi, ok = StackEnd(g, mem, word)
	return g, hi, ok && sp <= hi
}

// StackEnd is the end of a goroutine's stack.
func StackEnd(g uint64, mem Pointers, word uint64) (hi uint64, ok bool) { return mem.Pointer(g + word) }

// stored is the goroutine in thread-local storage, whose end is what the first word of the segment GS points to. A program in which C has
// such storage too may have the goroutine elsewhere there: then what is read has not this stack. Where the segment is not known, as with
// GDB's stubs, there is the register in which the check of the stack has left the goroutine, at entries.
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
