package engine

import (
	"debug/elf"

	"gotap/engine/abi"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry"
	"gotap/engine/syscallprobe"
)

// Probes on system calls: see package syscallprobe. While at least one is enabled, every thread is resumed so that it
// stops at the entry and the end of each of its system calls (PTRACE_SYSCALL); otherwise system calls cost nothing.

// calling is the system call that a thread makes. It implements syscallprobe.Thread.
type calling struct {
	syscallprobe.Calls
	t    *thread
	side ptrace.SyscallOp // the side of the system call at which it last stopped, if calls are traced
}

// conventions are those of the processes that can be traced here. Registers are as wide as the kernel shows them to us,
// whatever their width in the target.
func conventions() []syscallprobe.Convention {
	var all []syscallprobe.Convention
	for _, a := range abi.Host() {
		all = append(all, syscallprobe.Convention{Machine: a.Machine, Regs: a.Names, Word: shownWord})
	}
	return all
}

// shownWord is the size of registers as ptrace shows them, in bytes.
const shownWord = 8

// globals finds the variables that programs name where the place is not code.
func (s *Session) globals() registry.Globals {
	return registry.Globals{Files: &s.names.Files, Modules: s.names.Mapped}
}

// syncCalls counts the enabled probes on system calls. When the count becomes nonzero, the running threads are
// stopped once, to be resumed with PTRACE_SYSCALL.
func (x *otherProbes) syncCalls() {
	before := x.sysnames
	x.sysnames = x.calls.Armed()
	if before != 0 || x.sysnames == 0 {
		return
	}
	x.s.world.releaseWorld(x.s.world.holdAll())
}

// tracedCall handles a stop at a system call, for probes on system calls.
func (k *calling) tracedCall() {
	op, e := ptrace.SyscallStop(k.t.Tid)
	if e != 0 { // an old kernel: entries and ends alternate
		op = ptrace.SyscallEntry
		if k.side == ptrace.SyscallEntry {
			op = ptrace.SyscallExit
		}
	}
	k.side = op
	if !k.t.GetRegs() {
		return
	}
	if op == ptrace.SyscallEntry {
		k.entered()
	} else {
		k.left()
		k.t.protection.protectExecuted()
	}
	k.t.resume(0)
}

// entered handles the entry of a call. The registers have been read.
func (k *calling) entered() {
	k.side = ptrace.SyscallEntry
	k.Entered(k.t.proc.arch.SyscallNumber(&k.t.Regs))
}

// left handles the end of a call. The registers have been read.
func (k *calling) left() {
	k.side = ptrace.SyscallExit
	k.Left()
}

var _ syscallprobe.Thread = (*calling)(nil)

// Machine implements syscallprobe.Thread.
func (k *calling) Machine() elf.Machine { return k.t.proc.arch.Machine }

// Begin implements syscallprobe.Thread. A probe on the call's instruction may have runs that are not over; those stay.
func (k *calling) Begin() {
	if !k.t.exec.HasPosts() {
		k.t.h.Begin(k.t.proc.arch.WordSize())
	}
	k.t.view.Begin(nil)
}

// Commit implements syscallprobe.Thread.
func (k *calling) Commit(from int) {
	k.t.h.CommitFrom(from)
	k.t.SetRegs()
}

// PC implements syscallprobe.Thread.
func (k *calling) PC() uint64 { return *k.t.PC() }

// SP implements syscallprobe.Thread.
func (k *calling) SP() uint64 { return k.t.SP() }

// Result implements syscallprobe.Thread.
func (k *calling) Result() uint64 { return k.t.proc.arch.SyscallRet(&k.t.Regs) }

// SetResult implements syscallprobe.Thread.
func (k *calling) SetResult(v uint64) {
	k.t.view.SetReturn(v)
	k.t.SetRegs()
}

// Restarts implements syscallprobe.Thread.
func (k *calling) Restarts() bool { return k.t.proc.arch.Restarts(&k.t.Regs) }

// Skip implements syscallprobe.Thread: it gives the call a number that no system call has.
func (k *calling) Skip() bool {
	at := k.t.proc.arch.Calls.Original
	if at >= 0 {
		k.t.Regs[at] = ^uint64(0)
	}
	return at >= 0
}
