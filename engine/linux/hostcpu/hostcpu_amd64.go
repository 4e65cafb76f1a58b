package hostcpu

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cpuid executes the instruction: leaf in eax, subleaf in ecx.
func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

// HasShadowStacks reports whether programs may have shadow stacks: the processor supports them (CET_SS), and the kernel
// does, which answers what a thread uses of them (Documentation/arch/x86/shstk.rst of the kernel; Linux 6.6). It is true
// where the kernel does not let this process ask.
func HasShadowStacks() bool {
	const shadowStacks, status = 1 << 7, 0x5005 // ARCH_SHSTK_STATUS
	if last, _, _, _ := cpuid(0, 0); last < 7 {
		return false
	}
	if _, _, ecx, _ := cpuid(7, 0); ecx&shadowStacks == 0 {
		return false
	}
	var used uint64
	_, _, e := unix.RawSyscall(unix.SYS_ARCH_PRCTL, status, uintptr(unsafe.Pointer(&used)), 0) // the kernel writes 8 bytes
	return e != unix.EINVAL && e != unix.ENOSYS
}

// HasTransactions reports whether the processor executes xbegin (RTM). A processor whose transactions are disabled may
// not report RTM and still execute xbegin: its transactions abort at once (Intel SDM vol. 2, CPUID, leaf 7:
// RTM_ALWAYS_ABORT).
func HasTransactions() bool {
	const rtm, alwaysAborts = 1 << 11, 1 << 11
	if last, _, _, _ := cpuid(0, 0); last < 7 {
		return false
	}
	_, ebx, _, edx := cpuid(7, 0)
	return ebx&rtm != 0 || edx&alwaysAborts != 0
}

// SwapsPairs reports whether the processor compares and swaps 16 bytes (cmpxchg16b).
func SwapsPairs() bool {
	const cx16 = 1 << 13
	_, _, ecx, _ := cpuid(1, 0)
	return ecx&cx16 != 0
}

// KeyRights returns where the register of protection keys (PKRU) lies in the saved state of a thread (NT_X86_XSTATE).
// ok is false where the processor or the kernel has no protection keys.
func KeyRights() (offset uint32, ok bool) {
	const enabled, stateLeaf, component = 1 << 4, 0xd, 9 // OSPKE; Intel SDM vol. 1, 13.5.7
	if last, _, _, _ := cpuid(0, 0); last < stateLeaf {
		return 0, false
	}
	if _, _, ecx, _ := cpuid(7, 0); ecx&enabled == 0 {
		return 0, false
	}
	_, offset, _, _ = cpuid(stateLeaf, component)
	return offset, offset != 0
}

// ReadsThreadPointer reports whether programs may read the address of their thread's own data with an instruction
// (rdfsbase): the processor has it, and the kernel has enabled it (AT_HWCAP2; Documentation/arch/x86/elf_auxvec.rst of
// the kernel).
func ReadsThreadPointer() bool {
	const hwcap2, fsgsbase = 26, 1 << 1
	auxv, err := unix.Auxv()
	return err == nil && slices.ContainsFunc(auxv, func(one [2]uintptr) bool { return one[0] == hwcap2 && one[1]&fsgsbase != 0 })
}
