package engine

import (
	"slices"

	"gotap/arch"
	"gotap/engine/module"
	"gotap/engine/ptrace"
)

// Return probes. A call is known by its stack pointer at entry, the address of the return address: no two calls that are
// under way in one address space have the same. It is remembered in a frame of the thread that made it.
//
// Where a function's exits can all be found by decoding it, a breakpoint on each of them tells that a call is about to
// return: its frame is the one whose stack pointer is the present one. Where they cannot, because of an indirect
// jump or bytes that do not decode, and for calls that end in a jump to another function, a breakpoint is put on
// the return address itself while the call lasts: an instruction of the caller, hit right after the return, when the
// stack pointer is just above the frame's. Neither method writes to the target's stack, so unwinders, exceptions,
// longjmp, and Go's moving stacks see what they expect; the classic trampoline, which replaces the return address,
// has none of this and is not used.
//
// Frames that were left otherwise, by longjmp or an exception or the end of a coroutine, stay behind. They are
// dropped when a new call has their stack pointer, when a call below which they lie returns, or when room is needed.

// frame is one call of a function, for one probe.
type frame struct {
	pl   *placement    // nil: nobody's but the engine's
	then func(*thread) // what the engine itself waits for
	fn   *function
	sp   uint64 // follows the stack of a goroutine when that moves
	g    uint64 // the goroutine; 0: no call of Go's
	hi   uint64 // end of the goroutine's stack, when sp was right
	ret  *point // where a breakpoint waits for the return; nil when the function's exits are watched
	time uint64
	this uint64
	last bool // the probe disabled itself with this call, or is gone by now: the leave is still due
	kept bool // it is among the calls for whose sake the function is watched
}

// function is a function whose calls are watched, in one address space.
type function struct {
	entry    *point
	exits    []*point
	tails    []bool // parallel to exits: a jump to another function
	ofGo     bool   // compiled by Go: it runs on a goroutine, which a register points to
	byReturn bool   // calls are watched by their return addresses
	why      error  // why exits are not watched
	users    int    // placements with a leave handler
	due      int    // calls under way of probes that are gone
}

// armed reports whether anybody wants to know of the function's returns.
func (f *function) armed() bool {
	if f.due > 0 {
		return true
	}
	for _, pl := range f.entry.enters {
		if pl.Code.Leave != nil && pl.Probe.Armed() {
			return true
		}
	}
	return false
}

// copyFunction copies a function for a child's address space, each once. Its points are still the parent's: see moveTo.
func copyFunction(f *function, done map[*function]*function) *function {
	if f == nil {
		return nil
	}
	if g := done[f]; g != nil {
		return g
	}
	g := *f
	g.due = 0 // the frames that are copied count themselves
	done[f] = &g
	return &g
}

// moveTo gives a function the points of the address space that it was copied for. A point that the parent knows no more has no copy:
// as an exit it is nobody's, and as the entry it has nothing that is not in every process.
func (f *function) moveTo(copies map[*point]*point) {
	if p := copies[f.entry]; p != nil {
		f.entry = p
	}
	exits, tails := f.exits, f.tails
	f.exits, f.tails = nil, nil
	for i, e := range exits {
		if p := copies[e]; p != nil {
			f.exits, f.tails = append(f.exits, p), append(f.tails, tails[i])
		}
	}
}

// watchExits makes the point at a function's entry watch its calls.
func (s *Session) watchExits(p *point, pl *placement, mod *module.Loaded) *function {
	if p.fn != nil {
		p.fn.users++
		return p.fn
	}
	f := &function{entry: p, users: 1, ofGo: onGoroutine(pl.Target)}
	p.fn = f
	if f.why = s.findExits(f, pl, mod); f.why != nil {
		f.dropExits(s)
		f.byReturn = true
	}
	return f
}

