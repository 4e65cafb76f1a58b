package engine

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"gotap/arch/x86"
	"gotap/engine/abi"
	"gotap/engine/fallback"
	"gotap/engine/image/module"
	"gotap/engine/isa"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
)

// SIGTRAP stays deliverable.
//
// When a thread that blocks SIGTRAP hits a breakpoint, the kernel resets the action of the whole process to the default and unblocks the
// signal (force_sig_info_to_task in kernel/signal.c). A tracer can repair that. If the tracer dies before it has, or before the thread hits
// its next breakpoint, the signal ends the process: the fallback's handler is never asked.
//
// Programs and libraries that block SIGTRAP nearly always block all signals, for a critical section: glibc does in pthread_create, fork,
// posix_spawn and abort. They do not mean SIGTRAP. So the engine leaves it unblocked there, and remembers for the thread that the program
// believes it blocked (thread.trapOpen):
//
//   - On x86-64 the instructions by which the C library calls rt_sigprocmask have a breakpoint of the engine's own. A call that blocks all
//     signals is made by the engine, in the stop of that breakpoint, without SIGTRAP. There is no moment in which it is blocked.
//   - Every other way (a raw system call, a handler whose action blocks all signals, swapcontext) is noticed at the first hit, which is
//     repaired as described in trapaction.go, and SIGTRAP stays unblocked from then on.
//
// The program's own questions are answered at the same instructions, with the bit that it expects. Where there are none to watch (IA32, ARM)
// SIGTRAP is blocked again after each hit. When somebody sends SIGTRAP to a thread in such a section, the engine blocks it there and sends it
// again, so it waits as the program wants. At the end of the session the bit is set again.
//
// A thread that blocks SIGTRAP and not every other signal that instructions raise does mean it, and keeps its mask.

// setBytes is the size of a set of signals, as rt_sigprocmask takes it.
const setBytes = 8

// The ways in which rt_sigprocmask changes a mask.
const (
	maskBlock   = 0
	maskUnblock = 1
	maskSet     = 2
)

// blocksAll reports whether a set has all signals that instructions raise.
func blocksAll(set uint64) bool { return set&synchronous == synchronous }

// watchSignalCalls puts the engine's breakpoints on the instructions of a module that call rt_sigprocmask and rt_sigaction, and reports for which
// of them there are any. It does so only where the handler is: if the session is killed, a thread that meets one of them needs it.
func (s *Session) watchSignalCalls(sp *space, m *module.Loaded) (found signalSites) {
	if !s.guarded(sp) {
		return found
	}
	sites := s.signalSites(m.File)
	if len(sites.begins)+len(sites.masks) > 0 {
		// A thread that is in a section now would meet the first of these breakpoints with SIGTRAP blocked.
		in := func(o *space) bool { return o == sp }
		defer s.releaseWorld(s.holdRunning(in))
		sp.seesMasks = true
		s.openBlockers(in)
	}
	for i, vaddr := range sites.inOrder() {
		s.watchInternally(sp, m, vaddr, func(*thread, *point) bool { return false })
		if p := sp.points[m.Addr(vaddr)]; p != nil {
			p.signalCall = sites.kind(i)
		}
	}
	return sites
}

// guarded reports whether the processes of an address space have the handler. A child of vfork may yet be without for a moment.
func (s *Session) guarded(sp *space) bool {
	for _, p := range s.procs {
		if p.space == sp && !p.child && !p.trap.ours {
			return false
		}
	}
	return sp.guard.base != 0
}

// The kinds of breakpoints on such instructions. They are planted in this order and restored in the opposite one: while only a part of them is there,
// as in a session that is killed just then, no section begins unseen that leads to another of them.
const (
	signalCallBegins = 1 + iota // sections of the C library begin here
	signalCallAny               // what a program wants
	signalCallEnds              // sections end here, and actions are set
)

// recordSignalCalls writes the table's entries for the breakpoints that watchLateSignalCalls is going to plant.
func (t *thread) recordSignalCalls() {
	sp := t.proc.space
	for m := range sp.libCs() {
		sites := t.s.signalSites(m.File)
		for _, vaddr := range sites.inOrder() {
			if p, err := t.s.pointAt(sp, m.Addr(vaddr), m); err == nil {
				sp.record(p, t.tid)
			}
		}
	}
}

// watchLateSignalCalls is watchSignalCalls for the modules that a process has when it gets its fallback.
func (s *Session) watchLateSignalCalls(sp *space) {
	if sp.seesMasks {
		return
	}
	for m := range sp.libCs() {
		s.watchSignalCalls(sp, m)
	}
}

