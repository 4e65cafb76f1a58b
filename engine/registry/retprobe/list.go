package retprobe

import (
	"math"
	"slices"

	"gotap/engine/registry"
)

// List holds calls in progress, in the order of their entries: those of a thread, or of all the tasks of a kernel.
type List struct {
	// Stacks is the binary logarithm of the size and alignment of all stacks, if known; 0: unknown.
	Stacks uint

	frames []frame
	passed bool // some frames may be passed: they do not lie one below the other, as calls that all return do
	mixed  bool // a frame may lie above the one before it
}

// frame is one call of a function, for one probe.
type frame struct {
	pl   *registry.Placement // nil: the call is only the back end's
	then func(Target)        // called at the return, for the back end itself
	fn   *Function
	sp   uint64 // updated when the stack of a goroutine moves
	g    uint64 // the goroutine; 0: not a Go call
	hi   uint64 // end of the goroutine's stack, when sp was right
	to   uint64 // the address that its caller passed for a result in memory; 0 if calls do not pass one
	ret  *Point // the point at the return address, which waits for the return; nil if the function's exits are watched
	time uint64
	this uint64
	last bool // the probe disabled itself with this call, or was removed since: the leave is still due
	// passed is set if a later call began above this one, which it cannot have outlived on the same stack.
	passed bool
	kept   bool // it is one of the calls for which the function stays watched
}

// waits reports whether the end of the call is seen at its return address, as for calls that continue in another
// function.
func (f *frame) waits() bool { return f.ret != nil }

// isOf reports whether the frame may be a call of a goroutine; 0 stands for one that is not known. The stack of one that
// has moved may be another's by now.
func (f *frame) isOf(g uint64) bool { return f.g == g || f.g == 0 || g == 0 }

// leaves reports whether the frame is the call that was entered with sp of one of the functions that exit at p, by
// goroutine g.
func (f *frame) leaves(p *Point, sp, g uint64) bool {
	if f.sp != sp || f.pl == nil || !f.isOf(g) {
		return false
	}
	for _, fn := range p.Exits {
		if fn == f.fn {
			return true
		}
	}
	return false
}

// end ends the watches for a call: on its return address if no other call waits there, and on its function if the
// call was kept.
func (f *frame) end() {
	if f.kept {
		f.kept = false
		f.fn.notDue()
	}
	if f.ret == nil {
		return
	}
	if f.g != 0 {
		f.ret.Routines--
	}
	if f.ret.Returns--; f.ret.Returns <= 0 {
		f.ret.Returns = 0
		f.ret.At.Sync()
	}
	f.ret = nil
}

// nearBy is how far below another a frame may lie to count as one of the same stack, if stacks cannot be
// distinguished. Threads' stacks are larger and have a gap between them; coroutines' stacks may be smaller.
const nearBy = 256 << 10

// farBelow is the same distance if room is needed: the largest extent that a thread's stack may well have.
const farBelow = 64 << 20

// below reports whether a stack pointer lies below another one on the same stack, at most reach bytes if stacks
// cannot be distinguished.
func (l *List) below(low, high, reach uint64) bool {
	if l.Stacks != 0 {
		return low < high && low>>l.Stacks == high>>l.Stacks
	}
	return low < high && high-low < reach
}

// first returns the index of the first frame of the call with a stack pointer that is left at p by goroutine g, or -1.
func (l *List) first(p *Point, sp, g uint64) int {
	found := -1
	for i := len(l.frames) - 1; i >= 0; i-- {
		f := &l.frames[i]
		if f.leaves(p, sp, g) {
			found = i
		} else if found >= 0 && f.sp != sp {
			break
		}
	}
	return found
}

// waiting returns the index of the first frame that waits at p for the return from the call with this stack
// pointer of goroutine g, or -1.
func (l *List) waiting(p *Point, sp, g uint64) int {
	for i := range l.frames {
		if f := &l.frames[i]; f.ret == p && f.sp == sp && f.isOf(g) {
			return i
		}
	}
	return -1
}

// waitingBelow returns the index of the first frame that waits at p for the return from the call with the nearest
// stack pointer below this one, at most reach bytes below, or -1.
func (l *List) waitingBelow(p *Point, sp, reach uint64) int {
	found := -1
	for i := range l.frames {
		f := &l.frames[i]
		if f.ret == p && f.sp < sp && sp-f.sp <= reach && (found < 0 || f.sp > l.frames[found].sp) {
			found = i
		}
	}
	return found
}

// insert puts a frame at a position.
func (l *List) insert(at int, f frame) {
	l.mixed = l.mixed && len(l.frames) > 0 || at > 0 && l.frames[at-1].sp < f.sp || at < len(l.frames) && l.frames[at].sp > f.sp
	l.frames = slices.Insert(l.frames, at, f)
}

// lowest returns the lowest stack pointer of all frames, or the greatest number if there are none. As long as each lies
// below the one before it, that is the last one's, however deep the recursion.
func (l *List) lowest() uint64 {
	if n := len(l.frames); n > 0 && !l.mixed {
		return l.frames[n-1].sp
	}
	least := uint64(math.MaxUint64)
	for i := range l.frames {
		least = min(least, l.frames[i].sp)
	}
	return least
}

// keep marks the leaves of a probe's calls as due.
func (l *List) keep(pr *registry.Probe) {
	for i := range l.frames {
		if f := &l.frames[i]; f.pl != nil && f.pl.Probe == pr && !f.last {
			f.last, f.kept = true, true
			f.fn.due++
		}
	}
}
