//go:build arm || arm64

package ptrace

import "syscall"

// floatSet returns the register set of floating-point and vector registers, and its length, for tracees with words of
// word bytes.
func floatSet(word int) (set, size int) {
	if word == 8 {
		return SetFloat, SizeFPSIMD
	}
	return SetARMVFP, SizeVFP
}

// GetFPRegs reads the floating-point and vector registers of a stopped tracee. It returns their size in bytes.
func GetFPRegs(tid int, f *FPRegs, word int) (int, syscall.Errno) {
	set, size := floatSet(word)
	return GetRegSet(tid, set, f[:size])
}

// SetFPRegs writes the floating-point and vector registers of a stopped tracee.
func SetFPRegs(tid int, f *FPRegs, word int) syscall.Errno {
	set, size := floatSet(word)
	return SetRegSet(tid, set, f[:size])
}
