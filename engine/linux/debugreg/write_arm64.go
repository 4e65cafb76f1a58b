package debugreg

import (
	"encoding/binary"
	"syscall"

	"gotap/engine/linux/ptrace"
)

// Write changes a thread's registers from now to want.
func Write(tid int, now, want Regs) syscall.Errno {
	if want.watch != now.watch {
		if e := writePairs(tid, ptrace.SetARMWatch, want.watch); e != 0 {
			return e
		}
	}
	if want.exec != now.exec {
		return writePairs(tid, ptrace.SetARMBreak, want.exec)
	}
	return 0
}

// writePairs writes a register set of struct user_hwdebug_state: a word that describes the unit, and pairs of 16 bytes.
func writePairs(tid, set int, pairs [Slots]pair) syscall.Errno {
	const head, size = 8, 16
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
	var state [head + Slots*size]byte
	for i, p := range pairs {
		binary.LittleEndian.PutUint64(state[head+size*i:], p.addr)
		binary.LittleEndian.PutUint32(state[head+size*i+8:], p.control)
	}
	return ptrace.SetRegSet(tid, set, state[:])
}
