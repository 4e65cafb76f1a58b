package retprobe

import (
	"slices"

	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
)

// Target is what a back end provides about the thread that was hit.
type Target interface {
	// ISA returns the instruction set of its process.
	ISA() *isa.ISA
	// SP returns its stack pointer.
	SP() uint64
	// ExitSP returns the stack pointer at entry of the function that the instruction at the hit point leaves.
	ExitSP() uint64
	// ResultAddress returns the address at which the caller of the entered function wants a result that is returned
	// in memory, if there is such a result; 0 where the function returns that address.
	ResultAddress() uint64
	// Goroutine returns the goroutine that runs on the thread and the end of its stack, or zeros if they cannot be
	// read. The thread is at the entry, behind the stack check, or at an exit of a function that Go compiled. If
	// the stack has moved, Goroutine has called Thread.Moved.
	Goroutine() (g, hi uint64)
	// ReturnPoint returns the point at the return address of the function that is entered, or left by a jump, and
	// creates it if necessary; nil if there can be none.
	ReturnPoint() *Point
	// Elsewhere searches other threads of the address space for a call that goroutine g leaves at p, with Thread.Has;
	// nil if none has it.
	Elsewhere(p *Point, sp, g uint64) *Thread
}

// Thread follows the calls of one thread, which may be a processor of a machine.
type Thread struct {
	target Target
	hit    *hit.Hit
	list   *List
	own    List
	behind bool // the running leave handlers belong to a call that has returned
}

// Init initializes the calls of a thread, with its hits. Its calls are recorded in a list of its own, unless shared
// is a list that it shares with others.
func (t *Thread) Init(target Target, h *hit.Hit, shared *List) {
	t.target, t.hit, t.list = target, h, shared
	if shared == nil {
		t.list = &t.own
	}
}

// Hit runs all programs of a point that come before its instruction.
func (t *Thread) Hit(p *Point) {
	for _, pl := range p.Enters {
		if pl.Probe.Enabled {
			t.hit.Enter(pl, pl.Code.Leave != nil && p.Fn != nil)
		}
	}
	if len(p.Exits) > 0 {
		t.leaveAt(p)
	}
	t.Returned(p)
}

// Push records the call that begins at p. ok is false if the probe has no room for more calls of this thread.
func (t *Thread) Push(p *Point, pl *registry.Placement) (this uint64, ok bool) {
	sp := t.target.SP()
	var g, hi uint64
	if p.Fn.Goroutine {
		g, hi = t.target.Goroutine()
	}
	t.dropDead(p.Fn, pl, sp, g)
	if limit := pl.Probe.MaxActive(); len(t.list.frames) >= limit && t.active(pl.Probe, sp) >= limit {
		pl.Probe.MissDeep()
		return 0, false
	}
	if pl.Probe.Spec.ThisBytes > 0 {
		if this = t.hit.Alloc(pl); this == 0 {
			return 0, false
		}
	}
	f := frame{pl: pl, fn: p.Fn, sp: sp, g: g, hi: hi, to: t.target.ResultAddress(), time: ptrace.Now(), this: this}
	f.last = !pl.Probe.Enabled
	if p.Fn.byReturn || f.last {
		if f.ret = t.awaitReturn(g); f.ret == nil {
			t.hit.Free(pl, this)
			return 0, false
		}
	}
	t.list.insert(len(t.list.frames), f)
	return this, true
}

// Await makes the thread call then when it returns from the function that it is entering. If there is no return to
// wait for, then is not called.
func (t *Thread) Await(then func(Target)) {
	f := frame{sp: t.target.SP(), then: then}
	if f.ret = t.awaitReturn(0); f.ret != nil {
		t.list.insert(len(t.list.frames), f)
	}
}

// awaitReturn places a breakpoint on the return address; the thread is at the entry of a function or at its jump to
// another one. g is the goroutine that makes the call, or 0 if it is not a Go call.
func (t *Thread) awaitReturn(g uint64) *Point {
	p := t.target.ReturnPoint()
	if p == nil {
		return nil
	}
	p.Returns++
	if p.At.Sync() != nil {
		p.Returns--
		return nil
	}
	if g != 0 {
		p.Routines++
	}
	return p
}

// dropDead drops frames that a new call at sp proves to be dead: those with the same stack pointer, unless they may have
// jumped here (continuesAs) or belong to this very entry, and frames that were entered after them. If stacks can be
// distinguished, frames below sp are dead as well; otherwise they may belong to a coroutine whose stack is near, and
// are marked as passed.
func (t *Thread) dropDead(fn *Function, pl *registry.Placement, sp, g uint64) {
	l := t.list
	l.passed = l.passed && len(l.frames) > 0
	for i := len(l.frames) - 1; i >= 0; i-- {
		f := &l.frames[i]
		switch {
		case f.g != g: // a different stack, however near
		case f.sp > sp && l.Stacks == 0:
			if !l.passed {
				return
			}
		case f.sp == sp:
			if f.passed || f.fn == fn && !f.pl.Before(pl) || f.fn != fn && !t.continuesAs(f) {
				t.dropFrom(i)
			}
		case l.Stacks != 0 && l.below(f.sp, sp, 0):
			t.drop(i)
		case l.below(f.sp, sp, nearBy):
			f.passed, l.passed = true, true
		}
	}
}

