package debugreg

import (
	"syscall"

	"gotap/engine/linux/ptrace"
)

// Write changes a thread's registers from now to want. The kernel numbers the registers in pairs of address and
// control: breakpoints upwards from 1, watchpoints downwards from -1.
func Write(tid int, now, want Regs) syscall.Errno {
	for i := range Slots {
		e := writePair(tid, -(2*i + 1), -1, now.watch[i], want.watch[i])
		if e == 0 {
			e = writePair(tid, 2*i+1, 1, now.exec[i], want.exec[i])
		}
		if e != 0 {
			return e
		}
	}
	return 0
}

// writePair writes one pair if it has changed. The pair is off while its address changes. A control word that is off
// must still contain what the pair would watch; otherwise the kernel refuses it and leaves the pair on
// (arch/arm/kernel/ptrace.c, ptrace_sethbpregs).
func writePair(tid, n, toControl int, now, want pair) syscall.Errno {
	if now == want {
		return 0
	}
	if now.control != 0 {
		if e := ptrace.SetHBReg(tid, n+toControl, now.control&^controlOn); e != 0 {
			return e
		}
	}
	if want.control == 0 {
		return 0
	}
	if first, needed := want.aligned(); needed {
		if e := writePair(tid, n, toControl, pair{}, first); e != 0 {
			return e
		}
	}
	if e := ptrace.SetHBReg(tid, n, uint32(want.addr)); e != 0 {
		return e
	}
	return ptrace.SetHBReg(tid, n+toControl, want.control)
}
