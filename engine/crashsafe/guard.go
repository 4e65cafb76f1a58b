package crashsafe

import (
	"fmt"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/ptrace"
)

// Protect installs the fallback in the thread's process. The thread is stopped, and its registers have been read. A
// process that has the fallback keeps it. The user is warned if the fallback cannot be installed.
func (x *Thread) Protect() {
	p, sp := x.process(), x.space()
	if !p.Unguarded() || x.in.on.Closing() {
		return
	}
	put := x.install
	if sp.Base != 0 {
		put = func() error { return x.unseen(x.takeOver) }
	}
	sp.tried, p.asked = true, true
	err := x.calls.AllowsHandler()
	if err == nil {
		err = put()
	}
	if err != nil {
		x.in.warnIn(sp, fmt.Sprintf("process %d: %s; if gotap is killed (SIGKILL), the next breakpoint that is left will end the process", x.t.Of.Pid(), err))
	}
}

// warnIn warns about an address space, unless its process has left it.
func (g *Guards) warnIn(sp *Space, text string) {
	if !sp.on.Memory().Gone() {
		g.on.Warn(text)
	}
}

// install maps and fills the region, or takes over one that an earlier session left, and makes its handler the action
// for SIGTRAP.
func (x *Thread) install() error {
	sp := x.space()
	own, err := x.adoptOrMap()
	if err != nil {
		return err
	}
	if watching := sp.Watching; watching || x.on.Watched() {
		sp.Watching = false // the page has overwritten the note to the handler
		sp.MarkWatching()
	}
	trap, _ := x.t.ABI().Native.StubTrap(&sp.Region)
	sp.Record(trap.Addr, trap.Orig, trap.Trap, x.t.Tid)
	x.recordSignalCalls() // first, because the first entries are restored last
	for d := range sp.on.Planted() {
		sp.Record(d.Addr, d.Orig, d.Trap, x.t.Tid)
	}
	*x.process() = Process{on: x.process().on, own: own, found: own, asked: true}
	return x.unseen(func() error { return x.setTrapActionOver(own) })
}

// unseen calls set, which makes the handler the action for SIGTRAP, and watches the calls by which the program would
// see that. The threads that run are held meanwhile. Those that sleep in the kernel are not disturbed; one that wakes
// may see the handler.
func (x *Thread) unseen(set func() error) error {
	sp, p := x.space(), x.process()
	p.NoteAsleep()
	defer p.NoteWoken() // the threads run again: it takes longer than they should be stopped
	defer x.in.hold(sp)()
	p.noteHeld()
	if err := set(); err != nil {
		return err
	}
	x.in.watchLateSignalCalls(sp)
	return nil
}

// hold stops the threads of an address space that run code, until release is called. If they are held already, it does
// nothing.
func (g *Guards) hold(sp *Space) (release func()) {
	if g.held == sp {
		return func() {}
	}
	run := g.on.HoldRunning(func(of *Space) bool { return of == sp })
	g.held = sp
	return func() { g.held = nil; run() }
}

// adoptOrMap takes over a region, or maps and fills one, and returns the program's own action.
func (x *Thread) adoptOrMap() (own fallback.Action, err error) {
	if found, maps := x.leftRegions(); len(found) > 0 {
		if own, err = x.queryTrapAction(); err == nil {
			own = x.adopt(found, maps, own)
		}
		return own, err
	}
	base, err := x.calls.Map(0, fallback.Size)
	if err != nil {
		return own, err
	}
	if own, err = x.queryTrapAction(); err != nil {
		return own, err
	}
	sp := x.space()
	if err := x.t.Memory().Poke(base, x.t.ABI().Native.Page(base, own), x.t.Tid); err != nil {
		return own, err
	}
	sp.Base, sp.Table = base, fallback.Table{}
	return own, nil
}

// ProtectAtHit installs the fallback in a program at its first hit. Nothing shows whether the kernel has unblocked
// SIGTRAP for this hit, since there was no handler to reset. A thread that blocks all other signals that instructions
// raise is taken to have blocked SIGTRAP, as in Restore. A thread that blocks SIGTRAP but not the others has
// the fallback already (maskCalled), unless it blocked SIGTRAP with its own system call, with swapcontext, or for the
// duration of a handler. Then it is not recognised at this one hit.
func (x *Thread) ProtectAtHit(p *Point) {
	blocked := x.process().Unguarded() && !x.open && x.blocksRest()
	if blocked {
		if x.NoteMerged(); x.leaveOpen() {
			blocked = false
		} else {
			x.blockTrap() // before the calls that follow, which would deliver a pending one
			p.blocks = true
		}
		x.process().blockers = true
	}
	x.Protect()
	if blocked {
		x.sendMerged()
	}
}

// Unprotect restores a process's own action for SIGTRAP, using a stopped thread, and reports whether the handler is
// removed. First SIGTRAP is blocked in the stopped threads that block it for the program: with the handler gone, one
// that was sent to them would end the process if the session were killed.
func (x *Thread) Unprotect() (gone bool) {
	tr := x.process()
	if !tr.ours || !x.t.GetRegs() {
		return false
	}
	for o := range tr.on.Threads() {
		if o.on.Stopped() {
			o.Close()
		}
	}
	tr.ours = false
	now, err := x.queryTrapAction()
	if err != nil || now.Handler != fallback.Handler(x.space().Base) {
		return err == nil
	}
	was, err := x.replaceAction(ptrace.SIGTRAP, x.space().Base+fallback.OwnAt)
	if err == nil && was != now { // a thread that runs has set it since
		err = x.SetAction(ptrace.SIGTRAP, was)
	}
	if err != nil {
		x.in.on.Warn(fmt.Sprintf("process %d: its action for SIGTRAP cannot be put back: %v", x.t.Of.Pid(), err))
		return false
	}
	return true
}
