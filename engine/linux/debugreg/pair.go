//go:build arm || arm64

package debugreg

import "gotap/engine/place"

// pair is an address register of the debug unit and its control word (Arm ARM DDI 0487, D19.3, DBGWCR and DBGBCR; the
// kernel uses the same fields).
type pair struct {
	addr    uint64
	control uint32
}

// Parts of the control word.
const (
	controlOn    = 1
	controlUser  = 2 << 1 // match only in user mode
	controlLoad  = 1 << 3
	controlStore = 2 << 3
	controlBytes = 5 // shift of the byte mask, which has one bit for each byte
)

// watchPair returns the pair of a data watchpoint.
func watchPair(w Watch) pair {
	kind := uint32(controlStore)
	if w.Access == place.OnReadWrite {
		kind |= controlLoad
	}
	return pair{w.Addr, controlOn | controlUser | kind | (1<<w.Len-1)<<controlBytes}
}

// execPair returns the pair of an execution watchpoint. Thumb code is marked by the selection of two bytes. Four bytes
// at an address that is not a multiple of four would never match.
func execPair(w Watch) pair {
	const word, half = 0xf, 3
	if w.Half || w.Addr&1 != 0 {
		return pair{w.Addr &^ 1, controlOn | controlUser | half<<controlBytes}
	}
	return pair{w.Addr, controlOn | controlUser | word<<controlBytes}
}

// aligned returns the pair to write before p if p is in the middle of a word. The kernel checks addresses before
// control words, and accepts such an address only for a slot that already contains a halfword. The thread is stopped,
// so it cannot hit the first pair.
func (p pair) aligned() (first pair, needed bool) {
	first = p
	first.addr &^= 3
	return first, p.control>>controlBytes&0xff == 3 && first.addr != p.addr
}

// nearby is the maximum distance below a watched address at which an access that hits it may start: the longest access
// of one instruction.
const nearby = 64

// Met returns which watchpoints a thread has hit: bit i is slot i. at is the address that the signal reports, of the
// access or of the instruction; it may be slightly below the watched address.
func Met(_ int, at uint64, watches []Watch) uint64 {
	best, met := uint64(nearby), uint64(0)
	for i, w := range watches {
		distance := uint64(0)
		if at < w.Addr {
			distance = w.Addr - at
		} else if at >= w.Addr+uint64(max(w.Len, 1)) {
			continue
		}
		switch {
		case distance < best:
			best, met = distance, 1<<i
		case distance == best && best < nearby:
			met |= 1 << i
		}
	}
	return met
}
