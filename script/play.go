package script

import (
	"gotap/runtime/record"
	"gotap/runtime/snapshot"
)

// dumped is a script as its recorders see it.
type dumped struct{ *Script }

// Played returns a record with the name of its probe; ok is false for a probe of another script.
func (d dumped) Played(rec *record.Record) (r Played, ok bool) {
	p := d.probes.ByID(rec.Probe)
	if p == nil {
		return Played{}, false
	}
	return d.probes.Played(p, rec), true
}

// Replayed returns a played record with the number of its probe here.
func (d dumped) Replayed(r Played) (record.Record, bool) { return d.probes.Replayed(r) }

// journalRecord records a record of the script's own probe. Those of a dump are recorded with it.
func (s *Script) journalRecord(p *Probe, rec *record.Record) {
	if s.world.Journal != nil && !s.lib.recorders.Dumping() {
		s.world.Journal.Record(s.probes.Played(p, rec))
	}
}

// journalTimer records that a timer is due, after the present values of the objects that programs use.
func (s *Script) journalTimer(nth int) {
	if s.world.Journal != nil {
		s.world.Journal.Values(s.objects.UsedValues())
		s.world.Journal.Timer(nth)
	}
}

func (s *Script) journalEnd() {
	if s.world.Journal != nil {
		s.world.Journal.Values(s.objects.UsedValues())
		s.world.Journal.End()
	}
}

// The Play methods play a journal to a script. Start is not called then: they run on the caller's goroutine, between
// Begin and End.

// PlayRecord delivers a record; false: the script has no such probe.
func (s *Script) PlayRecord(r Played) bool {
	rec, ok := s.probes.Replayed(r)
	if ok {
		s.Deliver(rec)
	}
	return ok
}

// PlayEvent calls the listeners for an event.
func (s *Script) PlayEvent(e Event) {
	if s.lib.listeners.Knows(e.Kind) && !s.Stopped() {
		s.deliverEvent(e, s.lib.recorders.Capture(e))
	}
}

// PlayTimer calls the nth timer, unless the script does not have it or has stopped it.
func (s *Script) PlayTimer(nth int) {
	if !s.Stopped() {
		s.lib.timers.Play(nth)
	}
}

// PlayValues gives objects the values that programs had given them. Objects that no program of the script uses are not
// changed: callbacks compute their values.
func (s *Script) PlayValues(list []snapshot.Snapshot) { s.objects.Restore(list) }