// libCs are the modules of an address space that have the C library in them.
func (sp *space) libCs() iter.Seq[*module.Loaded] {
	return func(yield func(*module.Loaded) bool) {
		for i := range sp.mods {
			m := &sp.mods[i]
			if m.File != nil && m.Err == nil && (isLibC(m.Path) || sp.isStatic(m)) && !yield(m) {
				return
			}
		}
	}
}

// signalSites are the addresses in a file of syscall instructions that make rt_sigprocmask and rt_sigaction calls: the former with a constant set, or
// to set a whole mask, which is how sections end, or any other.
type signalSites struct{ begins, masks, restores, actions []uint64 }

// inOrder are all of them in the order in which they are planted.
func (s *signalSites) inOrder() []uint64 {
	return slices.Concat(s.begins, s.masks, s.actions, s.restores)
}

// kind is the kind of the breakpoint at one of these, by its number.
func (s *signalSites) kind(i int) int {
	switch {
	case i < len(s.begins):
		return signalCallBegins
	case i < len(s.begins)+len(s.masks):
		return signalCallAny
	}
	return signalCallEnds
}

// signalSites finds such instructions in a file, once.
func (s *Session) signalSites(f *module.File) (sites signalSites) {
	if sites, known := s.signalCalls[f]; known {
		return sites
	}
	if abi.Of(f) != &abi.AMD64 {
		return sites
	}
	for _, text := range f.Text() {
		code, err := f.Code(text.Start, int(text.End-text.Start))
		if err != nil {
			continue
		}
		for _, at := range findSyscalls(code) {
			list := &sites.masks
			switch {
			case at.number == byte(abi.AMD64.Calls.Sigaction):
				list = &sites.actions
			case at.fixed:
				list = &sites.begins
			case at.sets:
				list = &sites.restores
			}
			if vaddr := text.Start + uint64(at.offset); isInstruction(f, vaddr) {
				*list = append(*list, vaddr)
			}
		}
	}
	if s.signalCalls == nil {
		s.signalCalls = map[*module.File]signalSites{}
	}
	s.signalCalls[f] = sites
	return sites
}

// numberedCall is a syscall instruction in code, with the number that seems to be loaded for it.
type numberedCall struct {
	offset int
	number byte
	sets   bool // it seems to be asked to set a whole mask
	fixed  bool // the set seems to be a constant
}

// findSyscalls finds what looks like syscall instructions for rt_sigprocmask and rt_sigaction: the number is loaded shortly before.
func findSyscalls(code []byte) (found []numberedCall) {
	const reach = 56 // bytes, some ten instructions
	loads := func(number uint64) []byte { return []byte{0xb8, byte(number), 0, 0, 0} }
	mask, action := loads(abi.AMD64.Calls.Procmask), loads(abi.AMD64.Calls.Sigaction)
	sets, fixed := []byte{0xbf, maskSet, 0, 0, 0}, []byte{0x48, 0x8d, 0x35} // mov $…, %edi; lea …(%rip), %rsi
	syscall := abi.AMD64.Calls.Insn
	for at := 0; ; at += len(syscall) {
		next := bytes.Index(code[at:], syscall)
		if next < 0 {
			return found
		}
		at += next
		before := code[max(0, at-reach):at]
		if i := bytes.LastIndex(before, syscall); i >= 0 {
			before = before[i:]
		}
		switch {
		case bytes.Contains(before, mask):
			found = append(found, numberedCall{at, mask[1], bytes.Contains(before, sets), bytes.Contains(before, fixed)})
		case bytes.Contains(before, action):
			found = append(found, numberedCall{offset: at, number: action[1]})
		}
	}
}

// isInstruction reports whether an instruction of a function begins at an address of a file. The function's start is known from a symbol, or
// in stripped files from the unwinding tables; without either the answer is no.
func isInstruction(f *module.File, vaddr uint64) bool {
	var in module.Range
	if fn, ok := f.FuncAt(vaddr); ok && fn.Size > 0 {
		in = module.Range{Start: fn.Addr, End: fn.Addr + fn.Size}
	} else if i := slices.IndexFunc(f.Frames(), func(r module.Range) bool { return r.Contains(vaddr) }); i >= 0 {
		in = f.Frames()[i]
	} else {
		return false
	}
	code, err := f.Code(in.Start, int(in.End-in.Start))
	if err != nil {
		return false
	}
	all, err := isa.Boundaries(f, code, in.Start)
	return err == nil && slices.Contains(all, vaddr)
}

