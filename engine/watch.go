package engine

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"gotap/engine/image/module"
	"gotap/engine/linux/debugreg"
	"gotap/engine/place"
	"gotap/engine/threadstate"
	"gotap/runtime"
)

// Watchpoints use the processor's debug registers, four of which hold addresses. Debug registers belong to threads,
// so each thread of a process has the same ones, and so do new threads. An access to data is reported after it has
// happened, by a SIGTRAP that identifies it.

// watches are a thread's debug registers and what they have reported.
type watches struct {
	t    *thread
	regs debugreg.Regs
	due  bool // its debug registers may be wrong; they are written at its next stop
}

// watch is one watchpoint of a process.
type watch struct {
	pl   *placement
	addr uint64
	spec place.Spec
	half bool // an instruction there may be half a word: Thumb code
}

// slot returns the watchpoint in the form for the debug registers.
func (w *watch) slot() debugreg.Watch {
	return debugreg.Watch{Addr: w.addr, Len: w.spec.Len, Access: w.spec.Access, Half: w.half}
}

// addWatch adds the watchpoints of a specification to a process.
func (x *otherProbes) addWatch(p *process, pr *probe, spec place.Spec, mods []module.Loaded) error {
	if p.unprobed {
		return nil
	}
	addrs, targets, err := x.watchAddrs(spec, mods)
	if err != nil {
		var missing *place.NotFoundError
		if errors.As(err, &missing) && (pr.Spec.Optional || x.s.life.started) {
			return nil
		}
		return err
	}
	for i, addr := range addrs {
		if spec.Access != place.OnExecute && addr%uint64(spec.Len) != 0 {
			return fmt.Errorf("%#x is not a multiple of %d, which the processor asks of a watchpoint", addr, spec.Len)
		}
		if slices.ContainsFunc(p.watches, func(w *watch) bool { return w.pl.Probe == pr && w.addr == addr }) {
			continue
		}
		if len(p.watches) == debugreg.Slots {
			return fmt.Errorf("all %d debug registers are in use", debugreg.Slots)
		}
		code, err := pr.Spec.Compile(x.s.otherInfo(spec.String(), p.arch.Names))
		if err == nil {
			err = code.Fits(spec)
		}
		if err != nil {
			return err
		}
		pl := &placement{Probe: pr, Target: targets[i], Code: code, Func: targets[i].Symbol, Data: spec.Access != place.OnExecute}
		if f := targets[i].File; f != nil {
			pl.Module = f.Path
		}
		set := p.arch.SetAt(module.Find(mods, addr), addr)
		p.watches = append(p.watches, &watch{pl, addr, spec, set != nil && set.Name() == "thumb"})
	}
	return nil
}

// watchAddrs returns the addresses that a specification refers to in a process.
func (x *otherProbes) watchAddrs(spec place.Spec, mods []module.Loaded) ([]uint64, []place.Target, error) {
	if spec.Absolute() {
		return []uint64{spec.Addr}, []place.Target{{Name: spec.String()}}, nil
	}
	targets, err := x.s.places.Targets(spec, mods)
	var addrs []uint64
	var found []place.Target
	for _, t := range targets {
		for i := range mods {
			if mods[i].File == t.File && mods[i].Err == nil && mods[i].Covers(t.Vaddr) {
				addrs, found = append(addrs, mods[i].Addr(t.Vaddr)), append(found, t)
			}
		}
	}
	return addrs, found, err
}

// dropWatches removes the watchpoints of a probe.
func (x *otherProbes) dropWatches(pr *probe) error {
	for _, p := range x.s.procs {
		p.watches = slices.DeleteFunc(p.watches, func(w *watch) bool { return w.pl.Probe == pr })
	}
	return x.syncWatches()
}

