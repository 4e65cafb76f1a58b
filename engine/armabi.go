package engine

import (
	"debug/elf"
	"encoding/binary"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/engine/module"
	"gotap/engine/ptrace"
)

// arm64ABI is AArch64 (AAPCS64; the kernel's include/uapi/asm-generic/unistd.h).
var arm64ABI = abi{
	Arch: arm64.A64, machine: elf.EM_AARCH64, names: arm64.A64,
	flags: -1, trapCode: ptrace.CodeBreakpoint, isTrap: isBRK, setOf: setOf64,
	boundaries: armBoundaries, exits: exits64, exclusive: exclusive64,
	argFloat: firstEight,
	float:    func(f *ptrace.FPRegs, n int) (uint64, bool) { return f.V(n & 31), n < 32 },
	calls: callTable{
		insn: []byte{0x01, 0x00, 0x00, 0xd4}, number: 8, original: -1, args: [6]int{0, 1, 2, 3, 4, 5},
		mmap: 222, sigaction: 134, clone: 220, fork: none, vfork: none, clone3: 435,
		// io_getevents epoll_pwait rt_sigtimedwait semtimedop semop io_pgetevents epoll_pwait2
		neverRestarted: []uint64{4, 22, 137, 192, 193, 292, 441},
	},
	inCall: unknownCall, restarts: armRestarts,
	alone:    func(in arch.Insn) bool { return arm64.ClassOf(in) == arm64.Atomic },
	emulates: &emulator{machine: elf.EM_AARCH64, vectors: vectors64, setVectors: setVectors64},
}

// armABI is 32-bit ARM with its two instruction sets (AAPCS32 with vector registers, EABI; arch/arm/tools/syscall.tbl). What does not
// depend on the set is asked of A32.
var armABI = abi{
	Arch: arm.A32, machine: elf.EM_ARM, names: arm.A32,
	flags: -1, trapCode: ptrace.CodeBreakpoint, isTrap: isUDF, setOf: setOf32, pointer: interworking,
	boundaries: armBoundaries, exits: arm.Exits, exclusive: arm.ExclusiveRuns,
	argFloat: firstEight,
	float:    func(f *ptrace.FPRegs, n int) (uint64, bool) { return f.D(n & 31), n < 32 },
	calls: callTable{
		insn: []byte{0x00, 0x00, 0x00, 0xef}, thumb: []byte{0x00, 0xdf}, number: 7, original: -1, args: [6]int{0, 1, 2, 3, 4, 5},
		mmap: 192, sigaction: 174, clone: 120, fork: 2, vfork: 190, clone3: 435,
		// rt_sigtimedwait io_getevents epoll_wait semop semtimedop epoll_pwait io_pgetevents io_pgetevents_time64 semtimedop_time64
		// rt_sigtimedwait_time64 epoll_pwait2
		neverRestarted: []uint64{177, 245, 252, 298, 312, 346, 399, 416, 420, 421, 441},
	},
	inCall: unknownCall, restarts: armRestarts,
	alone:    func(in arch.Insn) bool { return arm.ClassOf(in) == arm.Swap },
	emulates: &emulator{machine: elf.EM_ARM, vectors: vectors32, setVectors: setVectors32},
}

func init() {
	abis[elf.EM_AARCH64], abis[elf.EM_ARM] = &arm64ABI, &armABI
}

// unknownCall says that registers do not show whether a thread is in a system call: see armcall.go.
func unknownCall(*arch.Regs) bool { return false }

// isBRK reports a breakpoint instruction of A64, with any number.
func isBRK(code []byte) bool {
	return len(code) >= 4 && binary.LittleEndian.Uint32(code)&0xffe0001f == 0xd4200000
}

// isUDF reports one of the undefined instructions that the kernel takes for breakpoints: of A32 under any condition, and the short and the
// long one of Thumb.
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

// setOf64 tells instructions from data between them.
func setOf64(m *module.Loaded, addr uint64) arch.Arch {
	if m != nil && m.File != nil && m.File.CodeAt(m.Vaddr(addr)) == module.CodeData || addr&3 != 0 {
		return nil
	}
	return arm64.A64
}

// setOf32 is the instruction set at an address. Where no module tells, it is A32 as far as it is aligned for that.
func setOf32(m *module.Loaded, addr uint64) arch.Arch {
	kind := module.CodeA32
	if m != nil && m.File != nil {
		kind = m.File.CodeAt(m.Vaddr(addr))
	}
	switch {
	case kind == module.CodeData || addr&1 != 0:
		return nil
	case kind == module.CodeThumb || addr&2 != 0:
		return arm.Thumb
	}
	return arm.A32
}

// interworking is where a pointer to code leads: its lowest bit chooses the instruction set (Arm ARM DDI 0406, A2.3.1).
func interworking(p uint64) (addr uint64, set arch.Arch) {
	if p&1 != 0 {
		return p &^ 1, arm.Thumb
	}
	return p, arm.A32
}

// armBoundaries finds the instructions of a function among the data that lies between them. What does not decode is listed all the
// same, and refused when it is to be probed. Without mapping symbols the flow of control tells instructions from data, if it can be followed.
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

// unitLen is the length of the instruction, or of a piece of data, that code begins with.
func unitLen(kind module.CodeKind, m elf.Machine, code []byte) uint64 {
	const firstWide = 0xe800 // first halfwords from here on begin an instruction of 32 bits (DDI 0406, A6.1)
	switch {
	case kind == module.CodeThumb && binary.LittleEndian.Uint16(code) < firstWide:
		return 2
	case kind == module.CodeData && m == elf.EM_ARM:
		return 2
	}
	return 4
}

func exits64(code []byte, start uint64, _ arch.Arch) ([]arch.Exit, error) {
	return arm64.Exits(code, start)
}

func exclusive64(code []byte, addr uint64, _ arch.Arch) []uint64 {
	return arm64.ExclusiveRuns(code, addr)
}
