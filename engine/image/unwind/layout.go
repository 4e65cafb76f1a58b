package unwind

import (
	"debug/elf"
	"fmt"
	"strconv"

	"gotap/arch"
)

// maxRegs limits the register numbers for which rules are kept: the general registers of all supported architectures,
// and one that never has a value.
const maxRegs = 36

// regNames describes DWARF's register numbers for an architecture (System V ABI, x86-64 figure 3.36 and i386 table
// 2.14; DWARF for the Arm 64-bit Architecture, 4.1).
type regNames struct {
	word   int
	list   []string // by DWARF number; "" is a register that no walk needs
	sp, fp uint8
	lr     uint8 // the register in which a call stores its return address; noReg if that is on the stack
	ra     uint8 // the column of the return address, which on x86 is the program counter
	pcReg  uint8 // number of the program counter, if there is a link register
	thumb  bool  // the lowest bit is not part of a return address
}

// cpsrIndex is the index of the status register of 32-bit ARM in arch.Regs.
const cpsrIndex = 16

// noReg is a register number that never has a value.
const noReg = maxRegs - 1

var amd64Names = &regNames{word: 8, sp: 7, fp: 6, lr: noReg, ra: 16, list: []string{
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
}}

var i386Names = &regNames{word: 4, sp: 4, fp: 5, lr: noReg, ra: 8, list: []string{
	"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip",
}}

var arm64Names = &regNames{word: 8, sp: 31, fp: 29, lr: 30, ra: 30, pcReg: 32, list: arm64List()}

// armNames are the registers of 32-bit ARM (DWARF for the Arm Architecture, 4.1).
var armNames = &regNames{word: 4, sp: 13, fp: 11, lr: 14, ra: 14, pcReg: 15, thumb: true, list: []string{
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
}}

func arm64List() []string {
	list := make([]string, 33)
	for i := range 31 {
		list[i] = "x" + strconv.Itoa(i)
	}
	list[31], list[32] = "sp", "pc"
	return list
}

// namesOf returns the registers of an architecture, or nil if there is no unwinder for it.
func namesOf(m elf.Machine) *regNames {
	switch m {
	case elf.EM_X86_64:
		return amd64Names
	case elf.EM_386:
		return i386Names
	case elf.EM_AARCH64:
		return arm64Names
	case elf.EM_ARM:
		return armNames
	}
	return nil
}

// pc returns the number of the program counter.
func (n *regNames) pc() uint8 {
	if n.lr != noReg {
		return n.pcReg
	}
	return n.ra
}

func (n *regNames) name(reg uint8) string {
	if int(reg) < len(n.list) {
		return n.list[reg]
	}
	return "register " + strconv.Itoa(int(reg))
}

// RegisterName returns the name of the general register with the DWARF number reg on machine m. ok is false if there is
// none.
func RegisterName(m elf.Machine, reg uint64) (name string, ok bool) {
	n := namesOf(m)
	if n == nil || reg >= uint64(len(n.list)) || n.list[reg] == "" {
		return "", false
	}
	return n.list[reg], true
}

// Layout maps DWARF's register numbers to the indices of arch.Regs. It is immutable.
type Layout struct {
	names *regNames
	index [maxRegs]int8 // -1: not in arch.Regs
}

// NewLayout returns the layout of an architecture. index finds a register by name, as arch.Arch.RegIndex does.
func NewLayout(m elf.Machine, index func(name string) (i int, ok bool)) (*Layout, error) {
	names := namesOf(m)
	if names == nil {
		return nil, fmt.Errorf("cannot unwind %v: architecture not supported", m)
	}
	l := &Layout{names: names}
	for reg := range l.index {
		l.index[reg] = -1
		if reg >= len(names.list) {
			continue
		}
		i, ok := index(names.list[reg])
		if !ok || i < 0 || i >= len(arch.Regs{}) {
			return nil, fmt.Errorf("cannot unwind %v: no register %s", m, names.list[reg])
		}
		l.index[reg] = int8(i)
	}
	return l, nil
}

// LayoutOf returns the layout of a.
func LayoutOf(a arch.Arch) (*Layout, error) {
	machines := map[string]elf.Machine{"x86-64": elf.EM_X86_64, "ia32": elf.EM_386, "arm64": elf.EM_AARCH64, "arm": elf.EM_ARM}
	return NewLayout(machines[a.Name()], func(name string) (int, bool) {
		i, _, _, ok := a.RegIndex(name)
		return i, ok
	})
}

// frame holds the registers of one frame, by DWARF number.
type frame struct {
	reg   [maxRegs]uint64
	known uint64 // bit n: reg[n] has a value
	pc    uint64
}

func (f *frame) get(reg uint8) (uint64, bool) {
	return f.reg[reg], f.known>>reg&1 != 0
}

func (f *frame) set(reg uint8, v uint64) {
	f.reg[reg] = v
	f.known |= 1 << reg
}

func (f *frame) forget(reg uint8) { f.known &^= 1 << reg }

// load copies the registers of a thread into a frame.
func (l *Layout) load(f *frame, regs *arch.Regs) {
	f.known = 0
	for reg, i := range l.index {
		if i >= 0 {
			f.set(uint8(reg), regs[i])
		}
	}
	f.pc = f.reg[l.names.pc()]
}

// store copies the registers of a frame into regs. Registers without a value stay unchanged in regs.
func (l *Layout) store(f *frame, regs *arch.Regs) {
	for reg, i := range l.index {
		if v, ok := f.get(uint8(reg)); ok && i >= 0 {
			regs[i] = v
		}
	}
	regs[l.index[l.names.pc()]] = f.pc
}
