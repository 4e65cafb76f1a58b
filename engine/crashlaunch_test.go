package engine

import (
	"bufio"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gotap/engine/tracee"
)

// TestKilledInLaunch kills sessions at each step of a launch. Their command ends before it has run anything, or goes on
// unharmed: none stays stopped, since nobody is left who knows of it.
func TestKilledInLaunch(t *testing.T) {
	adoptOrphans(t)
	for _, c := range crashCases() {
		if c.name != "entries" && c.name != "static" && c.name != "32" && c.name != "go" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			path := c.program(t)
			steps, ended := 1, 0
			for ; ; steps++ {
				reached, ran := c.launchedAtStep(t, path, steps)
				if t.Failed() {
					t.Fatalf("at step %d", steps)
				}
				if !ran {
					ended++
				}
				if !reached {
					break
				}
			}
			if steps < 20 || ended == 0 || ended == steps { // six of the take-over, and three calls of five steps at least
				t.Errorf("of %d launches %d ended before they began", steps, ended)
			}
		})
	}
}

// TestKilledInMaskCall kills sessions at each step of the calls that they make in the place of a thread which changes
// its signal mask: the program gets its own mask back, and signals still reach it.
func TestKilledInMaskCall(t *testing.T) {
	adoptOrphans(t)
	for _, c := range crashCases() {
		if c.name != "timer" && c.name != "32 timer" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			path := c.program(t)
			steps := 16 // two threads are created, with two calls of four steps each
			if testing.Short() {
				steps = 4
			}
			for step := 1; step <= steps; step++ {
				if c.killedAt(t, path, tracee.InMask, step); t.Failed() {
					t.Fatalf("at step %d", step)
				}
			}
		})
	}
}

// TestKilledInEntry kills sessions at each step of a thread's way into a system call whose instruction has a
// breakpoint: the thread makes the call and goes on behind it. The calls are those that set actions, the first of them
// that of pthread_create; in a static program of Thumb code, all calls.
func TestKilledInEntry(t *testing.T) {
	adoptOrphans(t)
	for _, c := range crashCases() {
		steps := map[string]int{"timer": 6, "static": 3}[c.name]
		if steps == 0 || c.name == "timer" && strconv.IntSize == 32 { // glibc's Thumb code makes its calls in a function without a symbol there
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			path := c.program(t)
			c.specs = append(c.specs, "__libc_do_syscall+*")
			for step := 1; step <= steps; step++ {
				if c.killedAt(t, path, tracee.InEntry, step); t.Failed() {
					t.Fatalf("at step %d", step)
				}
			}
		})
	}
}

// killedAt launches a command by a session that kills itself at a step, which comes when the command has begun.
func (c crashCase) killedAt(t *testing.T, path string, at tracee.Moment, step int) {
	plan := c.plan()
	plan.At, plan.AtStep = at, step
	l := c.launch(t, path, plan)
	l.begun = true            // it makes no such call before
	l.hand.Write([]byte("x")) // it ends by itself
	l.session.Wait()
	if ws := l.session.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
		t.Errorf("the session did not come to step %d: status %#x", step, uint32(ws))
	}
	l.ends(t)
}

// launchedAtStep launches a command by a session that kills itself at a step. reached is false when all was armed
// before; ran tells whether the command did its work.
func (c crashCase) launchedAtStep(t *testing.T, path string, step int) (reached, ran bool) {
	plan := c.plan()
	plan.AtStep, plan.Armed = step, filepath.Join(t.TempDir(), "armed")
	l := c.launch(t, path, plan)
	reached = endAtStep(t, l.session, plan.Armed)
	return reached, l.ends(t)
}

// launched kills a session that launches its target at any moment.
func (c crashCase) launched(t *testing.T, path string) {
	l := c.launch(t, path, c.plan())
	if rand.IntN(4) == 0 { // most often before the target has begun
		killSoon(l.session, c.moment())
	} else {
		l.ear.SetReadDeadline(time.Now().Add(patience()))
		line, _ := l.lines.ReadString('\n')
		l.begun = line != ""
		killSoon(l.session, c.moment())
	}
	l.ends(t)
}

// launch is a session that is going to be killed, with its command, which talks to us.
type launch struct {
	session   *exec.Cmd
	hand, ear *os.File
	lines     *bufio.Reader
	begun     bool // the command has said so
}

// launch starts a session that launches its target.
func (c crashCase) launch(t *testing.T, path string, plan crashPlan) *launch {
	t.Helper()
	plan.Command = append([]string{path}, c.args...)
	in, hand := pipe(t)
	ear, out := pipe(t)
	t.Cleanup(func() { hand.Close(); ear.Close() })
	l := &launch{session: startCrashed(t, plan, in, out), hand: hand, ear: ear, lines: bufio.NewReader(ear)}
	in.Close()
	out.Close()
	return l
}

// ends has the command, whose session has been killed, end. It has to be unharmed, or never to have begun: then it
// returns false.
func (l *launch) ends(t *testing.T) (ran bool) {
	t.Helper()
	l.hand.Write([]byte("x"))
	pid, ws := orphan(), syscall.WaitStatus(0)
	over := pid == 0 // its number is free, and may be that of any other process
	t.Cleanup(func() {
		if !over {
			syscall.Kill(pid, syscall.SIGKILL)
			syscall.Wait4(pid, nil, 0, nil)
		}
	})
	eventually(t, "the command's end", func() bool {
		if !over {
			got, _ := syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
			over = got == pid
		}
		return over
	})
	l.ear.SetReadDeadline(time.Now().Add(patience()))
	text, err := io.ReadAll(l.lines)
	said := strings.TrimPrefix(string(text), "ready\n")
	switch {
	case said == "victim bad=0\n" && ws == 0:
		return true
	case len(text) == 0 && !l.begun && (pid == 0 || ws.Signal() == syscall.SIGKILL || ws.Signal() == syscall.SIGTRAP):
		return false // by the kernel, or the signal of its exec's stop
	}
	t.Errorf("the target said %q, %v; it ended with status %#x", said, err, uint32(ws))
	return false
}

// adoptOrphans makes targets whose session is gone our children, without those that earlier tests left. It takes any
// child for one of these, so tests that call it do not run beside others.
func adoptOrphans(t *testing.T) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	for pid := 1; pid > 0; {
		pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	}
}

// orphan is a child of this process that nobody has waited for, 0 if there is none.
func orphan() int {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			pid, _ := strconv.Atoi(field)
			return pid
		}
	}
	return 0
}
