package engine

import "gotap/arch/arm64"

func readCTR() uint64
func readDCZID() uint64
func readCNTVCT() uint64
func readCNTFRQ() uint64

// systemRegister is a system register that is the same for all processes of the machine; ok is false for others.
func systemRegister(r arm64.Register) (v uint64, ok bool) {
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
