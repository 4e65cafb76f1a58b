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
func (s *Session) addCalls(pr *probe, spec place.Spec) error {
	type named struct {
		name  string
		names arch.Arch
	}
	found := map[named]*placement{}
	for _, a := range abi.Host() {
		for number, name := range syscallnames.Names(a.Machine) {
			if name == "" || !spec.Matches(name) {
				continue
			}
			pl := found[named{name, a.Names}]
			if pl == nil {
				code, err := pr.Spec.Compile(s.otherInfo("syscall:"+name, a.Names))
				if err == nil {
					err = code.Fits(spec)
				}
				if err != nil {
					return err
				}
				pl = &placement{Probe: pr, Code: code, Func: name}
				found[named{name, a.Names}] = pl
			}
			s.calls.add(callKey{a.Machine, uint64(number)}, pl)
		}
	}
	if len(found) == 0 && !pr.Spec.Optional {
		return place.NoCall(spec, syscallnames.Names(abi.Host()[0].Machine))
	}
	for _, pl := range found {
		s.calls.all = append(s.calls.all, pl)
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
func (s *Session) syncCalls() {
	before := s.sysnames
	s.sysnames = 0
	for _, pl := range s.calls.all {
		if pl.Probe.Armed() {
			s.sysnames++
		}
	}
	if before != 0 || s.sysnames == 0 {
		return
	}
	s.releaseWorld(s.holdAll())
}

// holdAll stops all running threads, and returns those that it stopped.
func (s *Session) holdAll() []*thread {
	var asked, held []*thread
	for _, t := range s.threads {
		if !t.stopped && !t.fresh && !t.vforking && ptrace.Interrupt(t.tid) == 0 {
			asked = append(asked, t)
		}
	}
	for _, t := range asked {
		if s.holdOne(t) {
			held = append(held, t)
		}
	}
	return held
}

// tracedCall handles a stop at a system call, for probes on system calls.
func (t *thread) tracedCall() {
	op, e := ptrace.SyscallStop(t.tid)
	if e != 0 { // an old kernel: entries and ends alternate
		op = ptrace.SyscallEntry
		if t.inCall == ptrace.SyscallEntry {
			op = ptrace.SyscallExit
		}
	}
	t.inCall = op
	if !t.getRegs() {
		return
	}
	if op == ptrace.SyscallEntry {
		t.callEntered()
	} else {
		t.callLeft()
		t.protectExecuted()
	}
	t.resume(0)
}

// callEntered runs the programs of probes on the system call that begins. The registers have been read.
func (t *thread) callEntered() {
	a := t.proc.arch
	c := &t.sys
	number := a.SyscallNumber(&t.regs)
	same := c.again && c.pc == *t.pc() && c.sp == t.sp()
	switch {
	case same && c.number == number:
		c.again = false
		return
	case same && a.SyscallName(number) == "restart_syscall": // the kernel uses it to restart a call with a timeout
		c.again = false
	case c.again:
		t.suspendCall()
	default:
		t.missCall()
	}
	list := t.s.calls.byNumber[callKey{a.Machine, number}]
	c.number, c.pc, c.sp, c.again = number, *t.pc(), t.sp(), false
	base := t.startCall()
	for _, pl := range list {
		c.pending.Enter(&t.h, pl)
	}
	if t.h.Skip {
		t.h.Skip, c.skipped, c.result = false, t.proc.arch.Calls.Original >= 0, t.h.SkipResult
		if c.skipped {
			t.regs[t.proc.arch.Calls.Original] = ^uint64(0) // no system call has this number
		}
	}
	t.endCall(base)
}

// startCall prepares to run programs for a system call. A probe on the call's instruction may have runs that are
// not over; those stay, and base is their number.
func (t *thread) startCall() (base int) {
	if !t.postCall {
		t.h.Begin(t.proc.arch.WordSize())
	}
	t.at, t.fpRead = nil, false
	t.sys.in = true
	return t.h.Len()
}

// callLeft runs the programs that wait for the end of the system call. A call that the kernel will make again has
// not ended.
func (t *thread) callLeft() {
	c := &t.sys
	t.h.Skip = false
	if c.skipped {
		c.skipped = false
		t.SetReturn(c.result)
		t.setRegs()
	} else if t.proc.arch.Restarts(&t.regs) {
		c.again = true
		return
	}
	number := c.number
	t.leaveCall()
	if name := t.proc.arch.SyscallName(number); name == "rt_sigreturn" || name == "sigreturn" {
		t.resumeCall()
	}
}

// leaveCall runs the programs that wait for the end of the call.
func (t *thread) leaveCall() {
	base := t.startCall()
	t.sys.pending.Leave(&t.h)
	t.endCall(base)
}

// endCall commits what was logged, and writes back registers that a program changed.
func (t *thread) endCall(base int) {
	t.sys.in = false
	if t.h.Len() > base {
		t.h.CommitFrom(base)
		t.setRegs()
	}
}

// missCall forgets a system call whose end was not seen.
func (t *thread) missCall() {
	t.sys.pending.Miss(&t.h)
	t.dropCall()
}

// executing reports whether probes wait for the end of the call that replaces the image of a process. That call
// returns in the new image.
func (t *thread) executing() bool {
	name := t.proc.arch.SyscallName(t.sys.number)
	return t.sys.pending.Any() && (name == "execve" || name == "execveat")
}

// dropCall forgets a system call that never ends because its thread or its image no longer exists.
func (t *thread) dropCall() {
	t.sys.pending.Drop(&t.h)
	t.sys.skipped, t.sys.again = false, false
}