// findExits puts points on the exits of a function.
func (s *Session) findExits(f *function, pl *placement, mod *module.Loaded) error {
	fn := pl.Target.Func
	if fn == nil || fn.Size == 0 {
		return &arch.RefusedError{Addr: f.entry.addr, Reason: "the size of the function is not known"}
	}
	start := f.entry.addr
	if mod != nil {
		start = mod.Addr(fn.Addr) // the entry's breakpoint may be further in
	}
	code := f.entry.sp.code(start, int(fn.Size))
	exits, err := f.entry.sp.arch.exitsOf(pl.Target, code, start, f.entry.sp.arch.SetAt(mod, start))
	if err != nil {
		return err
	}
	for _, e := range exits {
		p, err := s.pointAt(f.entry.sp, e.Insn.Addr, mod)
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
	f.dropExits(s)
	f.entry.fn = nil
}

func (f *function) dropExits(s *Session) {
	for _, p := range f.exits {
		p.exits = slices.DeleteFunc(p.exits, func(g *function) bool { return g == f })
		s.sync(p)
	}
	f.exits, f.tails = nil, nil
}

// isTail reports whether leaving the function at a point means jumping to another.
func (f *function) isTail(p *point) bool {
	for i, e := range f.exits {
		if e.addr == p.addr {
			return f.tails[i]
		}
	}
	return false
}

// nearBy is how far below another a frame may lie to be taken for one of the same stack.
const nearBy = 256 << 10

// Push implements hit.Target: it remembers the call that begins at the point that was hit. ok is false when the probe has no room for more calls
// of this thread.
func (t *thread) Push(pl *placement) (this uint64, ok bool) {
	p, sp := t.at, t.sp()
	var g, hi uint64
	if p.fn.ofGo {
		g, hi = t.followStack()
	}
	t.dropDead(p, pl, sp, g)
	if limit := pl.Probe.MaxActive(); len(t.frames) >= limit && t.active(pl.Probe, sp) >= limit {
		return 0, false
	}
	if n := pl.Probe.Spec.ThisBytes; n > 0 {
		if this = t.s.cfg.Arena.AllocThis(n); this == 0 {
			return 0, false
		}
	}
	f := frame{pl: pl, fn: p.fn, sp: sp, g: g, hi: hi, time: ptrace.Now(), this: this}
	f.last = !pl.Probe.Enabled
	if p.fn.byReturn || f.last {
		if f.ret = t.awaitReturn(); f.ret == nil {
			t.h.Free(f.pl, f.this)
			return 0, false
		}
	}
	t.frames = append(t.frames, f)
	return this, true
}

// dropDead drops frames that a new call at sp proves to be dead: one with the same stack pointer, unless it has jumped
// here and waits for this call's return, or belongs to this very entry; and all that were entered after it.
func (t *thread) dropDead(p *point, pl *placement, sp, g uint64) {
	for i := len(t.frames) - 1; i >= 0; i-- {
		f := &t.frames[i]
		if f.g != g {
			continue // another stack, however near
		}
		if f.sp > sp {
			return
		}
		if f.sp == sp && !f.waits() && !(f.fn == p.fn && f.pl.Before(pl)) || f.sp == sp && f.fn == p.fn && f.pl == pl {
			t.dropFrom(i)
			return
		}
	}
}

// waits reports whether the call has gone on in another function.
func (f *frame) waits() bool { return f.ret != nil }

// active counts the calls of a probe that are under way, after dropping those that cannot be.
func (t *thread) active(pr *probe, sp uint64) int {
	if len(t.frames) > 0 && t.frames[len(t.frames)-1].g == 0 { // goroutines' stacks lie close together
		t.dropFrames(sp)
	}
	n := 0
	for i := range t.frames {
		if t.frames[i].pl != nil && t.frames[i].pl.Probe == pr {
			n++
		}
	}
	return n
}

// dropFrames drops the frames on the present stack that lie below sp; 0 drops all.
func (t *thread) dropFrames(sp uint64) {
	for i := len(t.frames) - 1; i >= 0; i-- {
		if f := &t.frames[i]; sp == 0 || f.sp < sp && sp-f.sp < 64<<20 {
			t.dropFrame(i)
		}
	}
}

// dropFrom drops frame i and all that were entered after it on the same stack.
func (t *thread) dropFrom(i int) {
	sp, g := t.frames[i].sp, t.frames[i].g
	for j := len(t.frames) - 1; j >= i; j-- {
		if f := &t.frames[j]; f.g == g && f.sp <= sp && sp-f.sp < nearBy {
			t.dropFrame(j)
		}
	}
}

func (t *thread) dropFrame(i int) {
	f := t.frames[i]
	t.frames = slices.Delete(t.frames, i, i+1)
	t.h.Free(f.pl, f.this)
	t.endReturn(&f)
}

// awaitReturn puts a breakpoint on the return address, where the thread is at the entry of a function or at its jump to another one.
func (t *thread) awaitReturn() *point {
	space := t.proc.space
	ret, err := space.arch.ReturnAddress(&t.regs, space.mem)
	if err != nil || ret == 0 {
		return nil
	}
	p, err := t.s.pointTo(space, ret)
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
func (t *thread) endReturn(f *frame) {
	t.s.endDue(f)
	if f.ret == nil {
		return
	}
	if f.ret.returns--; f.ret.returns <= 0 {
		f.ret.returns = 0
		t.s.sync(f.ret)
	}
	f.ret = nil
}

// leaveAt deals with a point that is an exit of functions: it ends the calls whose frames are at this very stack
// pointer. A frame that is not found in this thread may be in another one: Go moves its routines between threads.
func (t *thread) leaveAt(p *point) {
	if slices.ContainsFunc(p.exits, func(f *function) bool { return f.ofGo }) {
		t.followStack()
	}
	sp := t.exitSP()
	owner, first := t, t.matchAt(p, sp, -1)
	if first < 0 {
		if owner, first = t.elsewhere(p, sp); owner == nil {
			return
		}
	}
	g := owner.frames[first].g
	for i := first; i < len(owner.frames); {
		f := &owner.frames[i]
		if f.sp != sp || f.pl == nil || !slices.Contains(p.exits, f.fn) {
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
		t.leave(owner, i)
	}
	owner.dropInside(first, sp, g)
}

// dropInside drops the frames entered after frame first that lie below sp: their calls cannot outlive it.
func (t *thread) dropInside(first int, sp, g uint64) {
	for i := len(t.frames) - 1; i >= first; i-- {
		if f := &t.frames[i]; f.g == g && f.sp < sp && sp-f.sp < nearBy {
			t.dropFrame(i)
		}
	}
}

// matchAt finds the first frame of the call with a stack pointer that is being left at p; found, which is -1, when there is none.
func (t *thread) matchAt(p *point, sp uint64, found int) int {
	for i := len(t.frames) - 1; i >= 0; i-- {
		f := &t.frames[i]
		if f.sp == sp && f.pl != nil && slices.Contains(p.exits, f.fn) {
			found = i
		} else if found >= 0 && f.sp != sp {
			break
		}
	}
	return found
}

// elsewhere looks for the call in other threads of the address space.
func (t *thread) elsewhere(p *point, sp uint64) (*thread, int) {
	for _, o := range t.proc.threads {
		if o == t || len(o.frames) == 0 {
			continue
		}
		if i := o.matchAt(p, sp, -1); i >= 0 {
			return o, i
		}
	}
	return nil, -1
}

// returnedTo deals with a point that calls return to: the frames that wait here, from the stack just left.
func (t *thread) returnedTo(p *point) {
	if slices.ContainsFunc(t.frames, func(f frame) bool { return f.g != 0 }) {
		t.followStack()
	}
	sp := t.sp()
	word, pushed := uint64(t.proc.arch.WordSize()), t.proc.arch.Pushed
	at := t.waiting(p, sp-pushed)
	for popped := word; at < 0 && popped <= 8*word; popped += word { // functions that take their arguments off the stack
		at = t.waiting(p, sp-pushed-popped)
	}
	if at < 0 {
		return
	}
	entry, g := t.frames[at].sp, t.frames[at].g
	for i := at; i < len(t.frames); {
		f := &t.frames[i]
		if f.sp != entry || f.ret != p {
			i++
			continue
		}
		if then := f.then; then != nil {
			t.dropFrame(i)
			then(t)
			continue
		}
		t.leave(t, i)
	}
	t.dropInside(at, entry, g)
}

// waiting finds the first frame that waits at p for the return from the call with this stack pointer.
func (t *thread) waiting(p *point, sp uint64) int {
	for i := range t.frames {
		if f := &t.frames[i]; f.ret == p && f.sp == sp {
			return i
		}
	}
	return -1
}

// leave runs the leave handler of frame i of a thread and drops the frame. Its storage lives until the hit is over.
func (t *thread) leave(owner *thread, i int) {
	f := owner.frames[i]
	owner.frames = slices.Delete(owner.frames, i, i+1)
	owner.endReturn(&f)
	t.h.Leave(f.pl, f.this, ptrace.Now()-f.time, f.last)
}
