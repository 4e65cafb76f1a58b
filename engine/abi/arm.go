package abi

import (
	"debug/elf"
	"encoding/binary"

	"gotap/arch"
	"gotap/arch/arm"
	"gotap/arch/arm64"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/goabi"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/linux/seccomp"
)

// ARM64 is AArch64 (AAPCS64; the kernel's include/uapi/asm-generic/unistd.h).
var ARM64 = ABI{
	ISA: isa.ARM64, Names: arm64.A64,
	FlagsRegister: -1, TrapCode: ptrace.CodeBreakpoint, Native: fallback.ARM64, AuditArch: seccomp.ArchARM64,
	Golang: goabi.Of(elf.EM_AARCH64),
	Float:  func(f *ptrace.FPRegs, n int) (uint64, bool) { return f.V(n & 31), n < 32 }, FloatWord: simdWord,
	Calls: CallTable{
		Insn: []byte{0x01, 0x00, 0x00, 0xd4}, Number: 8, Original: -1, Args: [6]int{0, 1, 2, 3, 4, 5},
		Mmap: 222, Munmap: 215, Sigaction: 134, Procmask: 135, Tgkill: 131, Prctl: 167, Close: 57, Madvise: 233, Recvmsg: 212, Socketpair: 199, Clone: 220, Fork: none, Vfork: none, Clone3: 435,
		// io_getevents epoll_pwait rt_sigtimedwait semtimedop semop io_pgetevents epoll_pwait2
		NeverRestarted: []uint64{4, 22, 137, 192, 193, 292, 441, 206, 207, 211, 212, 243},
		exactly:        []uint64{63, 64, 65, 66, 202, 242, 260, 95, 133},                   // read write readv writev accept accept4 wait4 waitid rt_sigsuspend
		untimed:        map[uint64]timeout{98: {3, "0x0"}, 73: {2, "0x0"}, 72: {4, "0x0"}}, // futex ppoll pselect6
	},
	InCall:         unknownCall,
	NeedsStopWorld: func(in arch.Insn) bool { return arm64.ClassOf(in) == arm64.Atomic },
	LoadVectors:    loadVectors64, StoreVectors: storeVectors64,
}

// armABI is 32-bit ARM with its two instruction sets (AAPCS32 with vector registers, EABI; arch/arm/tools/syscall.tbl).
// What does not depend on the set is asked of A32.
var armABI = ABI{
	ISA: isa.ARM, Names: arm.A32,
	FlagsRegister: -1, TrapCode: ptrace.CodeBreakpoint, Native: fallback.ARM, AuditArch: seccomp.ArchARM,
	Golang: goabi.Of(elf.EM_ARM),
	Float:  func(f *ptrace.FPRegs, n int) (uint64, bool) { return f.D(n & 31), n < 32 }, FloatWord: vfpWord,
	Calls: CallTable{
		Insn: []byte{0x00, 0x00, 0x00, 0xef}, Thumb: []byte{0x00, 0xdf}, Number: 7, Original: -1, Args: [6]int{0, 1, 2, 3, 4, 5},
		Mmap: 192, Munmap: 91, Sigaction: 174, Procmask: 175, Tgkill: 268, Prctl: 172, Clone: 120, Fork: 2, Vfork: 190, Clone3: 435,
		// rt_sigtimedwait io_getevents epoll_wait semop semtimedop epoll_pwait io_pgetevents io_pgetevents_time64
		// semtimedop_time64 rt_sigtimedwait_time64 epoll_pwait2
		NeverRestarted: []uint64{177, 245, 252, 298, 312, 346, 399, 416, 420, 421, 441, 289, 290, 291, 292, 296, 297, 365},
		exactly:        []uint64{3, 4, 145, 146, 29, 285, 366, 114, 280, 179}, // as above, and pause
		// futex poll _newselect ppoll pselect6, and those of 64-bit time
		untimed: map[uint64]timeout{240: {3, "0x0"}, 168: {2, "0xffffffff"}, 142: {4, "0x0"}, 336: {2, "0x0"}, 335: {4, "0x0"},
			422: {3, "0x0"}, 414: {2, "0x0"}, 413: {4, "0x0"}},
	},
	InCall:         unknownCall,
	NeedsStopWorld: func(in arch.Insn) bool { return arm.ClassOf(in) == arm.Swap },
	LoadVectors:    loadVectors32, StoreVectors: storeVectors32,
}

// unknownCall says that registers do not show whether a thread is in a system call: see armcall.go in package stepping.
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
