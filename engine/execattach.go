package engine

import (
	"errors"
	"time"

	"gotap/engine/abi"
	"gotap/engine/linux/procfs"
	"gotap/engine/space"
)

// A process may be attached to while it replaces its program. execve first gives it a new address space, then maps the
// program, then notifies its tracer (begin_new_exec and exec_binprm in the kernel's fs/exec.c). A tracer that seizes it
// meanwhile may hold the old address space, which no process uses any more. Or it holds the new one, and is notified of
// an exec whose result it has already seen. In the first case the session replaces the space as soon as it detects
// this. In the second it keeps the breakpoints that are already there.

// settling bounds how long a process may take to map its new program. Some processes map no file at all, and are
// accepted as they are after that time.
const settling = time.Second

var errNotSettled = errors.New("it replaces its program, over and over or very slowly, and cannot be probed meanwhile")

// settle waits until every process has an address space with a program in it.
func (s *Session) settle() error {
	for end := time.Now().Add(settling); ; time.Sleep(time.Millisecond) {
		var unsettled *process
		gone := false
		err := s.do(func() error {
			if unsettled = s.renewSpaces(); unsettled != nil {
				gone = unsettled.space.Mem.Gone()
			}
			return nil
		})
		late := time.Now().After(end)
		switch {
		case err != nil || unsettled == nil || late && !gone:
			return err
		case late:
			return &AttachError{Pid: unsettled.pid, Err: errNotSettled}
		}
	}
}

// renewSpaces gives processes that have left their address space their present one. It returns a process that has no
// program yet, or nil. Tracing thread only.
func (s *Session) renewSpaces() *process {
	var unsettled *process
	for _, p := range s.procs {
		if p.unprobed || p.launched && !p.exec {
			continue
		}
		if p.space.Mem.Gone() && p.alive() {
			s.renewSpace(p)
		}
		if len(p.space.Modules) == 0 && p.alive() {
			s.loading.rescan(p)
		}
		if len(p.space.Modules) == 0 && p.alive() {
			unsettled = p
		}
	}
	return unsettled
}

// alive reports whether a process has an address space at all. A process that is ending has none, and its end is still
// to be reported.
func (p *process) alive() bool { return procfs.Status(procfs.Living(p.pid), "VmSize") != "" }

// renewSpace replaces the address space of a process that has left the one it had.
func (s *Session) renewSpace(p *process) {
	by := procfs.Living(p.pid)
	a, err := abi.OfProcess(by)
	if err != nil {
		return // it is ending, or its exec event will show what it runs
	}
	sp, err := s.openSpace(by, a)
	if err != nil {
		return
	}
	s.dropSpace(p.space)
	sp.Users++
	p.setSpace(sp)
	p.arch = a
	p.guard.Init(p)
	if over, asleep := p.protectAttached(); !over && !asleep {
		p.protectLater()
	}
	s.loading.rescan(p)
}

// replacing reports whether a process has left its address space and its exec event is still to come. Probes cannot be
// placed then. Tracing thread only.
func (s *Session) replacing() bool {
	for _, p := range s.procs {
		if !p.unprobed && p.space.Mem.Gone() && p.alive() {
			return true
		}
	}
	return false
}

// warnIn warns the user about what cannot be done in an address space, unless its process has left it, in which case
// nothing can be done there.
func (s *Session) warnIn(sp *space.Space, text string) {
	if !sp.Mem.Gone() {
		s.warn(text)
	}
}