// continuesAs reports whether a call of another function, with the same stack pointer, may be continued by the function
// that the thread enters: it waits where that will return.
func (t *Thread) continuesAs(f *frame) bool {
	if !f.waits() {
		return false
	}
	p := t.target.ReturnPoint()
	return p == nil || p == f.ret
}

// active counts the calls of a probe that are in progress, after dropping those that cannot be.
func (t *Thread) active(pr *registry.Probe, sp uint64) (n int) {
	if l := t.list.frames; l[len(l)-1].g == 0 { // goroutines' stacks lie close together
		for i := len(l) - 1; i >= 0; i-- {
			if t.list.below(t.list.frames[i].sp, sp, farBelow) {
				t.drop(i)
			}
		}
	}
	for i := range t.list.frames {
		if f := &t.list.frames[i]; f.pl != nil && f.pl.Probe == pr {
			n++
		}
	}
	return n
}

// dropFrom drops frame i and all frames entered after it on the same stack. If that is not certain, frames whose
// exits are watched stay: they may be on another stack that lies below, such as a separate stack for signal
// handlers, and dead ones do no harm. A dead frame that waits at its return address would do harm when another call
// returns there.
func (t *Thread) dropFrom(i int) {
	l := t.list
	sp, g := l.frames[i].sp, l.frames[i].g
	for j := len(l.frames) - 1; j >= i; j-- {
		switch f := &l.frames[j]; {
		case f.g != g:
		case f.sp == sp, l.below(f.sp, sp, nearBy) && (l.Stacks != 0 || f.g != 0 || f.waits()):
			t.drop(j)
		case l.below(f.sp, sp, nearBy):
			f.passed, l.passed = true, true
		}
	}
}

// dropInside drops the frames of l entered after frame first that lie below sp: their calls cannot outlive that
// call.
func (t *Thread) dropInside(l *List, first int, sp, g uint64) {
	for i := len(l.frames) - 1; i >= first; i-- {
		if f := &l.frames[i]; f.g == g && l.below(f.sp, sp, nearBy) {
			t.dropOf(l, i)
		}
	}
}

func (t *Thread) drop(i int) { t.dropOf(t.list, i) }

// dropOf drops a frame of a list, which may be another thread's.
func (t *Thread) dropOf(l *List, i int) {
	f := l.frames[i]
	l.frames = slices.Delete(l.frames, i, i+1)
	t.hit.Free(f.pl, f.this)
	f.end()
}

// leaveAt handles a point that is an exit of functions: it ends the calls whose frames have exactly this stack
// pointer. A frame that is not found in this thread may be in another one: Go moves its goroutines between threads.
func (t *Thread) leaveAt(p *Point) {
	var runs uint64 // the goroutine
	if slices.ContainsFunc(p.Exits, func(f *Function) bool { return f.Goroutine }) {
		runs, _ = t.target.Goroutine()
	}
	sp, l := t.target.ExitSP(), t.list
	first := l.first(p, sp, runs)
	if first < 0 {
		o := t.target.Elsewhere(p, sp, runs)
		if o == nil {
			return
		}
		l = o.list
		if first = l.first(p, sp, runs); first < 0 {
			return
		}
	}
	g := l.frames[first].g
	for i := first; i < len(l.frames); {
		f := &l.frames[i]
		if !f.leaves(p, sp, g) {
			i++
			continue
		}
		if f.fn.isTail(p) {
			if f.ret == nil {
				f.ret = t.awaitReturn(f.g)
			}
			i++
			continue
		}
		t.leave(l, i)
	}
	t.dropInside(l, first, sp, g)
}

// Has reports whether the thread has a call of goroutine g with this stack pointer at entry that the instruction at p
// leaves, or one that returns to p.
func (t *Thread) Has(p *Point, sp, g uint64) bool {
	if t.list.first(p, sp, g) >= 0 {
		return true
	}
	i := t.list.waiting(p, sp, g)
	return i >= 0 && t.list.frames[i].g != 0
}

// popped is the limit on the words that a function removes from the stack when it returns, on IA-32: its arguments,
// including structs.
const popped = 64

