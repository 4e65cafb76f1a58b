package engine

import (
	"gotap/engine/linux/debugreg"
	"gotap/engine/linux/debugreg/trial"
	"gotap/engine/place"
	"gotap/engine/registry"
	"gotap/engine/threadstate"
	"gotap/engine/trampoline"
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
func (d *watches) MarkWatching() { d.t.proc.space.Guard.MarkWatching() }

// Watches implements probes.Process.
func (p *process) Watches() *watchpoint.List { return &p.watches }

// Watchable implements probes.Process.
func (p *process) Watchable(place.Spec) (in watchpoint.Process, ok bool) {
	info := func(name string) registry.PlaceInfo { return p.s.otherInfo(name, p.arch.Names) }
	return watchpoint.Process{Places: p.s.places, Mods: p.Modules(), ISA: p.arch.ISA, Slots: debugreg.Slots, Check: trial.Watchpoint, Info: info}, true
}

// syncWatches sets the debug registers of all threads to what they should be. Running threads are stopped for this.
// The error is the first that the kernel returns.
func (x *otherProbes) syncWatches() (err error) {
	x.watching, x.before = 0, false
	for _, p := range x.s.procs {
		x.watching += len(p.watches)
		x.before = x.before || p.watches.Of(place.OnExecute) != 0 || p.arch.Stepless && len(p.watches) > 0
	}
	stale := false
	for _, t := range x.s.threads {
		stale = stale || t.state.Now() != threadstate.Fresh && t.watch.Stale()
	}
	if !stale || x.s.life.closing {
		return nil
	}
	if x.before {
		x.s.natives.DropAll(trampoline.ErrWatched)
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
			p.space.Guard.MarkWatching()
		}
	}
}

// armDebugRegs is Write for callers that can only warn of an error.
func (d *watches) armDebugRegs() { d.t.s.warnOf(d.Write()) }

// runWatches runs the programs of the watchpoints in a bit set, in which bit i is watch i. It reports whether the
// set has any.
func (d *watches) runWatches(met uint64) bool {
	if !d.t.unprobed {
		d.t.proc.watches.Run(&d.t.h, met)
	}
	return met != 0
}

// watchTrap handles a SIGTRAP that may come from a watchpoint, and reports whether it does. The registers are read.
func (d *watches) watchTrap() bool {
	d.t.h.Begin(d.t.proc.arch.WordSize())
	if d.t.proc.arch.Stepless {
		d.t.view.Begin(nil)
		return d.watchedAccess()
	}
	met := d.Met()
	if met == 0 {
		return false
	}
	if at, own := d.t.native.Displaced(); !own {
		d.runAt(at, met)
	}
	d.t.resume(0)
	return true
}

// runAt runs the programs of the watchpoints in a bit set. They see the thread at an address, which differs from its
// program counter in a copy of displaced instructions. The thread goes on where it is, unless a program moves it.
func (d *watches) runAt(at, met uint64) {
	pc := d.t.PC()
	here := *pc
	*pc = at
	d.t.view.Begin(nil)
	d.runWatches(met)
	if *pc == at {
		*pc = here
	}
	d.commit()
}

// commit commits what the programs of watchpoints logged, and writes back registers that they changed.
func (d *watches) commit() {
	if d.t.h.Len() > 0 {
		d.t.calling.Commit(0)
	}
}

// Watchpoints on processors where nothing is stepped. The debug unit of ARM stops a thread before the access or the
// instruction, and would do so again and again. So the instruction is emulated, as at a probe, and the programs run
// after it, as on x86. The debug unit does not see what the emulation reads and writes, so the emulation compares
// its accesses with the watchpoints (emulation.Memory).

// watchedAccess handles a stop of the debug unit. The registers have been read. An instruction that cannot be
// emulated, such as a store-exclusive, runs without the watchpoints that it hit. Those see nothing more of its
// thread until they are set again.
func (d *watches) watchedAccess() bool {
	met := d.Met()
	if met == 0 {
		return false
	}
	if d.t.exec.EmulateHere() {
		d.runWatches(met&d.t.proc.watches.Of(place.OnExecute) | d.t.emu.Met())
		d.commit()
		d.t.SetRegs()
	} else {
		ran := met
		if d.t.exec.LoadsHere() {
			ran &^= d.t.proc.watches.Of(place.OnWrite)
		}
		d.t.s.stats.Unwatched++
		d.runWatches(ran)
		d.commit()
		d.t.s.warnOf(d.Unwatch(met))
	}
	d.t.resume(0)
	return true
}
