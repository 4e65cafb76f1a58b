package engine

import (
	"iter"
	"time"

	"gotap/engine/abi"
	"gotap/engine/crashsafe"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/emulation"
	"gotap/engine/image/module"
	"gotap/engine/inject"
	"gotap/engine/inline"
	"gotap/engine/isa"
	"gotap/engine/linux/ptrace"
	"gotap/engine/semaphore"
	"gotap/engine/threadstate"
	"gotap/engine/watchpoint"
)

// process is a traced thread group. Tracing thread only.
type process struct {
	s       *Session
	pid     int
	space   *space
	arch    *abi.ABI
	threads map[int]*thread
	// unprobed means that no program runs for it. It is traced only because it shares memory that holds breakpoints with
	// a probed process, or until the breakpoints are removed from its own memory.
	unprobed bool
	launched bool
	awaited  bool // an attach waits for its fallback
	child    bool // another process of the session created it
	exec     bool // it has called exec since it was created: its image is its own
	watches  watchpoint.List
	guard    crashsafe.Process
	actions  faultActions
}

// ABI, Memory and Region implement, with Pid, tracee.Process.

func (p *process) ABI() *abi.ABI            { return p.arch }
func (p *process) Memory() *ptrace.Memory   { return p.space.mem }
func (p *process) Region() *fallback.Region { return &p.space.guard.Region }

// Space, Threads and IsChild implement crashsafe.Program, with Pid and ABI.

func (p *process) Space() *crashsafe.Space { return &p.space.guard }
func (p *process) IsChild() bool           { return p.child }
func (p *process) Threads() iter.Seq[*crashsafe.Thread] {
	return func(yield func(*crashsafe.Thread) bool) {
		for _, t := range p.threads {
			if !yield(&t.guard) {
				return
			}
		}
	}
}

// space is an address space with the breakpoints in it. Processes share a space between vfork and exec, and after a
// clone with CLONE_VM.
type space struct {
	mem    *ptrace.Memory
	arch   *abi.ABI
	users  int // number of processes
	points map[uint64]*point
	lo, hi uint64 // all points are at or above lo and below hi

	mods       []module.Loaded
	loader     loaderWatch
	slots      slotPools
	jumps      spaceJumps
	calls      spaceCalls // that native code follows
	reads      spaceReads // what native code reads
	guard      crashsafe.Space
	exclusives isa.Exclusives // of the present code
	gadgetAt   inject.Gadget  // where system calls of probed places are made; zero: not known yet
	errno      errnoFunction
	vdso       vdso
	sems       semaphore.Counts // of probes on marks
	keyed      emulation.Keyed
	unpatched  bool // temporarily without breakpoints: see traceme.go
	fresh      bool // of a child that has not come to its first stop: nothing is planted in it
	sealed     bool // nothing may be mapped into it: seccomp, or an attempt failed
}

// newProcess makes a process of a thread group that was just attached to, or created.
func (s *Session) newProcess(pid int, sp *space, a *abi.ABI) *process {
	p := &process{s: s, pid: pid, space: sp, arch: a, threads: map[int]*thread{}}
	p.guard.Init(p)
	sp.users++
	s.procs[pid] = p
	s.life.sawOne = true
	return p
}

// dropProcess discards a process that has ended or is no longer traced. It leaves its threads and its space to the
// caller.
func (s *Session) dropProcess(p *process) {
	delete(s.procs, p.pid)
	s.names.End(p.pid)
}

// openSpace opens the address space of a new image, using one of its threads.
func (s *Session) openSpace(tid int, a *abi.ABI) (*space, error) {
	mem, err := ptrace.OpenMemory(tid)
	if err != nil {
		return nil, err
	}
	return newSpace(s, mem, a), nil
}

// newSpace returns an address space without breakpoints.
func newSpace(s *Session, mem *ptrace.Memory, a *abi.ABI) *space {
	sp := &space{mem: mem, arch: a, points: map[uint64]*point{}, lo: ^uint64(0)}
	sp.guard.Init(spaceHost{s, sp})
	return sp
}

// unopened returns the address space of a process whose image is not known yet. Nothing can be read there.
func unopened(s *Session) *space { return newSpace(s, &ptrace.Memory{}, nil) }

