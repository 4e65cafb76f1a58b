package trampoline

import (
	"errors"
	"slices"
	"time"

	"gotap/arch"
	"gotap/engine/image/module"
	"gotap/engine/inline"
	"gotap/engine/linux/hostcpu"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
	"gotap/engine/registry/retprobe"
	"gotap/engine/space"
	"gotap/runtime"
	"gotap/runtime/arena"
	"gotap/runtime/calls"
	"gotap/runtime/clock"
	"gotap/runtime/native"
)

// Calls that native code follows from their entry to their return, in stacks that lie in the arena (package calls).
//
// Native code and the thread's own list (package retprobe) share the calls of a thread: each call is in one of them.
// Native code takes all calls that it can. A call moves to the list when a thread stops where it begins or ends: at an
// entry or an exit that has only a breakpoint, and at a doorbell. While the list has calls, native code rings at
// returns for which it has no frame.

// nativeCalls is what a session has for them. The memory is reserved when a program first wants it.
type nativeCalls struct {
	stacks  *calls.Stacks
	clock   *clock.Clock
	free    []*calls.Owners // of address spaces that no longer exist
	tried   bool
	none    error // why there are no stacks
	noClock error // why native code cannot tell the time

	readsBase bool // programs may read the base of fs

	renewed    time.Time // the clock
	told       time.Time // the names of threads
	unfinished uint64    // position, plus 1, of a record that was not finished when it was looked at; 0: there was none
}

// lookAfter is the time between two looks at what native code has in the arena.
const lookAfter = 100 * time.Millisecond

// A thread that has renamed itself has its new name in records after commAfter at the latest.
const commAfter = time.Second

// lookAfter renews what native code knows of the time and of the names of threads, and skips records whose writers have
// ended.
func (n *nativeCalls) lookAfter(c *Executor) {
	now := time.Now()
	if n.noClock == nil && now.Sub(n.renewed) >= clock.Period {
		n.clock.Update()
		n.renewed = now
	}
	if now.Sub(n.told) >= commAfter {
		n.tellComms(c)
		c.enlistRunning()
		c.checkReads()
		n.told = now
	}
	at, ok := c.set.Arena.Unfinished()
	if at++; ok && at == n.unfinished {
		c.skipUnfinished()
	}
	if n.unfinished = 0; ok {
		n.unfinished = at
	}
	c.on.After(lookAfter, func() { n.lookAfter(c) })
}

// tellComms tells native code the names of all threads that have a stack.
func (n *nativeCalls) tellComms(c *Executor) {
	for t := range c.on.Threads() {
		if t.stack.of != nil {
			t.tellComm()
		}
	}
}

// skipUnfinished skips records that native code has begun and will not finish: its thread has ended, or a signal
// handler has left it for good. If a thread may still be there, it does nothing.
func (c *Executor) skipUnfinished() {
	defer c.on.HoldAll()()
	for t := range c.on.Threads() {
		if len(codeIn(t.proc.Space).jumps.islands) == 0 {
			continue
		}
		maps, err := module.Maps(t.proc.Pid)
		pc, stack, known := t.standsAt()
		inside := false
		if err != nil || !known || !codeIn(t.proc.Space).jumps.ranges().Parked(t.proc.Space.Mem, maps, pc, stack, func(inline.Range) { inside = true }) || inside {
			if !procfs.Ended(t.Tid) {
				return
			}
		}
	}
	c.set.Arena.SkipUnfinished()
}

// spaceCalls is what it has for them in an address space.
type spaceCalls struct {
	owners    *calls.Owners
	owns      ownership
	functions []followed // by number, from 1 on
	noBase    bool       // native code has no way to tell its threads apart: see findBase
}

// followed is a function whose calls native code follows, for a probe.
type followed struct {
	entry *space.Point
	pl    *registry.Placement
}

// Reasons why native code does not follow the calls of a function.
var (
	errNoBase    = errors.New("the kernel does not let programs read the base of fs")
	errSeveral   = errors.New("several probes follow its calls")
	errMaxActive = errors.New("the number of its calls in progress is limited")
	errResult    = errors.New("the result in memory is used")
	errNoReturn  = errors.New("the function is not left by a plain return there")
)

// prepare reserves what programs need in order to follow calls and to tell the time.
func (n *nativeCalls) prepare(c *Executor) {
	if n.tried {
		return
	}
	n.tried = true
	a := c.set.Arena
	if n.clock, n.noClock = clock.New(a); n.noClock == nil {
		n.renewed = time.Now()
	}
	c.on.After(lookAfter, func() { n.lookAfter(c) })
	n.readsBase = hostcpu.ReadsThreadPointer()
	n.stacks, n.none = calls.New(a)
}

