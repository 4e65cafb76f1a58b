package remote

import (
	"fmt"
	"slices"

	"gotap/arch"
	"gotap/engine/module"
	"gotap/engine/ptrace"
)

// Return probes, as package engine has them: a call is known by its stack pointer at entry. Where all exits of a function can be found by
// decoding it there are breakpoints on them; otherwise, and for calls that end in a jump to another function, on the return address
// while the call lasts. Nothing is written to the target's stack.
//
// In a kernel the stacks belong to tasks, which move between processors: there is one list of calls for all of them, and what is
// concluded from one stack pointer about others goes no further than the same stack.

// frame is one call of a function, for one probe.
type frame struct {
	pl   *placement
	fn   *function
	sp   uint64
	ret  *point // where a breakpoint waits for the return; nil when the function's exits are watched
	time uint64
	this uint64
	last bool // the probe disabled itself with this call, or is gone by now: the leave is still due
	kept bool // it is among the calls for whose sake the function is watched
}

// calls are the calls under way, in the order of their entries.
type calls struct{ frames []frame }

// function is a function whose calls are watched.
type function struct {
	entry    *point
	exits    []*point
	tails    []bool // parallel to exits: a jump to another function
	byReturn bool
	users    int // placements with a leave handler
	due      int // calls under way of probes that are gone
}

// armed reports whether anybody wants to know of the function's returns.
func (f *function) armed() bool {
	return f.due > 0 || slices.ContainsFunc(f.entry.enters, func(pl *placement) bool { return pl.Code.Leave != nil && pl.Probe.Armed() })
}

// watchExits makes the point at a function's entry watch its calls.
func (s *Session) watchExits(p *point, pl *placement, mod *module.Loaded) {
	if p.fn != nil {
		p.fn.users++
		return
	}
	f := &function{entry: p, users: 1}
	p.fn = f
	if s.findExits(f, pl, mod) != nil {
		s.dropExits(f)
		f.byReturn = true
	}
}

// findExits puts points on the exits of a function.
func (s *Session) findExits(f *function, pl *placement, mod *module.Loaded) error {
	fn := pl.Target.Func
	if fn == nil || fn.Size == 0 || fn.Size > maxFunc {
		return fmt.Errorf("cannot find the exits of %s: its size is not known", pl.Target.Name)
	}
	set := s.isa.SetAt(mod, f.entry.addr)
	exits, err := s.isa.Exits(s.mem.code(f.entry.addr, int(fn.Size)), f.entry.addr, set)
	if err != nil {
		return err
	}
	for _, e := range exits {
		p, err := s.pointAt(e.Insn.Addr, set)
		if err != nil {
			return err
		}
		f.exits, f.tails = append(f.exits, p), append(f.tails, e.Tail)
		p.exits = append(p.exits, f)
		if err := s.sync(p); err != nil {
			return err
		}
	}
	return nil
}

// unwatch ends the watch on a function's calls for one placement.
func (s *Session) unwatch(f *function) {
	if f.users--; f.users > 0 || f.due > 0 {
		return
	}
	s.dropExits(f)
	f.entry.fn = nil
}

func (s *Session) dropExits(f *function) {
	for _, p := range f.exits {
		p.exits = slices.DeleteFunc(p.exits, func(g *function) bool { return g == f })
		s.sync(p)
	}
	f.exits, f.tails = nil, nil
}

// isTail reports whether leaving the function at a point means jumping to another.
func (f *function) isTail(p *point) bool {
	i := slices.Index(f.exits, p)
	return i >= 0 && f.tails[i]
}

// near is how far apart two frames of one stack may lie. Threads' stacks are larger, and have a gap between them.
const near = 256 << 10

// sameStack reports whether a stack pointer below another belongs to the same stack.
func (t *thread) sameStack(below, above uint64) bool {
	if t.s.kernel {
		return below>>t.s.isa.stack == above>>t.s.isa.stack
	}
	return above-below < near
}

// Push implements hit.Target: it remembers the call that begins at the point that was hit.
func (t *thread) Push(pl *placement) (this uint64, ok bool) {
	p, sp := t.at, t.sp()
	t.dropDead(p, pl, sp)
	if t.active(pl.Probe) >= pl.Probe.MaxActive() {
		return 0, false
	}
	n := pl.Probe.Spec.ThisBytes
	if n > 0 {
		if this = t.s.cfg.Arena.AllocThis(n); this == 0 {
			return 0, false
		}
	}
	f := frame{pl: pl, fn: p.fn, sp: sp, time: ptrace.Now(), this: this, last: !pl.Probe.Enabled}
	if p.fn.byReturn || f.last {
		if f.ret = t.awaitReturn(); f.ret == nil {
			t.h.Free(f.pl, f.this)
			return 0, false
		}
	}
	t.calls.frames = append(t.calls.frames, f)
	return this, true
}

