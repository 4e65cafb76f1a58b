package isa

import (
	"debug/elf"
	"fmt"
	"runtime"
	"slices"

	"gotap/arch"
	"gotap/engine/module"
)

// ISA is an instruction set. The methods of arch.Arch are those of what does not depend on the state of an ARM processor: there it is A32.
type ISA struct {
	arch.Arch
	Machine elf.Machine // what ELF files call it
	Title   string      // what Linux calls it, for messages
	Pushed  uint64      // bytes that a call pushes
	// Stepless says that all instructions are emulated and none is ever stepped.
	Stepless bool
	// Pops says that functions may take their arguments off the stack when they return.
	Pops bool

	set        func(m *module.Loaded, addr uint64) arch.Arch // nil: there is but one
	boundaries func(f *module.File, code []byte, vaddr uint64) ([]uint64, error)
	exits      func(code []byte, start uint64, set arch.Arch) ([]arch.Exit, error)
	exclusives func(code []byte, start uint64, set arch.Arch) []uint64
	trap       func(code []byte) bool
	pointer    func(p uint64) (addr uint64, set arch.Arch)
	floats     int // how many floating-point arguments are in vector registers
	floatRegs  floatNames
	// result is the address that calls pass for a result in memory, where functions need not return it; nil: they do.
	result func(*arch.Regs) uint64
}

// ResultAddress is where the caller of a function that is entered with these registers wants a result that is returned in memory, were
// it one; 0 where a function that does so returns that address.
func (a *ISA) ResultAddress(regs *arch.Regs) uint64 {
	if a.result == nil {
		return 0
	}
	return a.result(regs)
}

// all are the instruction sets.
var all = []*ISA{AMD64, I386, ARM64, ARM}

// natives are the instruction sets whose processes a kernel runs, by the processor that this program was built for.
var natives = map[string][]elf.Machine{
	"amd64": {elf.EM_X86_64, elf.EM_386},
	"arm64": {elf.EM_AARCH64, elf.EM_ARM},
	"arm":   {elf.EM_ARM},
}

// Natives are the instruction sets whose processes can be traced on this machine, this program's own first.
func Natives() []elf.Machine { return natives[runtime.GOARCH] }

// Of finds the instruction set of ELF files for a processor; nil when it is none of those that targets may have.
func Of(machine elf.Machine) *ISA {
	for _, a := range all {
		if a.Machine == machine {
			return a
		}
	}
	return nil
}

// Boundaries finds the instructions of a function of a file, whose code lies at vaddr, among the data between them.
func Boundaries(f *module.File, code []byte, vaddr uint64) ([]uint64, error) {
	a := Of(f.Machine)
	if a == nil {
		return nil, fmt.Errorf("cannot decode %s: its processor, %v, is not known", f.Path, f.Machine)
	}
	return a.boundaries(f, code, vaddr)
}

// SetAt is the instruction set of the code at an address of a module, which may be nil; nil when there is data.
func (a *ISA) SetAt(m *module.Loaded, addr uint64) arch.Arch {
	if a.set == nil {
		return a.Arch
	}
	return a.set(m, addr)
}

// kindAt is what a module's file says of an address.
func kindAt(m *module.Loaded, addr uint64) module.CodeKind {
	if m == nil || m.File == nil || m.Err != nil {
		return module.CodeUnknown
	}
	return m.File.CodeAt(m.Vaddr(addr))
}

// Exits finds the instructions that leave a function, whose code lies at start and is in an instruction set. The error tells why not all of
// them can be found.
func (a *ISA) Exits(code []byte, start uint64, set arch.Arch) ([]arch.Exit, error) {
	return a.exits(code, start, set)
}

// Exclusives lists, in ascending order, the places of a function between a load-exclusive and its store-exclusive, which would
// never succeed with a breakpoint between them; nil where processors have no such accesses.
func (a *ISA) Exclusives(code []byte, start uint64, set arch.Arch) []uint64 {
	if a.exclusives == nil {
		return nil
	}
	return a.exclusives(code, start, set)
}

// Monitors reports whether the processor has exclusive accesses.
func (a *ISA) Monitors() bool { return a.exclusives != nil }

// maxFunc bounds the bytes of a function that are looked at.
const maxFunc = 1 << 20

