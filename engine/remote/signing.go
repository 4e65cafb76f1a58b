package remote

import (
	"debug/elf"
	"gotap/engine/remote/memory"
)

// Pointer authentication of AArch64. The keys are the target's own, so instructions that sign and authenticate
// cannot be emulated where it is enabled (see arm64.PointerSigner): a pointer left unsigned would fail the check by
// an instruction without a probe.

// Where the target shows whether pointer authentication is enabled.
const (
	auxHwcap  = 16
	hwcapPACA = 1 << 30 // AT_HWCAP of Linux programs (the kernel's Documentation/arch/arm64/elf_hwcaps.rst)
	apaAndAPI = 0xff0   // fields of ID_AA64ISAR1_EL1: how pointers are signed, 0 if not at all (Arm ARM DDI 0487, D19.2.62)
)

// signsPointers determines whether the target signs pointers. If that cannot be determined, it is assumed: the
// target then runs such instructions itself, which is always right and takes one more stop.
func (st *stub) signsPointers(aux map[uint64]uint64) bool {
	if st.isa.Machine != elf.EM_AARCH64 {
		return false
	}
	if caps, ok := aux[auxHwcap]; ok {
		return caps&hwcapPACA != 0
	}
	if r := st.layout.Features; r.Bytes() == 8 {
		if v, err := st.client.ReadRegister(r); err == nil {
			return memory.Word(v)&apaAndAPI != 0
		}
	}
	return true
}