// dropSpace releases an address space for one process.
func (s *Session) dropSpace(sp *space) {
	if sp.users--; sp.users > 0 {
		return
	}
	for _, p := range sp.points {
		if p.planted {
			p.planted = false
			s.patcher.points -= p.Counted()
		}
	}
	s.patcher.calls.dropOwners(sp)
	s.patcher.dropRanges(sp)
	sp.mem.Close()
}

// read fills p from addr as the program would see it without breakpoints. It returns how many bytes could be read.
func (sp *space) read(addr uint64, p []byte) int {
	n := sp.mem.ReadAvailable(addr, p)
	if addr < sp.hi && addr+uint64(n) > sp.lo {
		sp.mask(addr, p[:n])
	}
	return n
}

// mask puts the original bytes into what was read at addr.
func (sp *space) mask(addr uint64, p []byte) {
	if len(sp.points) < len(p) {
		for _, pt := range sp.points {
			pt.maskIn(addr, p)
		}
		return
	}
	for at := addr - (longestTrap - 1); at != addr+uint64(len(p)); at++ {
		if pt := sp.points[at]; pt != nil {
			pt.maskIn(addr, p)
		}
		if pt := sp.jumps.starts[at]; pt != nil && pt.addr != at {
			pt.maskIn(addr, p)
		}
	}
}

// longestTrap is the length of the longest breakpoint or jump.
const longestTrap = inline.JumpSize

// maskIn puts the original bytes of one point into what was read at addr, as far as they overlap.
func (p *point) maskIn(addr uint64, read []byte) {
	if !p.planted {
		return
	}
	overlay(addr, read, p.addr, p.orig)
	if p.jump.in {
		overlay(addr, read, p.jump.code.Addr, p.jump.code.Orig[:])
	}
}

// overlay replaces those bytes of what was read at addr that lie at the address of orig.
func overlay(addr uint64, read []byte, at uint64, orig []byte) {
	switch {
	case at+uint64(len(orig)) <= addr || at >= addr+uint64(len(read)):
	case at < addr:
		copy(read, orig[addr-at:])
	default:
		copy(read[at-addr:], orig)
	}
}

// code reads up to n bytes of code at addr, without our breakpoints and regardless of the page protection.
func (sp *space) code(addr uint64, n int) []byte {
	p := make([]byte, n)
	p = p[:sp.mem.PeekAvailable(addr, p)]
	sp.mask(addr, p)
	return p
}

// anyStopped returns a stopped thread of the process, or nil.
func (p *process) anyStopped() *thread {
	for _, t := range p.threads {
		if t.state.InStop() {
			return t
		}
	}
	return nil
}

// threadEnded handles the end of a thread. The end of the first thread is the end of the process. If the process was
// attached to after its first thread had ended, the end of the last thread is. Its status is the same unless the
// threads ended one by one.
func (s *Session) threadEnded(t *thread, st ptrace.Status) {
	p := t.proc
	t.forget()
	if t.Tid != p.pid && len(p.threads) > 0 {
		return
	}
	e := Event{Kind: EventExit}
	e.Status, _ = st.Exited()
	e.Signal, _ = st.Killed()
	e.Dumped = st.Dumped()
	s.processEnded(p, e)
}

// forget removes all state of a thread.
func (t *thread) forget() {
	s := t.s
	s.affinity.Gone(t.Tid)
	t.calls.Drop()
	t.dropStack()
	t.calling.Drop()
	t.h.Drop()
	if t.ticket != 0 {
		delete(s.tickets, t.ticket)
	}
	delete(s.threads, t.Tid)
	delete(t.proc.threads, t.Tid)
	t.state.To(threadstate.Gone)
	if s.launching.settling.t == t {
		s.launching.settleEnd()
	}
	t.view.closeFiles()
	s.sampler.forget(t)
	if s.cfg.Arena != nil {
		s.cfg.Arena.DropThread(uint32(t.Tid))
	}
}

// processEnded reports the end of a process and discards its state.
func (s *Session) processEnded(p *process, e Event) {
	if s.procs[p.pid] != p {
		return
	}
	for _, t := range p.threads {
		t.forget()
	}
	if len(s.procs) == 1 {
		s.Remember()
	}
	s.dropProcess(p)
	s.dropSpace(p.space)
	if !p.unprobed {
		e.Pid, e.Tid = p.pid, p.pid
		s.notify(e)
	}
	s.arrivals.children.ended(p)
	s.arrivals.takeOrphans(time.Time{})
	s.checkDone()
}
