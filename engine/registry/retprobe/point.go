package retprobe

import (
	"slices"

	"gotap/engine/registry"
)

// Breakpoint is the back end's breakpoint at the address of a point.
type Breakpoint interface {
	// Address returns its address in its address space.
	Address() uint64
	// Sync plants the breakpoint if it is wanted and removes it if not. The back end calls Point.Wanted.
	Sync() error
	// Recount adjusts the count of points for a change of Point.Counted.
	Recount(by int)
	// Strategy returns the name of the way in which the displaced instruction is completed.
	Strategy() string
}

// Point holds the owners that share a breakpoint: probes, functions that are entered or left there, calls that
// return there. Back ends embed it in their own points.
type Point struct {
	At      Breakpoint            // the point that this one is embedded in
	Enters  []*registry.Placement // in the order in which they run
	Fn      *Function             // the function that is entered here, if its calls are watched
	Exits   []*Function           // the functions that the instruction here leaves
	Returns int                   // the number of watched calls that return here

	Routines int // how many of these are calls of goroutines, which may return on another thread
}

// Wanted reports whether a probe or a watched call needs the breakpoint.
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

// Used reports whether the point is an entry or an exit for any owner, armed or not.
func (p *Point) Used() bool { return len(p.Enters)+len(p.Exits) > 0 }

// Counted returns 1 for a point that counts against the limit: one that probes asked for.
func (p *Point) Counted() int { return min(len(p.Enters), 1) }

// Attach adds a placement to those that are entered here. If it has a leave handler, the calls of the function,
// whose code is given, are watched. A placement whose probe already has an equivalent one here changes nothing.
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

// Detach removes a probe from the point.
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

// SyncAll syncs the point and the exits of its function, after a probe here was enabled or disabled. It returns the
// errors of the exits separately.
func (p *Point) SyncAll() (entry, exits error) {
	entry = p.At.Sync()
	if p.Fn != nil {
		exits = p.Fn.SyncExits()
	}
	return entry, exits
}

// How returns the name of the way in which the displaced instruction is completed, and how the returns of the
// function that is entered here are watched, if they are.
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
