package engine

import (
	"iter"
	"time"

	"gotap/engine/abi"
	"gotap/engine/crashsafe"
	"gotap/engine/crashsafe/fallback"
	"gotap/engine/linux/ptrace"
	"gotap/engine/space"
	"gotap/engine/threadstate"
	"gotap/engine/trampoline"
	"gotap/engine/watchpoint"
)

// process is a traced thread group. Tracing thread only.
type process struct {
	s       *Session
	pid     int
	space   *space.Space
	arch    *abi.ABI
	threads map[int]*thread
	// unprobed means that no program runs for it. It is traced only because it shares memory that holds breakpoints
	// with a probed process, or until the breakpoints are removed from its own memory.
	unprobed bool
	launched bool
	awaited  bool // an attach waits for its fallback
	child    bool // another process of the session created it
	exec     bool // it has called exec since it was created: its image is its own
	watches  watchpoint.List
	guard    crashsafe.Process
	native   trampoline.Process
}

// ABI, Memory and Region implement, with Pid, tracee.Process.

func (p *process) ABI() *abi.ABI            { return p.arch }
func (p *process) Memory() *ptrace.Memory   { return p.space.Mem }
func (p *process) Region() *fallback.Region { return &p.space.Guard.Region }

// Space, Threads and IsChild implement crashsafe.Program, with Pid and ABI.

func (p *process) Space() *crashsafe.Space { return &p.space.Guard }
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

// newProcess makes a process of a thread group that was just attached to, or created.
func (s *Session) newProcess(pid int, sp *space.Space, a *abi.ABI) *process {
	p := &process{s: s, pid: pid, space: sp, arch: a, threads: map[int]*thread{}}
	p.native = trampoline.Process{Pid: pid, Space: sp, On: p}
	p.guard.Init(p)
	sp.Users++
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
	e := Event{Kind: EventExit}
	e.Status, _ = st.Exited()
	e.Signal, _ = st.Killed()
	e.Dumped = st.Dumped()
	if t.Tid != p.pid && len(p.threads) > 0 {
		if !p.unprobed {
			e.Kind, e.Pid, e.Tid = EventThreadEnd, p.pid, t.Tid
			s.notify(e)
		}
		return
	}
	s.processEnded(p, e)
}

// forget removes all state of a thread.
func (t *thread) forget() {
	s := t.s
	s.affinity.Gone(t.Tid)
	t.calls.Drop()
	t.native.Drop()
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
	t.view.CloseFiles()
	s.sampler.Forget(&t.sample)
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
