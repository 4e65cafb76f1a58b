package retprobe

import "gotap/engine/registry"

// List is calls that are under way, in the order of their entries: those of a thread, or of all the tasks of a kernel.
type List struct {
	// Stacks is the binary logarithm of the size that all stacks have and are aligned to, where that is known; 0: it is not.
	Stacks uint

	frames []frame
	passed bool // some of them may be passed: they do not lie one below the other, as calls do that all return
}

// frame is one call of a function, for one probe.
type frame struct {
	pl   *registry.Placement // nil: nobody's but the back end's
	then func(Target)        // what the back end itself waits for
	fn   *Function
	sp   uint64 // follows the stack of a goroutine when that moves
	g    uint64 // the goroutine; 0: no call of Go's
	hi   uint64 // end of the goroutine's stack, when sp was right
	to   uint64 // where its caller wants a result that is returned in memory; 0 where calls do not pass that
	ret  *Point // where a breakpoint waits for the return; nil when the function's exits are watched
	time uint64
	this uint64
	last bool // the probe disabled itself with this call, or is gone by now: the leave is still due
	// passed says that a call has begun above it since, which it cannot have outlived on the same stack.
	passed bool
	kept   bool // it is among the calls for whose sake the function is watched
}

// waits reports whether the call has gone on in another function, or ends at its return address.
func (f *frame) waits() bool { return f.ret != nil }

// leaves reports whether the frame is the call, of one of the functions that are left at p, that was entered with sp.
func (f *frame) leaves(p *Point, sp uint64) bool {
	if f.sp != sp || f.pl == nil {
		return false
	}
	for _, fn := range p.Exits {
		if fn == f.fn {
			return true
		}
	}
	return false
}

// end ends the watches for the sake of a call: on its return address, when it was the last to wait there, and on its function, when
// it was kept.
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

// nearBy is how far below another a frame may lie to be taken for one of the same stack, where stacks cannot be told apart.
// Threads' stacks are larger, and have a gap between them; coroutines' may be smaller.
const nearBy = 256 << 10

// farBelow is the same when room is needed: as far as the stack of a thread may well reach.
const farBelow = 64 << 20

// below reports whether a stack pointer lies below another one on the same stack, reach bytes at most where stacks cannot be told apart.
func (l *List) below(low, high, reach uint64) bool {
	if l.Stacks != 0 {
		return low < high && low>>l.Stacks == high>>l.Stacks
	}
	return low < high && high-low < reach
}

// first finds the first frame of the call with a stack pointer that is being left at p, -1 when there is none.
func (l *List) first(p *Point, sp uint64) int {
	found := -1
	for i := len(l.frames) - 1; i >= 0; i-- {
		f := &l.frames[i]
		if f.leaves(p, sp) {
			found = i
		} else if found >= 0 && f.sp != sp {
			break
		}
	}
	return found
}

// waiting finds the first frame that waits at p for the return from the call with this stack pointer, -1 when there is none.
func (l *List) waiting(p *Point, sp uint64) int {
	for i := range l.frames {
		if f := &l.frames[i]; f.ret == p && f.sp == sp {
			return i
		}
	}
	return -1
}

// waitingBelow finds the first frame that waits at p for the return from the call with the nearest stack pointer below this one, reach bytes at
// most, -1 when there is none.
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

// keep makes the leaves due of a probe's calls.
func (l *List) keep(pr *registry.Probe) {
	for i := range l.frames {
		if f := &l.frames[i]; f.pl != nil && f.pl.Probe == pr && !f.last {
			f.last, f.kept = true, true
			f.fn.due++
		}
	}
}
