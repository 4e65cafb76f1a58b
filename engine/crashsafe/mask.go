package crashsafe

import (
	"encoding/binary"
	"iter"

	"gotap/arch"
	"gotap/arch/x86"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/tracee"
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
//   - On x86-64 the engine sets breakpoints of its own on the instructions with which the C library calls
//     rt_sigprocmask. If the call blocks all signals, the engine makes it in the thread's place while the thread is
//     stopped there, and leaves SIGTRAP out. SIGTRAP is not blocked at any moment.
//   - Any other way of blocking (a raw system call, a handler whose action blocks all signals, swapcontext) is detected
//     at the first hit. That hit is repaired as action.go describes, and SIGTRAP stays unblocked from then on.
//
// At the same instructions, the engine answers the program's queries of its mask with the bit that the program expects.
// Where there are no such instructions to watch (IA32, ARM), SIGTRAP is blocked again after each hit. If SIGTRAP is
// sent to a thread in such a section, the engine blocks the signal and sends it again, so it stays pending as the
// program wants. The end of the session sets the bit again.
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
	sp.recordSites(m, &sites, sp.on.StoppedTid()) // now, so that planting takes no longer than it has to
	shows := len(sites.begins)+len(sites.masks) > 0
	in := func(o *Space) bool { return o == sp }
	if shows {
		// A thread that is inside a section now would hit the first of these breakpoints with SIGTRAP blocked. So would one that sleeps
		// now, and wakes and begins a section before the breakpoints are planted that show it. So threads are looked at before, and
		// after each kind has been planted: a thread that began a section before the first kind was there is found before it can hit one of the others.
		defer g.on.HoldRunning(in)()
		sp.seesMasks = true
		g.OpenBlockers(in)
	}
	for i, vaddr := range sites.inOrder() {
		sp.on.Hook(m, vaddr, func(*Thread, *Point) bool { return false })
		if p := sp.on.PointAt(m.Addr(vaddr)); p != nil {
			p.Call = sites.kind(i)
		}
		if shows && sites.lastOfKind(i) {
			g.OpenBlockers(in)
		}
	}
	return sites
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

// CallKind is the kind of a breakpoint on such an instruction. They are planted in this order and removed in the reverse order. While
// only some of them are planted, as when the session is killed at that moment, no section of the C library begins unseen
// that leads to another of them; watchSignalCalls looks for those that began before.
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
	for _, vaddr := range sites.inOrder() {
		if d, ok := sp.on.Prepare(m, m.Addr(vaddr)); ok {
			list = append(list, d)
		}
	}
	sp.RecordAll(list, stopped)
}

