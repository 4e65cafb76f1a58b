package engine

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"gotap/engine/image/module"
	"gotap/engine/linux/debugreg"
	"gotap/engine/place"
	"gotap/runtime"
)

// Watchpoints use the processor's debug registers, four of which hold addresses. Debug registers belong to threads,
// so each thread of a process has the same ones, and so do new threads. An access to data is reported after it has
// happened, by a SIGTRAP that identifies it.

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
func (s *Session) addWatch(p *process, pr *probe, spec place.Spec, mods []module.Loaded) error {
	if p.silent {
		return nil
	}
	addrs, targets, err := s.watchAddrs(spec, mods)
	if err != nil {
		var missing *place.NotFoundError
		if errors.As(err, &missing) && (pr.Spec.Optional || s.started) {
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
		code, err := pr.Spec.Compile(s.otherInfo(spec.String(), p.arch.Names))
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
func (s *Session) watchAddrs(spec place.Spec, mods []module.Loaded) ([]uint64, []place.Target, error) {
	if spec.Absolute() {
		return []uint64{spec.Addr}, []place.Target{{Name: spec.String()}}, nil
	}
	targets, err := s.places.Targets(spec, mods)
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
func (s *Session) dropWatches(pr *probe) error {
	for _, p := range s.procs {
		p.watches = slices.DeleteFunc(p.watches, func(w *watch) bool { return w.pl.Probe == pr })
	}
	return s.syncWatches()
}

// watchPlaces counts the watchpoints of a probe.
func (s *Session) watchPlaces(pr *probe) int {
	n := 0
	for _, p := range s.procs {
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
func (s *Session) syncWatches() (err error) {
	s.watching = 0
	for _, p := range s.procs {
		s.watching += len(p.watches)
	}
	stale := false
	for _, t := range s.threads {
		stale = stale || !t.fresh && (t.drDue || t.wantedDebugRegs() != t.dr)
	}
	if !stale || s.closing {
		return nil
	}
	s.markAllWatched()
	held := s.holdAll()
	for _, t := range s.threads {
		switch {
		case t.fresh:
		case t.stopped:
			if e := t.writeDebugRegs(); err == nil {
				err = e
			}
		default: // the thread reports another stop first
			t.drDue = t.drDue || t.wantedDebugRegs() != t.dr
		}
	}
	s.releaseWorld(held)
	return err
}

// wantedDebugRegs returns the debug registers that the thread should have.
func (t *thread) wantedDebugRegs() debugreg.Regs {
	var d debugreg.Regs
	for i, w := range t.proc.watches {
		if w.pl.Probe.Armed() && !t.silent {
			d.Set(i, w.slot())
		}
	}
	return d
}

// markAllWatched records in the fallback of every address space in which something is watched that this is so.
func (s *Session) markAllWatched() {
	for _, p := range s.procs {
		if len(p.watches) > 0 {
			s.markWatching(p.space)
		}
	}
}

// armDebugRegs is writeDebugRegs for callers that can only warn of an error.
func (t *thread) armDebugRegs() {
	if err := t.writeDebugRegs(); err != nil {
		t.s.warn(err.Error())
	}
}

// writeDebugRegs writes the debug registers of a stopped thread if they are not yet right. If the thread has been
// killed, that is not an error.
func (t *thread) writeDebugRegs() error {
	want := t.wantedDebugRegs()
	if want == t.dr && !t.drDue {
		return nil
	}
	if want.Any() {
		t.s.markWatching(t.proc.space)
	}
	switch e := debugreg.Write(t.tid, t.dr, want); {
	case e == syscall.EINVAL:
		return fmt.Errorf("cannot set the debug registers of thread %d: programs have no such address: %w", t.tid, e)
	case e != 0 && !vanished(e):
		return fmt.Errorf("cannot set the debug registers of thread %d: %w", t.tid, e)
	case e == 0:
		t.dr, t.drDue = want, false
	}
	return nil
}

// hasDebugRegs reports whether the thread has to be stopped to clear its debug registers.
func (t *thread) hasDebugRegs() bool { return t.dr.Any() || t.drDue }

// clearDebugRegs removes the watchpoints from a stopped thread.
func (t *thread) clearDebugRegs() {
	if t.hasDebugRegs() {
		debugreg.Write(t.tid, t.dr, debugreg.Regs{})
		t.dr, t.drDue = debugreg.Regs{}, false
	}
}

// metWatches returns the watchpoints of the process that the stopped thread has hit: bit i is watch i. The thread's
// siginfo has been read.
func (t *thread) metWatches() uint64 {
	slots := make([]debugreg.Watch, 0, debugreg.Slots)
	for _, w := range t.proc.watches {
		slots = append(slots, w.slot())
	}
	return debugreg.Met(t.tid, t.info.Addr(), slots)
}

// watchHit runs the programs of the watchpoints that were hit, as part of the present hit. It reports whether any
// were.
func (t *thread) watchHit() bool {
	return t.runWatches(t.metWatches())
}

// runWatches runs the programs of the watchpoints in a bit set, in which bit i is watch i. It reports whether the
// set has any.
func (t *thread) runWatches(met uint64) bool {
	if met == 0 {
		return false
	}
	for i, w := range t.proc.watches {
		if met>>i&1 == 0 || !w.pl.Probe.Armed() || t.silent || !t.h.Wanted(w.pl) || !t.h.Admit(w.pl.Probe) {
			continue
		}
		for _, code := range []*runtime.Code{w.pl.Code.Enter, w.pl.Code.Post} {
			if code != nil {
				t.h.Start(w.pl, code, 0, 0, false).Leave = true // no programs run after it
			}
		}
	}
	return true
}

// watchTrap handles a SIGTRAP that may come from a watchpoint, and reports whether it does. The registers have been
// read.
func (t *thread) watchTrap() bool {
	t.h.Begin(t.proc.arch.WordSize())
	t.at, t.fpRead = nil, false
	if t.proc.arch.Stepless {
		return t.watchedAccess()
	}
	if !t.watchHit() {
		return false
	}
	t.endCall(0)
	t.resume(0)
	return true
}
