package retprobe

import (
	"slices"

	"gotap/engine/registry"
)

// Breakpoint is what a back end has at the address of a point.
type Breakpoint interface {
	// Address is where it is, in its address space.
	Address() uint64
	// Sync plants it when somebody wants it and takes it away when nobody does. The back end asks Point.Wanted.
	Sync() error
	// Recount adjusts the count of points for a change of Point.Counted.
	Recount(by int)
	// Strategy names how the displaced instruction is completed.
	Strategy() string
}

// Point is who shares a breakpoint: probes, functions that are entered or left there, calls that return there. Back ends embed it
// in their own points.
type Point struct {
	At      Breakpoint            // the point that this one is embedded in
	Enters  []*registry.Placement // in the order in which they run
	Fn      *Function             // that is entered here, when its calls are watched
	Exits   []*Function           // that are left by the instruction here
	Returns int                   // calls watched that return to here

	Routines int // of these, calls of goroutines, which may return on another thread
}

// Wanted reports whether a probe, or a call that is watched, needs the breakpoint.
func (p *Point) Wanted() bool {
	if p.Returns > 0 {
		return true
	}
	for _, f := range p.Exits {
		if f.armed() {
			return true
		}
	}
	for _, pl := range p.Enters {
		if pl.Probe.Armed() {
			return true
		}
	}
	return false
}

// Used reports whether the point is an entry or an exit of somebody's, armed or not.
func (p *Point) Used() bool { return len(p.Enters)+len(p.Exits) > 0 }

// Counted is 1 for a point that counts against the limit: those that probes asked for.
func (p *Point) Counted() int { return min(len(p.Enters), 1) }

// Attach puts a placement among those that are entered here, and has the calls watched of the function, whose code is given, if it
// has a leave handler. A placement whose probe has one here already that means the same changes nothing.
func (p *Point) Attach(pl *registry.Placement, code Body) error {
	if slices.ContainsFunc(p.Enters, pl.SameEntry) {
		return p.At.Sync()
	}
	enters, err := registry.Join(p.Enters, pl)
	if err != nil {
		return err
	}
	p.setEnters(enters)
	if err := p.At.Sync(); err != nil {
		return err
	}
	if pl.Code.Leave != nil {
		p.watch(code)
	}
	return nil
}

// Detach takes a probe off the point.
func (p *Point) Detach(pr *registry.Probe) {
	if !pr.Has(p.Enters) {
		return
	}
	enters, leaves := pr.Without(p.Enters)
	p.setEnters(enters)
	p.unwatch(leaves)
	p.At.Sync()
}

func (p *Point) setEnters(enters []*registry.Placement) {
	before := p.Counted()
	p.Enters = enters
	p.At.Recount(p.Counted() - before)
}

// SyncAll syncs the point and the exits of its function, after a probe here was enabled or disabled. Errors of exits are the later ones.
func (p *Point) SyncAll() (entry, exits error) {
	entry = p.At.Sync()
	if p.Fn != nil {
		exits = p.Fn.syncExits()
	}
	return entry, exits
}

// How names how the displaced instruction is completed, and how the returns of the function that is entered here are watched, if they are.
func (p *Point) How() string {
	how := p.At.Strategy()
	switch {
	case p.Fn == nil:
		return how
	case p.Fn.byReturn:
		return how + ", returns by return address"
	}
	return how + ", returns by return sites"
}