// dropDead drops frames that a new call at sp proves to be dead: one with the same stack pointer, unless it has jumped here and waits for
// this call's return, or belongs to this very entry; and those that lie below.
func (t *thread) dropDead(p *point, pl *placement, sp uint64) {
	for i := len(t.calls.frames) - 1; i >= 0; i-- {
		f := &t.calls.frames[i]
		below := f.sp < sp && t.sameStack(f.sp, sp)
		own := f.fn == p.fn && f.pl.Before(pl)
		if below || f.sp == sp && (f.ret == nil && !own || f.fn == p.fn && f.pl == pl) {
			t.dropFrame(i)
		}
	}
}

// active counts the calls of a probe that are under way.
func (t *thread) active(pr *probe) (n int) {
	for i := range t.calls.frames {
		if t.calls.frames[i].pl.Probe == pr {
			n++
		}
	}
	return n
}

// dropEntered drops the calls that have just been entered with a stack pointer.
func (t *thread) dropEntered(sp uint64) {
	for i := len(t.calls.frames) - 1; i >= 0; i-- {
		if t.calls.frames[i].sp == sp {
			t.dropFrame(i)
		}
	}
}

// dropCalls drops all calls of the thread.
func (t *thread) dropCalls() {
	for i := len(t.calls.frames) - 1; i >= 0; i-- {
		t.dropFrame(i)
	}
}

func (t *thread) dropFrame(i int) {
	f := t.calls.frames[i]
	t.calls.frames = slices.Delete(t.calls.frames, i, i+1)
	t.h.Free(f.pl, f.this)
	t.s.endReturn(&f)
}

// awaitReturn puts a breakpoint on the return address of the function that is entered, or left by a jump.
func (t *thread) awaitReturn() *point {
	ret, err := t.s.isa.ReturnAddress(&t.regs, &t.s.mem)
	if err != nil || ret == 0 {
		return nil
	}
	addr, set := t.s.isa.Pointer(ret)
	p, err := t.s.pointAt(addr, set)
	if err != nil {
		return nil
	}
	p.returns++
	if t.s.sync(p) != nil {
		p.returns--
		return nil
	}
	return p
}

// endReturn takes the breakpoint of a frame away from its return address, when it was the last to wait there.
func (s *Session) endReturn(f *frame) {
	s.endDue(f)
	if f.ret == nil {
		return
	}
	if f.ret.returns--; f.ret.returns <= 0 {
		f.ret.returns = 0
		s.sync(f.ret)
	}
	f.ret = nil
}

// leaving is the registers as the instruction at a function's exit makes them.
func (t *thread) leaving() arch.Regs {
	regs := t.regs
	t.s.isa.Leave(&regs, t.at.site, &t.s.mem) // what cannot be followed leaves the stack pointer as it is
	return regs
}

// leaveAt deals with a point that is an exit of functions: it ends the calls whose frames are at the stack pointer that the function
// was entered with.
func (t *thread) leaveAt(p *point) {
	regs := t.leaving()
	sp := regs[t.s.isa.SP()]
	for _, c := range t.everyCalls() {
		for i := 0; i < len(c.frames); {
			f := &c.frames[i]
			if f.sp != sp || !slices.Contains(p.exits, f.fn) {
				i++
				continue
			}
			if f.fn.isTail(p) {
				if f.ret == nil {
					f.ret = t.awaitReturn()
				}
				i++
				continue
			}
			t.leave(c, i)
		}
	}
	t.dropInside(sp)
}

// everyCalls lists where a call may be remembered, that of this thread first: another thread may have entered it.
func (t *thread) everyCalls() []*calls {
	all := []*calls{t.calls}
	for _, o := range t.s.threads {
		if o.calls != t.calls {
			all = append(all, o.calls)
		}
	}
	return all
}

// dropInside drops the calls on this stack that lie below sp, as they cannot outlive the one at sp.
func (t *thread) dropInside(sp uint64) {
	for i := len(t.calls.frames) - 1; i >= 0; i-- {
		if f := &t.calls.frames[i]; f.sp < sp && t.sameStack(f.sp, sp) {
			t.dropFrame(i)
		}
	}
}

// returnedTo deals with a point that calls return to: the frames that wait here, from the stack just left.
func (t *thread) returnedTo(p *point) {
	sp := t.sp() - t.s.isa.Pushed
	const arguments = 8 // words that a function may take off the stack when it returns, on IA-32
	for popped := 0; popped <= arguments; popped++ {
		at := sp - uint64(popped*t.s.isa.WordSize())
		if t.returned(p, at) || !t.s.isa.Pops {
			break
		}
	}
}

// returned ends the calls that wait at p and had this stack pointer.
func (t *thread) returned(p *point, sp uint64) (found bool) {
	for i := 0; i < len(t.calls.frames); {
		if f := &t.calls.frames[i]; f.sp != sp || f.ret != p {
			i++
			continue
		}
		found = true
		t.leave(t.calls, i)
	}
	if found {
		t.dropInside(sp)
	}
	return found
}

// leave runs the leave handler of a frame and drops it. Its storage lives until the hit is over.
func (t *thread) leave(c *calls, i int) {
	f := c.frames[i]
	c.frames = slices.Delete(c.frames, i, i+1)
	t.s.endReturn(&f)
	t.h.Leave(f.pl, f.this, ptrace.Now()-f.time, f.last)
}
