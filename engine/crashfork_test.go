package engine

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"gotap/engine/crashsafe"
	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/testenv"
	"gotap/engine/tracee"
)

// Sections that block all signals, and that begin before the session can see it. The target begins one when the session
// tells it to, so that these tests do not depend on time.

// TestKilledInFork kills sessions at each step of taking in a child that was created in such a section, just before
// breakpoints were planted in its parent. Neither the child nor its creator comes to harm.
func TestKilledInFork(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	for _, kind := range []string{"fork", "vfork", "spawn", "thread"} {
		for name, threads := range map[string]bool{"followed": false, "not followed": true} {
			t.Run(kind+", "+name, func(t *testing.T) {
				steps := 1
				for ; inSection(t, kind, crashPlan{Specs: []string{"work"}, Threads: threads, At: tracee.InFork, AtStep: steps}); steps++ {
					if t.Failed() {
						t.Fatalf("at step %d", steps)
					}
				}
				if steps == 1 {
					t.Error("the session makes no step")
				}
			})
		}
	}
}

// TestKilledAfterLateSection kills a session while a thread is in a section that began while the breakpoints were
// planted that show sections.
func TestKilledAfterLateSection(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	inSection(t, "stay", crashPlan{Late: true}) // without probes: before they are armed, sections are looked for again
}

// TestKilledInLateSection kills sessions each time they are about to look for sections, while a thread is in one that
// began after they had looked the first time.
func TestKilledInLateSection(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	looks := 1
	for ; inSection(t, "stay", crashPlan{Late: true, Looks: looks}); looks++ {
		if t.Failed() {
			t.Fatalf("killed at look %d", looks)
		}
	}
	if looks == 1 {
		t.Error("the session does not look for sections that begin late")
	}
}

// TestKilledWhileVforkWaits is the same with a section in which the thread cannot be stopped.
func TestKilledWhileVforkWaits(t *testing.T) {
	testenv.Require(t, testenv.AMD64, testenv.Ptrace)
	looks := 1
	for ; inSection(t, "slow vfork", crashPlan{Waits: true, Looks: looks}); looks++ {
		if t.Failed() {
			t.Fatalf("killed at look %d", looks)
		}
	}
	if looks == 1 {
		t.Error("the session does not look for sections")
	}
}

// inSection attaches a session to a target that begins a section meanwhile, and reports whether the session came to its
// step before all was armed. The target has to be unharmed.
func inSection(t *testing.T, kind string, plan crashPlan) (reached bool) {
	t.Helper()
	plan.Begin = filepath.Join(t.TempDir(), "begin")
	if err := unix.Mkfifo(plan.Begin, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, program(t, "insection.c"), kind, plan.Begin)
	if line, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("the target does not begin: %q, %v", line, err)
	}
	plan.Pid, plan.Armed = p.pid(), filepath.Join(t.TempDir(), "armed")
	s := startCrashed(t, plan, nil, nil)
	reached = endAtStep(t, s, plan.Armed)
	if ws := s.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
		t.Fatalf("the session ended by itself, with status %#x", ws)
	}
	if kind == "stay" {
		tell(plan.Begin)
	}
	if got := p.end(); got != "victim bad=0" {
		t.Errorf("the target said %q, %v", got, p.cmd.Wait())
	} else if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	return reached
}

// tell writes a byte to a pipe that the target reads from.
func tell(path string) {
	if err := os.WriteFile(path, []byte("x"), 0); err != nil {
		panic(err)
	}
}

// attachAtSection attaches to a target that begins its section before the session plants its first breakpoint, or, with
// Late, while it plants those that show sections. Without Late a thread of the target is in the stop for its child
// then.
func (plan crashPlan) attachAtSection(s *Session) error {
	var p *process
	if err := s.do(func() (err error) { p, err = attaching{s}.attach(plan.Pid); return err }); err != nil {
		return err
	}
	if !comes(func() bool { return procfs.Asleep(plan.Pid) }) { // until it waits to be told to begin
		return errors.New("the target does not wait to be told to begin")
	}
	section := &lateSection{sessionHost: sessionHost{s}, end: plan.Looks}
	switch {
	case plan.Waits:
		tell(plan.Begin)
		if !comes(func() (hindered bool) {
			s.do(func() error { hindered = s.guards.Hindered(plan.Pid); return nil })
			return hindered
		}) {
			return errors.New("nothing hinders the session")
		}
		s.do(func() error { s.guards.Init(section); return nil })
		attaching{s}.awaitFallback(p)
		return attaching{s}.scanWhenSeen(p)
	case plan.Late:
		section.begin = func() { tell(plan.Begin); awaitBlocked(plan.Pid) }
		s.do(func() error { s.guards.Init(section); return nil })
		attaching{s}.awaitFallback(p)
		return s.do(func() error { s.loading.rescan(p); return nil })
	}
	err := s.do(func() error {
		tell(plan.Begin)
		for tid := 0; tid != plan.Pid; {
			tid, _ = ptrace.PeekStop(plan.Pid, &s.stops.special, ptrace.LongWait)
		}
		if s.guards.Hindered(plan.Pid) { // by the new child: awaitFallback lets it be taken in first
			return nil
		}
		s.loading.show(p)
		if p.protectAttached(); !p.guard.Handled() {
			panic("the target has no fallback")
		}
		s.loading.rescan(p)
		return nil
	})
	attaching{s}.awaitFallback(p)
	s.do(func() error { s.loading.rescan(p); return nil })
	if !comes(func() bool { return strings.HasPrefix(procfs.Read(plan.Pid, "syscall"), "0 0x0 ") }) { // until it waits to be told to end
		return errors.New("the target does not wait to be told to end")
	}
	return err
}

// awaitBlocked waits until a thread blocks all signals.
func awaitBlocked(tid int) {
	if !comes(func() bool { return procfs.SignalSet(tid, "SigBlk")&ptrace.Synchronous == ptrace.Synchronous }) {
		panic("the thread does not block its signals")
	}
}

// lateSection is a session whose target begins a section after the threads that run have been stopped and those in
// sections have been dealt with.
type lateSection struct {
	sessionHost
	begin func()
	held  bool
	end   int // looks for sections, counted down, until the session is killed
}

// HoldRunning implements crashsafe.Session.
func (l *lateSection) HoldRunning(in func(*crashsafe.Space) bool) (release func()) {
	l.held = true
	return l.sessionHost.HoldRunning(in)
}

// Processes implements crashsafe.Session.
func (l *lateSection) Processes() iter.Seq[*crashsafe.Process] {
	return func(yield func(*crashsafe.Process) bool) {
		if l.held && l.begin == nil {
			if l.end--; l.end == 0 {
				unix.Kill(os.Getpid(), unix.SIGKILL)
				select {}
			}
		}
		for p := range l.sessionHost.Processes() {
			if !yield(p) {
				return
			}
		}
		if l.held && l.begin != nil {
			l.begin()
			l.begin = nil
		}
	}
}
