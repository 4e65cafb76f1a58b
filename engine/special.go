package engine

import (
	"errors"
	"fmt"

	"gotap/engine/place"
	"gotap/engine/syscallprobe"
)

// Probes that are not breakpoints: on system calls and on data. This file connects them to the registry of probes.

// otherProbes are the probes that breakpoints alone do not serve: on system calls, on data, and on marks with semaphores.
type otherProbes struct {
	s        *Session
	calls    syscallprobe.Probes
	sysnames int  // enabled probes on system calls
	watching int  // watchpoints
	marks    bool // there are probes on marks with semaphores
}

// addSpecials arms the parts of a probe that name system calls or data.
func (x *otherProbes) addSpecials(pr *probe) error {
	var all error
	for i, spec := range pr.Spec.Specs {
		var err error
		switch spec.Kind {
		case place.Syscall:
			err = x.calls.Add(pr, spec)
		case place.Watch:
			err = x.addWatches(pr, spec)
		}
		if err != nil {
			all = errors.Join(all, &place.ListedError{Index: i, Err: err})
		}
	}
	if all == nil {
		all = x.syncSpecials()
	}
	return all
}

// addWatches adds the watchpoints of a specification to all processes.
func (x *otherProbes) addWatches(pr *probe, spec place.Spec) error {
	var all error
	for _, p := range x.s.procs {
		err := x.addWatch(p, pr, spec, p.space.mods)
		var refused *place.RefusedError // names the place itself
		if err != nil && !errors.As(err, &refused) {
			err = fmt.Errorf("cannot watch %s: %w", spec, err)
		}
		all = errors.Join(all, err)
	}
	return all
}

// dropSpecials removes a probe from everything that is not a breakpoint.
func (x *otherProbes) dropSpecials(pr *probe) {
	x.specialsChanged()
	x.calls.Drop(pr)
	x.s.warnOf(x.dropWatches(pr))
}

// specialsChanged is syncSpecials for callers that can only warn of an error.
func (x *otherProbes) specialsChanged() { x.s.warnOf(x.syncSpecials()) }

// syncSpecials applies a change of the state of probes to everything that is not a breakpoint.
func (x *otherProbes) syncSpecials() error {
	x.syncCalls()
	err := x.syncWatches()
	for sp := range x.s.spaces() {
		x.countMarks(sp)
	}
	return err
}

// armSpecials arms watchpoints in modules that a process has just mapped, and updates the semaphores of its marks.
func (x *otherProbes) armSpecials(p *process) {
	for _, pr := range x.s.All() {
		for _, spec := range pr.Spec.Specs {
			if spec.Kind != place.Watch || pr.Removed {
				continue
			}
			if err := x.addWatch(p, pr, spec, p.space.mods); err != nil {
				x.s.warnIn(p.space, fmt.Sprintf("cannot watch %s in process %d: %v", spec, p.pid, err))
			}
		}
	}
	x.s.warnOf(x.syncWatches())
	x.countMarks(p.space)
}

// raiseSemaphore is called when a mark has been armed.
func (x *otherProbes) raiseSemaphore(p *process, pl *placement) {
	if m := pl.Target.Mark; m != nil && m.Semaphore != 0 {
		x.marks = true
		x.countMarks(p.space)
	}
}

// countMarks is syncSemaphores for callers that can only warn of an error.
func (x *otherProbes) countMarks(sp *space) {
	if err := x.syncSemaphores(sp); err != nil {
		x.s.warnIn(sp, err.Error())
	}
}

// syncSemaphores makes the semaphores of an address space count the armed probes on their marks.
func (x *otherProbes) syncSemaphores(sp *space) error {
	switch {
	case !x.marks:
		return nil
	case x.s.life.closing:
		return sp.sems.Clear(markMemory{x.s, sp})
	}
	return sp.sems.Sync(markMemory{x.s, sp}, sp.Points())
}

// clearSemaphores subtracts what was added to the semaphores of an address space that is given up while its probes
// stay armed elsewhere.
func (x *otherProbes) clearSemaphores(sp *space) {
	if err := sp.sems.Clear(markMemory{x.s, sp}); err != nil {
		x.s.warnIn(sp, err.Error())
	}
}

// lowerSemaphores subtracts what was added to the semaphores of all address spaces.
func (x *otherProbes) lowerSemaphores() (all error) {
	for sp := range x.s.spaces() {
		all = errors.Join(all, x.syncSemaphores(sp))
	}
	return all
}

// markMemory is the memory of an address space that has semaphores. It implements semaphore.Memory.
type markMemory struct {
	s  *Session
	sp *space
}

// ReadMemory implements semaphore.Memory.
func (m markMemory) ReadMemory(addr uint64, p []byte) error { return m.sp.mem.Peek(addr, p) }

// WriteMemory implements semaphore.Memory.
func (m markMemory) WriteMemory(addr uint64, p []byte) error {
	return m.sp.mem.Poke(addr, p, m.s.world.stoppedTid(m.sp))
}
