package remote

import (
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/remote/register"
	"gotap/engine/remote/rsp"
	"gotap/engine/syscallprobe"
)

// thread is a thread of the target, or a processor of a machine: what happens when it stops (hit.go), and how it
// completes the displaced instruction (execute.go). It is used only while the target is stopped; the control's lock
// guards it.
type thread struct {
	s    *Session
	name string // as the stub names it
	id   int    // the number in the name

	regs  register.File
	h     hit.Hit            // the programs of the present hit
	calls retprobe.Thread    // the calls that it is in
	sys   syscallprobe.Calls // the system calls that it is in
	view  view               // what the programs see of it

	before uint64 // the stack pointer before the instruction that the target ran itself
}

// newThread returns a thread whose registers have not been read.
func newThread(s *Session, name string, id int) *thread {
	t := &thread{s: s, name: name, id: id}
	t.regs.Init(s.stub.client, s.stub.layout, name)
	t.view = newView(s, t)
	t.view.init(&t.calls)
	t.h.Init(s.runner, t, &t.view, t.regs.General[:], uint32(id))
	t.sys.Init(calling{t}, &t.h, &s.calls.probes)
	t.calls.Init(&t.view, &t.h, s.threads.sharedCalls())
	return t
}

// The methods below are what package hit needs from a thread.

var _ hit.Target = (*thread)(nil)

// Push implements hit.Target.
func (t *thread) Push(pl *placement) (this uint64, ok bool) { return t.view.Push(pl) }

// CalledFrom implements hit.Target.
func (t *thread) CalledFrom(pr *probe) bool { return t.view.CalledFrom(pr) }

// IDs implements hit.Target.
func (t *thread) IDs() (pid, tid int) { return t.s.threads.pid(), t.id }

// Comm implements hit.Target.
func (t *thread) Comm(p []byte) { copy(p[:len(p)-1], t.view.comm()) }

// Disarm implements hit.Target.
func (t *thread) Disarm(pr *probe) { t.s.Set.Disarm(pr) }

// Signal implements hit.Target: the signal is delivered when the target is resumed.
func (t *thread) Signal(n int) {
	if gdb := rsp.SignalOf(n); gdb != 0 && !t.s.stub.kernel {
		t.s.control.Deliver(gdb, t.name)
		return
	}
	t.s.report.warn("a stub cannot deliver signal %d here", n)
}

// Hold implements hit.Target.
func (t *thread) Hold(ticket uint32) { t.s.control.Hold(ticket) }

// Stop implements hit.Target.
func (t *thread) Stop() {
	t.s.report.warn("exit.stop has no effect through a stub: when gotap lets go, the target goes on")
}

// Dump implements hit.Target.
func (t *thread) Dump([]uint64) {
	t.s.report.warn("exit.dump has no effect through a stub: no core is written")
}
