package script

import (
	"gotap/runtime/record"
	"gotap/script/output"
	"gotap/script/value"
)

// Deliver handles one record: its lines are printed and its events go to the probe's callback, in the order logged. A
// thread that waits for the record is released whatever happens. Deliver is for the host, and for tests and replays
// that have no ring.
func (s *Script) Deliver(rec record.Record) {
	if rec.Flags&record.FlagHold != 0 {
		defer s.release(rec.Hold)
	}
	if s.Stopped() {
		return
	}
	p := s.probes.ByID(rec.Probe)
	if p == nil && s.deliverElsewhere(&rec) {
		return
	}
	if p != nil {
		s.journalRecord(p, &rec)
	}
	name := s.probeName(p, &rec)
	for i := range rec.Items {
		if s.Stopped() {
			return
		}
		item := &rec.Items[i]
		if item.Format.Kind == record.ItemEvent {
			s.deliverItem(p, name, &rec, item)
			continue
		}
		s.out.Print(item.Print(s.values.StackLines))
	}
}

// deliverElsewhere offers a record of an unknown probe to the guests and to Options.Others.
func (s *Script) deliverElsewhere(rec *record.Record) bool {
	for _, g := range s.guests {
		if g.probes.ByID(rec.Probe) != nil {
			other := *rec
			other.Flags &^= record.FlagHold // this script releases the thread
			g.Deliver(other)
			return true
		}
	}
	return s.opts.Others != nil && s.opts.Others(rec)
}

func (s *Script) probeName(p *Probe, rec *record.Record) string {
	if p != nil {
		return p.Name
	}
	info, _ := s.arena.Program(rec.Program)
	return info.Name
}

// release resumes a thread that waits for a record.
func (s *Script) release(ticket uint32) {
	if s.tracer != nil {
		s.tracer.Release(ticket)
	}
}

// deliverItem hands one event to the probe's callback, or to the output when there is none.
func (s *Script) deliverItem(p *Probe, name string, rec *record.Record, item *record.Item) {
	if p == nil || !p.HasExit() {
		s.out.Event(output.Event{Probe: name, Pid: rec.Pid, Tid: rec.Tid, Time: rec.Time, Comm: value.Comm(&rec.Header),
			Fields: s.lib.events.Fields(item)})
		return
	}
	s.machine.Pid = int(rec.Pid)
	p.Exit(s.lib.events.Object(rec, item, name))
	s.machine.Pid = 0
}
