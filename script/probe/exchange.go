package probe

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"gotap/compile/js"
)

// Plan compares the probes with those of the running version of a watched script. Probes with the same places, options
// and programs keep their number and stay placed. It is called once, before the host starts.
func (s *Set) Plan(old *Set) (keep, add, remove []*Probe) {
	left := map[string][]*Probe{}
	for _, p := range old.probes {
		fp := p.Fingerprint()
		left[fp] = append(left[fp], p)
	}
	kept := map[*Probe]bool{}
	for _, p := range s.probes {
		fp := p.Fingerprint()
		if same := left[fp]; len(same) > 0 {
			left[fp] = same[1:]
			kept[same[0]] = true
			delete(s.byID, p.ID)
			p.ID = same[0].ID
			keep = append(keep, p)
			continue
		}
		add = append(add, p)
	}
	for _, p := range s.probes {
		s.byID[p.ID] = p
	}
	for _, p := range old.probes {
		if !kept[p] {
			remove = append(remove, p)
		}
	}
	s.inherit(old, add, remove)
	return keep, add, remove
}

// inherit finds the successors of the probes that are removed. A call that is in progress at the exchange ends with the
// old program, whose callback does not exist any more: its events go to the successor. Events for probes of still
// earlier versions follow.
func (s *Set) inherit(old *Set, add, remove []*Probe) {
	s.successors = map[uint32]*Probe{}
	for id, p := range old.successors {
		if successor := s.byID[p.ID]; successor != nil {
			s.successors[id] = successor
		} else if successor := successorOf(p, add); successor != nil {
			s.successors[id] = successor
		}
	}
	for _, p := range remove {
		if successor := successorOf(p, add); successor != nil {
			s.successors[p.ID] = successor
		}
	}
}

// successorOf returns the probe with the same name, or at the same place; nil when there is none.
func successorOf(p *Probe, among []*Probe) *Probe {
	for _, same := range []func(*Probe) bool{
		func(o *Probe) bool { return o.Name == p.Name },
		func(o *Probe) bool { return len(o.Specs) > 0 && len(p.Specs) > 0 && o.Specs[0].Text == p.Specs[0].Text },
	} {
		if i := slices.IndexFunc(among, same); i >= 0 {
			return among[i]
		}
	}
	return nil
}

// Fingerprint is equal for probes that do the same at the same places. Callbacks do not count.
func (p *Probe) Fingerprint() string {
	h := p.set.fold.Printer()
	for _, spec := range p.Specs {
		fmt.Fprintf(h, "%q ", spec.Text)
	}
	for _, spec := range p.Not {
		fmt.Fprintf(h, "!%q ", spec.Text)
	}
	for _, module := range p.From {
		fmt.Fprintf(h, "<%q ", module.Text)
	}
	fmt.Fprintf(h, "%q %d %d %d %d %d %d %d %v %v %v %v %v %v", p.Name, p.After, p.Limit, p.Every, p.Rate, p.MaxActive, p.LogMax, p.Fuel,
		p.LogOnFault, p.Optional, p.NoCopies, p.Disabled, p.unit.Unsafe, p.Order)
	for _, kind := range js.Kinds() {
		if fn := p.unit.Handlers[kind]; fn != nil {
			fmt.Fprintf(h, "\n%v ", kind)
			h.Function(fn)
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(h.String())))
}

// Inherit makes the successors reachable by the numbers of their predecessors, once the probes have been exchanged.
func (s *Set) Inherit() {
	for id, p := range s.successors {
		s.byID[id] = p
	}
}