// watchPlaces counts the watchpoints of a probe.
func (x *otherProbes) watchPlaces(pr *probe) int {
	n := 0
	for _, p := range x.s.procs {
		for _, w := range p.watches {
			if w.pl.Probe == pr {
				n++
			}
		}
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
		stale = stale || t.state.Now() != threadstate.Fresh && (t.watch.due || t.watch.wantedDebugRegs() != t.watch.regs)
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
			if e := t.watch.writeDebugRegs(); err == nil {
				err = e
			}
		default: // the thread reports another stop first
			t.watch.due = t.watch.due || t.watch.wantedDebugRegs() != t.watch.regs
		}
	}
	x.s.world.releaseWorld(held)
	return err
}

// wantedDebugRegs returns the debug registers that the thread should have.
func (d *watches) wantedDebugRegs() debugreg.Regs {
	var regs debugreg.Regs
	for i, w := range d.t.proc.watches {
		if w.pl.Probe.Armed() && !d.t.unprobed {
			regs.Set(i, w.slot())
		}
	}
	return regs
}

// markAllWatched records in the fallback of every address space in which something is watched that this is so.
func (x *otherProbes) markAllWatched() {
	for _, p := range x.s.procs {
		if len(p.watches) > 0 {
			p.space.guard.MarkWatching()
		}
	}
}

// armDebugRegs is writeDebugRegs for callers that can only warn of an error.
func (d *watches) armDebugRegs() {
	if err := d.writeDebugRegs(); err != nil {
		d.t.s.warn(err.Error())
	}
}

// writeDebugRegs writes the debug registers of a stopped thread if they are not yet right. If the thread has been
// killed, that is not an error.
func (d *watches) writeDebugRegs() error {
	want := d.wantedDebugRegs()
	if want == d.regs && !d.due {
		return nil
	}
	if want.Any() {
		d.t.proc.space.guard.MarkWatching()
	}
	switch e := debugreg.Write(d.t.Tid, d.regs, want); {
	case e == syscall.EINVAL:
		return fmt.Errorf("cannot set the debug registers of thread %d: programs have no such address: %w", d.t.Tid, e)
	case e != 0 && !vanished(e):
		return fmt.Errorf("cannot set the debug registers of thread %d: %w", d.t.Tid, e)
	case e == 0:
		d.regs, d.due = want, false
	}
	return nil
}

// hasDebugRegs reports whether the thread has to be stopped to clear its debug registers.
func (d *watches) hasDebugRegs() bool { return d.regs.Any() || d.due }

// clearDebugRegs removes the watchpoints from a stopped thread.
func (d *watches) clearDebugRegs() {
	if d.hasDebugRegs() {
		debugreg.Write(d.t.Tid, d.regs, debugreg.Regs{})
		d.regs, d.due = debugreg.Regs{}, false
	}
}

// metWatches returns the watchpoints of the process that the stopped thread has hit: bit i is watch i. The thread's
// siginfo has been read.
func (d *watches) metWatches() uint64 {
	slots := make([]debugreg.Watch, 0, debugreg.Slots)
	for _, w := range d.t.proc.watches {
		slots = append(slots, w.slot())
	}
	return debugreg.Met(d.t.Tid, d.t.Info.Addr(), slots)
}

// watchHit runs the programs of the watchpoints that were hit, as part of the present hit. It reports whether any
// were.
func (d *watches) watchHit() bool {
	return d.runWatches(d.metWatches())
}

// runWatches runs the programs of the watchpoints in a bit set, in which bit i is watch i. It reports whether the
// set has any.
func (d *watches) runWatches(met uint64) bool {
	if met == 0 {
		return false
	}
	for i, w := range d.t.proc.watches {
		if met>>i&1 == 0 || !w.pl.Probe.Armed() || d.t.unprobed || !d.t.h.Wanted(w.pl) || !d.t.h.Admit(w.pl.Probe) {
			continue
		}
		for _, code := range []*runtime.Code{w.pl.Code.Enter, w.pl.Code.Post} {
			if code != nil {
				d.t.h.Start(w.pl, code, 0, 0, false).Leave = true // no programs run after it
			}
		}
	}
	return true
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
