package engine

import (
	"fmt"
	"slices"

	"gotap/engine/abi"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/linux/spare"
	"gotap/engine/space"
	"gotap/engine/threadstate"
	"gotap/engine/tracee"
)

// arrivals takes in new threads and processes, in whatever order the kernel reports them.
type arrivals struct {
	s        *Session
	reserve  spare.Files
	children children
}

// options are set on every tracee. The kernel always traces new threads and children, whatever the session follows: a
// child begins with a copy of its parent's memory including the breakpoints, and a thread shares that memory. Without a
// tracer the first breakpoint they hit would kill them. Those that the session does not follow are detached as soon as
// they cannot hit a breakpoint.
const options = ptrace.OptSysGood | ptrace.OptFork | ptrace.OptVfork | ptrace.OptClone | ptrace.OptExec | ptrace.OptVforkDone

// Flags of clone(2).
const (
	cloneVM     = 0x100
	cloneThread = 0x10000
	cloneClear  = 1 << 32 // CLONE_CLEAR_SIGHAND
)

// forked handles a thread's stop for a child it has created.
func (t *thread) forked(ev ptrace.Event) {
	msg, e := ptrace.EventMsg(t.Tid)
	if e != 0 {
		return // killed
	}
	child := int(msg)
	thread, shares := t.childKind(ev, child)
	if (thread || shares) && t.native.Counts() {
		flags, _ := t.cloneFlags()
		t.native.Bears(child, flags, ev == ptrace.EventVfork)
	}
	switch {
	case thread:
		t.s.arrivals.addThread(t, child)
	default:
		t.s.arrivals.addChild(t, child, shares)
		t.vforking = ev == ptrace.EventVfork
	}
	t.resume(0)
}

// childKind reports what a new child is: a thread of the same process, or a process that may share the memory. The
// event alone does not show it. The flags of the system call that the parent is still in do.
func (t *thread) childKind(ev ptrace.Event, child int) (thread, shares bool) {
	if flags, ok := t.cloneFlags(); ok {
		return flags&cloneThread != 0, flags&cloneVM != 0
	}
	if procfs.Status(child, "Tgid") == procfs.Status(t.Tid, "Tgid") {
		return true, true
	}
	if shares, ok := ptrace.SharesMemory(t.Tid, child); ok {
		return false, shares
	}
	return false, ev == ptrace.EventVfork
}

// cloneFlags reads the flags of the fork, vfork, clone or clone3 call that the thread is in.
func (t *thread) cloneFlags() (flags uint64, ok bool) {
	if !t.GetRegs() {
		return 0, false
	}
	of := &t.proc.arch.Calls
	first := t.proc.arch.SyscallArg(0, &t.Regs)
	switch t.proc.arch.SyscallNumber(&t.Regs) {
	case of.Fork:
		return 0, true
	case of.Vfork:
		return cloneVM, true
	case of.Clone:
		return first, true
	case of.Clone3:
		var p [8]byte
		if t.proc.space.Mem.ReadMemory(first, p[:]) != nil {
			return 0, false
		}
		for i := range p {
			flags |= uint64(p[i]) << (8 * i)
		}
		return flags, true
	}
	return 0, false
}

// clearsHandlers reports whether the child that the thread is creating begins without signal handlers.
func (t *thread) clearsHandlers() bool {
	flags, ok := t.cloneFlags()
	return ok && flags&cloneClear != 0 && t.proc.arch.SyscallNumber(&t.Regs) == t.proc.arch.Calls.Clone3
}

// addThread adds a new thread to a process.
func (n *arrivals) addThread(parent *thread, tid int) {
	if n.s.threads[tid] != nil {
		return
	}
	t := n.s.newThread(parent.proc, tid, threadstate.Fresh)
	t.guard.Inherit(&parent.guard)
	t.proc.guard.Check(parent.Tid) // Go programs have set their handlers by now, without the C library
	t.unprobed = parent.unprobed || n.s.cfg.Follow == FollowNone
	if !t.proc.unprobed && n.s.cfg.Follow != FollowNone {
		n.s.notify(Event{Kind: EventThread, Pid: t.proc.pid, Tid: parent.Tid, Child: tid})
	}
	n.takeEarly(tid)
}

// addChild adds a new process.
func (n *arrivals) addChild(parent *thread, pid int, shares bool) {
	if n.s.procs[pid] != nil {
		return
	}
	sp := parent.proc.space
	if !shares {
		var err error
		if sp, err = n.s.openSpace(pid, parent.proc.arch); err != nil {
			n.letUnopenedGo(parent, pid, err)
			return
		}
	}
	n.newChild(parent.proc, parent, pid, sp, n.s.cfg.Follow != FollowChildren)
	n.takeEarly(pid)
}

// newChild makes a process of another process's child, in the child's address space: the other's space or a copy of it.
// maker is the thread that created the child and is stopped for that. It is nil if no thread is left to report the
// child.
func (n *arrivals) newChild(from *process, maker *thread, pid int, sp *space.Space, unprobed bool) {
	shares := sp == from.space
	p := n.s.newProcess(pid, sp, from.arch)
	p.child = true
	p.unprobed = from.unprobed || unprobed
	t := n.s.newThread(p, pid, threadstate.Fresh)
	if maker != nil {
		t.guard.Inherit(&maker.guard)
	}
	if !shares {
		n.s.patcher.CopyPoints(from.space, sp)
	}
	if !shares && maker != nil {
		maker.calls.Fork(&t.calls, sp.AtPoint)
		maker.native.Fork(&t.native)
	}
	if !p.unprobed {
		n.s.names.Fork(from.pid, pid)
		p.watches = slices.Clone(from.watches) // a copy, because probes are removed from each process separately
	}
	p.guard.Fork(&from.guard, maker != nil && maker.clearsHandlers(), shares)
	if !from.unprobed {
		by := from.pid
		if maker != nil {
			by = maker.Tid
		}
		n.s.notify(Event{Kind: EventFork, Pid: from.pid, Tid: by, Child: pid})
	}
	n.s.passed(tracee.InFork)
}

