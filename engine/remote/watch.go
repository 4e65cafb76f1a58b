package remote

import (
	"errors"
	"fmt"

	"gotap/engine/place"
	"gotap/engine/remote/control"
	"gotap/engine/remote/rsp"
	"gotap/engine/watchpoint"
)

// watchpoints are the probes on accesses to data, and the watchpoints that the stub sets for them. The control's lock
// guards them.
type watchpoints struct {
	stub    *stub
	control *control.Control
	list    watchpoint.List
	set     map[*watchpoint.Watch]bool // those that are in the target
}

// onData reports whether a place is an access to data, independent of the code that makes it.
func onData(spec place.Spec) bool { return spec.Kind == place.Watch && spec.Access != place.OnExecute }

// replaced forgets all watchpoints: the target runs another program.
func (ws *watchpoints) replaced() {
	ws.list = nil
	clear(ws.set)
}

// sync sets the watchpoints that are wanted and removes the others.
func (ws *watchpoints) sync() error {
	var all error
	for _, w := range ws.list {
		switch want := w.Placement.Probe.Armed() && !ws.control.Closing(); {
		case want && !ws.set[w]:
			all = errors.Join(all, ws.insert(w))
		case !want:
			all = errors.Join(all, ws.remove(w))
		}
	}
	return all
}

// trapOf is the kind of watchpoint for which a stub is asked.
func trapOf(w *watchpoint.Watch) rsp.Trap {
	if w.Spec.Access == place.OnReadWrite {
		return rsp.WatchAccess
	}
	return rsp.WatchWrite
}

// insert sets a watchpoint in the target.
func (ws *watchpoints) insert(w *watchpoint.Watch) error {
	err := ws.stub.client.Insert(trapOf(w), w.Addr, w.Spec.Len)
	switch {
	case errors.Is(err, rsp.ErrUnsupported):
		return fmt.Errorf("cannot watch %s: the stub has no watchpoints", w.Placement.Target.Name)
	case err != nil:
		return fmt.Errorf("cannot watch %s: %w", w.Placement.Target.Name, err)
	}
	ws.set[w] = true
	return nil
}

// remove removes a watchpoint from the target, if it is there.
func (ws *watchpoints) remove(w *watchpoint.Watch) error {
	if !ws.set[w] {
		return nil
	}
	delete(ws.set, w)
	if err := ws.stub.client.Remove(trapOf(w), w.Addr, w.Spec.Len); err != nil {
		return fmt.Errorf("cannot take the watchpoint at %#x away: %w", w.Addr, err)
	}
	return nil
}

// met returns the watchpoints that an access at an address may have hit: bit i is watch i.
func (ws *watchpoints) met(addr uint64) (set uint64) {
	for i, w := range ws.list {
		if ws.set[w] && w.Reaches(addr) {
			set |= 1 << i
		}
	}
	return set
}

// sawData handles a watchpoint that was hit: the access has been made.
func (t *thread) sawData(stop rsp.Stop) error {
	t.s.stats.Hits++
	t.view.begin(nil)
	t.h.Begin(t.s.stub.isa.WordSize())
	t.s.watches.list.Run(&t.h, t.s.watches.met(stop.Addr))
	return t.finish()
}