// watchLateSignalCalls calls watchSignalCalls for the modules that are already loaded when a process gets its fallback.
func (g *Guards) watchLateSignalCalls(sp *Space) {
	if sp.seesMasks {
		return
	}
	for m := range sp.libCs() {
		g.watchSignalCalls(sp, m)
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

// MakeCall makes the call that the thread is about to make at a breakpoint of watchSignalCalls, and reports
// whether it did. It makes rt_sigprocmask calls, and rt_sigaction calls for SIGTRAP. The kernel makes all others.
func (x *Thread) MakeCall(p *Point) bool {
	r := &x.t.Regs
	if p.Call == NoCall || r[x86.R10] != setBytes || r[x86.EFLAGS]&tracee.TrapFlag != 0 {
		return false
	}
	of := &x.t.ABI().Calls
	switch number := r[x86.RAX]; {
	case number == of.Procmask && x.makeMaskCall():
	case number == of.Sigaction && uint32(r[x86.RDI]) == ptrace.SIGTRAP && x.makeActionCall(p):
	case number == of.Sigaction && uint32(r[x86.RDI]) != ptrace.SIGTRAP && r[x86.RSI] != 0:
		x.on.ActionSet(int(uint32(r[x86.RDI])))
		return false
	default:
		return false
	}
	x.t.Regs = x.afterCall()
	return true
}

// afterCall returns the registers that the pending call leaves when it has succeeded.
func (x *Thread) afterCall() arch.Regs {
	r := x.t.Regs
	r[x86.RAX] = 0
	r[x86.RIP] += uint64(len(x.t.ABI().Calls.Insn))
	r[x86.RCX], r[x86.R11] = r[x86.RIP], r[x86.EFLAGS] // what the instruction leaves there
	return r
}

// makeMaskCall makes an rt_sigprocmask call. It leaves to the kernel the cases that only the kernel can judge: bad
// arguments and system call filters. While system calls are traced, the kernel makes every call, so that it is seen.
func (x *Thread) makeMaskCall() bool {
	if !x.open && (!x.clear || x.blocksRest()) { // this hit may have unblocked SIGTRAP and reset the action
		x.Restore()
	}
	now, next, ok := x.maskChange()
	if !ok {
		return false
	}
	if x.in.on.TracesCalls() || x.t.Status("Seccomp") != "0" {
		x.seeMask = x.seeMask || blocksAll(next)
		return false
	}
	if old := x.t.Regs[x86.RDX]; old != 0 && !x.write(old, binary.LittleEndian.AppendUint64(nil, now)) {
		return false
	}
	if !x.setMaskOfCall(next) {
		return false
	}
	if newly := next &^ now; newly != 0 {
		x.retarget(newly)
	}
	return true
}

// setMaskOfCall is setOwnMask for the mask that the pending call sets. If the session were killed when the mask is set and the thread is
// still in front of the call, the thread would make the call itself: the kernel would then store the new mask as the previous one, and the
// program would never get its own mask back. So both change together.
func (x *Thread) setMaskOfCall(mask uint64) bool {
	if _, kept := x.queue.KeptMask(); kept {
		x.setOwnMask(mask)
		return true
	}
	at, open, meant, isClear := x.t.Regs, x.open, x.meant, x.clear
	err := x.calls.SetMask(x.leaveTrapOpen(mask), x.afterCall())
	x.t.Regs = at // the caller moves on
	if err != nil {
		x.open, x.meant, x.clear = open, meant, isClear
	}
	return err == nil
}

// retarget makes other threads check for process-wide signals that the kernel may have assigned to this thread and that
// it now blocks. The kernel does the same when a thread changes its own mask (retarget_shared_pending in
// kernel/signal.c). A thread checks for them when it leaves a stop.
func (x *Thread) retarget(blocked uint64) {
	pending := procfs.SignalSet(x.t.Tid, "ShdPnd") & blocked
	if pending == 0 {
		return
	}
	for o := range x.process().on.Threads() {
		if o != x && o.on.Runs() && pending&^procfs.SignalSet(o.t.Tid, "SigBlk") != 0 {
			ptrace.Interrupt(o.t.Tid)
		}
	}
}

// makeActionCall makes an rt_sigaction call for SIGTRAP. It stores the program's action where the fallback's handler
// finds it, and reports the program's previous action. So the handler is installed at every moment. A child that shares
// its parent's memory, as posix_spawn creates it, resets its parent's actions before it executes a program, and would
// have no handler until then. It keeps the handler, which execve resets anyway.
func (x *Thread) makeActionCall(p *Point) bool {
	act, old, sp := x.t.Regs[x86.RSI], x.t.Regs[x86.RDX], x.space()
	if x.process().Unguarded() && act != 0 {
		x.ProtectAtHit(p)
	}
	tr := x.process()
	if sp.Base == 0 || !tr.ours {
		tr.set = true // the next hit queries it
		return false
	}
	was := tr.own
	if act != 0 {
		var text [fallback.ActionSize]byte
		if !x.read(act, text[:]) {
			return false
		}
		own := fallback.ParseAction(text[:], x.t.ABI().WordSize())
		switch {
		case sp.on.Users() > 1 && own.Handler != fallback.Default:
			return false
		case sp.on.Users() > 1:
			tr.own = own
		case x.wantAtCall(own) != nil:
			return false
		}
	}
	return old == 0 || x.write(old, was.Bytes(x.t.ABI().WordSize()))
}

// maskChange returns the mask that the program believes the thread has, and the mask that the pending call asks for. ok
// is false if the kernel would refuse the call.
func (x *Thread) maskChange() (now, next uint64, ok bool) {
	if now, ok = x.ownMask(); !ok || x.t.Regs[x86.RSI] == 0 {
		return now, now, ok
	}
	var set [setBytes]byte
	if !x.read(x.t.Regs[x86.RSI], set[:]) {
		return now, now, false
	}
	next, ok = changedMask(uint32(x.t.Regs[x86.RDI]), now, binary.LittleEndian.Uint64(set[:]))
	return now, next, ok
}

// read reads an argument of the pending call, as the kernel would. The constants of the C library are often in pages that no one has read
// before.
func (x *Thread) read(addr uint64, p []byte) bool {
	return x.t.Memory().FaultIn(addr, len(p)) && x.t.Memory().ReadMemory(addr, p) == nil
}

// write writes a result of the pending call, as the kernel would.
func (x *Thread) write(addr uint64, p []byte) bool {
	return x.t.Memory().FaultIn(addr, len(p)) && x.t.Memory().WriteMemory(addr, p) == nil
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
