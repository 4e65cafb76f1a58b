package engine

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"

	"gotap/arch/x86"
	"gotap/engine/abi"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/image/module"
	"gotap/engine/isa"
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
//     at the first hit. That hit is repaired as trapaction.go describes, and SIGTRAP stays unblocked from then on.
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
func (y *guards) watchSignalCalls(sp *space, m *module.Loaded) (found signalSites) {
	if !y.guarded(sp) {
		return found
	}
	sites := y.signalSites(m.File)
	if len(sites.begins)+len(sites.masks) > 0 {
		// A thread that is inside a section now would hit the first of these breakpoints with SIGTRAP blocked.
		in := func(o *space) bool { return o == sp }
		defer y.s.world.releaseWorld(y.s.world.holdRunning(in))
		sp.seesMasks = true
		y.openBlockers(in)
	}
	for i, vaddr := range sites.inOrder() {
		y.watchInternally(sp, m, vaddr, func(*thread, *point) bool { return false })
		if p := sp.points[m.Addr(vaddr)]; p != nil {
			p.signalCall = sites.kind(i)
		}
	}
	return sites
}

// guarded reports whether the processes of an address space have the handler. A child of vfork may still lack it for a
// moment, so children are not checked.
func (y *guards) guarded(sp *space) bool {
	for _, p := range y.s.procs {
		if p.space == sp && !p.child && !p.trap.ours {
			return false
		}
	}
	return sp.guard.Base != 0
}

// Kinds of breakpoints on such instructions. They are planted in this order and removed in the reverse order. While
// only some of them are planted, as when the session is killed at that moment, no section that leads to another of them
// begins unseen.
const (
	signalCallBegins = 1 + iota // a section of the C library begins
	signalCallAny               // a call on behalf of the program
	signalCallEnds              // a section ends, or an action is set
)

// recordSignalCalls adds table entries for the breakpoints that watchLateSignalCalls will plant.
func (x *sigtrap) recordSignalCalls() {
	sp := x.t.proc.space
	for m := range sp.libCs() {
		sites := x.t.s.guards.signalSites(m.File)
		for _, vaddr := range sites.inOrder() {
			if p, err := x.t.s.patcher.pointAt(sp, m.Addr(vaddr), m); err == nil {
				sp.record(p, x.t.Tid)
			}
		}
	}
}

// watchLateSignalCalls calls watchSignalCalls for the modules that are already loaded when a process gets its fallback.
func (y *guards) watchLateSignalCalls(sp *space) {
	if sp.seesMasks {
		return
	}
	for m := range sp.libCs() {
		y.watchSignalCalls(sp, m)
	}
}

// libCs yields the modules of an address space that contain the C library.
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

// signalSites holds the addresses in a file of syscall instructions that call rt_sigprocmask and rt_sigaction. begins
// are rt_sigprocmask calls with a constant set, restores those that set a whole mask, which is how sections end, and
// masks all others. actions are the rt_sigaction calls.
type signalSites struct{ begins, masks, restores, actions []uint64 }

// inOrder returns all sites in the order in which they are planted.
func (s *signalSites) inOrder() []uint64 {
	return slices.Concat(s.begins, s.masks, s.actions, s.restores)
}

// kind returns the kind of the breakpoint at index i of inOrder.
func (s *signalSites) kind(i int) int {
	switch {
	case i < len(s.begins):
		return signalCallBegins
	case i < len(s.begins)+len(s.masks):
		return signalCallAny
	}
	return signalCallEnds
}

