package crashsafe

import (
	"iter"

	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/ptrace"
)

// Keeping SIGTRAP deliverable.
//
// When a thread that blocks SIGTRAP hits a breakpoint, the kernel resets the signal's action to the default for the
// whole process and unblocks the signal (force_sig_info_to_task in kernel/signal.c). A tracer can repair this. If the
// tracer dies before it does, or before the thread hits its next breakpoint, the signal kills the process without
// calling the fallback's handler.
//
// Programs and libraries that block SIGTRAP nearly always block all signals, for a critical section: glibc does in
// pthread_create, fork, posix_spawn and abort. They do not need SIGTRAP itself blocked. So the engine leaves it
// unblocked there, and records in sigtrap.open that the program believes it is blocked:
//
//   - The engine sets breakpoints of its own on the instructions with which the C library calls rt_sigprocmask
//     (sites.go, patterns.go). If the call blocks all signals, the engine makes it in the thread's place while the
//     thread is stopped there, and leaves SIGTRAP out. SIGTRAP is not blocked at any moment.
//   - Any other way of blocking (a raw system call, a handler whose action blocks all signals, swapcontext) is detected
//     at the first hit. That hit is repaired as action.go describes, and SIGTRAP stays unblocked from then on.
//
// At the same instructions, the engine answers the program's queries of its mask with the bit that the program expects.
// Where no such instructions are found, SIGTRAP is blocked again after each hit. If SIGTRAP is sent to a thread in such
// a section, the engine blocks it there (Withhold), so it stays pending as the program wants; if the session has been
// killed, the fallback's handler does so. The end of the session sets the bit again.
//
// A thread that blocks SIGTRAP but not every other signal that instructions raise blocks it on purpose, and keeps its
// mask.

// setBytes is the size of a signal set as rt_sigprocmask takes it.
const setBytes = 8

// Operations of rt_sigprocmask.
const (
	maskBlock   = 0
	maskUnblock = 1
	maskSet     = 2
)

// blocksAll reports whether a set contains all signals that instructions raise.
func blocksAll(set uint64) bool { return set&ptrace.Synchronous == ptrace.Synchronous }

// watchSignalCalls sets the engine's breakpoints on the instructions of a module that call rt_sigprocmask and
// rt_sigaction, and returns the sites it finds. It does nothing in processes without the fallback's handler: if the
// session is killed, a thread that hits one of these breakpoints needs the handler.
func (g *Guards) watchSignalCalls(sp *Space, m *module.Loaded) (found signalSites) {
	if !g.guarded(sp) {
		return found
	}
	sites := g.signalSites(m.File)
	if all := sites.inOrder(); len(all) > 0 && sp.watches(m, all[0]) {
		return sites
	}
	sp.recordSites(m, &sites, sp.on.StoppedTid()) // now, so that planting takes no longer than it has to
	shows := len(sites.begins)+len(sites.masks) > 0
	in := func(o *Space) bool { return o == sp }
	if shows {
		// A thread that is inside a section now would hit the first of these breakpoints with SIGTRAP blocked. So would
		// one that sleeps now, and wakes and begins a section before the breakpoints are planted that show it. So
		// threads are looked at before, and after each kind has been planted: a thread that began a section before the
		// first kind was there is found before it can hit one of the others.
		defer g.hold(sp)()
		sp.seesMasks = true
		g.OpenBlockers(in)
	}
	for i, at := range sites.inOrder() {
		sp.on.Hook(m, at.vaddr, func(*Thread, *Point) bool { return false })
		if p := sp.on.PointAt(m.Addr(at.vaddr)); p != nil {
			p.Call, p.insn = sites.kind(i), at.insn
		}
		if shows && sites.lastOfKind(i) {
			g.OpenBlockers(in)
		}
	}
	return sites
}

// watches reports whether the breakpoint at a call site of a module is there.
func (sp *Space) watches(m *module.Loaded, at callSite) bool {
	p := sp.on.PointAt(m.Addr(at.vaddr))
	return p != nil && p.Call != NoCall
}

