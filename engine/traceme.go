package engine

import (
	"gotap/engine/image/module"
	"gotap/engine/space"
)

// Debuggers as targets. A process has only one tracer. So a child that asks to be traced by its parent (PTRACE_TRACEME,
// before it executes the program to debug) would be refused, and the debugger would be useless. Instead, the engine
// detaches from the child when it enters the C library's function for that. The debugger works, and the process it
// debugs has no probes.
//
// After vfork the child uses its parent's memory. The breakpoints are removed from it until the parent continues, which
// is when the child has executed a program or ended. Meanwhile only other threads of the parent could have hit them.

const traceMe = 0 // PTRACE_TRACEME

// ptraceCalled runs on entry to ptrace.
func (t *thread) ptraceCalled(*space.Point) bool {
	request, ok := t.view.Arg(0)
	if !ok || uint32(request) != traceMe || !t.proc.child || t.Tid != t.proc.pid || len(t.proc.threads) > 1 {
		return false
	}
	if t.proc.space.Users > 1 && !t.s.vforked(t.proc) {
		return false
	}
	t.leaveToParent()
	return true
}

// watchPtrace watches the function with which a process lets its parent trace it.
func (d *loading) watchPtrace(sp *space.Space, mods []module.Loaded) {
	for i := range mods {
		m := &mods[i]
		if m.File == nil || m.Err != nil || !sp.Guard.IsLibC(m) {
			continue
		}
		for _, match := range m.File.Lookup("ptrace") {
			d.s.patcher.WatchInternally(sp, m, match.Func.Addr, internally((*thread).ptraceCalled))
		}
	}
}

// vforked reports whether a process shares its memory with one other process that waits for it.
func (s *Session) vforked(p *process) bool {
	if p.space.Users != 2 {
		return false
	}
	for _, t := range s.threads {
		if t.vforking && t.proc != p && t.proc.space == p.space {
			return true
		}
	}
	return false
}

// leaveToParent detaches from a process so that its parent can trace it.
func (t *thread) leaveToParent() {
	s, p := t.s, t.proc
	s.warn("a process that its parent traces from its beginning, as debuggers do, is left to it: a process has one tracer, and probes see nothing of this one")
	sp := p.space
	sp.Unpatched = sp.Users > 1
	if err := s.patcher.RestoreAll(sp); err != nil {
		s.warnIn(sp, err.Error())
	}
	if !sp.Unpatched {
		s.warnOf(s.ClearMarks(p.AddressSpace()))
	}
	t.SetRegs()
	t.MidCall = false
	t.watch.Clear()
	t.guard.Unprotect()
	t.detach(0)
	s.dropProcess(p)
	s.dropSpace(sp)
}
