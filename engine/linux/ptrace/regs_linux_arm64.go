package ptrace

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"gotap/arch"
)

// The sizes of the general register set: struct user_pt_regs, x0 to x30, sp, pc and pstate, in the order of
// arch.Regs for 64-bit ARM; and the eighteen 32-bit words of an AArch32 tracee, in the order of arch.Regs for
// 32-bit ARM.
const (
	size64  = 34 * 8
	words32 = 18
)

// GetRegs reads the registers of a stopped tracee. The size of the set shows whether it is a 32-bit or a 64-bit
// tracee.
func GetRegs(tid int, r *arch.Regs) syscall.Errno {
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(r)), Len: size64}
	if e := requestPointer(reqGetRegSet, tid, SetGeneral, unsafe.Pointer(&iov)); e != 0 {
		return e
	}
	if iov.Len == words32*4 {
		widen(r)
	}
	return 0
}

// widen spreads 32-bit words at the start of r to one register each. It goes backwards, so that no word is
// overwritten before it has been read. Any memory can be accessed as an array of smaller words with their own
// alignment.
func widen(r *arch.Regs) {
	words := (*[words32]uint32)(unsafe.Pointer(r))
	for i := words32 - 1; i >= 0; i-- {
		r[i] = uint64(words[i])
	}
}

// SetRegs writes the registers of a stopped tracee whose words have word bytes.
func SetRegs(tid int, r *arch.Regs, word int) syscall.Errno {
	if word == 8 {
		iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(r)), Len: size64}
		return requestPointer(reqSetRegSet, tid, SetGeneral, unsafe.Pointer(&iov))
	}
	var words [words32]uint32
	for i := range words {
		words[i] = uint32(r[i])
	}
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(&words)), Len: words32 * 4}
	return requestPointer(reqSetRegSet, tid, SetGeneral, unsafe.Pointer(&iov))
}

// ThreadPointer returns the register with which a stopped tracee finds its thread-local storage, cut to a word of
// the tracee.
func ThreadPointer(tid int) (uint64, syscall.Errno) {
	var p [16]byte
	n, e := GetRegSet(tid, SetARMTLS, p[:])
	if e != 0 {
		return 0, e
	}
	if n < 8 {
		return uint64(binary.LittleEndian.Uint32(p[:])), 0
	}
	return binary.LittleEndian.Uint64(p[:]), 0
}
