package debugreg

import (
	"syscall"

	"gotap/engine/linux/ptrace"
	"gotap/engine/place"
)

// Debug registers 6, the status register, and 7, the control register.
const (
	debugStatus  = 6
	debugControl = 7
)

// Regs are the addresses and the control word of a thread. The zero value watches nothing.
type Regs struct {
	addr    [Slots]uint64
	control uint64
}

// Set sets the watchpoint of slot i, from 0 (Intel SDM vol. 3, 18.2.4).
func (d *Regs) Set(i int, w Watch) {
	kinds := [...]uint64{place.OnWrite: 1, place.OnReadWrite: 3, place.OnExecute: 0}
	lengths := map[int]uint64{1: 0, 2: 1, 4: 3, 8: 2}
	kind, length := kinds[w.Access], lengths[w.Len]
	if w.Access == place.OnExecute {
		length = 0
	}
	d.addr[i] = w.Addr
	d.control |= 1<<(2*i) | (kind|length<<2)<<(16+4*i)
}

// Unset clears a slot.
func (d *Regs) Unset(i int) {
	d.addr[i] = 0
	d.control &^= 3<<(2*i) | 15<<(16+4*i)
}

// Any reports whether any slot is in use.
func (d *Regs) Any() bool { return d.control != 0 }

// Write changes a thread's registers from now to want. If the kernel refuses one (EINVAL: a program cannot have that
// address), the thread keeps now.
func Write(tid int, now, want Regs) syscall.Errno {
	e := write(tid, now, want)
	if e != 0 {
		write(tid, want, now)
	}
	return e
}

// write changes the registers one by one. Nothing is watched while the addresses change.
func write(tid int, now, want Regs) (e syscall.Errno) {
	ptrace.SetDebugReg(tid, debugControl, 0)
	for i, addr := range want.addr {
		if addr != now.addr[i] && e == 0 {
			e = ptrace.SetDebugReg(tid, i, addr)
		}
	}
	if e != 0 {
		return e
	}
	return ptrace.SetDebugReg(tid, debugControl, want.control)
}

// Met returns which watchpoints a thread has hit since the last call: bit i is slot i. Here it needs only the thread.
func Met(tid int, _ uint64, _ []Watch) uint64 {
	status, e := ptrace.GetDebugReg(tid, debugStatus)
	if e != 0 || status&(1<<Slots-1) == 0 {
		return 0
	}
	ptrace.SetDebugReg(tid, debugStatus, 0)
	return status & (1<<Slots - 1)
}
