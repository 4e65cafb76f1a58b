package recording

import (
	"strings"

	"gotap/script"
)

// Player plays a recording to a script. It implements script.Replay; all of it belongs to one goroutine.
type Player struct {
	rec     *Recording
	printed func() string
	answers map[string][][]byte // in the order given; the last one stays
	passing []string            // questions among them whose answers belong to the present step
	dumps   map[string]int      // dumps taken, by recorder
	missing map[string]int
}

var _ script.Replay = (*Player)(nil)

// Player makes a player, which goes into the script's options before the script is loaded; printed returns what the
// script has printed.
func (r *Recording) Player(printed func() string) *Player {
	p := &Player{rec: r, printed: printed, answers: map[string][][]byte{}, dumps: map[string]int{}, missing: map[string]int{}}
	p.learn(&r.steps[0])
	return p
}

// learn takes the answers of a step in. Those about objects that programs change are of no use in another step.
func (p *Player) learn(s *step) {
	fresh := map[string]bool{}
	for _, question := range p.passing {
		delete(p.answers, question)
	}
	p.passing = p.passing[:0]
	for _, a := range s.answers {
		if !fresh[a.Question] {
			fresh[a.Question] = true
			p.answers[a.Question] = nil
			if passing(a.Question) {
				p.passing = append(p.passing, a.Question)
			}
		}
		p.answers[a.Question] = append(p.answers[a.Question], a.Answer)
	}
}

func passing(question string) bool { return strings.HasPrefix(question, script.StateQuestion) }

// Answer returns the next answer to a question, or the last once more; about objects that programs change it is given
// once.
func (p *Player) Answer(question string) ([]byte, bool) {
	list := p.answers[question]
	if len(list) == 0 {
		return nil, false
	}
	if len(list) > 1 || passing(question) {
		p.answers[question] = list[1:]
	}
	return list[0], true
}

// Dump returns the content of a recorder at its next dump in the recording; nothing when there is no further dump.
func (p *Player) Dump(recorder string) ([]script.Played, uint64) {
	list, n := p.rec.dumps[recorder], p.dumps[recorder]
	if n >= len(list) {
		return nil, 0
	}
	p.dumps[recorder]++
	return list[n].records, list[n].overwritten
}

// Arg returns an argument that the recorded run was given.
func (p *Player) Arg(name string) (string, bool) {
	value, given := p.rec.Args[name]
	return value, given
}

// Printed returns what the script has printed.
func (p *Player) Printed() string { return p.printed() }

// Play plays everything to a script that was loaded with this player, begin and end included. What stop() ends is ended
// here too.
func (p *Player) Play(s *script.Script) {
	s.SetTracer(nothing{})
	s.Begin()
	for i := range p.rec.steps[1:] {
		step := &p.rec.steps[1+i]
		p.learn(step)
		if s.Stopped() && step.kind != chunkValues && step.kind != chunkFinish {
			continue
		}
		p.step(s, step)
	}
	s.End()
}

// step has the script do again what it did at one step.
func (p *Player) step(s *script.Script, step *step) {
	switch step.kind {
	case chunkRecord:
		if !s.PlayRecord(step.record) {
			p.missing[step.record.Probe]++
		}
	case chunkEvent:
		s.PlayEvent(step.event)
	case chunkTimer:
		s.PlayTimer(step.timer)
	case chunkValues:
		s.PlayValues(step.values)
	}
}

// Missing counts the records of probes that the script does not have any more, by the probe's name.
func (p *Player) Missing() map[string]int { return p.missing }

// nothing is the tracer of a script that nothing runs for. Questions about processes are not asked of it: the recording
// answers them.
type nothing struct{}

func (nothing) Add(*script.Probe) error             { return nil }
func (nothing) Enable(*script.Probe) error          { return nil }
func (nothing) Disable(*script.Probe) error         { return nil }
func (nothing) Remove(*script.Probe) error          { return nil }
func (nothing) Hits(*script.Probe) uint64           { return 0 }
func (nothing) Missed(*script.Probe) uint64         { return 0 }
func (nothing) Places(*script.Probe) uint64         { return 0 }
func (nothing) Release(uint32)                      {}
func (nothing) Stop(int)                            {}
func (nothing) Symbol(int, uint64) script.Symbol    { return script.Symbol{} }
func (nothing) Stack(int, []uint64) []script.Symbol { return nil }
func (nothing) ReadMemory(int, uint64, []byte) int  { return 0 }
