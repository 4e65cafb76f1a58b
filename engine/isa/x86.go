package isa

import (
	"debug/elf"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/image/module"
	"gotap/engine/linux/hostcpu"
)

// SlotReach is how far a copy may be from its instruction on x86: less than the range of a 32-bit displacement, because
// the operand is itself some distance from the instruction.
const SlotReach = 1 << 30

// AMD64 is x86-64 (System V ABI, AMD64 supplement).
var AMD64 = &ISA{
	Arch: ofHost(x86.New64()), Machine: elf.EM_X86_64, Title: "x86-64", Pushed: 8, SlotReach: SlotReach, floats: 8, floatRegs: floats64,
	boundaries: x86Boundaries(x86.New64()), exits: x86.Exits, trap: isInt3,
}

// I386 is IA-32 (System V ABI, Intel386 supplement). The places of its floating-point arguments depend on the types.
var I386 = &ISA{
	Arch: ofHost(x86.New32()), Machine: elf.EM_386, Title: "IA-32", Pushed: 4, SlotReach: SlotReach, Pops: true, floatRegs: floats32,
	boundaries: x86Boundaries(x86.New32()), exits: x86.Exits, trap: isInt3,
}

// ofHost returns an instruction set adapted to the processor that this program runs on.
func ofHost(a arch.Arch) arch.Arch {
	if hostcpu.HasTransactions() {
		return x86.WithTransactions(a)
	}
	return a
}

func isInt3(code []byte) bool { return len(code) > 0 && code[0] == 0xcc }

func x86Boundaries(a arch.Arch) func(*module.File, []byte, uint64) ([]uint64, error) {
	return func(_ *module.File, code []byte, vaddr uint64) ([]uint64, error) {
		return x86.Boundaries(code, vaddr, a)
	}
}
