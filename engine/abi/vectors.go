package abi

import (
	"encoding/binary"

	"gotap/arch"
	"gotap/engine/linux/ptrace"
)

// loadVectors64 reads struct user_fpsimd_state: thirty-two registers, FPSR, FPCR.
func loadVectors64(f *ptrace.FPRegs, v *arch.Vectors) {
	for i := range v.V {
		v.V[i] = [2]uint64{binary.LittleEndian.Uint64(f[16*i:]), binary.LittleEndian.Uint64(f[16*i+8:])}
	}
	v.Status = uint64(binary.LittleEndian.Uint32(f[512:]))
	v.Control = uint64(binary.LittleEndian.Uint32(f[516:]))
}

func storeVectors64(f *ptrace.FPRegs, v *arch.Vectors) {
	for i, r := range v.V {
		binary.LittleEndian.PutUint64(f[16*i:], r[0])
		binary.LittleEndian.PutUint64(f[16*i+8:], r[1])
	}
	binary.LittleEndian.PutUint32(f[512:], uint32(v.Status))
	binary.LittleEndian.PutUint32(f[516:], uint32(v.Control))
}

// loadVectors32 reads struct user_vfp: thirty-two double words and FPSCR.
func loadVectors32(f *ptrace.FPRegs, v *arch.Vectors) {
	for i := range 32 {
		v.V[i/2][i%2] = binary.LittleEndian.Uint64(f[8*i:])
	}
	v.Control, v.Status = uint64(binary.LittleEndian.Uint32(f[256:])), 0
}

func storeVectors32(f *ptrace.FPRegs, v *arch.Vectors) {
	for i := range 32 {
		binary.LittleEndian.PutUint64(f[8*i:], v.V[i/2][i%2])
	}
	binary.LittleEndian.PutUint32(f[256:], uint32(v.Control))
}
