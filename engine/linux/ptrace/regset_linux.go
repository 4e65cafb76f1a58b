package ptrace

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Register sets, by the types of the notes that hold them in cores (the kernel's include/uapi/linux/elf.h).
const (
	SetGeneral     = 1     // NT_PRSTATUS
	SetFloat       = 2     // NT_PRFPREG
	SetX86State    = 0x202 // NT_X86_XSTATE
	SetX86Shadow   = 0x204 // NT_X86_SHSTK
	SetARMVFP      = 0x400 // NT_ARM_VFP: 32-bit ARM
	SetARMTLS      = 0x401 // NT_ARM_TLS
	SetARMBreak    = 0x402 // NT_ARM_HW_BREAK
	SetARMWatch    = 0x403 // NT_ARM_HW_WATCH
	SetARMSyscall  = 0x404 // NT_ARM_SYSTEM_CALL
	SetARMScalable = 0x405 // NT_ARM_SVE
)

// GetRegSet reads a register set of a stopped tracee into p. It returns how many bytes were filled, because sets of
// 32-bit tracees are smaller.
func GetRegSet(tid, set int, p []byte) (int, syscall.Errno) {
	iov := unix.Iovec{Base: &p[0]}
	iov.SetLen(len(p))
	e := requestPointer(reqGetRegSet, tid, uintptr(set), unsafe.Pointer(&iov))
	return int(iov.Len), e
}

// SetRegSet writes the start of a register set of a stopped tracee.
func SetRegSet(tid, set int, p []byte) syscall.Errno {
	iov := unix.Iovec{Base: &p[0]}
	iov.SetLen(len(p))
	return requestPointer(reqSetRegSet, tid, uintptr(set), unsafe.Pointer(&iov))
}
