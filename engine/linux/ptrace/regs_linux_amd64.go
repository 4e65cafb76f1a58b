package ptrace

import (
	"syscall"
	"unsafe"

	"gotap/arch"
)

// Requests that the kernel has on x86 only.
const (
	reqPeekUser = 3
	reqPokeUser = 6
	reqGetRegs  = 12
	reqSetRegs  = 13
)

// GetRegs reads the registers of a stopped tracee. The kernel writes its struct user_regs_struct (27 words), whose
// order is that of arch.Regs for x86; 32-bit tracees give their registers zero-extended in the same places. The
// array is larger than what the kernel writes, so nothing is overrun.
func GetRegs(tid int, r *arch.Regs) syscall.Errno {
	return requestPointer(reqGetRegs, tid, 0, unsafe.Pointer(r))
}

// SetRegs writes the registers of a stopped tracee of any word size.
func SetRegs(tid int, r *arch.Regs, _ int) syscall.Errno {
	return requestPointer(reqSetRegs, tid, 0, unsafe.Pointer(r))
}

// PeekUser reads a word of the tracee's struct user.
func PeekUser(tid int, offset uintptr) (uint64, syscall.Errno) {
	var v uint64
	e := requestPointer(reqPeekUser, tid, offset, unsafe.Pointer(&v))
	return v, e
}

// PokeUser writes a word of the tracee's struct user.
func PokeUser(tid int, offset uintptr, v uint64) syscall.Errno {
	return request(reqPokeUser, tid, offset, uintptr(v))
}

// offsetDebugReg is offsetof(struct user, u_debugreg) on x86-64.
const offsetDebugReg = 848

// GetDebugReg reads debug register n of a stopped tracee.
func GetDebugReg(tid, n int) (uint64, syscall.Errno) {
	return PeekUser(tid, uintptr(offsetDebugReg+8*n))
}

// SetDebugReg writes debug register n of a stopped tracee.
func SetDebugReg(tid, n int, v uint64) syscall.Errno {
	return PokeUser(tid, uintptr(offsetDebugReg+8*n), v)
}

// These requests use the FXSAVE image for all tracees; the corresponding register set has a different format for
// 32-bit tracees.
const (
	reqGetFPRegs = 14
	reqSetFPRegs = 15
)

// GetFPRegs reads the floating-point and vector registers of a stopped tracee. It returns their size in bytes.
func GetFPRegs(tid int, f *FPRegs, _ int) (int, syscall.Errno) {
	return SizeFXSAVE, requestPointer(reqGetFPRegs, tid, 0, unsafe.Pointer(f))
}

// SetFPRegs writes the floating-point and vector registers of a stopped tracee.
func SetFPRegs(tid int, f *FPRegs, _ int) syscall.Errno {
	return requestPointer(reqSetFPRegs, tid, 0, unsafe.Pointer(f))
}

// ThreadPointer returns the base of the segment in which a stopped 64-bit tracee has its thread-local storage.
func ThreadPointer(tid int) (uint64, syscall.Errno) {
	const fsBase = 21 // in struct user_regs_struct
	var r arch.Regs
	e := GetRegs(tid, &r)
	return r[fsBase], e
}
