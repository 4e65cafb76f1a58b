package register

import (
	"debug/elf"
	"strings"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/engine/isa"
)

// ISA is an instruction set as a stub shows it: the data of package isa, and GDB's names of the architecture
// and of its registers. The values are created once and never changed.
type ISA struct {
	*isa.ISA
	GDBName string // GDB's name of the architecture
	Stack   uint   // a kernel's stack has 1<<Stack bytes, and begins at a multiple of its size
	vector  string // name of the vector registers, before their number
	vectors int    // their number
	control string // name of the register with the modes of the vector unit
	status  string // name of the register with its flags; "" if that is the same register
}

var (
	amd64ISA = ISA{ISA: isa.AMD64, GDBName: "i386:x86-64", Stack: 14, vector: "xmm", vectors: 16}
	i386ISA  = ISA{ISA: isa.I386, GDBName: "i386", Stack: 13, vector: "xmm", vectors: 8}
	arm64ISA = ISA{ISA: isa.ARM64, GDBName: "aarch64", Stack: 14, vector: "v", vectors: 32, control: "fpcr", status: "fpsr"}
	armISA   = ISA{ISA: isa.ARM, GDBName: "arm", Stack: 13, vector: "d", vectors: 32, control: "fpscr"}
)

// isas are all instruction sets.
var isas = []*ISA{&amd64ISA, &i386ISA, &arm64ISA, &armISA}

// Named returns the instruction set with GDB's name, or nil. Boards report "armv7" and the like for arm.
func Named(name string) *ISA {
	for _, a := range isas {
		if a.GDBName == name {
			return a
		}
	}
	if strings.HasPrefix(name, "arm") {
		return &armISA
	}
	return nil
}

// Of returns the instruction set of a file's processor, or nil.
func Of(machine elf.Machine) *ISA {
	for _, a := range isas {
		if a.Machine == machine {
			return a
		}
	}
	return nil
}

// Kind returns what a stub needs to know about an instruction to set a breakpoint there: its length, but 3 for a
// long Thumb instruction.
func (a *ISA) Kind(set arch.Arch, in arch.Insn) int {
	switch {
	case set == arm.Thumb && in.Len == 4:
		return 3
	case a.Stepless:
		return in.Len
	}
	return 1
}