// fits returns why native code cannot follow the calls of a function.
func (n *nativeCalls) fits(f *retprobe.Function) error {
	leaves := f.Entry().Leaves()
	switch {
	case f.ByReturn():
		return errLeaves
	case f.Goroutine:
		return inline.ErrGoroutine
	case len(leaves) != 1:
		return errSeveral
	}
	pl := leaves[0]
	switch {
	case pl.Probe.Spec.MaxActive > 0:
		return errMaxActive
	case uses(pl.Code.Enter, runtime.FieldResult), uses(pl.Code.Leave, runtime.FieldResult):
		return errResult
	case n.none != nil:
		return n.none
	case codeIn(f.Entry().At.(*space.Point).Space).calls.noBase:
		return errNoBase
	case timed(pl):
		return n.noClock
	}
	return nil
}

// timed reports whether it is recorded when the calls of a placement begin.
func timed(pl *registry.Placement) bool { return uses(pl.Code.Leave, runtime.FieldElapsed) }

// fitsExit returns why native code cannot end calls at a point.
func (c *Executor) fitsExit(p *space.Point) error {
	f := p.Exits[0]
	switch {
	case len(p.Exits) > 1:
		return errSeveral
	case f.Tail(&p.Point):
		return inline.ErrTail
	case p.Site.Insn().Control != arch.Return:
		return errNoReturn
	}
	if err := c.calls.fits(f); err != nil {
		return err
	}
	if entry := f.Entry().At.(*space.Point); entry != p { // else the function begins with its return
		_, err := c.examine(entry)
		return err
	}
	return nil
}

// number returns the number by which native code knows a function that is entered at a point, for a placement.
func (n *spaceCalls) number(entry *space.Point, pl *registry.Placement) uint32 {
	if i := entry.Jump.Function; i > 0 && n.functions[i-1].pl == pl {
		return i
	}
	n.functions = append(n.functions, followed{entry, pl})
	entry.Jump.Function = uint32(len(n.functions))
	return entry.Jump.Function
}

// function returns the function with a number; ok is false if there is none, or its calls are not watched any more.
func (n *spaceCalls) function(number uint32) (f followed, ok bool) {
	if uint64(number)-1 >= uint64(len(n.functions)) {
		return f, false
	}
	f = n.functions[number-1]
	return f, f.entry.Fn != nil
}

// ownersOf returns the table of an address space, which is made when it is first wanted.
func (n *nativeCalls) ownersOf(a *arena.Arena, sp *space.Space) (*calls.Owners, error) {
	if codeIn(sp).calls.owners != nil || n.none != nil {
		return codeIn(sp).calls.owners, n.none
	}
	if k := len(n.free); k > 0 {
		codeIn(sp).calls.owners, n.free = n.free[k-1], n.free[:k-1]
		return codeIn(sp).calls.owners, nil
	}
	var err error
	codeIn(sp).calls.owners, err = calls.NewOwners(a)
	return codeIn(sp).calls.owners, err
}

// dropOwners takes the table of an address space that no longer exists.
func (n *nativeCalls) dropOwners(sp *space.Space) {
	if codeIn(sp).calls.owners != nil {
		codeIn(sp).calls.owners.Clear()
		n.free = append(n.free, codeIn(sp).calls.owners)
	}
	codeIn(sp).calls = spaceCalls{}
}

// tellComm tells native code the name of the thread, which records contain.
func (t *Thread) tellComm() {
	var name [calls.CommSize]byte
	t.parts.View.Comm(name[:calls.CommSize-1])
	t.stack.of.SetComm(name)
}

// callStack is a thread's stack of the calls that native code follows.
type callStack struct {
	of   *calls.Stack // nil: none yet
	base uint64       // the base of fs under which native code finds it
	seen knownBase

	rung  runtime.State // the program that a doorbell has stopped
	frame []uint64      // what its stub has on the stack
	raw   []byte        // the same as bytes
}

// TakeCalls takes over the calls that native code follows and that the programs at a point have to do with. The thread
// has stopped there.
func (t *Thread) TakeCalls(p *space.Point) {
	if t.stack.of == nil {
		return
	}
	if p.Fn != nil {
		t.takeInside(t.SP())
	}
	if len(p.Exits) > 0 {
		t.takeEnding(p)
	}
}

// takeInside takes over the calls that are not further out than a call that begins with this stack pointer: they may
// have been left by longjmp, or be on another stack. If there is none, the stack is full, and it takes over all.
func (t *Thread) takeInside(sp uint64) {
	taken := false
	for f, ok := t.stack.of.Newest(); ok && f.SP <= sp; f, ok = t.stack.of.Newest() {
		if f.Busy && t.interruptsNative() {
			return
		}
		if taken = true; f.Busy { // siglongjmp has left its program
			t.stack.of.Remove(f)
		} else {
			t.take(f)
		}
	}
	if f, ok := t.stack.of.Newest(); ok && !taken && t.stack.of.IsFull() {
		for ; ok && !f.Busy; f, ok = t.stack.of.Newest() {
			t.take(f)
		}
	}
}

// interruptsNative reports whether the thread runs a signal handler that has interrupted native code, and may return
// there.
func (t *Thread) interruptsNative() bool {
	maps, err := module.Maps(t.proc.Pid)
	inside := false
	known := err == nil && codeIn(t.proc.Space).jumps.ranges().Parked(t.proc.Space.Mem, maps, 0, t.SP(), func(inline.Range) { inside = true })
	return inside || !known
}