// makeSignalCall makes the rt_sigprocmask call, or the rt_sigaction call for SIGTRAP, that the thread is about to make at a breakpoint of
// watchSignalCalls, and reports whether it did. All else is left to the kernel.
func (t *thread) makeSignalCall(p *point) bool {
	r := &t.regs
	if p.signalCall == 0 || r[x86.R10] != setBytes || r[x86.EFLAGS]&trapFlag != 0 {
		return false
	}
	of := &t.proc.arch.Calls
	switch number := r[x86.RAX]; {
	case number == of.Procmask && t.makeMaskCall():
	case number == of.Sigaction && uint32(r[x86.RDI]) == ptrace.SIGTRAP && t.makeActionCall(p):
	default:
		return false
	}
	r[x86.RAX] = 0
	*t.pc() += uint64(len(of.Insn))
	r[x86.RCX], r[x86.R11] = *t.pc(), r[x86.EFLAGS] // what the instruction leaves there
	return true
}

// makeMaskCall makes a call of rt_sigprocmask. It leaves to the kernel what only that can judge, bad arguments and filters of system calls.
// While system calls are traced the kernel makes each call, so that it is seen.
func (t *thread) makeMaskCall() bool {
	if !t.trapOpen && (!t.trapClear || t.blocksRest()) { // this hit may have unblocked it, and taken the action away
		t.restoreTrapAction()
	}
	now, next, ok := t.maskChange()
	if !ok {
		return false
	}
	if t.s.sysnames > 0 || t.statusField("Seccomp") != "0" {
		t.seeMask = t.seeMask || blocksAll(next)
		return false
	}
	if old := t.regs[x86.RDX]; old != 0 && t.proc.space.mem.WriteMemory(old, binary.LittleEndian.AppendUint64(nil, now)) != nil {
		return false
	}
	t.setOwnMask(next)
	if newly := next &^ now; newly != 0 {
		t.retarget(newly)
	}
	return true
}

// retarget has other threads look for signals of the process that this one may have been chosen for and now blocks, as the kernel does when a thread
// changes its mask itself (retarget_shared_pending in kernel/signal.c). A thread looks for them when it comes out of a stop.
func (t *thread) retarget(blocked uint64) {
	pending := hexField(t.tid, "ShdPnd") & blocked
	if pending == 0 {
		return
	}
	for _, o := range t.proc.threads {
		if o != t && !o.stopped && !o.fresh && !o.vforking && pending&^hexField(o.tid, "SigBlk") != 0 {
			ptrace.Interrupt(o.tid)
		}
	}
}

// makeActionCall makes a call of rt_sigaction for SIGTRAP: what the program wants is written to where the fallback's handler finds it, and what it
// had wanted before is what it is told. So there is no moment in which the handler is not there. A child that shares its parent's memory, as
// posix_spawn makes it, resets the actions of its parent before it executes a program, and would be without handler until then: it keeps
// the handler, which execve resets anyway.
func (t *thread) makeActionCall(p *point) bool {
	act, old, sp := t.regs[x86.RSI], t.regs[x86.RDX], t.proc.space
	if t.proc.unguarded() && act != 0 {
		t.protectAtHit(p)
	}
	tr := &t.proc.trap
	if sp.guard.base == 0 || !tr.ours {
		tr.set = true // it is asked for at the next hit
		return false
	}
	was := tr.own
	if act != 0 {
		var text [fallback.ActionSize]byte
		if sp.mem.ReadMemory(act, text[:]) != nil {
			return false
		}
		own := fallback.ParseAction(text[:], t.proc.arch.WordSize())
		switch {
		case sp.users > 1 && own.Handler != fallback.Default:
			return false
		case sp.users > 1:
			tr.own = own
		case t.wantAtCall(own) != nil:
			return false
		}
	}
	return old == 0 || sp.mem.WriteMemory(old, was.Bytes(t.proc.arch.WordSize())) == nil
}

// maskChange is the mask that the program believes the thread to have and what the call that it is about to make wants instead; ok is false
// when the kernel would refuse the call.
func (t *thread) maskChange() (now, next uint64, ok bool) {
	if now, ok = t.ownMask(); !ok || t.regs[x86.RSI] == 0 {
		return now, now, ok
	}
	var set [setBytes]byte
	if t.proc.space.mem.ReadMemory(t.regs[x86.RSI], set[:]) != nil {
		return now, now, false
	}
	next, ok = changedMask(uint32(t.regs[x86.RDI]), now, binary.LittleEndian.Uint64(set[:]))
	return now, next, ok
}

// changedMask is what rt_sigprocmask makes of a mask. SIGKILL and SIGSTOP are never blocked.
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

// ownMask is the mask that the program believes the thread to have.
func (t *thread) ownMask() (mask uint64, ok bool) {
	mask = t.mask
	if !t.masked && ptrace.GetSigMask(t.tid, &mask) != 0 {
		return 0, false
	}
	if t.trapOpen && mask&synchronous == rest {
		mask |= trapBit
	}
	return mask, true
}

