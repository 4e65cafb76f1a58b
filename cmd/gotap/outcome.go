package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"gotap/engine"
	"gotap/engine/procfs"
	"gotap/script/output"
)

// The targets that the user named, COMMAND, the processes of -p, or what a stub runs, and how each has ended. Their children are
// not among them.

// An outcome is how one target has ended, if it has.
type outcome struct {
	name   string
	target output.Target
	told   bool
}

// outcomes are those of a run. The engine's thread writes them, others read.
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

// rename notes that a process runs another program. COMMAND keeps the name that the user gave it.
func (o *outcomes) rename(pid int, name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.list {
		if one.target.Pid == pid && !one.target.Ended {
			one.name = name
		}
	}
}

// attached notes the name of a process that is traced from now on. A program that it runs later renames it: the lock is held so that
// this one's name is not taken for that one's.
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

// forget drops all targets, of which nothing is to be told: gotap has ended them itself.
func (o *outcomes) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = nil
}

// note keeps how a target has ended. Other processes are ignored, and so is a later process of the same number.
func (o *outcomes) note(end output.Target) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.list {
		if one.target.Pid == end.Pid && !one.target.Ended {
			one.target = end
		}
	}
}

// targets are all targets as they are now.
func (o *outcomes) targets() (list []output.Target) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.list {
		list = append(list, one.target)
	}
	return list
}

// status is that of the only target as shells have it, 128 and the number of the signal that ended it; 0 when it goes on, or when there
// are several targets.
func (o *outcomes) status() int {
	switch list := o.targets(); {
	case len(list) != 1 || !list[0].Ended:
		return statusOK
	case list[0].Signal != 0:
		return statusSignal + list[0].Signal
	default:
		return list[0].Status
	}
}

// ended reports whether the first target, which COMMAND is, has ended.
func (o *outcomes) ended() bool {
	list := o.targets()
	return len(list) > 0 && list[0].Ended
}

// untold are the lines about targets that have failed and of which none has been returned yet. Where gotap was asked to end, or has
// asked the target, an end by a signal that asks for that is no failure.
func (o *outcomes) untold(asked bool) (lines []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.list {
		if !one.target.Ended || one.told {
			continue
		}
		one.told = true
		if what := one.failure(asked); what != "" {
			if len(o.list) > 1 {
				what += fmt.Sprintf(" (process %d)", one.target.Pid)
			}
			lines = append(lines, one.name+": "+what)
		}
	}
	return lines
}

// failure is how a target has failed, empty when it has not.
func (o *outcome) failure(asked bool) string {
	t := o.target
	switch {
	case asked && (asksForEnd(t.Signal) || t.Signal == 0 && asksForEnd(t.Status-statusSignal)):
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

// signalName is a signal's name as kill(1) has it.
func signalName(signal int) string {
	if name := unix.SignalName(unix.Signal(signal)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", signal) // real-time signals have no names
}

// commandName is what lines of status call COMMAND.
func (r *run) commandName() string {
	if r.demo {
		return "the demonstration"
	}
	return filepath.Base(r.plan.command[0])
}

// shown is the name that a process has, which may be any text, with its control characters escaped.
func shown(name string) string { return strings.Trim(strconv.Quote(name), `"`) }

// remoteName is what lines of status call what a stub runs.
func (p *plan) remoteName() string {
	if p.exe != "" {
		return filepath.Base(p.exe)
	}
	return "the target"
}

// ended takes the end of a process, on the engine's thread. That of a process of -p is told at once, since others may go on; whether
// COMMAND has ended by itself is known at the end of the run.
func (r *run) ended(e engine.Event) {
	r.outcomes.note(output.Target{Pid: e.Pid, Ended: true, Status: e.Status, Signal: e.Signal, Dumped: e.Dumped})
	if r.launched == 0 {
		r.notices.post(r.tellOutcomes)
	}
}

// waited takes the end of COMMAND, after the session has let go of it.
func (r *run) waited(ws syscall.WaitStatus) {
	t := output.Target{Pid: r.launched, Ended: true}
	if ws.Signaled() {
		t.Signal, t.Dumped = int(ws.Signal()), ws.CoreDump()
	} else {
		t.Status = ws.ExitStatus()
	}
	r.outcomes.note(t)
}

// tellOutcomes tells of targets that have failed, each once.
func (r *run) tellOutcomes() {
	for _, line := range r.outcomes.untold(r.asked.Load()) {
		r.status("%s\n", line)
	}
}

// exitStatus is the status of a run in which nothing of gotap's own has failed: the first of these that is not 0.
func (r *run) exitStatus() int {
	s := r.script()
	switch {
	case s.Status() != statusOK:
		return s.Status()
	case r.plan.preserve && r.outcomes.status() != statusOK:
		return r.outcomes.status()
	case s.Faults() > 0:
		return statusFailure
	}
	return statusOK
}
