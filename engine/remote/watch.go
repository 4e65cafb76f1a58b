package remote

import (
	"errors"
	"fmt"
	"slices"

	"gotap/engine/place"
	"gotap/engine/remote/control"
	"gotap/engine/remote/rsp"
)

// watchpoints are the probes on accesses to data, and the watchpoints that the stub sets for them. The control's lock
// guards them.
type watchpoints struct {
	stub    *stub
	control *control.Control
	list    []*watch
}

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

// add records a watchpoint; sync sets it.
func (ws *watchpoints) add(pl *placement, spec place.Spec, addr uint64) {
	pl.Data = true
	w := &watch{pl: pl, addr: addr, size: spec.Len, kind: rsp.WatchWrite}
	if spec.Access == place.OnReadWrite {
		w.kind = rsp.WatchAccess
	}
	ws.list = append(ws.list, w)
}

// count returns the number of a probe's watchpoints.
func (ws *watchpoints) count(pr *probe) (n int) {
	for _, w := range ws.list {
		if w.pl.Probe == pr {
			n++
		}
	}
	return n
}

// drop removes a probe's watchpoints for good.
func (ws *watchpoints) drop(pr *probe) {
	ws.list = slices.DeleteFunc(ws.list, func(w *watch) bool {
		if w.pl.Probe == pr {
			ws.remove(w)
		}
		return w.pl.Probe == pr
	})
}

// sync sets the watchpoints that are wanted and removes the others.
func (ws *watchpoints) sync() error {
	var all error
	for _, w := range ws.list {
		switch want := w.pl.Probe.Armed() && !ws.control.Closing(); {
		case want && !w.set:
			err := ws.stub.client.Insert(w.kind, w.addr, w.size)
			if errors.Is(err, rsp.ErrUnsupported) {
				err = fmt.Errorf("cannot watch %s: the stub has no watchpoints", w.pl.Target.Name)
			} else if err != nil {
				err = fmt.Errorf("cannot watch %s: %w", w.pl.Target.Name, err)
			}
			w.set = err == nil
			all = errors.Join(all, err)
		case !want && w.set:
			all = errors.Join(all, ws.remove(w))
		}
	}
	return all
}

// remove removes a watchpoint from the target.
func (ws *watchpoints) remove(w *watch) error {
	if !w.set {
		return nil
	}
	w.set = false
	if err := ws.stub.client.Remove(w.kind, w.addr, w.size); err != nil {
		return fmt.Errorf("cannot take the watchpoint at %#x away: %w", w.addr, err)
	}
	return nil
}

// covers reports whether the probe is armed and an access at an address, of up to eight bytes, may reach its data.
func (w *watch) covers(addr uint64) bool {
	const longest = 8
	return w.set && addr < w.addr+uint64(w.size) && addr+longest > w.addr && w.pl.Probe.Armed()
}

// sawData handles a watchpoint that was hit: the access has been made.
func (t *thread) sawData(stop rsp.Stop) error {
	t.s.stats.Hits++
	t.view.at = nil
	t.h.Begin(t.s.stub.isa.WordSize())
	for _, w := range t.s.watches.list {
		if w.covers(stop.Addr) {
			t.h.Enter(w.pl, false)
		}
	}
	return t.finish()
}
