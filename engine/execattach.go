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
func (a attaching) settle() error {
	for end := time.Now().Add(settling); ; time.Sleep(time.Millisecond) {
		var unsettled *process
		gone := false
		err := a.s.do(func() error {
			if unsettled = a.renewSpaces(); unsettled != nil {
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
func (a attaching) renewSpaces() *process {
	var unsettled *process
	for _, p := range a.s.procs {
		if p.unprobed || p.launched && !p.exec {
			continue
		}
		if p.space.Mem.Gone() && p.alive() {
			a.renewSpace(p)
		}
		if len(p.Modules()) == 0 && p.alive() {
			a.s.loading.rescan(p)
		}
		if len(p.Modules()) == 0 && p.alive() {
			unsettled = p
		}
	}
	return unsettled
}

// alive reports whether a process has an address space at all. A process that is ending has none, and its end is still
// to be reported.
func (p *process) alive() bool { return procfs.Status(procfs.Living(p.pid), "VmSize") != "" }

// renewSpace replaces the address space of a process that has left the one it had.
func (a attaching) renewSpace(p *process) {
	by := procfs.Living(p.pid)
	how, err := abi.OfProcess(by)
	if err != nil {
		return // it is ending, or its exec event will show what it runs
	}
	sp, err := a.s.openSpace(by, how)
	if err != nil {
		return
	}
	a.s.dropSpace(p.space)
	sp.Users++
	p.setSpace(sp)
	p.arch = how
	p.guard.Init(p)
	if over, asleep := p.protectAttached(); !over && !asleep {
		p.protectLater()
	}
	a.s.loading.rescan(p)
}

// replacing reports whether a process has left its address space and its exec event is still to come. Probes cannot be
// placed then. Tracing thread only.
func (a attaching) replacing() bool {
	for _, p := range a.s.procs {
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
