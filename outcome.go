package gotap

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gotap/engine"
	"gotap/engine/linux/procfs"
	"gotap/script/output"
)

// The targets are what the options name: COMMAND, processes, or the target behind a stub. Their children are not among
// them.

// An outcome is how one target has ended, if it has.
type outcome struct {
	name     string
	target   output.Target
	reported bool
}

// signalStatus and the number of a signal is the status of a process that the signal ended, as shells have it.
const signalStatus = 128

// outcomes are those of a session. The engine's thread writes them, others read.
type outcomes struct {
	mu   sync.Mutex // guards list; nothing else is locked under it
	list []*outcome
}

// expect adds a target. It is called before the target can end, or while it is stopped.
func (o *outcomes) expect(name string, pid int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, &outcome{name: name, target: output.Target{Pid: pid}})
}

// rename records that a process runs another program. COMMAND keeps the name that the user gave it.
func (o *outcomes) rename(pid int, name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.list {
		if one.target.Pid == pid && !one.target.Ended {
			one.name = name
		}
	}
}

// attached records the name of a process that is traced from now on. The lock is held while the name is read, so that
// it does not overwrite the name of a program that the process runs meanwhile.
func (o *outcomes) attached(pid int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name := shown(procfs.Name(pid))
	for _, one := range o.list {
		if one.target.Pid == pid && one.name == "?" {
			one.name = name
		}
	}
}

// drop forgets a target that was never traced.
func (o *outcomes) drop(pid int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = slices.DeleteFunc(o.list, func(one *outcome) bool { return one.target.Pid == pid })
}

// forget drops all targets: the session has ended them itself, so nothing is reported about them.
func (o *outcomes) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = nil
}

// note records how a target has ended. Other processes are ignored, and so is a later process with the same number.
func (o *outcomes) note(end output.Target) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.list {
		if one.target.Pid == end.Pid && !one.target.Ended {
			one.target = end
		}
	}
}

// targets returns all targets as they are now.
func (o *outcomes) targets() (list []output.Target) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.list {
		list = append(list, one.target)
	}
	return list
}

// status returns the exit status of the only target, 128+N when signal N ended it; 0 when it still runs, or when there
// are several targets.
func (o *outcomes) status() int {
	switch list := o.targets(); {
	case len(list) != 1 || !list[0].Ended:
		return 0
	case list[0].Signal != 0:
		return signalStatus + list[0].Signal
	default:
		return list[0].Status
	}
}

// ended reports whether the first target, which COMMAND is, has ended.
func (o *outcomes) ended() bool {
	list := o.targets()
	return len(list) > 0 && list[0].Ended
}

// unreported returns the lines about targets that have failed and of which none has been returned yet. Where gotap was
// asked to end, or has asked the target, an end by a signal that asks for that is no failure.
func (o *outcomes) unreported(asked bool) (lines []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.list {
		if !one.target.Ended || one.reported {
			continue
		}
		one.reported = true
		if what := one.failure(asked); what != "" {
			if len(o.list) > 1 {
				what += fmt.Sprintf(" (process %d)", one.target.Pid)
			}
			lines = append(lines, one.name+": "+what)
		}
	}
	return lines
}

// followed reports whether a target has ended as one does that follows a signal by which it is asked to.
func (o *outcome) followed() bool {
	t := o.target
	return t.Ended && (asksForEnd(t.Signal) || t.Signal == 0 && asksForEnd(t.Status-signalStatus))
}

// followed reports whether any target has.
func (o *outcomes) followed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.list, (*outcome).followed)
}

// failure returns how a target has failed, empty when it has not.
func (o *outcome) failure(asked bool) string {
	t := o.target
	switch {
	case asked && o.followed():
		return ""
	case t.Signal != 0 && t.Dumped:
		return "killed by " + signalName(t.Signal) + " (core dumped)"
	case t.Signal != 0:
		return "killed by " + signalName(t.Signal)
	case t.Status != 0:
		return "exit status " + strconv.Itoa(t.Status)
	}
	return ""
}

// asksForEnd reports a signal by which users and gotap ask a program to end.
func asksForEnd(signal int) bool {
	switch syscall.Signal(signal) {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return true
	}
	return false
}

// signalName returns a signal's name as kill(1) has it.
func signalName(signal int) string {
	if name := unix.SignalName(unix.Signal(signal)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", signal) // real-time signals have no names
}

// shown returns a process's name, which may be any text, with its control characters escaped.
func shown(name string) string { return strings.Trim(strconv.Quote(name), `"`) }

// ended takes the end of a process, on the engine's thread. That of a process of -p is reported at once, since others
// may go on; whether COMMAND has ended by itself is known at the end of the run.
func (s *Session) ended(e engine.Event) {
	s.outcomes.note(output.Target{Pid: e.Pid, Ended: true, Status: e.Status, Signal: e.Signal, Dumped: e.Dumped})
	if s.launched == 0 {
		s.notices.post(s.ReportOutcomes)
	}
}

// waited records how COMMAND ended after the session had detached from it.
func (s *Session) waited(ws syscall.WaitStatus) {
	t := output.Target{Pid: s.launched, Ended: true}
	if ws.Signaled() {
		t.Signal, t.Dumped = int(ws.Signal()), ws.CoreDump()
	} else {
		t.Status = ws.ExitStatus()
	}
	s.outcomes.note(t)
}

// askedSoon is how long COMMAND's end by a signal such as SIGINT waits for the end of the session's context: a
// terminal's Ctrl-C, and timeout(1), signal both processes, and COMMAND may be the first to end.
const askedSoon = 200 * time.Millisecond

// ReportOutcomes passes lines about targets that have failed to Hooks.Outcome, once for each target. An end by a signal
// such as SIGTERM does not count as a failure if the session has sent it, or its context is done.
func (s *Session) ReportOutcomes() {
	asked := s.ends.asked.Load()
	if !asked && s.launched != 0 && s.outcomes.followed() {
		select {
		case <-s.ctx.Done():
		case <-time.After(askedSoon):
		}
	}
	for _, line := range s.outcomes.unreported(asked || s.ctx.Err() != nil) {
		s.opts.Hooks.Outcome(line)
	}
}

// Targets returns the targets that the options named, as they are now.
func (s *Session) Targets() []output.Target { return s.outcomes.targets() }

// TargetStatus returns the exit status of the only target, 128+N when signal N ended it; 0 when it goes on, or when
// there are several targets.
func (s *Session) TargetStatus() int { return s.outcomes.status() }
