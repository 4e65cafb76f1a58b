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
	controlUser  = 2 << 1 // of user mode only
	controlLoad  = 1 << 3
	controlStore = 2 << 3
	controlBytes = 5 // shift of a bit for each byte
)

// watchPair returns the pair of a data watchpoint.
func watchPair(w Watch) pair {
	kind := uint32(controlStore)
	if w.Access == place.OnReadWrite {
		kind |= controlLoad
	}
	return pair{w.Addr, controlOn | controlUser | kind | (1<<w.Len-1)<<controlBytes}
}

// execPair returns the pair of an execution watchpoint. Thumb code is marked by selecting two bytes. Four bytes at an
// address that is not a multiple of four would never match.
func execPair(w Watch) pair {
	const word, half = 0xf, 3
	if w.Half || w.Addr&1 != 0 {
		return pair{w.Addr &^ 1, controlOn | controlUser | half<<controlBytes}
	}
	return pair{w.Addr, controlOn | controlUser | word<<controlBytes}
}

// aligned is a pair to write before p where that lies in the middle of a word, which the kernel takes only for a slot that it knows
// to hold half a word: it looks at addresses before control words. The thread is stopped, so nothing meets it.
func (p pair) aligned() (first pair, needed bool) {
	first = p
	first.addr &^= 3
	return first, p.control>>controlBytes&0xff == 3 && first.addr != p.addr
}

// nearby is how far below a watched address an access that hits it may start: the longest access of one instruction.
const nearby = 64

// Met tells which of the watchpoints in its slots a thread has met: bit i is slot i. at is what the signal tells, the address of the
// access, or of the instruction; it may be a little below what is watched.
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
