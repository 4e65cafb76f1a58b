package engine

import (
	"debug/elf"
	"encoding/binary"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/engine/fallback"
	"gotap/engine/goabi"
	"gotap/engine/isa"
	"gotap/engine/ptrace"
	"gotap/engine/seccomp"
)

// arm64ABI is AArch64 (AAPCS64; the kernel's include/uapi/asm-generic/unistd.h).
var arm64ABI = abi{
	ISA: isa.ARM64, names: arm64.A64,
	flags: -1, trapCode: ptrace.CodeBreakpoint, native: fallback.ARM64, audit: seccomp.ArchARM64,
	golang: goabi.Of(elf.EM_AARCH64),
	float:  func(f *ptrace.FPRegs, n int) (uint64, bool) { return f.V(n & 31), n < 32 }, floatWord: simdWord,
	calls: callTable{
		insn: []byte{0x01, 0x00, 0x00, 0xd4}, number: 8, original: -1, args: [6]int{0, 1, 2, 3, 4, 5},
		mmap: 222, munmap: 215, sigaction: 134, tgkill: 131, prctl: 167, clone: 220, fork: none, vfork: none, clone3: 435,
		// io_getevents epoll_pwait rt_sigtimedwait semtimedop semop io_pgetevents epoll_pwait2
		neverRestarted: []uint64{4, 22, 137, 192, 193, 292, 441},
		exactly:        []uint64{63, 64, 65, 66, 202, 242, 260, 95, 133},                   // read write readv writev accept accept4 wait4 waitid rt_sigsuspend
		untimed:        map[uint64]timeout{98: {3, "0x0"}, 73: {2, "0x0"}, 72: {4, "0x0"}}, // futex ppoll pselect6
	},
	inCall:   unknownCall,
	alone:    func(in arch.Insn) bool { return arm64.ClassOf(in) == arm64.Atomic },
	emulates: &emulator{machine: elf.EM_AARCH64, vectors: vectors64, setVectors: setVectors64},
}

// armABI is 32-bit ARM with its two instruction sets (AAPCS32 with vector registers, EABI; arch/arm/tools/syscall.tbl). What does not
// depend on the set is asked of A32.
var armABI = abi{
	ISA: isa.ARM, names: arm.A32,
	flags: -1, trapCode: ptrace.CodeBreakpoint, native: fallback.ARM, audit: seccomp.ArchARM,
	golang: goabi.Of(elf.EM_ARM),
	float:  func(f *ptrace.FPRegs, n int) (uint64, bool) { return f.D(n & 31), n < 32 }, floatWord: vfpWord,
	calls: callTable{
		insn: []byte{0x00, 0x00, 0x00, 0xef}, thumb: []byte{0x00, 0xdf}, number: 7, original: -1, args: [6]int{0, 1, 2, 3, 4, 5},
		mmap: 192, munmap: 91, sigaction: 174, tgkill: 268, prctl: 172, clone: 120, fork: 2, vfork: 190, clone3: 435,
		// rt_sigtimedwait io_getevents epoll_wait semop semtimedop epoll_pwait io_pgetevents io_pgetevents_time64 semtimedop_time64
		// rt_sigtimedwait_time64 epoll_pwait2
		neverRestarted: []uint64{177, 245, 252, 298, 312, 346, 399, 416, 420, 421, 441},
		exactly:        []uint64{3, 4, 145, 146, 29, 285, 366, 114, 280, 179}, // as above, and pause
		// futex poll _newselect ppoll pselect6, and those of 64-bit time
		untimed: map[uint64]timeout{240: {3, "0x0"}, 168: {2, "0xffffffff"}, 142: {4, "0x0"}, 336: {2, "0x0"}, 335: {4, "0x0"},
			422: {3, "0x0"}, 414: {2, "0x0"}, 413: {4, "0x0"}},
	},
	inCall:   unknownCall,
	alone:    func(in arch.Insn) bool { return arm.ClassOf(in) == arm.Swap },
	emulates: &emulator{machine: elf.EM_ARM, vectors: vectors32, setVectors: setVectors32},
}

func init() {
	abis[elf.EM_AARCH64], abis[elf.EM_ARM] = &arm64ABI, &armABI
}

// unknownCall says that registers do not show whether a thread is in a system call: see armcall.go.
func unknownCall(*arch.Regs) bool { return false }

// simdWord is a word of the floating-point state, as package isa numbers them, of struct user_fpsimd_state.
func simdWord(f *ptrace.FPRegs, n int) (uint64, bool) {
	switch {
	case n >= 0 && n < 2*32:
		return binary.LittleEndian.Uint64(f[8*n:]), true
	case n == isa.FPSR:
		return uint64(binary.LittleEndian.Uint32(f[512:])), true
	case n == isa.FPCR:
		return uint64(binary.LittleEndian.Uint32(f[516:])), true
	}
	return 0, false
}

// vfpWord is one of struct user_vfp.
func vfpWord(f *ptrace.FPRegs, n int) (uint64, bool) {
	switch {
	case n >= 0 && n < 32:
		return f.D(n), true
	case n == isa.FPCR:
		return uint64(binary.LittleEndian.Uint32(f[256:])), true
	}
	return 0, false
}