// around is the code that has to be looked at to know whether an address is in a sequence of exclusive accesses: the function that a
// module's file has there, or what lies a little before and behind the address. m may be nil.
func around(m *module.Loaded, addr uint64) (start uint64, size int) {
	if m != nil && m.File != nil {
		if fn, ok := m.File.FuncAt(m.Vaddr(addr)); ok && fn.Size > 0 {
			return m.Addr(fn.Addr), int(min(fn.Size, maxFunc))
		}
	}
	const around = 64
	return addr - around, 2 * around
}

// IsTrap reports whether code begins with a breakpoint instruction, of ours or another debugger's.
func (a *ISA) IsTrap(code []byte) bool { return a.trap(code) }

// Pointer takes a pointer to code apart: where it leads, and in which instruction set; set is nil where the module tells that.
func (a *ISA) Pointer(p uint64) (addr uint64, set arch.Arch) {
	if a.pointer == nil {
		return p, nil
	}
	return a.pointer(p)
}

// Target is the address of the code that a pointer leads to.
func (a *ISA) Target(pointer uint64) uint64 {
	addr, _ := a.Pointer(pointer)
	return addr
}

// Jump sets the program counter to where a pointer to code leads, in the instruction set that it chooses. It is no indirect branch,
// which could only lead to a landing pad: a thread that stands at one still shows that it came by such a branch.
func (a *ISA) Jump(regs *arch.Regs, pointer uint64) {
	regs[a.PC()] = a.Target(pointer)
	switch {
	case a.pointer != nil:
		SetThumb(regs, pointer&1 != 0)
	case a.Stepless:
		regs[PState] &^= BranchType
	}
}

// Skip returns from a function that was just entered with a result, without running it. On error nothing has changed.
func (a *ISA) Skip(regs *arch.Regs, mem arch.Memory, result uint64) error {
	ret, err := a.ReturnAddress(regs, mem)
	if err != nil {
		return err
	}
	regs[a.Ret()] = result
	regs[a.SP()] += a.Pushed
	a.Jump(regs, ret)
	return nil
}

// Leave makes the registers what the instruction that leaves a function makes them: on ARM it may take down the frame and load the
// program counter in one. Elsewhere they stay as they are, and the instruction finds the return address at the stack pointer. It
// writes no memory. It reports false when the instruction cannot be followed.
func (a *ISA) Leave(regs *arch.Regs, site arch.Site, mem arch.Memory) bool {
	return !a.Stepless || site.Emulate(regs, mem) == nil
}

// ArgFloat is the vector register that has floating-point argument n, -1 when it is elsewhere.
func (a *ISA) ArgFloat(n int) int {
	if n < 0 || n >= a.floats {
		return -1
	}
	return n
}

// Word sign-extends a word of a register where words have 32 bits: arguments and results are signed.
func (a *ISA) Word(v uint64) uint64 {
	if a.WordSize() == 4 {
		return uint64(int64(int32(v)))
	}
	return v
}

// Address makes an address of a word: where words have 32 bits, programs sign-extend those in the upper half too.
func (a *ISA) Address(v uint64) uint64 {
	if a.WordSize() == 4 && int64(v) == int64(int32(v)) {
		return uint64(uint32(v))
	}
	return v
}

// Executes reports whether the condition of an instruction holds, if it has one.
func Executes(site arch.Site, regs *arch.Regs) bool {
	c, ok := site.(arch.ConditionalSite)
	return !ok || c.Executes(regs)
}

// Exclusives remembers the places in sequences of exclusive accesses, by the functions that were asked about: one answer serves all
// instructions of a function. It is to be emptied when other code may be there. The zero value is empty.
type Exclusives struct{ functions map[uint64][]uint64 }

// Have reports whether an address is in a sequence of exclusive accesses, which a breakpoint would keep from ever succeeding. find
// lists those of the function around it. Where no function is known it is taken for one that reaches a little before and behind the
// address. m may be nil.
func (e *Exclusives) Have(addr uint64, m *module.Loaded, find func(start uint64, size int) []uint64) bool {
	start, size := around(m, addr)
	places, known := e.functions[start]
	if !known {
		if e.functions == nil {
			e.functions = map[uint64][]uint64{}
		}
		places = find(start, size)
		e.functions[start] = places
	}
	_, found := slices.BinarySearch(places, addr)
	return found
}