// guarded reports whether the processes of an address space have the handler. A child of vfork may still lack it for a
// moment, so children are not checked.
func (g *Guards) guarded(sp *Space) bool {
	for p := range g.on.Processes() {
		if p.on.Space() == sp && !p.on.IsChild() && !p.ours {
			return false
		}
	}
	return sp.Base != 0
}

// CallKind is the kind of a breakpoint on such an instruction. They are planted in this order and removed in the
// reverse order. While only some of them are planted, as when the session is killed at that moment, no section of the C
// library begins unseen that leads to another of them; watchSignalCalls looks for those that began before.
type CallKind int

const (
	NoCall     CallKind = iota
	callBegins          // a section of the C library begins
	callAny             // a call on behalf of the program
	callEnds            // a section ends, or an action is set
)

// RemovalOrder is the order in which breakpoints are removed.
var RemovalOrder = []CallKind{NoCall, callEnds, callAny, callBegins}

// recordSignalCalls adds table entries for the breakpoints that watchLateSignalCalls will plant.
func (x *Thread) recordSignalCalls() {
	sp := x.space()
	for m := range sp.libCs() {
		sites := x.in.signalSites(m.File)
		sp.recordSites(m, &sites, x.t.Tid)
	}
}

// recordSites adds table entries for the breakpoints on the sites of a module.
func (sp *Space) recordSites(m *module.Loaded, sites *signalSites, stopped int) {
	var list []fallback.Displaced
	for _, at := range sites.inOrder() {
		if d, ok := sp.on.Prepare(m, m.Addr(at.vaddr)); ok {
			list = append(list, d)
		}
	}
	sp.RecordAll(list, stopped)
}

// watchLateSignalCalls calls watchSignalCalls for the modules that are already loaded when a process gets its fallback.
// If another process in the same memory still lacks it, that follows when it gets it.
func (g *Guards) watchLateSignalCalls(sp *Space) {
	if sp.seesMasks || !g.guarded(sp) {
		return
	}
	for m := range sp.libCs() {
		g.watchLibC(sp, m)
	}
}

// Examine finds what watchLibC will watch in an address space, which takes longer than threads should be stopped.
func (g *Guards) Examine(sp *Space) {
	for m := range sp.libCs() {
		if len(g.signalSites(m.File).actions) == 0 {
			m.File.Lookup(signalNames[0])
		}
	}
}

// libCs yields the modules of an address space that contain the C library.
func (sp *Space) libCs() iter.Seq[*module.Loaded] {
	return func(yield func(*module.Loaded) bool) {
		mods := sp.on.Modules()
		for i := range mods {
			m := &mods[i]
			if m.File != nil && m.Err == nil && sp.IsLibC(m) && !yield(m) {
				return
			}
		}
	}
}

// changedMask returns the mask that rt_sigprocmask would set. SIGKILL and SIGSTOP are never blocked.
func changedMask(how uint32, now, set uint64) (next uint64, ok bool) {
	const never = 1<<(ptrace.SIGKILL-1) | 1<<(ptrace.SIGSTOP-1)
	switch how {
	case maskBlock:
		next = now | set
	case maskUnblock:
		next = now &^ set
	case maskSet:
		next = set
	default:
		return 0, false
	}
	return next &^ never, true
}

// ownMask returns the mask that the program believes the thread has.
func (x *Thread) ownMask() (mask uint64, ok bool) {
	if mask, ok = x.queue.Mask(); !ok {
		return 0, false
	}
	if x.open && mask&ptrace.Synchronous == rest {
		mask |= ptrace.TrapBit
	}
	return mask, true
}

// setOwnMask gives a stopped thread the mask that the program wants. If the mask blocks all signals, SIGTRAP stays
// unblocked, unless the program blocks it on purpose (meant) or the space does not see masks.
func (x *Thread) setOwnMask(mask uint64) { x.queue.SetMask(x.leaveTrapOpen(mask)) }

// leaveTrapOpen notes that the thread gets a mask, and returns the one that it really gets.
func (x *Thread) leaveTrapOpen(mask uint64) uint64 {
	if x.open = blocksAll(mask) && !x.meant && x.space().seesMasks; x.open {
		mask &^= ptrace.TrapBit
	}
	x.meant = x.meant && blocksAll(mask)
	x.clear = mask&ptrace.TrapBit == 0
	return mask
}
