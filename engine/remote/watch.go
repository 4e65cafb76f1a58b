package remote

import (
	"errors"
	"fmt"

	"gotap/engine/place"
	"gotap/engine/remote/rsp"
)

// watch is a watchpoint on data.
type watch struct {
	pl   *placement
	addr uint64
	size int
	kind rsp.Trap
	set  bool
}

// onData reports whether a place is an access to data, independent of the code that makes it.
func onData(spec place.Spec) bool { return spec.Kind == place.Watch && spec.Access != place.OnExecute }

// addWatch records a watchpoint; syncWatches sets it.
func (s *Session) addWatch(pl *placement, spec place.Spec, addr uint64) {
	pl.Data = true
	w := &watch{pl: pl, addr: addr, size: spec.Len, kind: rsp.WatchWrite}
	if spec.Access == place.OnReadWrite {
		w.kind = rsp.WatchAccess
	}
	s.watches = append(s.watches, w)
}

// syncWatches sets the watchpoints that are wanted and removes the others.
func (s *Session) syncWatches() error {
	var all error
	for _, w := range s.watches {
		switch want := w.pl.Probe.Armed() && !s.closing; {
		case want && !w.set:
			err := s.client.Insert(w.kind, w.addr, w.size)
			if errors.Is(err, rsp.ErrUnsupported) {
				err = fmt.Errorf("cannot watch %s: the stub has no watchpoints", w.pl.Target.Name)
			} else if err != nil {
				err = fmt.Errorf("cannot watch %s: %w", w.pl.Target.Name, err)
			}
			w.set = err == nil
			all = errors.Join(all, err)
		case !want && w.set:
			all = errors.Join(all, s.unwatchData(w))
		}
	}
	return all
}

// unwatchData removes a watchpoint.
func (s *Session) unwatchData(w *watch) error {
	if !w.set {
		return nil
	}
	w.set = false
	if err := s.client.Remove(w.kind, w.addr, w.size); err != nil {
		return fmt.Errorf("cannot take the watchpoint at %#x away: %w", w.addr, err)
	}
	return nil
}

// sawData handles a watchpoint that was hit: the access has been made.
func (t *thread) sawData(stop rsp.Stop) error {
	t.s.stats.Hits++
	t.h.Begin(t.s.isa.WordSize())
	for _, w := range t.s.watches {
		if w.set && stop.Addr < w.addr+uint64(w.size) && stop.Addr+8 > w.addr && w.pl.Probe.Armed() {
			t.h.Enter(w.pl, false)
		}
	}
	return t.finish()
}

// syncSemaphores makes the semaphores of static marks count the armed probes on them.
func (s *Session) syncSemaphores() error {
	if s.closing {
		return s.sems.Clear(&s.mem)
	}
	return s.sems.Sync(&s.mem, tracer{s}.Points())
}
