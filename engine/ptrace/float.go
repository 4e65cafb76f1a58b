package ptrace

import "encoding/binary"

// FPRegs are the floating-point and vector registers of a thread as the kernel gives them: the FXSAVE image on x86, struct
// user_fpsimd_state of 64-bit ARM, struct user_vfp of 32-bit ARM.
type FPRegs [528]byte

// The lengths of the three.
const (
	SizeFXSAVE = 512
	SizeFPSIMD = 528
	SizeVFP    = 260
)

// XMM is the low 8 bytes of vector register n (0 to 15) of x86.
func (f *FPRegs) XMM(n int) uint64 { return binary.LittleEndian.Uint64(f[160+16*n:]) }

// V is the low 8 bytes of vector register n (0 to 31) of 64-bit ARM.
func (f *FPRegs) V(n int) uint64 { return binary.LittleEndian.Uint64(f[16*n:]) }

// D is double-word register n (0 to 31) of 32-bit ARM.
func (f *FPRegs) D(n int) uint64 { return binary.LittleEndian.Uint64(f[8*n:]) }
