package engine

import (
	"debug/elf"
	"slices"

	"gotap/arch"
	"gotap/engine/abi"
	"gotap/engine/linux/ptrace"
	"gotap/engine/linux/syscallnames"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/registry/retprobe"
)

// Probes on system calls. While at least one is enabled, every thread is resumed so that it stops at the entry and
// the end of each of its system calls (PTRACE_SYSCALL); otherwise system calls cost nothing. The kernel gives the
// number and a table the name, so that one probe serves 64-bit and 32-bit processes.

// calling is the system call that a thread makes, for the probes on system calls, and those that wait while signal handlers
// run.
type calling struct {
	t           *thread
	side        ptrace.SyscallOp // the side of the system call at which it last stopped, if calls are traced
	now         sysCall
	interrupted []sysCall // system calls that wait while signal handlers run, innermost last
}

// callProbes holds the probes on system calls, by system call.
type callProbes struct {
	byNumber map[callKey][]*placement
	all      []*placement
}

// callKey is a system call of an ABI.
type callKey struct {
	machine elf.Machine
	number  uint64
}

// sysCall is the system call that a thread is in, as probes see it.
type sysCall struct {
	in      bool // the programs that run now belong to a system call
	number  uint64
	pc, sp  uint64 // the program counter behind the instruction, and the stack pointer there
	again   bool   // a signal interrupted the call; the kernel makes it again unless a handler runs first
	pending retprobe.Pending

	skipped bool   // a program replaced the call by result
	result  uint64 // of a skipped call
}

// awaited reports whether the end of the call has to be seen even if no probe is enabled any more.
func (c *sysCall) awaited() bool {
	return c.skipped || c.pending.Due(nil)
}

// addCalls registers a probe for all system calls that a specification names.
func (x *otherProbes) addCalls(pr *probe, spec place.Spec) error {
	type named struct {
		name  string
		names arch.Arch
	}
	found := map[named]*placement{}
	for _, a := range abi.Host() {
		for number, name := range syscallnames.Names(a.Machine) {
			if name == "" || !spec.Matches(name) || pr.Spec.LeavesOut(name) {
				continue
			}
			pl := found[named{name, a.Names}]
			if pl == nil {
				code, err := pr.Spec.Compile(x.s.otherInfo("syscall:"+name, a.Names))
				if err == nil {
					err = code.Fits(spec)
				}
				if err != nil {
					return err
				}
				pl = &placement{Probe: pr, Code: code, Func: name}
				found[named{name, a.Names}] = pl
			}
			x.calls.add(callKey{a.Machine, uint64(number)}, pl)
		}
	}
	if len(found) == 0 && !pr.Spec.Optional {
		return place.NoCall(spec, syscallnames.Names(abi.Host()[0].Machine))
	}
	for _, pl := range found {
		x.calls.all = append(x.calls.all, pl)
	}
	return nil
}

func (c *callProbes) add(key callKey, pl *placement) {
	if c.byNumber == nil {
		c.byNumber = map[callKey][]*placement{}
	}
	c.byNumber[key] = registry.Insert(c.byNumber[key], pl)
}

// drop removes a probe.
func (c *callProbes) drop(pr *probe) {
	owns := func(pl *placement) bool { return pl.Probe == pr }
	for key, list := range c.byNumber {
		if list = slices.DeleteFunc(slices.Clone(list), owns); len(list) > 0 {
			c.byNumber[key] = list
		} else {
			delete(c.byNumber, key)
		}
	}
	c.all = slices.DeleteFunc(c.all, owns)
}

// places counts the system calls of a probe.
func (c *callProbes) places(pr *probe) int {
	n := 0
	for _, pl := range c.all {
		if pl.Probe == pr {
			n++
		}
	}
	return n
}

// syncCalls counts the enabled probes on system calls. When the count becomes nonzero, the running threads are
// stopped once, to be resumed with PTRACE_SYSCALL.
func (x *otherProbes) syncCalls() {
	before := x.sysnames
	x.sysnames = 0
	for _, pl := range x.calls.all {
		if pl.Probe.Armed() {
			x.sysnames++
		}
	}
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
		k.callEntered()
	} else {
		k.callLeft()
		k.t.protection.protectExecuted()
	}
	k.t.resume(0)
}

// callEntered runs the programs of probes on the system call that begins. The registers have been read.
func (k *calling) callEntered() {
	a := k.t.proc.arch
	c := &k.now
	number := a.SyscallNumber(&k.t.Regs)
	same := c.again && c.pc == *k.t.PC() && c.sp == k.t.SP()
	switch {
	case same && c.number == number:
		c.again = false
		return
	case same && a.SyscallName(number) == "restart_syscall": // the kernel uses it to restart a call with a timeout
		c.again = false
	case c.again:
		k.suspendCall()
	default:
		k.missCall()
	}
	list := k.t.s.others.calls.byNumber[callKey{a.Machine, number}]
	c.number, c.pc, c.sp, c.again = number, *k.t.PC(), k.t.SP(), false
	base := k.startCall()
	for _, pl := range list {
		c.pending.Enter(&k.t.h, pl)
	}
	if k.t.h.Skip {
		k.t.h.Skip, c.skipped, c.result = false, k.t.proc.arch.Calls.Original >= 0, k.t.h.SkipResult
		if c.skipped {
			k.t.Regs[k.t.proc.arch.Calls.Original] = ^uint64(0) // no system call has this number
		}
	}
	k.endCall(base)
}

// startCall prepares to run programs for a system call. A probe on the call's instruction may have runs that are
// not over; those stay, and base is their number.
func (k *calling) startCall() (base int) {
	if !k.t.exec.postCall {
		k.t.h.Begin(k.t.proc.arch.WordSize())
	}
	k.t.at, k.t.view.fpRead = nil, false
	k.now.in = true
	return k.t.h.Len()
}

// callLeft runs the programs that wait for the end of the system call. A call that the kernel will make again has
// not ended.
func (k *calling) callLeft() {
	c := &k.now
	k.t.h.Skip = false
	if c.skipped {
		c.skipped = false
		k.t.view.SetReturn(c.result)
		k.t.SetRegs()
	} else if k.t.proc.arch.Restarts(&k.t.Regs) {
		c.again = true
		return
	}
	number := c.number
	k.leaveCall()
	if name := k.t.proc.arch.SyscallName(number); name == "rt_sigreturn" || name == "sigreturn" {
		k.resumeCall()
	}
}

// leaveCall runs the programs that wait for the end of the call.
func (k *calling) leaveCall() {
	base := k.startCall()
	k.now.pending.Leave(&k.t.h)
	k.endCall(base)
}

// endCall commits what was logged, and writes back registers that a program changed.
func (k *calling) endCall(base int) {
	k.now.in = false
	if k.t.h.Len() > base {
		k.t.h.CommitFrom(base)
		k.t.SetRegs()
	}
}

// missCall forgets a system call whose end was not seen.
func (k *calling) missCall() {
	k.now.pending.Miss(&k.t.h)
	k.dropCall()
}

// executing reports whether probes wait for the end of the call that replaces the image of a process. That call
// returns in the new image.
func (k *calling) executing() bool {
	name := k.t.proc.arch.SyscallName(k.now.number)
	return k.now.pending.Any() && (name == "execve" || name == "execveat")
}

// dropCall forgets a system call that never ends because its thread or its image no longer exists.
func (k *calling) dropCall() {
	k.now.pending.Drop(&k.t.h)
	k.now.skipped, k.now.again = false, false
}
