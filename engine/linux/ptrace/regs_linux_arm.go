package ptrace

import (
	"syscall"
	"unsafe"

	"gotap/arch"
)

// Requests that the kernel has on 32-bit ARM only.
const (
	reqGetRegs   = 12
	reqSetRegs   = 13
	reqGetTLS    = 22 // PTRACE_GET_THREAD_AREA
	reqGetHBRegs = 29
	reqSetHBRegs = 30
)

// words32 is the length of struct pt_regs: r0 to r15, cpsr, and the value of r0 at the entry of the present system
// call.
const words32 = 18

// GetRegs reads the registers of a stopped tracee.
func GetRegs(tid int, r *arch.Regs) syscall.Errno {
	var words [words32]uint32
	e := requestPointer(reqGetRegs, tid, 0, unsafe.Pointer(&words))
	if e == 0 {
		for i, v := range words {
			r[i] = uint64(v)
		}
	}
	return e
}

// SetRegs writes the registers of a stopped tracee.
func SetRegs(tid int, r *arch.Regs, _ int) syscall.Errno {
	var words [words32]uint32
	for i := range words {
		words[i] = uint32(r[i])
	}
	return requestPointer(reqSetRegs, tid, 0, unsafe.Pointer(&words))
}

// GetHBReg reads a register of the debug unit. Register 0 describes the unit. The others are pairs of address and
// control: positive numbers for breakpoints, negative ones for watchpoints (the kernel's arch/arm/kernel/ptrace.c).
func GetHBReg(tid, n int) (uint32, syscall.Errno) {
	var v uint32
	e := requestPointer(reqGetHBRegs, tid, uintptr(n), unsafe.Pointer(&v))
	return v, e
}

// SetHBReg writes a register of the debug unit.
func SetHBReg(tid, n int, v uint32) syscall.Errno {
	return requestPointer(reqSetHBRegs, tid, uintptr(n), unsafe.Pointer(&v))
}

// ThreadPointer returns the register with which a stopped tracee finds its thread-local storage.
func ThreadPointer(tid int) (uint64, syscall.Errno) {
	var v uint32
	e := requestPointer(reqGetTLS, tid, 0, unsafe.Pointer(&v))
	return uint64(v), e
}
