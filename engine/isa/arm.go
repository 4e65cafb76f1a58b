package isa

import (
	"debug/elf"
	"encoding/binary"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/engine/image/module"
)

// ARM64 is AArch64 (AAPCS64).
var ARM64 = &ISA{
	Arch: arm64.A64, Machine: elf.EM_AARCH64, Title: "AArch64", Stepless: true, floats: 8, floatRegs: floatsA64,
	SlotReach: 1<<27 - 1<<20, // less than the range of a branch
	result:    func(r *arch.Regs) uint64 { return r[8] },
	set:       setOf64, boundaries: armBoundaries, trap: isBRK,
	exits: func(code []byte, start uint64, _ arch.Arch, own func(addr uint64) bool) ([]arch.Exit, error) {
		return arm64.Exits(code, start, own)
	},
	exclusives: func(code []byte, start uint64, _ arch.Arch) []uint64 { return arm64.ExclusiveRuns(code, start) },
}

// ARM is 32-bit ARM with its two instruction sets (AAPCS32 with vector registers, EABI).
var ARM = &ISA{
	Arch: arm.A32, Machine: elf.EM_ARM, Title: "ARM", Stepless: true, floats: 8, floatRegs: floatsARM,
	SlotReach: 1 << 32,
	result:    func(r *arch.Regs) uint64 { return r[0] },
	set:       setOf32, boundaries: armBoundaries, trap: isUDF, exits: arm.Exits, exclusives: arm.ExclusiveRuns, pointer: interworking,
}

// CPSR is the index of the program status register of 32-bit ARM; Thumb is its bit that selects the Thumb set,
// BlockState those with the state of an IT block (Arm ARM DDI 0406, B1.3.3).
const (
	CPSR       = 16
	Thumb      = 1 << 5
	BlockState = 3<<25 | 0x3f<<10
)

// PState is the index of the processor state of 64-bit ARM; BranchType are its bits with the kind of indirect branch
// that led to the instruction (Arm ARM DDI 0487, PSTATE.BTYPE).
const (
	PState     = 33
	BranchType = 3 << 10
)

// SetThumb selects the instruction set of 32-bit ARM for a jump to code outside an IT block.
func SetThumb(regs *arch.Regs, thumb bool) {
	regs[CPSR] &^= Thumb | BlockState
	if thumb {
		regs[CPSR] |= Thumb
	}
}

// isBRK reports whether code starts with a breakpoint instruction of A64, with any number.
func isBRK(code []byte) bool {
	return len(code) >= 4 && binary.LittleEndian.Uint32(code)&0xffe0001f == 0xd4200000
}

// isUDF reports whether code starts with an undefined instruction that the kernel treats as a breakpoint: one of A32
// under any condition, or the short or long one of Thumb.
func isUDF(code []byte) bool {
	if len(code) < 2 {
		return false
	}
	half := binary.LittleEndian.Uint16(code)
	if half == 0xde01 {
		return true
	}
	if len(code) < 4 {
		return false
	}
	second := binary.LittleEndian.Uint16(code[2:])
	return half == 0x01f0 && second&0xfff == 0x7f0 || half == 0xf7f0 && second == 0xa000
}

// setOf64 returns A64 for instructions and nil for data between them.
func setOf64(m *module.Loaded, addr uint64) arch.Arch {
	if kindAt(m, addr) == module.CodeData || addr&3 != 0 {
		return nil
	}
	return arm64.A64
}

// setOf32 returns the instruction set at an address. Without information from a module it is A32 when the address is
// aligned for it.
func setOf32(m *module.Loaded, addr uint64) arch.Arch {
	kind := kindAt(m, addr)
	switch {
	case kind == module.CodeData || addr&1 != 0:
		return nil
	case kind == module.CodeThumb || addr&2 != 0:
		return arm.Thumb
	}
	return arm.A32
}

// interworking returns the code that a pointer leads to: its lowest bit selects the instruction set (Arm ARM DDI 0406,
// A2.3.1).
func interworking(p uint64) (addr uint64, set arch.Arch) {
	if p&1 != 0 {
		return p &^ 1, arm.Thumb
	}
	return p, arm.A32
}

// armBoundaries returns the instructions of a function without the data between them. Instructions that cannot be
// decoded are included, and refused when they are probed. Without mapping symbols the control flow distinguishes
// instructions from data, if it can be followed.
func armBoundaries(f *module.File, code []byte, vaddr uint64) ([]uint64, error) {
	if f.Machine == elf.EM_ARM && !f.HasCodeMap() {
		_, set := interworking(thumbBit(f.CodeAt(vaddr)))
		return arm.Boundaries(code, vaddr, set)
	}
	var all []uint64
	for at := vaddr; at+1 < vaddr+uint64(len(code)); {
		kind := f.CodeAt(at)
		if kind != module.CodeData {
			all = append(all, at)
		}
		at += unitLen(kind, f.Machine, code[at-vaddr:])
	}
	return all, nil
}

// thumbBit is the lowest bit of a pointer to code.
func thumbBit(kind module.CodeKind) uint64 {
	if kind == module.CodeThumb {
		return 1
	}
	return 0
}

// unitLen returns the length of the instruction, or of the piece of data, at the start of code.
func unitLen(kind module.CodeKind, m elf.Machine, code []byte) uint64 {
	const firstWide = 0xe800 // from this first halfword on, instructions have 32 bits (DDI 0406, A6.1)
	switch {
	case kind == module.CodeThumb && binary.LittleEndian.Uint16(code) < firstWide:
		return 2
	case kind == module.CodeData && m == elf.EM_ARM:
		return 2
	}
	return 4
}
