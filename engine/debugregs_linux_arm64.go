package engine

import (
	"encoding/binary"
	"syscall"

	"gotap/engine/ptrace"
)

// writeDebugRegs gives a stopped thread other debug registers.
func (t *thread) writeDebugRegs(want debugRegs) syscall.Errno {
	if want.watch != t.dr.watch {
		if e := writePairs(t.tid, ptrace.SetARMWatch, want.watch); e != 0 {
			return e
		}
	}
	if want.exec != t.dr.exec {
		return writePairs(t.tid, ptrace.SetARMBreak, want.exec)
	}
	return 0
}

// writePairs writes a register set of struct user_hwdebug_state: a word that describes the unit, and pairs of 16 bytes.
func writePairs(tid, set int, pairs [debugSlots]debugPair) syscall.Errno {
	const head, pair = 8, 16
	aligned, again := pairs, false
	for i, p := range pairs {
		if first, needed := p.aligned(); needed {
			aligned[i], again = first, true
		}
	}
	if again {
		if e := writePairs(tid, set, aligned); e != 0 {
			return e
		}
	}
	var state [head + debugSlots*pair]byte
	for i, p := range pairs {
		binary.LittleEndian.PutUint64(state[head+pair*i:], p.addr)
		binary.LittleEndian.PutUint32(state[head+pair*i+8:], p.control)
	}
	return ptrace.SetRegSet(tid, set, state[:])
}