// signalSites finds the call sites in a file. It caches the result.
func (y *guards) signalSites(f *module.File) (sites signalSites) {
	if sites, known := y.signalCalls[f]; known {
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
	if y.signalCalls == nil {
		y.signalCalls = map[*module.File]signalSites{}
	}
	y.signalCalls[f] = sites
	return sites
}

// numberedCall is a syscall instruction in code, with the system call number that appears to be loaded for it.
type numberedCall struct {
	offset int
	number byte
	sets   bool // it appears to set a whole mask
	fixed  bool // the set appears to be a constant
}

// findSyscalls finds byte sequences that look like syscall instructions for rt_sigprocmask and rt_sigaction: the number
// is loaded shortly before.
func findSyscalls(code []byte) (found []numberedCall) {
	const reach = 56 // bytes, about ten instructions
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

// isInstruction reports whether an instruction of a function begins at an address of a file. It takes the function's
// start from a symbol, or in stripped files from the unwinding tables. Without either it returns false.
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

// makeSignalCall makes the call that the thread is about to make at a breakpoint of watchSignalCalls, and reports
// whether it did. It makes rt_sigprocmask calls, and rt_sigaction calls for SIGTRAP. The kernel makes all others.
func (x *sigtrap) makeSignalCall(p *point) bool {
	r := &x.t.Regs
	if p.signalCall == 0 || r[x86.R10] != setBytes || r[x86.EFLAGS]&tracee.TrapFlag != 0 {
		return false
	}
	of := &x.t.proc.arch.Calls
	switch number := r[x86.RAX]; {
	case number == of.Procmask && x.makeMaskCall():
	case number == of.Sigaction && uint32(r[x86.RDI]) == ptrace.SIGTRAP && x.makeActionCall(p):
	default:
		return false
	}
	r[x86.RAX] = 0
	*x.t.PC() += uint64(len(of.Insn))
	r[x86.RCX], r[x86.R11] = *x.t.PC(), r[x86.EFLAGS] // what the instruction leaves there
	return true
}

// makeMaskCall makes an rt_sigprocmask call. It leaves to the kernel the cases that only the kernel can judge: bad
// arguments and system call filters. While system calls are traced, the kernel makes every call, so that it is seen.
func (x *sigtrap) makeMaskCall() bool {
	if !x.open && (!x.clear || x.blocksRest()) { // this hit may have unblocked SIGTRAP and reset the action
		x.restoreTrapAction()
	}
	now, next, ok := x.maskChange()
	if !ok {
		return false
	}
	if x.t.s.others.sysnames > 0 || x.t.Status("Seccomp") != "0" {
		x.seeMask = x.seeMask || blocksAll(next)
		return false
	}
	if old := x.t.Regs[x86.RDX]; old != 0 && x.t.proc.space.mem.WriteMemory(old, binary.LittleEndian.AppendUint64(nil, now)) != nil {
		return false
	}
	x.setOwnMask(next)
	if newly := next &^ now; newly != 0 {
		x.retarget(newly)
	}
	return true
}

// retarget makes other threads check for process-wide signals that the kernel may have assigned to this thread and that
// it now blocks. The kernel does the same when a thread changes its own mask (retarget_shared_pending in
// kernel/signal.c). A thread checks for them when it leaves a stop.
func (x *sigtrap) retarget(blocked uint64) {
	pending := procfs.SignalSet(x.t.Tid, "ShdPnd") & blocked
	if pending == 0 {
		return
	}
	for _, o := range x.t.proc.threads {
		if o != x.t && o.mayRun() && pending&^procfs.SignalSet(o.Tid, "SigBlk") != 0 {
			ptrace.Interrupt(o.Tid)
		}
	}
}

// makeActionCall makes an rt_sigaction call for SIGTRAP. It stores the program's action where the fallback's handler
// finds it, and reports the program's previous action. So the handler is installed at every moment. A child that shares
// its parent's memory, as posix_spawn creates it, resets its parent's actions before it executes a program, and would
// have no handler until then. It keeps the handler, which execve resets anyway.
func (x *sigtrap) makeActionCall(p *point) bool {
	act, old, sp := x.t.Regs[x86.RSI], x.t.Regs[x86.RDX], x.t.proc.space
	if x.t.proc.unguarded() && act != 0 {
		x.t.protection.protectAtHit(p)
	}
	tr := &x.t.proc.trap
	if sp.guard.Base == 0 || !tr.ours {
		tr.set = true // the next hit queries it
		return false
	}
	was := tr.own
	if act != 0 {
		var text [fallback.ActionSize]byte
		if sp.mem.ReadMemory(act, text[:]) != nil {
			return false
		}
		own := fallback.ParseAction(text[:], x.t.proc.arch.WordSize())
		switch {
		case sp.users > 1 && own.Handler != fallback.Default:
			return false
		case sp.users > 1:
			tr.own = own
		case x.wantAtCall(own) != nil:
			return false
		}
	}
	return old == 0 || sp.mem.WriteMemory(old, was.Bytes(x.t.proc.arch.WordSize())) == nil
}

// maskChange returns the mask that the program believes the thread has, and the mask that the pending call asks for. ok
// is false if the kernel would refuse the call.
func (x *sigtrap) maskChange() (now, next uint64, ok bool) {
	if now, ok = x.ownMask(); !ok || x.t.Regs[x86.RSI] == 0 {
		return now, now, ok
	}
	var set [setBytes]byte
	if x.t.proc.space.mem.ReadMemory(x.t.Regs[x86.RSI], set[:]) != nil {
		return now, now, false
	}
	next, ok = changedMask(uint32(x.t.Regs[x86.RDI]), now, binary.LittleEndian.Uint64(set[:]))
	return now, next, ok
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
func (x *sigtrap) ownMask() (mask uint64, ok bool) {
	if mask, ok = x.t.queue.Mask(); !ok {
		return 0, false
	}
	if x.open && mask&ptrace.Synchronous == rest {
		mask |= ptrace.TrapBit
	}
	return mask, true
}

// setOwnMask gives a stopped thread the mask that the program wants. If the mask blocks all signals, SIGTRAP stays
// unblocked, unless the program blocks it on purpose (meant) or the space does not see masks.
func (x *sigtrap) setOwnMask(mask uint64) {
	if x.open = blocksAll(mask) && !x.meant && x.t.proc.space.seesMasks; x.open {
		mask &^= ptrace.TrapBit
	}
	x.meant = x.meant && blocksAll(mask)
	x.clear = mask&ptrace.TrapBit == 0
	x.t.queue.SetMask(mask)
}
