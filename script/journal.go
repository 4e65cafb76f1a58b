package script

import (
	"encoding/json"
	"slices"

	"gotap/runtime"
)

// A Journal is told, on the host's goroutine and in order, what a script gets from outside: with it in hand the same can be
// played to the script again where nothing runs.
type Journal interface {
	// Record is a record that is about to be delivered.
	Record(r Played)
	// Event is an event of a process that listeners are about to be called for.
	Event(e Event)
	// Timer is the nth timer of the script that is about to be called, counted from 0.
	Timer(nth int)
	// Dump is what a recorder held when it was dumped.
	Dump(recorder string, records []Played, overwritten uint64)
	// Values are the objects that programs use, as they stood.
	Values(list []runtime.Snapshot)
	// Answer is what the outside answered to a question: a symbol, memory, a file. Steady answers are always the same.
	Answer(question string, answer []byte, steady bool)
	// End comes before the end callbacks.
	End()
}

// Played is a record as journals know it: the numbers of probes are another run's.
type Played struct {
	Probe  string // name of the probe
	Nth    int    // among the script's probes of that name, from 0
	Record *runtime.Record
}

// A Replay answers a script's questions in the place of the world, from a journal.
type Replay interface {
	Answer(question string) (answer []byte, known bool)
	Dump(recorder string) (records []Played, overwritten uint64)
	// Arg is the argument that the recorded run was given, for options that have none now.
	Arg(name string) (value string, given bool)
	// Printed is what the script has printed, for its expectations.
	Printed() string
}

// ask asks the world, or the journal that stands for it. Without an answer in the journal the result is the zero value. The
// question is asked for only when there is a journal of either kind.
func ask[T any](s *Script, question func() string, steady bool, world func() T) (answer T) {
	if s.opts.Replay != nil {
		if raw, known := s.opts.Replay.Answer(question()); known {
			if err := json.Unmarshal(raw, &answer); err != nil {
				s.throwf("cannot read the recorded answer to %s: %v", question(), err)
			}
		}
		return answer
	}
	answer = world()
	if s.opts.Journal != nil {
		if raw, err := json.Marshal(answer); err == nil { // only data of our own
			s.opts.Journal.Answer(question(), raw, steady)
		}
	}
	return answer
}

// journalRecord notes a record of the script's own probe.
func (s *Script) journalRecord(p *Probe, rec *runtime.Record) {
	if s.opts.Journal == nil || s.dumping > 0 {
		return
	}
	s.opts.Journal.Record(s.played(p, rec))
}

// played is a record with the name of its probe.
func (s *Script) played(p *Probe, rec *runtime.Record) Played {
	nth := 0
	for _, other := range s.probes {
		if other == p {
			break
		}
		if other.Name == p.Name {
			nth++
		}
	}
	return Played{p.Name, nth, rec}
}

// probeOf finds the nth probe of a name; nil when there is none.
func (s *Script) probeOf(name string, nth int) *Probe {
	for _, p := range s.probes {
		if p.Name != name {
			continue
		}
		if nth--; nth < 0 {
			return p
		}
	}
	return nil
}

// dumpOf empties a recorder: the real one, or the one in the journal.
func (s *Script) dumpOf(a *aggregate) (records []runtime.Record, overwritten uint64) {
	if s.opts.Replay == nil {
		return a.handle.Dump()
	}
	list, overwritten := s.opts.Replay.Dump(a.object.Name)
	for _, r := range list {
		if p := s.probeOf(r.Probe, r.Nth); p != nil {
			rec := *r.Record
			rec.Probe = p.ID
			records = append(records, rec)
		}
	}
	return records, overwritten
}

// journalDump notes what a recorder held; records of probes that are not the script's are left out.
func (s *Script) journalDump(a *aggregate, records []runtime.Record, overwritten uint64) {
	if s.opts.Journal == nil {
		return
	}
	var list []Played
	for i := range records {
		if p := s.byID[records[i].Probe]; p != nil {
			list = append(list, s.played(p, &records[i]))
		}
	}
	s.opts.Journal.Dump(a.object.Name, list, overwritten)
}

// journalTimer notes that a timer is due, after what programs have counted until then.
func (s *Script) journalTimer(t *timer) {
	if s.opts.Journal != nil {
		s.opts.Journal.Values(s.programValues())
		s.opts.Journal.Timer(t.nth)
	}
}

func (s *Script) journalEnd() {
	if s.opts.Journal != nil {
		s.opts.Journal.Values(s.programValues())
		s.opts.Journal.End()
	}
}

// programObjects are the objects that a program of the script uses.
func (s *Script) programObjects() map[int]bool {
	used := map[int]bool{}
	for _, p := range s.probes {
		r, _ := p.Compile(nil)
		for _, prg := range r.Programs {
			for _, id := range prg.Objects {
				used[id] = true
			}
		}
	}
	return used
}

// programValues are the values of the objects that programs use.
func (s *Script) programValues() (list []runtime.Snapshot) {
	used := s.programObjects()
	for _, o := range s.sharedList() {
		if used[o.id] && hasValues(o.object) {
			list = append(list, s.arena.Handle(o.id).Entries())
		}
	}
	return list
}

func (s *Script) sharedList() []sharedObject {
	s.sharedMu.Lock()
	defer s.sharedMu.Unlock()
	return append([]sharedObject(nil), s.shared...)
}

// The rest of this file is for whoever plays a journal to a script. Start is not called then: what is played is done on the
// caller's goroutine, between Begin and End.

// PlayRecord delivers a record; false: the script has no such probe.
func (s *Script) PlayRecord(r Played) bool {
	p := s.probeOf(r.Probe, r.Nth)
	if p == nil {
		return false
	}
	rec := *r.Record
	rec.Probe = p.ID
	s.Deliver(rec)
	return true
}

// PlayEvent calls the listeners to an event.
func (s *Script) PlayEvent(e Event) {
	if s.listeners[e.Kind] != nil && !s.Stopped() {
		s.deliverEvent(e, s.capture(e))
	}
}

// PlayTimer calls the nth timer; one that the script does not have, or has stopped, is none.
func (s *Script) PlayTimer(nth int) {
	if s.Stopped() {
		return
	}
	if i := slices.IndexFunc(s.timers, func(t *timer) bool { return t.nth == nth }); i >= 0 && !s.timers[i].off {
		s.runTimer(s.timers[i])
	}
}

// PlayValues gives objects the values that programs had given them. Objects that no program of the script uses are left
// alone: callbacks make their values.
func (s *Script) PlayValues(list []runtime.Snapshot) {
	used, done := s.programObjects(), map[int]bool{}
	shared := s.sharedList()
	for _, snap := range list {
		for _, o := range shared {
			if done[o.id] || o.object.Name != snap.Object.Name || o.object.Kind != snap.Object.Kind {
				continue
			}
			done[o.id] = true
			if used[o.id] {
				s.arena.Handle(o.id).Restore(snap) // what has another shape by now stays empty
			}
			break
		}
	}
}