// setOwnMask gives a stopped thread the mask that the program wants, with SIGTRAP left unblocked when it blocks all.
func (t *thread) setOwnMask(mask uint64) {
	if t.trapOpen = blocksAll(mask) && !t.trapMeant && t.proc.space.seesMasks; t.trapOpen {
		mask &^= trapBit
	}
	t.trapMeant = t.trapMeant && blocksAll(mask)
	t.trapClear = mask&trapBit == 0
	if t.masked {
		t.mask = mask
		t.noteKept(mask)
		return
	}
	ptrace.SetSigMask(t.tid, &mask)
}

// openTrap unblocks SIGTRAP in a stopped thread that blocks all signals.
func (t *thread) openTrap() {
	t.openDue = false
	if mask, ok := t.ownMask(); ok && blocksAll(mask) && t.proc.space.seesMasks {
		t.setOwnMask(mask)
	}
}

// leaveOpen leaves SIGTRAP unblocked in a thread whose hit has unblocked it, and reports whether it has: the thread blocks all other signals,
// and no SIGTRAP waits for it that somebody sent. Precondition: noteMerged has been called.
func (t *thread) leaveOpen() bool {
	t.trapOpen = t.proc.space.seesMasks && t.blocksRest() && !t.trapMeant && len(t.merged) == 0
	return t.trapOpen
}

// openBlockers unblocks SIGTRAP in the threads of certain address spaces that are in a section which blocks all signals, and began it before the
// engine saw that. It is called before breakpoints are written. Threads that are in a stop which has not been dealt with are among them, new ones
// too that their makers' stops have yet to tell of, and children that share the memory until they execute a program. Those that cannot be stopped without noticing it are dealt with at their next stop.
func (s *Session) openBlockers(in func(*space) bool) {
	for _, p := range s.procs {
		if !in(p.space) || !p.space.seesMasks {
			continue
		}
		for _, tid := range procfs.Threads(p.pid) {
			if !blocksAll(hexField(tid, "SigBlk")) {
				continue
			}
			s.openBlocker(tid)
			for _, child := range procfs.ChildrenOf(tid) {
				if shares, known := ptrace.SharesMemory(tid, child); known && shares && blocksAll(hexField(child, "SigBlk")) {
					s.openBlocker(child)
				}
			}
		}
	}
}

// openBlocker is openBlockers for a thread that blocks all signals, which may not be known yet.
func (s *Session) openBlocker(tid int) {
	t := s.threads[tid]
	switch {
	case t != nil && t.stopped && !t.listening:
		t.openTrap()
	case openStopped(tid):
		if t != nil {
			t.trapOpen, t.trapClear = true, true
		}
	case t != nil:
		if t.openDue = true; t.interruptable() {
			s.withStopped(t, t.openTrap)
		}
	default:
		openNew(tid)
	}
}

// newPatience is how long a new thread is given to come to its first stop.
const newPatience = 100 * time.Millisecond

// openNew unblocks SIGTRAP in a new thread that blocks all signals and is on its way to its first stop.
func openNew(tid int) {
	for end := time.Now().Add(newPatience); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		if procfs.Ended(tid) || !blocksAll(hexField(tid, "SigBlk")) || openStopped(tid) {
			return
		}
	}
}

// openStopped unblocks SIGTRAP in a thread that blocks all signals and is in a stop, whether that has been dealt with or not.
func openStopped(tid int) bool {
	var mask uint64
	if ptrace.GetSigMask(tid, &mask) != 0 || !blocksAll(mask) {
		return false
	}
	mask &^= trapBit
	return ptrace.SetSigMask(tid, &mask) == 0
}

// closeTrap blocks SIGTRAP again in a stopped thread that the program believes to block it.
func (t *thread) closeTrap() {
	if !t.trapOpen {
		return
	}
	if mask, ok := t.ownMask(); ok && blocksAll(mask) {
		t.blockTrap()
	}
	t.trapOpen = false
}

// stillOpen notices that a section which blocks all signals has ended by a way that is not watched.
func (t *thread) stillOpen() bool {
	if t.trapOpen && !t.blocksRest() {
		t.trapOpen = false
	}
	return t.trapOpen
}

// waitsForTrap keeps a SIGTRAP that somebody sent from a thread that believes to block it, and reports whether it has. The signal waits in
// the kernel, blocked, as the program wants; the section is not opened again.
func (t *thread) waitsForTrap() bool {
	if !t.stillOpen() || t.trapCode() > 0 || t.info.Signal() != ptrace.SIGTRAP {
		return false
	}
	t.closeTrap()
	t.trapMeant = true
	info := t.info
	if ptrace.SendThread(t.proc.pid, t.tid, ptrace.SIGTRAP) == 0 {
		t.resent = append(t.resent, info)
	}
	t.resume(0)
	return true
}