// takeEnding takes over the call that ends at a point.
func (t *Thread) takeEnding(p *space.Point) {
	const inside = 256 << 10
	sp := t.parts.View.ExitSP()
	for f, ok := t.stack.of.Newest(); ok; f, ok = t.stack.of.Older(f) {
		fn, known := codeIn(t.proc.Space).calls.function(f.Func)
		if f.SP != sp || f.Busy || !known || !slices.Contains(p.Exits, fn.entry.Fn) {
			continue
		}
		for g, ok := t.stack.of.Newest(); ok && g != f; g, ok = t.stack.of.Older(g) {
			if g.SP < sp && sp-g.SP < inside { // it cannot outlive the call that ends
				t.stack.of.Remove(g)
			}
		}
		t.take(f)
		return
	}
}

// take moves a call to the thread's own list.
func (t *Thread) take(f calls.Frame) {
	t.stack.of.Remove(f)
	fn, ok := codeIn(t.proc.Space).calls.function(f.Func)
	if !ok {
		return
	}
	b := retprobe.Begun{SP: f.SP, Time: min(f.Time, ptrace.Now())}
	if b.This = t.parts.Hit.Alloc(fn.pl); b.This != 0 {
		t.by.set.Arena.CopyThis(b.This, f.This, fn.pl.Probe.Spec.ThisBytes)
	}
	t.parts.Calls.TakeOver(&fn.entry.Point, fn.pl, b)
}

// Fork gives the first thread of a forked child the calls of its parent that native code follows. They have no storage
// there.
func (t *Thread) Fork(child *Thread) {
	if t.stack.of == nil {
		return
	}
	for f, ok := t.stack.of.Newest(); ok; f, ok = t.stack.of.Older(f) {
		fn, known := codeIn(t.proc.Space).calls.function(f.Func)
		if !known {
			continue
		}
		if q := child.proc.Space.ByAddr[fn.entry.Addr]; q != nil && q.Fn != nil {
			child.parts.Calls.TakeOver(&q.Point, fn.pl, retprobe.Begun{SP: f.SP, Time: min(f.Time, ptrace.Now())})
		}
	}
}

// TakeOf takes over all calls of a probe. The threads are stopped for it, outside of native code, where a call may be
// about to begin or to end.
func (c *Executor) TakeOf(pr *registry.Probe) {
	const tries = 100
	if c.calls.stacks == nil {
		return
	}
	for range tries {
		release := c.on.HoldAll()
		done := true
		for t := range c.on.Threads() {
			done = done && (t.stack.of == nil || t.takeProbe(pr))
		}
		if release(); done {
			return
		}
	}
}

// takeProbe takes over the calls of a probe, unless the thread is in native code.
func (t *Thread) takeProbe(pr *registry.Probe) bool {
	pc, _, known := t.standsAt()
	if known && stubAt(t.proc.Space, pc) != nil {
		return false
	}
	var frames []calls.Frame
	for f, ok := t.stack.of.Newest(); ok; f, ok = t.stack.of.Older(f) {
		if fn, ok := codeIn(t.proc.Space).calls.function(f.Func); ok && !f.Busy && fn.pl.Probe == pr {
			frames = append(frames, f)
		}
	}
	for _, f := range frames {
		t.take(f)
	}
	t.stack.of.SetLowest(t.parts.Calls.Lowest())
	return true
}

// answerCall runs what a doorbell wants at the beginning or the end of a call, or inside of a program that belongs to
// one. The thread's registers are those from the place; rung are those with which it rang.
func (t *Thread) answerCall(b *bell, rung, frame []uint64) {
	switch b.Call {
	case native.EntersCall:
		t.TakeCalls(b.p)
		t.parts.Hit.Admitted(b.run.Placement, b.p.Fn != nil)
	case native.LeavesCall:
		t.TakeCalls(b.p)
		t.parts.Calls.Leave(&b.p.Point)
	case native.InCall:
		this := b.FrameOffset(rung, frame, b.arena) + calls.ThisAt
		f, ok := calls.Frame{}, false
		if t.stack.of != nil {
			f, ok = t.stack.of.FrameAt(this)
		}
		switch {
		case !ok: // somebody has written to the arena
			b.run.Placement.Probe.Miss()
			return
		case b.run.Ends == nil:
			t.parts.Hit.ContinueCall(b.run.Placement, this, &t.stack.rung)
		default:
			now := t.stack.rung.Time
			if now == 0 {
				now = ptrace.Now()
			}
			t.parts.Hit.ContinueLeave(b.run.Placement, hit.Call{This: this, Elapsed: now - min(f.Time, now), SP: f.SP}, &t.stack.rung)
		}
		if b.changes() {
			t.endProgram(b, f)
		}
	}
}

// uses reports whether a program reads a field of its context; nil reads nothing.
func uses(c *runtime.Code, f runtime.Field) bool { return c != nil && c.UsesField(f) }
