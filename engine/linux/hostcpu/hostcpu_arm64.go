package hostcpu

import (
	"encoding/binary"
	"os"
	"sync"

	"gotap/arch/arm64"
)

func readCTR() uint64
func readDCZID() uint64
func readCNTVCT() uint64
func readCNTFRQ() uint64

// Register returns a system register that is the same for all processes of the machine. ok is false for others.
func Register(r arm64.Register) (v uint64, ok bool) {
	switch r {
	case arm64.CTR:
		return readCTR(), true
	case arm64.DCZID:
		return readDCZID(), true
	case arm64.CNTVCT:
		return readCNTVCT(), true
	case arm64.CNTFRQ:
		return readCNTFRQ(), true
	}
	return 0, false
}

// hwcaps is AT_HWCAP and hwcaps2 is AT_HWCAP2, the features of the machine's processors
// (Documentation/arch/arm64/elf_hwcaps.rst of the kernel).
var (
	hwcaps  = sync.OnceValue(func() uint64 { return auxiliary(16) })
	hwcaps2 = sync.OnceValue(func() uint64 { return auxiliary(26) })
)

// auxiliary returns an entry of the auxiliary vector.
func auxiliary(key uint64) uint64 {
	vector, err := os.ReadFile("/proc/self/auxv")
	for ; err == nil && len(vector) >= 16; vector = vector[16:] {
		if binary.LittleEndian.Uint64(vector) == key {
			return binary.LittleEndian.Uint64(vector[8:])
		}
	}
	return 0
}

// Bits of it.
const (
	hwcapATOMICS = 1 << 8
	hwcapSVE     = 1 << 22
	hwcapPACA    = 1 << 30

	hwcap2BTI = 1 << 17
	hwcap2MTE = 1 << 18
	hwcap2SME = 1 << 23
)

// SignsPointers reports whether pointer authentication is enabled on the machine. A process may have disabled it for
// itself; executing its instructions natively is right in both cases.
func SignsPointers() bool { return hwcaps()&hwcapPACA != 0 }

// HasScalable reports whether the processor has scalable vectors (SVE).
func HasScalable() bool { return hwcaps()&hwcapSVE != 0 }

// HasStreaming reports whether the processor has vectors for streaming (SME), which may be longer than others.
func HasStreaming() bool { return hwcaps2()&hwcap2SME != 0 }

// ChecksBranchTargets reports whether the processor checks in guarded code that indirect branches lead to an
// instruction that says so (FEAT_BTI).
func ChecksBranchTargets() bool { return hwcaps2()&hwcap2BTI != 0 }

// HasMemoryTags reports whether programs may use memory tags (FEAT_MTE). A load by a pointer without the tag of its
// memory may then raise a signal, also later and elsewhere.
func HasMemoryTags() bool { return hwcaps2()&hwcap2MTE != 0 }

// AddsAtomically reports whether the processor adds to memory in one instruction (FEAT_LSE).
func AddsAtomically() bool { return hwcaps()&hwcapATOMICS != 0 }