// Returned handles a point to which calls return: it ends the frames that wait here, from the stack just left.
func (t *Thread) Returned(p *Point) {
	if p.Returns == 0 {
		return
	}
	l := t.list
	var runs uint64 // the goroutine
	asked := slices.ContainsFunc(l.frames, func(f frame) bool { return f.g != 0 })
	if asked {
		runs, _ = t.target.Goroutine()
	}
	set := t.target.ISA()
	sp, word := t.target.SP()-set.Pushed, uint64(set.WordSize())
	at := l.waiting(p, sp, runs)
	if at < 0 && set.Pops {
		at = l.waitingBelow(p, sp, popped*word)
	}
	if at < 0 {
		if p.Routines == 0 {
			return
		}
		if !asked {
			runs, _ = t.target.Goroutine()
		}
		if l, at = t.awaitedElsewhere(p, sp, runs); at < 0 {
			return
		}
	}
	entry, g := l.frames[at].sp, l.frames[at].g
	for i := at; i < len(l.frames); {
		f := &l.frames[i]
		if f.sp != entry || f.ret != p || !f.isOf(g) {
			i++
			continue
		}
		if then := f.then; then != nil {
			t.dropOf(l, i)
			then(t.target)
			continue
		}
		t.behind = true
		t.leave(l, i)
		t.behind = false
	}
	t.dropInside(l, at, entry, g)
}

// awaitedElsewhere finds, in the lists of other threads, the first frame that waits at p for the return from the
// call with a stack pointer of goroutine g; the index is -1 if there is none. Go moves its goroutines between threads.
func (t *Thread) awaitedElsewhere(p *Point, sp, g uint64) (*List, int) {
	o := t.target.Elsewhere(p, sp, g)
	if o == nil {
		return nil, -1
	}
	return o.list, o.list.waiting(p, sp, g)
}

// Behind reports whether the running leave handler belongs to a call that has returned, so that the thread is at
// its return address. Otherwise it is at an exit of the function.
func (t *Thread) Behind() bool { return t.behind }

// leave runs the leave handler of frame i of a list, in this thread, and drops the frame. Its storage lives until the
// hit is over.
func (t *Thread) leave(l *List, i int) {
	f := l.frames[i]
	l.frames = slices.Delete(l.frames, i, i+1)
	f.end()
	t.hit.Leave(f.pl, hit.Call{This: f.this, Elapsed: ptrace.Now() - f.time, SP: f.sp, Result: f.to, Due: f.last})
}

// Skipped drops the calls that have just begun at p with a stack pointer: the function does not run.
func (t *Thread) Skipped(p *Point, sp uint64) {
	for i := len(t.list.frames) - 1; i >= 0; i-- {
		if f := &t.list.frames[i]; f.sp == sp && p.Fn != nil && f.fn == p.Fn {
			t.drop(i)
		}
	}
}

// Drop drops all calls: the thread or its image no longer exists.
func (t *Thread) Drop() {
	for i := len(t.list.frames) - 1; i >= 0; i-- {
		t.drop(i)
	}
}

// Miss drops the calls of functions whose exits at p are no longer seen.
func (t *Thread) Miss(p *Point) {
	for i := len(t.list.frames) - 1; i >= 0; i-- {
		if f := &t.list.frames[i]; f.pl != nil && f.ret == nil && slices.Contains(p.Exits, f.fn) {
			f.pl.Probe.Miss()
			t.drop(i)
		}
	}
}

// Gone makes frames harmless that wait at a point whose memory no longer exists.
func (t *Thread) Gone(p *Point) {
	for i := range t.list.frames {
		if f := &t.list.frames[i]; f.ret == p {
			f.ret = nil
		}
	}
}

// Moved corrects the frames of a goroutine whose stack has moved to end at hi: the runtime copies the used part to
// the end of the new stack.
func (t *Thread) Moved(g, hi uint64) {
	for i := range t.list.frames {
		if f := &t.list.frames[i]; f.g == g && f.hi != hi {
			f.sp += hi - f.hi
			f.hi, t.list.mixed = hi, true
		}
	}
}

// Refresh does what Moved does, for all goroutines that have calls in this thread's list, if it is not known which
// of them runs. end returns the end of a goroutine's stack.
func (t *Thread) Refresh(end func(g uint64) (hi uint64, ok bool)) {
	for i := range t.list.frames {
		f := &t.list.frames[i]
		if f.g == 0 {
			continue
		}
		if hi, ok := end(f.g); ok {
			f.sp += hi - f.hi
			f.hi, t.list.mixed = hi, true
		}
	}
}

// Keep marks the leaves of all calls in progress for a probe as due; the probe is about to be dropped.
func (t *Thread) Keep(pr *registry.Probe) { t.list.keep(pr) }

// Fork gives the first thread of a forked child the calls that its parent is in: it will return from them too. at
// returns the child's point at an address, or nil if there is none. Storage is not shared: the child's leaves see
// none.
func (t *Thread) Fork(child *Thread, at func(addr uint64) *Point) {
	for _, f := range t.list.frames {
		f.this = 0
		if f.fn != nil {
			q := at(f.fn.entry.At.Address())
			if q == nil || q.Fn == nil {
				continue
			}
			f.fn = q.Fn
		}
		if f.ret != nil {
			q := at(f.ret.At.Address())
			if q == nil {
				continue
			}
			q.Returns++
			if f.g != 0 {
				q.Routines++
			}
			f.ret = q
			q.At.Sync()
		}
		if f.kept {
			f.fn.due++
		}
		child.list.insert(len(child.list.frames), f)
	}
}
