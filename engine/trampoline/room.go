package trampoline

import (
	"errors"

	"gotap/engine/image/module"
	"gotap/engine/inline"
	"gotap/engine/space"
)

// The room of a jump: the instructions that it replaces, and the springboard that a short one leads to.

// roomOf finds the instructions that a jump at a point replaces: as few as a short jump does, if another probe is
// among the others. A short jump that is in the code, or is to be, stays one. It changes nothing: a point may be examined
// while it has a jump.
func (c *Executor) roomOf(p *space.Point) (space.Room, error) {
	if p.Jump.Pads != nil && (p.Jump.In || p.Jump.Waits) {
		if r, err := c.freeRoom(p, inline.ShortSiteOf); err == nil {
			return r, nil
		}
	}
	r, err := c.freeRoom(p, inline.SiteOf)
	if errors.Is(err, errOccupied) && r.Pads == nil {
		if short, err := c.freeRoom(p, inline.ShortSiteOf); err == nil {
			return short, nil
		}
	}
	return r, err
}

// freeRoom finds those instructions, and returns why a jump cannot be there.
func (c *Executor) freeRoom(p *space.Point, find findSite) (space.Room, error) {
	r, err := c.windowAt(p, find)
	if err != nil {
		return r, err
	}
	return r, occupied(p, &r)
}

// occupied returns why a jump of a point cannot be in a room: another point is among the instructions that it replaces,
// or another jump.
func occupied(p *space.Point, r *space.Room) error {
	start, end := r.Window.Addr, r.End(p.Addr)
	if taken(p, start, end) || overSpringboard(p.Space, start, end) || r.Pads != nil && springboardFor(p, r) == 0 {
		return errOccupied
	}
	return nil
}

// taken reports whether a point has other ones between two addresses, or a jump of another.
func taken(p *space.Point, start, end uint64) bool {
	for addr := start; addr < end; addr++ {
		if q := p.Space.ByAddr[addr]; q != nil && q != p && (q.Planted || q.Queued) {
			return true
		}
	}
	for addr := start - farthest; addr != end; addr++ {
		if q := p.Space.Starts[addr]; q != nil && q != p && q.Jump.Window.Addr < end && q.JumpEnd() > start && (q.Jump.In || q.Jump.Waits) {
			return true
		}
	}
	return false
}

// findSite is inline.SiteOf, or a function like it.
type findSite func(f *module.File, vaddr uint64, around bool) (inline.Site, error)

// windowAt finds the instructions that a jump at a point replaces. It does not ask whether another point is among them.
func (c *Executor) windowAt(p *space.Point, find findSite) (r space.Room, err error) {
	m := module.Find(p.Space.Modules, p.Addr)
	if m == nil || m.File == nil {
		return r, errNoFile
	}
	site, err := siteIn(p.Space, m, p.Addr, len(p.Exits) > 0 && len(p.Enters) == 0, find)
	if err != nil {
		return r, err
	}
	if site.Window.Pushes && c.on.ShadowStacks() {
		return r, errCallChecked
	}
	if err := site.Records(); err != nil && keepsRecords(p) {
		return r, err
	}
	r = space.Room{Window: site.Window, Before: site.Before, InGo: site.Go}
	if site.Springboards != nil {
		if r.Pads = padsIn(p.Space, m, &site); r.Pads == nil {
			return r, errDiffers
		}
	}
	return r, nil
}
