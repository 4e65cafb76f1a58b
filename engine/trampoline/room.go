package trampoline

import (
	"errors"

	"gotap/engine/image/module"
	"gotap/engine/inline"
	"gotap/engine/space"
)

// The room of a jump: the instructions that it replaces, and the springboard that a short one leads to.

// findRoom finds the instructions that a jump at a point replaces: as few as a short jump does, if another probe is
// among the others. A short jump that is in the code, or is to be, stays one: a point may be examined meanwhile.
func (c *Executor) findRoom(p *space.Point) error {
	if p.Jump.Pads != nil && (p.Jump.In || p.Jump.Waits) && c.fitsRoom(p, inline.ShortSiteOf) == nil {
		return nil
	}
	err := c.fitsRoom(p, inline.SiteOf)
	if errors.Is(err, errOccupied) && p.Jump.Pads == nil && c.fitsRoom(p, inline.ShortSiteOf) == nil {
		return nil
	}
	return err
}

// fitsRoom finds those instructions, and returns why a jump cannot be there.
func (c *Executor) fitsRoom(p *space.Point, find findSite) error {
	if err := c.findWindow(p, find); err != nil {
		return err
	}
	return occupied(p)
}

// occupied returns why the jump of a point cannot be where it would be: another point is among the instructions that it
// replaces, or another jump.
func occupied(p *space.Point) error {
	start, end := p.Jump.Window.Addr, p.JumpEnd()
	if taken(p, start, end) || overSpringboard(p.Space, start, end) || p.Jump.Pads != nil && springboardFor(p) == 0 {
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

// findWindow finds the instructions that a jump at a point replaces.
func (c *Executor) findWindow(p *space.Point, find findSite) error {
	m := module.Find(p.Space.Modules, p.Addr)
	if m == nil || m.File == nil {
		return errNoFile
	}
	site, err := siteIn(p.Space, m, p.Addr, len(p.Exits) > 0 && len(p.Enters) == 0, find)
	if err != nil {
		return err
	}
	if site.Window.Pushes && c.on.ShadowStacks() {
		return errCallChecked
	}
	if err := site.Records(); err != nil && keepsRecords(p) {
		return err
	}
	p.Jump.Window, p.Jump.Before, p.Jump.InGo, p.Jump.Pads = site.Window, site.Before, site.Go, nil
	if site.Springboards != nil {
		if p.Jump.Pads = padsIn(p.Space, m, &site); p.Jump.Pads == nil {
			return errDiffers
		}
	}
	return nil
}
