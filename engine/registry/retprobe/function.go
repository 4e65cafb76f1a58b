package retprobe

import (
	"errors"
	"slices"

	"gotap/arch"
)

// Function is a function whose calls are watched, in one address space.
type Function struct {
	// Goroutine is set if the function runs on a Go goroutine, which Target.Goroutine identifies.
	Goroutine bool

	entry    *Point
	exits    []*Point
	tails    []bool // parallel to exits: a jump to another function
	byReturn bool   // calls are watched by their return addresses
	users    int    // placements with a leave handler
	due      int    // calls in progress of removed probes
}

// Body is the code of a function whose calls are to be watched.
type Body interface {
	// Goroutine reports whether the function runs on a Go goroutine.
	Goroutine() bool
	// Exits returns the instructions that leave the function. The error says why not all of them can be found.
	Exits() ([]arch.Exit, error)
	// PointAt returns the point at an address of the function, and creates it if necessary.
	PointAt(addr uint64) (*Point, error)
}

// watch makes the point at a function's entry watch its calls, for one more placement.
func (p *Point) watch(code Body) {
	if p.Fn != nil {
		p.Fn.users++
		return
	}
	f := &Function{entry: p, users: 1, Goroutine: code.Goroutine()}
	p.Fn = f
	if f.findExits(code) != nil {
		f.dropExits()
		f.byReturn = true
	}
}

// findExits places points on the exits of a function.
func (f *Function) findExits(code Body) error {
	exits, err := code.Exits()
	if err != nil {
		return err
	}
	for _, e := range exits {
		p, err := code.PointAt(e.Insn.Addr)
		if err != nil {
			return err
		}
		f.exits, f.tails = append(f.exits, p), append(f.tails, e.Tail)
		p.Exits = append(p.Exits, f)
		if err := p.At.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// armed reports whether any owner needs the function's returns.
func (f *Function) armed() bool {
	if f.due > 0 {
		return true
	}
	for _, pl := range f.entry.Enters {
		if pl.Code.Leave != nil && pl.Probe.Armed() {
			return true
		}
	}
	return false
}

// unwatch ends the watch on the calls of the function that is entered here, for a number of placements.
func (p *Point) unwatch(leaves int) {
	for f := p.Fn; leaves > 0 && f != nil; leaves-- {
		if f.users--; f.users <= 0 && f.due <= 0 {
			f.end()
		}
	}
}

// end ends the watch on a function's calls.
func (f *Function) end() {
	f.dropExits()
	f.entry.Fn = nil
}

// LoseExit is called when the breakpoint of a point cannot be planted. The calls of functions that exit there are
// then watched by their return addresses.
func (p *Point) LoseExit() {
	for _, f := range slices.Clone(p.Exits) {
		f.dropExits()
		f.byReturn = true
	}
}

func (f *Function) dropExits() {
	for _, p := range f.exits {
		p.Exits = slices.DeleteFunc(p.Exits, func(g *Function) bool { return g == f })
		p.At.Sync()
	}
	f.exits, f.tails = nil, nil
}

// SyncExits syncs the exits of the function, but for its entry if that is one.
func (f *Function) SyncExits() (all error) {
	for _, e := range f.exits {
		if e != f.entry {
			all = errors.Join(all, e.At.Sync())
		}
	}
	return all
}

// notDue is called when a kept call has ended. The last one ends the watch on a function that has no other users.
func (f *Function) notDue() {
	switch f.due--; {
	case f.due > 0:
	case f.users <= 0:
		f.end()
	default:
		f.SyncExits()
	}
}

// isTail reports whether the function is left at a point by a jump to another function.
func (f *Function) isTail(p *Point) bool {
	addr := p.At.Address()
	for i, e := range f.exits {
		if e.At.Address() == addr {
			return f.tails[i]
		}
	}
	return false
}

// Copies gives the points of a forked child's address space, which is a copy of its parent's, their own functions
// to share.
type Copies struct {
	points    map[*Point]*Point
	functions map[*Function]*Function
}

// Add adds the copy of a point, which still refers to the parent's functions. Nothing in the child waits for a
// return yet.
func (c *Copies) Add(of, copied *Point) {
	if c.points == nil {
		c.points, c.functions = map[*Point]*Point{}, map[*Function]*Function{}
	}
	c.points[of] = copied
	copied.Enters, copied.Returns, copied.Routines = slices.Clone(of.Enters), 0, 0
	copied.Fn, copied.Exits = c.function(of.Fn), nil
	for _, f := range of.Exits {
		copied.Exits = append(copied.Exits, c.function(f))
	}
}

// function copies a function, once.
func (c *Copies) function(f *Function) *Function {
	if f == nil || c.functions[f] != nil {
		return c.functions[f]
	}
	g := *f
	g.due = 0 // copied frames are counted when they are copied
	c.functions[f] = &g
	return &g
}

// Finish replaces the points in the functions by the child's when all points have been added. A point that the
// parent no longer knows has no copy: no function uses it as an exit, and as the entry it has nothing that is not
// in every process.
func (c *Copies) Finish() {
	for _, f := range c.functions {
		if p := c.points[f.entry]; p != nil {
			f.entry = p
		}
		exits, tails := f.exits, f.tails
		f.exits, f.tails = nil, nil
		for i, e := range exits {
			if p := c.points[e]; p != nil {
				f.exits, f.tails = append(f.exits, p), append(f.tails, tails[i])
			}
		}
	}
}
