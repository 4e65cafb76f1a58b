package engine

import (
	"syscall"

	"gotap/engine/place"
	"gotap/engine/ptrace"
)

// debugSlots is how many addresses the debug registers hold.
const debugSlots = 4

// Debug registers 6, what happened, and 7, what is watched.
const (
	debugStatus  = 6
	debugControl = 7
)

// debugRegs are the addresses and the control word of a thread.
type debugRegs struct {
	addr    [debugSlots]uint64
	control uint64
}

// set puts watchpoint i of the process into its slot (Intel SDM vol. 3, 18.2.4).
func (d *debugRegs) set(i int, w *watch) {
	kinds := [...]uint64{place.OnWrite: 1, place.OnReadWrite: 3, place.OnExecute: 0}
	lengths := map[int]uint64{1: 0, 2: 1, 4: 3, 8: 2}
	kind, length := kinds[w.spec.Access], lengths[w.spec.Len]
	if w.spec.Access == place.OnExecute {
		length = 0
	}
	d.addr[i] = w.addr
	d.control |= 1<<(2*i) | (kind|length<<2)<<(16+4*i)
}

// unset empties a slot.
func (d *debugRegs) unset(i int) {
	d.addr[i] = 0
	d.control &^= 3<<(2*i) | 15<<(16+4*i)
}

// any reports whether anything is watched.
func (d *debugRegs) any() bool { return d.control != 0 }

// writeDebugRegs gives a stopped thread other debug registers: nothing is watched while the addresses change.
func (t *thread) writeDebugRegs(want debugRegs) syscall.Errno {
	ptrace.SetDebugReg(t.tid, debugControl, 0)
	for i, addr := range want.addr {
		if addr != t.dr.addr[i] {
			ptrace.SetDebugReg(t.tid, i, addr)
		}
	}
	return ptrace.SetDebugReg(t.tid, debugControl, want.control)
}

// metWatches tells which slots' watchpoints a stopped thread has met since it was last asked: bit i is slot i.
func (t *thread) metWatches() uint64 {
	status, e := ptrace.GetDebugReg(t.tid, debugStatus)
	if e != 0 || status&(1<<debugSlots-1) == 0 {
		return 0
	}
	ptrace.SetDebugReg(t.tid, debugStatus, 0)
	return status & (1<<debugSlots - 1)
}
