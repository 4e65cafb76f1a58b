package watchpoint

import (
	"fmt"
	"syscall"

	"gotap/engine/linux/debugreg"
	"gotap/engine/tracee"
)

// Host is the process of a thread.
type Host interface {
	// Watches are the watchpoints that the thread should have.
	Watches() List
	// Unprobed reports whether programs do not run for the thread.
	Unprobed() bool
	// MarkWatching records in the target, for its crash handler, that debug registers are armed.
	MarkWatching()
}

// Thread is the debug registers of a thread, and what they have reported.
type Thread struct {
	t    *tracee.Thread
	host Host
	regs debugreg.Regs
	due  bool // they may be wrong, and are written at the thread's next stop
}

// Init connects the debug registers, which are clear, with their thread.
func (d *Thread) Init(t *tracee.Thread, host Host) { d.t, d.host = t, host }

// wanted returns the debug registers that the thread should have.
func (d *Thread) wanted() debugreg.Regs {
	var regs debugreg.Regs
	for i, w := range d.host.Watches() {
		if w.Placement.Probe.Armed() && !d.host.Unprobed() {
			regs.Set(i, w.slot())
		}
	}
	return regs
}

// Stale reports whether the debug registers are not what they should be.
func (d *Thread) Stale() bool { return d.due || d.wanted() != d.regs }

// Due reports whether the debug registers have to be written at the thread's next stop.
func (d *Thread) Due() bool { return d.due }

// Postpone has the debug registers written at the next stop, if they are not what they should be; with all, in any
// case.
func (d *Thread) Postpone(all bool) { d.due = d.due || all || d.Stale() }

// Armed reports whether the thread has to be stopped to clear its debug registers.
func (d *Thread) Armed() bool { return d.regs.Any() || d.due }

// Write writes the debug registers if they are not yet right. If the thread has been killed, that is not an error.
func (d *Thread) Write() error {
	want := d.wanted()
	if want == d.regs && !d.due {
		return nil
	}
	if want.Any() {
		d.host.MarkWatching()
	}
	switch e := debugreg.Write(d.t.Tid, d.regs, want); {
	case e == syscall.EINVAL:
		return fmt.Errorf("cannot set the debug registers of thread %d: programs have no such address: %w", d.t.Tid, e)
	case e != 0 && e != syscall.ESRCH:
		return fmt.Errorf("cannot set the debug registers of thread %d: %w", d.t.Tid, e)
	case e == 0:
		d.regs, d.due = want, false
	}
	return nil
}

// Clear removes the watchpoints.
func (d *Thread) Clear() {
	if d.Armed() {
		debugreg.Write(d.t.Tid, d.regs, debugreg.Regs{})
		d.regs, d.due = debugreg.Regs{}, false
	}
}

// Replaced forgets the debug registers, which the kernel has cleared: the thread has a new image.
func (d *Thread) Replaced() { d.regs = debugreg.Regs{} }

// Unwatch removes the watchpoints of a set, until they are written again.
func (d *Thread) Unwatch(met uint64) error {
	left := d.regs
	for i := range debugreg.Slots {
		if met>>i&1 == 1 {
			left.Unset(i)
		}
	}
	if e := debugreg.Write(d.t.Tid, d.regs, left); e != 0 {
		return fmt.Errorf("cannot set the debug registers of thread %d: %w", d.t.Tid, e)
	}
	d.regs = left
	return nil
}

// Met returns the watchpoints that the thread has hit: bit i is watch i. Its siginfo has been read.
func (d *Thread) Met() uint64 {
	slots := make([]debugreg.Watch, 0, debugreg.Slots)
	for _, w := range d.host.Watches() {
		slots = append(slots, w.slot())
	}
	return debugreg.Met(d.t.Tid, d.t.Info.Addr(), slots)
}