// takeEarly queues a first stop that came before the parent's stop.
func (n *arrivals) takeEarly(tid int) {
	if e, ok := n.children.early[tid]; ok {
		delete(n.children.early, tid)
		n.s.stops.backlog = append(n.s.stops.backlog, stop{tid, e.status})
	}
}

// firstStop handles the first stop of a new thread or process, before it has run anything.
func (t *thread) firstStop(st ptrace.Status) {
	s := t.s
	t.watch.armDebugRegs()
	s.passed(tracee.InFork)
	t.native.Born()
	if !s.life.closing {
		t.guard.Unblock() // its creator may have been in a section that blocks all signals
	}
	if t.proc.unprobed && t.proc.space.Users == 1 && !t.launchedFrom() {
		s.arrivals.abandon(t)
		return
	}
	if !st.GroupStop() {
		t.protection.protectNew()
	}
	if t.proc.guard.Due() && !st.GroupStop() && t.GetRegs() {
		t.guard.Restore() // before it hits a breakpoint
	}
	s.patcher.SettleChild(t.proc.space)
	if st.GroupStop() { // its parent was stopping when it was created
		t.event(st)
		return
	}
	t.resume(0)
}

// launchedFrom reports whether the process has other traced threads, so that it cannot be detached alone.
func (t *thread) launchedFrom() bool { return len(t.proc.threads) > 1 }

// abandon detaches from a process that the session does not follow, and leaves its memory as if there had never been a
// probe.
func (n *arrivals) abandon(t *thread) {
	p := t.proc
	if err := n.s.patcher.RestoreAll(p.space); err != nil {
		n.s.warn(err.Error())
	}
	n.s.warnOf(n.s.ClearMarks(p.AddressSpace()))
	t.guard.Unprotect()
	t.guard.Close()
	ptrace.Detach(t.Tid, 0)
	t.forget()
	n.s.dropProcess(p)
	n.s.dropSpace(p.space)
}

// execed handles a thread's stop after a successful exec. The thread is the only one left of its process, has its first
// thread's ID, and runs a new image without our breakpoints.
func (s *Session) execed(t *thread) {
	s.affinity.Replaced()
	p := t.proc
	former, _ := ptrace.EventMsg(t.Tid)
	unprobed := t.unprobed
	if o := s.threads[int(former)]; o != nil && o != t && o.proc == p {
		unprobed = o.unprobed
		o.forget()
	}
	for _, o := range p.threads {
		if o != t {
			o.forget()
		}
	}
	if p.space.IsOf(t.Tid) {
		p.exec = true
		s.loading.rescan(p)
		t.resume(0)
		return
	}
	t.reset()
	t.unprobed = unprobed
	s.dropSpace(p.space)
	if p.unprobed && s.cfg.Follow != FollowChildren {
		s.arrivals.unfollow(t)
		return
	}
	s.newImage(t)
	if t.state.InStop() {
		t.resume(0)
	}
}

// reset discards what a thread was doing in its former image.
func (t *thread) reset() {
	t.calls.Drop()
	t.native.Drop()
	t.calling.Replaced()
	t.h.Drop()
	t.guard.NewImage()
	t.proc.watches = nil
	t.queue.Reset()
	t.exec.Reset()
	t.protection.unarmed, t.vforking = false, false
	t.watch.Replaced()
}

// unfollow detaches from a process that no longer shares its memory with a probed one.
func (n *arrivals) unfollow(t *thread) {
	p := t.proc
	p.setSpace(n.s.patcher.NewSpace(p.space.Mem, p.space.ABI))
	p.space.Users = 1
	ptrace.Detach(t.Tid, 0)
	t.forget()
	n.s.dropProcess(p)
	n.s.checkDone()
}

// newImage sets up the image that a process has just started to run, and arms all probes in it. An error means that its
// memory cannot be opened, so that it cannot be probed at all. The user is warned about the error, unless it is about
// the first image of a launched process. If the ABI is unknown or not supported, newImage warns, makes the process
// unprobed, and returns no error.
func (s *Session) newImage(t *thread) error {
	p := t.proc
	first := p.launched && !p.exec
	p.exec = true
	p.guard.Init(p)
	a, err := abi.OfProcess(t.Tid)
	if err != nil {
		a = p.arch
		s.warn(fmt.Sprintf("cannot probe process %d: %v", p.pid, err))
		p.unprobed = true
	}
	p.arch = a
	sp, err := s.openSpace(t.Tid, a)
	if err != nil {
		if !first {
			s.warn(err.Error())
		}
		sp = s.patcher.NewSpace(p.space.Mem, a)
	}
	sp.Users++
	p.setSpace(sp)
	if !p.unprobed {
		s.notify(Event{Kind: EventExec, Pid: p.pid, Tid: t.Tid, Path: procfs.Link(p.pid, "exe")})
	}
	switch {
	case err != nil || p.unprobed:
	case first && s.cfg.LateFallback && procfs.SignalSet(t.Tid, "SigBlk")&ptrace.TrapBit == 0:
		p.protectLater()
	case !first && s.others.sysnames > 0:
		t.protection.unarmed = true
	case (first || t.protection.leaveExec()) && t.GetRegs():
		t.guard.Protect()
	}
	s.loading.rescan(p)
	return err
}
