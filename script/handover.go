package script

import (
	"github.com/dop251/goja"

	"gotap/runtime"
)

// A watched script is replaced in four steps, so that no record is lost and none is told twice: the new version is loaded
// beside the running one (Options.Previous); the old one pauses, and records wait in the ring; the probes are
// exchanged; the new one takes over, and records of probes that are gone go to the old one's callbacks a last time.
// When the exchange fails the old one resumes, as if nothing had been.

// Pause stops the host. Records and lifecycle events wait; no end callback runs. It is called once after each Start or Resume.
func (s *Script) Pause() {
	close(s.host.quit)
	<-s.host.done
	<-s.host.rested
	s.host.started = false
	s.out.Flush()
}

// Resume continues after Pause.
func (s *Script) Resume() {
	s.host.revive()
	s.Start()
}

// TakeOver ends a paused version that this one follows, once the probes have been exchanged and before Begin and Start. What
// waits in the ring for probes that are gone reaches the old callbacks now, what waits for this script's own is delivered
// after Start. Scripts that had joined the old version go along. The old version's timers, listeners and end callbacks are
// gone with it, and it is closed.
func (s *Script) TakeOver(old *Script) {
	s.host.guests = append(s.host.guests, old.host.guests...)
	old.host.guests = nil
	s.host.joined.Store(int32(len(s.host.guests)))
	for range maxWaiting {
		rec, ok := s.arena.Next()
		if !ok {
			break
		}
		if old.byID[rec.Probe] != nil && s.byID[rec.Probe] == nil {
			old.Deliver(rec)
			continue
		}
		s.backlog = append(s.backlog, rec)
	}
	old.emptyQueue()
	s.keepValues(old)
	for id, heir := range s.heirs {
		s.byID[id] = heir
	}
	s.faults.earlier += old.Faults() // its guests are not among them any more
	old.faults.summary(old.out)
	old.out.Flush()
	old.Close()
}

// keepValues gives variables the values they had, where name and type are the same. Those that programs of both versions share
// have theirs already, see adopted; here are the others: what no program uses, in either version or in both. A variable that
// nothing changed is a setting, and the next version's word for it counts.
func (s *Script) keepValues(old *Script) {
	for _, sl := range s.vars.slots {
		was := old.slotLike(sl)
		if !was.mayDiffer() || was.value == nil || sl.value == nil || was.kind != slotPlain && sl.kind != slotPlain {
			continue
		}
		value := was.value
		if was.kind != slotPlain {
			value = old.load(was)
		}
		if sl.carried = alike(value, sl.value); !sl.carried {
			continue
		}
		if sl.kind == slotPlain {
			sl.value = value
		} else {
			s.startShared(sl, value)
		}
	}
}

// before is a variable in the version that this one follows; nil when there is none.
func (s *Script) before(sl *slot) *slot {
	if s.opts.Previous == nil {
		return nil
	}
	return s.opts.Previous.slotLike(sl)
}

// slotLike finds the variable of the same name and file as one of another version of the script; nil when there is none.
func (s *Script) slotLike(sl *slot) *slot {
	for _, own := range s.vars.slots {
		if own.v.Name == sl.v.Name && own.src.file.Path == sl.src.file.Path {
			return own
		}
	}
	return nil
}

// mayDiffer reports whether a variable may hold something else than what it began with.
func (sl *slot) mayDiffer() bool { return sl != nil && (sl.v.Assigned > 0 || sl.carried) }

// startShared gives a variable that programs have begun to share the value it had before. They run already: an integer keeps
// what they have added to its first value.
func (s *Script) startShared(sl *slot, value goja.Value) {
	switch n, whole := toInt(value); {
	case sl.kind != slotInt:
		s.store(sl, value)
	case whole && !rounded(value):
		first, _ := toInt(sl.value)
		sl.handle.Add(n - first)
	}
}

// alike reports whether two values are both numbers, texts or truth values. Objects belong to the machine they were made in.
func alike(a, b goja.Value) bool {
	number := func(v goja.Value) bool { return goja.IsNumber(v) || goja.IsBigInt(v) }
	truth := func(v goja.Value) bool { _, ok := v.Export().(bool); return ok && !goja.IsUndefined(v) }
	return number(a) && number(b) || goja.IsString(a) && goja.IsString(b) || truth(a) && truth(b)
}

// maxWaiting is more records than any ring holds of what was committed before the probes were exchanged; hits go on
// meanwhile, so the ring need not ever be empty.
const maxWaiting = 1 << 17

// next is the oldest record that waits.
func (s *Script) next() (runtime.Record, bool) {
	if len(s.backlog) > 0 {
		rec := s.backlog[0]
		if s.backlog = s.backlog[1:]; len(s.backlog) == 0 {
			s.backlog = nil
		}
		return rec, true
	}
	return s.arena.Next()
}
