package syscallprobe

import (
	"debug/elf"
	"slices"

	"gotap/engine/registry"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
)

// Thread is a thread that makes system calls. Its methods are called while it is stopped at the entry or the end of
// one.
type Thread interface {
	// Machine numbers the thread's calls.
	Machine() elf.Machine
	// Begin prepares to run programs: it begins a hit, unless one is under way.
	Begin()
	// Commit commits what was logged from a run of the hit on, and writes back the registers that programs changed.
	Commit(from int)

	PC() uint64 // behind the call's instruction
	SP() uint64
	// Result is that of the call that ends, sign-extended to 64 bits.
	Result() uint64
	SetResult(uint64)
	// Restarts reports whether the kernel will make the call that ends again.
	Restarts() bool
	// Skip makes the kernel ignore the call that begins, and reports whether it can.
	Skip() bool
}

// Calls are the system call that a thread makes, and those that wait while signal handlers run.
type Calls struct {
	t      Thread
	h      *hit.Hit
	probes *Probes

	now         current
	interrupted []current // system calls that wait while signal handlers run, innermost last
	inPrograms  bool      // the programs that run now belong to a system call
}

// current is the system call that a thread is in, as probes see it.
type current struct {
	number  uint64
	pc, sp  uint64 // the program counter behind the instruction, and the stack pointer there
	again   bool   // a signal interrupted the call; the kernel makes it again unless a handler runs first
	pending retprobe.Pending

	skipped bool   // a program replaced the call by result
	result  uint64 // of a skipped call
}

// Init connects the calls with their thread, whose hits are h.
func (c *Calls) Init(t Thread, h *hit.Hit, probes *Probes) { c.t, c.h, c.probes = t, h, probes }

// InPrograms reports whether the programs that run now belong to a system call.
func (c *Calls) InPrograms() bool { return c.inPrograms }

// Awaited reports whether the end of a call has to be seen even if no probe is enabled any more.
func (c *Calls) Awaited() bool { return c.now.skipped || c.Due(nil) }

// Due reports whether the end of a call has to be seen for a placement although its probe is disabled; with nil, for
// any placement.
func (c *Calls) Due(pl *registry.Placement) bool {
	return c.now.pending.Due(pl) || slices.ContainsFunc(c.interrupted, func(i current) bool { return i.pending.Due(pl) })
}

// Interrupted reports whether leave handlers wait for the end of a call that a signal has interrupted.
func (c *Calls) Interrupted() bool {
	waits := c.now.again || nameOf(c.t.Machine(), c.now.number) == restart
	return waits && c.now.pending.Any() || len(c.interrupted) > 0
}

// Returning reports whether a signal handler is about to end that has interrupted a call for whose end leave handlers
// wait.
func (c *Calls) Returning() bool {
	return len(c.interrupted) > 0 && isReturn(nameOf(c.t.Machine(), c.now.number))
}

// Executing reports whether probes wait for the end of the call that replaces the image of a process. That call returns
// in the new image.
func (c *Calls) Executing() bool {
	name := nameOf(c.t.Machine(), c.now.number)
	return c.now.pending.Any() && (name == "execve" || name == "execveat")
}

// Keep makes the leave handlers due that wait for a probe, which is about to be dropped.
func (c *Calls) Keep(pr *registry.Probe) {
	c.now.pending.Keep(pr)
	for i := range c.interrupted {
		c.interrupted[i].pending.Keep(pr)
	}
}

// Entered runs the programs of probes on the system call that begins.
func (c *Calls) Entered(number uint64) {
	pc, sp, machine := c.t.PC(), c.t.SP(), c.t.Machine()
	same := c.now.again && c.now.pc == pc && c.now.sp == sp
	switch {
	case same && c.now.number == number:
		c.now.again = false
		return
	case same && nameOf(machine, number) == restart: // what waits for the end of the first call waits on
	case c.now.again:
		c.suspend()
	default:
		c.miss()
	}
	c.now.number, c.now.pc, c.now.sp, c.now.again = number, pc, sp, false
	base := c.begin()
	for _, pl := range c.probes.at(machine, number) {
		c.now.pending.Enter(c.h, pl)
	}
	if c.h.Skip {
		c.h.Skip, c.now.skipped, c.now.result = false, c.t.Skip(), c.h.SkipResult
	}
	c.end(base)
}

// Left runs the programs that wait for the end of the system call. A call that the kernel will make again has not
// ended.
func (c *Calls) Left() {
	c.h.Skip = false
	if c.now.skipped {
		c.now.skipped = false
		c.t.SetResult(c.now.result)
	} else if c.t.Restarts() {
		c.now.again = true
		return
	}
	number := c.now.number
	c.leave()
	if isReturn(nameOf(c.t.Machine(), number)) {
		c.resume()
	}
}

// leave runs the programs that wait for the end of the call.
func (c *Calls) leave() {
	base := c.begin()
	c.now.pending.Leave(c.h)
	c.end(base)
}

// begin prepares to run programs. The hit may have runs that are not over, of a probe on the call's instruction: base
// is their number.
func (c *Calls) begin() (base int) {
	c.t.Begin()
	c.inPrograms = true
	return c.h.Len()
}

// end commits what was logged.
func (c *Calls) end(base int) {
	c.inPrograms = false
	if c.h.Len() > base {
		c.t.Commit(base)
	}
}

// miss forgets a system call whose end was not seen.
func (c *Calls) miss() {
	c.now.pending.Miss(c.h)
	c.drop()
}

// drop forgets the current call.
func (c *Calls) drop() {
	c.now.pending.Drop(c.h)
	c.now.skipped, c.now.again = false, false
}

// Drop forgets all calls: the thread no longer exists.
func (c *Calls) Drop() {
	c.drop()
	c.dropInterrupted()
}

// Replaced forgets the calls of an image that was replaced. The end of the call that made the new image is still to
// come.
func (c *Calls) Replaced() {
	if !c.Executing() {
		c.drop()
	}
	c.dropInterrupted()
}
