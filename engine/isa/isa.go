package isa

import (
	"debug/elf"
	"fmt"
	"runtime"
	"slices"

	"gotap/arch"
	"gotap/engine/image/module"
)

// ISA is an instruction set. For ARM, the methods of arch.Arch that do not depend on the state of the processor are
// those of A32.
type ISA struct {
	arch.Arch
	Machine elf.Machine // as in ELF files
	Title   string      // Linux's name, for messages
	Pushed  uint64      // bytes that a call pushes
	// Stepless is set when all instructions are emulated and none is ever stepped.
	Stepless bool
	// SlotReach is how far from an instruction memory for copies of it may begin, in bytes.
	SlotReach uint64
	// Pops is set when functions may pop their arguments when they return.
	Pops bool

	set        func(m *module.Loaded, addr uint64) arch.Arch // nil: there is only one
	boundaries func(f *module.File, code []byte, vaddr uint64) ([]uint64, error)
	exits      func(code []byte, start uint64, set arch.Arch, own func(addr uint64) bool) ([]arch.Exit, error)
	exclusives func(code []byte, start uint64, set arch.Arch) []uint64
	trap       func(code []byte) bool
	pointer    func(p uint64) (addr uint64, set arch.Arch)
	floats     int // number of floating-point arguments in vector registers
	floatRegs  floatNames
	// result returns the address that a call passes for a result in memory; nil where functions return that address.
	result func(*arch.Regs) uint64
}

// ResultAddress returns the address that the caller passes for a result in memory, at the entry of a function with
// these registers. It is 0 where such a function returns that address.
func (a *ISA) ResultAddress(regs *arch.Regs) uint64 {
	if a.result == nil {
		return 0
	}
	return a.result(regs)
}

// all are the instruction sets.
var all = []*ISA{AMD64, I386, ARM64, ARM}

// natives are the instruction sets of the processes that a kernel runs, by the processor that this program was built
// for.
var natives = map[string][]elf.Machine{
	"amd64": {elf.EM_X86_64, elf.EM_386},
	"arm64": {elf.EM_AARCH64, elf.EM_ARM},
	"arm":   {elf.EM_ARM},
}

// Natives returns the instruction sets of processes that can be traced on this machine, this program's own first.
func Natives() []elf.Machine { return natives[runtime.GOARCH] }

// Of returns the instruction set of ELF files for a processor, or nil when it is not supported.
func Of(machine elf.Machine) *ISA {
	for _, a := range all {
		if a.Machine == machine {
			return a
		}
	}
	return nil
}

// Boundaries returns the addresses of the instructions of a function of a file, whose code is at vaddr, without the
// data between them.
func Boundaries(f *module.File, code []byte, vaddr uint64) ([]uint64, error) {
	a := Of(f.Machine)
	if a == nil {
		return nil, fmt.Errorf("cannot decode %s: its processor, %v, is not supported", f.Path, f.Machine)
	}
	return a.boundaries(f, code, vaddr)
}

// SetAt returns the instruction set of the code at an address of a module, which may be nil. It returns nil for data.
func (a *ISA) SetAt(m *module.Loaded, addr uint64) arch.Arch {
	if a.set == nil {
		return a.Arch
	}
	return a.set(m, addr)
}

// kindAt returns the kind of code at an address of a module's file.
func kindAt(m *module.Loaded, addr uint64) module.CodeKind {
	if m == nil || m.File == nil || m.Err != nil {
		return module.CodeUnknown
	}
	return m.File.CodeAt(m.Vaddr(addr))
}

// Exits returns the instructions that leave a function, whose code is at start and in the given instruction set. Of a
// function in several pieces code is one of them, and own reports whether an address is in another. The error says why
// some exits may be missing.
func (a *ISA) Exits(code []byte, start uint64, set arch.Arch, own func(addr uint64) bool) ([]arch.Exit, error) {
	return a.exits(code, start, set, own)
}

// Exclusives returns, in ascending order, the addresses of a function between a load-exclusive and its store-exclusive,
// which would never succeed with a breakpoint between them. It returns nil for processors without such accesses.
func (a *ISA) Exclusives(code []byte, start uint64, set arch.Arch) []uint64 {
	if a.exclusives == nil {
		return nil
	}
	return a.exclusives(code, start, set)
}

// Monitors reports whether the processor has exclusive accesses.
func (a *ISA) Monitors() bool { return a.exclusives != nil }

// maxFunc bounds the bytes of a function that are decoded.
const maxFunc = 1 << 20

// around returns the code to decode to find out whether an address is in a sequence of exclusive accesses: the function
// in the module's file, or some code before and behind the address. m may be nil.
func around(m *module.Loaded, addr uint64) (start uint64, size int) {
	if m != nil && m.File != nil {
		if fn, ok := m.File.FuncAt(m.Vaddr(addr)); ok && fn.Size > 0 {
			return m.Addr(fn.Addr), int(min(fn.Size, maxFunc))
		}
	}
	const around = 64
	return addr - around, 2 * around
}

// IsTrap reports whether code starts with a breakpoint instruction, of gotap or another debugger.
func (a *ISA) IsTrap(code []byte) bool { return a.trap(code) }

// Pointer returns the address of the code that a pointer leads to, and its instruction set, or nil where the module
// determines the set.
func (a *ISA) Pointer(p uint64) (addr uint64, set arch.Arch) {
	if a.pointer == nil {
		return p, nil
	}
	return a.pointer(p)
}

// Target returns the address of the code that a pointer leads to.
func (a *ISA) Target(pointer uint64) uint64 {
	addr, _ := a.Pointer(pointer)
	return addr
}

// Jump sets the program counter to the code that a pointer leads to, in its instruction set. It does not count as an
// indirect branch, which may only lead to a landing pad: a thread at a landing pad still has the state of the branch
// that led there.
func (a *ISA) Jump(regs *arch.Regs, pointer uint64) {
	regs[a.PC()] = a.Target(pointer)
	switch {
	case a.pointer != nil:
		SetThumb(regs, pointer&1 != 0)
	case a.Stepless:
		regs[PState] &^= BranchType
	}
}

// Skip returns from a function that was just entered, with a result and without executing it. On error the registers
// are unchanged.
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

// Leave updates the registers like the instruction that leaves a function: on ARM one instruction may restore registers
// and load the program counter. On other processors they are unchanged, and the instruction finds the return address at
// the stack pointer. It writes no memory. It returns false when it cannot emulate the instruction.
func (a *ISA) Leave(regs *arch.Regs, site arch.Site, mem arch.Memory) bool {
	return !a.Stepless || site.Emulate(regs, mem) == nil
}

// ArgFloat returns the vector register with floating-point argument n, or -1 when it is elsewhere.
func (a *ISA) ArgFloat(n int) int {
	if n < 0 || n >= a.floats {
		return -1
	}
	return n
}

// Word sign-extends a register of 32-bit words, because arguments and results are signed.
func (a *ISA) Word(v uint64) uint64 {
	if a.WordSize() == 4 {
		return uint64(int64(int32(v)))
	}
	return v
}

// Address converts a word to an address. Programs with 32-bit words sign-extend addresses, too.
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

// Exclusives caches the addresses in sequences of exclusive accesses by function, so that one answer serves all
// instructions of a function. It must be emptied when the code may have changed. The zero value is empty.
type Exclusives struct{ functions map[uint64][]uint64 }

// Have reports whether an address is in a sequence of exclusive accesses, which would never succeed with a breakpoint
// in it. find returns the addresses for the function around it. When no function is known, some code before and behind
// the address is used. m may be nil.
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
