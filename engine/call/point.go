package call

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
}

// Point is who shares a breakpoint: probes, functions that are entered or left there, calls that return there. Back ends embed it in their own points.
type Point struct {
	At      Breakpoint            // the point that this one is embedded in
	Enters  []*registry.Placement // in the order in which they run
	Fn      *Function             // that is entered here, when its calls are watched
	Exits   []*Function           // that are left by the instruction here
	Returns int                   // calls watched that return to here
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

// Join puts a placement among those that are entered here. there is true when its probe has one already that means the same.
func (p *Point) Join(pl *registry.Placement) (there bool, err error) {
	if slices.ContainsFunc(p.Enters, pl.SameEntry) {
		return true, nil
	}
	enters, err := registry.Join(p.Enters, pl)
	if err == nil {
		p.Enters = enters
	}
	return false, err
}

// Without takes a probe's placements off the point. Its calls are watched on until Unwatch has had their number, leaves.
func (p *Point) Without(pr *registry.Probe) (leaves int) {
	p.Enters, leaves = pr.Without(p.Enters)
	return leaves
}

// SyncAll syncs the point and the exits of its function, after a probe here was enabled or disabled. Errors of exits are the later ones.
func (p *Point) SyncAll() (entry, exits error) {
	entry = p.At.Sync()
	if p.Fn != nil {
		exits = p.Fn.syncExits()
	}
	return entry, exits
}

// How tells how the returns of the function that is entered here are watched, as a continuation of the point's strategy; "" where they are not.
func (p *Point) How() string {
	switch {
	case p.Fn == nil:
		return ""
	case p.Fn.byReturn:
		return ", returns by return address"
	}
	return ", returns by return sites"
}
