package retprobe

import "gotap/engine/registry"

// Calls that another executor follows, and hands over.

// Entry returns the point at which the function is entered.
func (f *Function) Entry() *Point { return f.entry }

// ByReturn reports whether calls are watched by their return addresses.
func (f *Function) ByReturn() bool { return f.byReturn }

// Tail reports whether the function is left at a point by a jump to another function.
func (f *Function) Tail(p *Point) bool { return f.isTail(p) }

// Leaves returns the placements at the point that have a leave handler.
func (p *Point) Leaves() (list []*registry.Placement) {
	for _, pl := range p.Enters {
		if pl.Code.Leave != nil {
			list = append(list, pl)
		}
	}
	return list
}

// Begun is a call in progress that another executor has recorded.
type Begun struct {
	SP   uint64 // the stack pointer at its entry
	Time uint64 // when it began, in nanoseconds
	This uint64 // its storage, which is of the size that the placement's probe has; 0: none
}

// TakeOver adds a call in progress of the function that is entered at p to those that the thread follows. Calls on one
// stack lie in the order of their entries.
func (t *Thread) TakeOver(p *Point, pl *registry.Placement, c Begun) {
	at := len(t.list.frames)
	for at > 0 && t.list.frames[at-1].sp < c.SP && c.SP-t.list.frames[at-1].sp < nearBy {
		at--
	}
	t.list.insert(at, frame{pl: pl, fn: p.Fn, sp: c.SP, time: c.Time, this: c.This})
}

// Lowest returns the lowest stack pointer at the entry of a call that the thread follows; if there are none, the
// greatest number.
func (t *Thread) Lowest() uint64 { return t.list.lowest() }

// Leave ends the calls of the functions that exit at p, with the thread's present stack pointer.
func (t *Thread) Leave(p *Point) { t.leaveAt(p) }
