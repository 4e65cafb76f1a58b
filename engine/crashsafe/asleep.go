package crashsafe

import (
	"strings"

	"gotap/engine/linux/procfs"
)

// Threads that sleep in the kernel are not disturbed while the fallback is installed and removed. One that wakes up at
// such a moment sees the fallback's handler if it asks for the action for SIGTRAP, because its call is not watched
// then. The program may set later what it has seen, so the region stays mapped, with the program's own action in it.

// NoteAsleep notes which threads of the process sleep.
func (p *Process) NoteAsleep() {
	for x := range p.on.Threads() {
		if x.asleep = ""; !x.on.Stopped() {
			x.asleep = x.sleep()
		}
	}
}

// noteHeld forgets those that have been stopped since NoteAsleep. It is called when the threads that run are held.
func (p *Process) noteHeld() {
	for x := range p.on.Threads() {
		switch {
		case x.on.Stopped():
			x.asleep = ""
		case x.asleep == awake:
			x.asleep = x.sleep()
		}
	}
}

// NoteWoken finds the threads that have run since NoteAsleep.
func (p *Process) NoteWoken() {
	for x := range p.on.Threads() {
		x.NoteWoken()
	}
}

// NoteWoken is Process.NoteWoken for one thread. The session must not have interrupted it since NoteAsleep.
func (x *Thread) NoteWoken() {
	if x.asleep != "" && (x.asleep == awake || x.asleep != x.sleep()) {
		x.process().seen = true
	}
	x.asleep = ""
}

const awake = "awake"

// sleep returns a text that differs for each time that the thread sleeps, awake if it runs, or "" if it is in a stop.
func (x *Thread) sleep() string {
	for line := range strings.Lines(procfs.Read(x.t.Tid, "status")) {
		switch key, value, _ := strings.Cut(line, ":"); {
		case key == "State" && strings.HasPrefix(value, "\tR"):
			return awake
		case key == "State" && !strings.HasPrefix(value, "\tS") && !strings.HasPrefix(value, "\tD"):
			return ""
		case key == "voluntary_ctxt_switches":
			return value
		}
	}
	return ""
}
