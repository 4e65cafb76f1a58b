package abi

import (
	"debug/elf"
	"encoding/binary"

	"gotap/arch/x86"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/goabi"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/linux/seccomp"
)

// AMD64 is x86-64 (System V ABI, AMD64 supplement; the kernel's arch/x86/entry/syscalls/syscall_64.tbl).
var AMD64 = ABI{
	ISA: isa.AMD64, Names: x86.New64(),
	TrapBehind: true, TrapCode: ptrace.CodeKernel, FlagsRegister: x86.EFLAGS, Native: fallback.AMD64, AuditArch: seccomp.ArchAMD64,
	Golang: goabi.Of(elf.EM_X86_64),
	Float:  xmm, FloatWord: fxsaveWord, FloatTop: (*ptrace.FPRegs).ST0,
	Calls: CallTable{
		Insn: []byte{0x0f, 0x05}, Number: x86.RAX, Original: x86.OrigRAX,
		Args: [6]int{x86.RDI, x86.RSI, x86.RDX, x86.R10, x86.R8, x86.R9},
		Mmap: 9, Munmap: 11, Sigaction: 13, Procmask: 14, Tgkill: 234, Prctl: 157, Close: 3, Madvise: 28, Recvmsg: 47, Socketpair: 53, Clone: 56, Fork: 57, Vfork: 58, Clone3: 435,
		// semop rt_sigtimedwait io_getevents semtimedop epoll_wait epoll_pwait io_pgetevents epoll_pwait2
		NeverRestarted: []uint64{65, 128, 208, 220, 232, 281, 333, 441, 44, 45, 46, 47, 299},
		// restart_syscall read write poll select pause nanosleep accept wait4 accept4 futex clock_nanosleep pselect6
		// ppoll waitid rt_sigsuspend; epoll_wait and epoll_pwait are repeated (repairCall)
		exactly: []uint64{219, 0, 1, 7, 23, 34, 35, 43, 61, 288, 202, 230, 270, 271, 247, 130},
		untimed: map[uint64]timeout{232: {3, "0xffffffff"}, 281: {3, "0xffffffff"}},
	},
	InCall: x86.InSyscall,
}

// i386ABI is IA-32 (syscall_32.tbl). The kernel shows a 32-bit process's registers in the places of 64-bit ones.
var i386ABI = ABI{
	ISA: isa.I386, Names: x86.New64(),
	TrapBehind: true, TrapCode: ptrace.CodeKernel, FlagsRegister: x86.EFLAGS, Native: fallback.IA32, AuditArch: seccomp.ArchI386,
	Golang: goabi.Of(elf.EM_386),
	Float:  xmm, FloatWord: fxsaveWord, FloatTop: (*ptrace.FPRegs).ST0,
	Calls: CallTable{
		Insn: []byte{0xcd, 0x80}, Number: x86.RAX, Original: x86.OrigRAX,
		Args: [6]int{x86.RBX, x86.RCX, x86.RDX, x86.RSI, x86.RDI, x86.RBP},
		Mmap: 192, Munmap: 91, Sigaction: 174, Procmask: 175, Tgkill: 270, Prctl: 172, Clone: 120, Fork: 2, Vfork: 190, Clone3: 435, // mmap2: its last argument counts pages
		NeverRestarted: []uint64{117, 177, 247, 256, 319, 420, 421, 441, 369, 370, 371, 372, 337},
		exactly:        []uint64{0, 3, 4, 168, 142, 29, 162, 114, 7, 364, 240, 267, 308, 309, 284, 179, 407, 413, 414, 422},
		untimed:        map[uint64]timeout{256: {3, "0xffffffff"}, 319: {3, "0xffffffff"}},
	},
	InCall: x86.InSyscall,
}

// xmm is the low half of a vector register of x86.
func xmm(f *ptrace.FPRegs, n int) (uint64, bool) {
	if n > 15 {
		return 0, false
	}
	return f.XMM(n), true
}

// fxsaveWord is a word of the floating-point state, as package isa numbers them: the FXSAVE image has each control
// register at a place of its own, the unit's stack from byte 32 and the vectors from byte 160 on, 16 bytes each (Intel
// SDM, volume 1, 10.5.1).
func fxsaveWord(f *ptrace.FPRegs, n int) (uint64, bool) {
	const stack, vectors = 32, 160
	le := binary.LittleEndian
	switch {
	case n >= 0 && n < 2*16:
		return le.Uint64(f[vectors+8*n:]), true
	case n >= isa.FloatStack && n < isa.FloatStack+2*8:
		v := le.Uint64(f[stack+8*(n-isa.FloatStack):])
		if n%2 != 0 {
			v &= 0xffff // what lies behind the 80 bits is reserved
		}
		return v, true
	}
	switch n {
	case isa.FCW:
		return uint64(le.Uint16(f[0:])), true
	case isa.FSW:
		return uint64(le.Uint16(f[2:])), true
	case isa.FTW:
		return uint64(f[4]), true
	case isa.FIP:
		return le.Uint64(f[8:]), true
	case isa.FDP:
		return le.Uint64(f[16:]), true
	case isa.MXCSR:
		return uint64(le.Uint32(f[24:])), true
	}
	return 0, false
}
