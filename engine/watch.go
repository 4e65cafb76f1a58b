package engine

import (
	"errors"

	"gotap/engine/image/module"
	"gotap/engine/linux/debugreg"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/threadstate"
	"gotap/engine/watchpoint"
)

// watches are a thread's watchpoints: its debug registers, and what happens when they report an access. It implements
// watchpoint.Host.
type watches struct {
	watchpoint.Thread
	t *thread
}

var _ watchpoint.Host = (*watches)(nil)

// Watches implements watchpoint.Host.
func (d *watches) Watches() watchpoint.List { return d.t.proc.watches }

// Unprobed implements watchpoint.Host.
func (d *watches) Unprobed() bool { return d.t.unprobed }

// MarkWatching implements watchpoint.Host.
func (d *watches) MarkWatching() { d.t.proc.space.guard.MarkWatching() }

// addWatch adds the watchpoints of a specification to a process.
func (x *otherProbes) addWatch(p *process, pr *probe, spec place.Spec, mods []module.Loaded) error {
	if p.unprobed {
		return nil
	}
	err := p.watches.Add(pr, spec, watchpoint.Process{Places: x.s.places, Mods: mods, ISA: p.arch.ISA, Slots: debugreg.Slots,
		Info: func(name string) registry.PlaceInfo { return x.s.otherInfo(name, p.arch.Names) }})
	var missing *place.NotFoundError
	if errors.As(err, &missing) && (pr.Spec.Optional || x.s.life.started) {
		return nil
	}
	return err
}

// dropWatches removes the watchpoints of a probe.
func (x *otherProbes) dropWatches(pr *probe) error {
	for _, p := range x.s.procs {
		p.watches.Drop(pr)
	}
	return x.syncWatches()
}

// watchPlaces counts the watchpoints of a probe.
func (x *otherProbes) watchPlaces(pr *probe) (n int) {
	for _, p := range x.s.procs {
		n += p.watches.Count(pr)
	}
	return n
}

// syncWatches sets the debug registers of all threads to what they should be. Running threads are stopped for this.
// The error is the first that the kernel returns.
func (x *otherProbes) syncWatches() (err error) {
	x.watching = 0
	for _, p := range x.s.procs {
		x.watching += len(p.watches)
	}
	stale := false
	for _, t := range x.s.threads {
		stale = stale || t.state.Now() != threadstate.Fresh && t.watch.Stale()
	}
	if !stale || x.s.life.closing {
		return nil
	}
	if x.watching > 0 {
		x.s.patcher.dropJumps(errWatched)
	}
	x.markAllWatched()
	held := x.s.world.holdAll()
	for _, t := range x.s.threads {
		switch {
		case t.state.Now() == threadstate.Fresh:
		case t.state.InStop():
			if e := t.watch.Write(); err == nil {
				err = e
			}
		default: // the thread reports another stop first
			t.watch.Postpone(false)
		}
	}
	x.s.world.releaseWorld(held)
	return err
}

// markAllWatched records in the fallback of every address space in which something is watched that this is so.
func (x *otherProbes) markAllWatched() {
	for _, p := range x.s.procs {
		if len(p.watches) > 0 {
			p.space.guard.MarkWatching()
		}
	}
}

// armDebugRegs is Write for callers that can only warn of an error.
func (d *watches) armDebugRegs() { d.t.s.warnOf(d.Write()) }

// watchHit runs the programs of the watchpoints that were hit, as part of the present hit. It reports whether any
// were.
func (d *watches) watchHit() bool {
	return d.runWatches(d.Met())
}

// runWatches runs the programs of the watchpoints in a bit set, in which bit i is watch i. It reports whether the
// set has any.
func (d *watches) runWatches(met uint64) bool {
	if !d.t.unprobed {
		d.t.proc.watches.Run(&d.t.h, met)
	}
	return met != 0
}

// watchTrap handles a SIGTRAP that may come from a watchpoint, and reports whether it does. The registers have been
// read.
func (d *watches) watchTrap() bool {
	d.t.h.Begin(d.t.proc.arch.WordSize())
	d.t.at, d.t.view.fpRead = nil, false
	if d.t.proc.arch.Stepless {
		return d.watchedAccess()
	}
	if !d.watchHit() {
		return false
	}
	d.commit()
	d.t.resume(0)
	return true
}

// commit commits what the programs of watchpoints logged, and writes back registers that they changed.
func (d *watches) commit() {
	if d.t.h.Len() > 0 {
		d.t.calling.Commit(0)
	}
}
