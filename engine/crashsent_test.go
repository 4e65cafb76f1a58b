package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/testenv"
	"gotap/engine/tracee"
)

// sentBuilds are the builds of the program that is sent SIGTRAP, by name.
var sentBuilds = map[string][]string{"libc": nil, "static": {"-static"}, "32": {"-m32"}}

// sentWays returns the first two arguments of a build of that program that do not involve another thread.
func sentWays(build string) []string {
	if build != "libc" {
		return []string{"tgkill caught", "kill fetched"}
	}
	return []string{"tgkill caught", "kill caught", "timer caught", "tgkill fetched", "kill fetched", "timer fetched"}
}

// sentProgram builds it.
func sentProgram(t *testing.T, build string) string {
	t.Helper()
	testenv.Require(t, testenv.AMD64, testenv.Ptrace, testenv.GCC)
	if build == "32" {
		testenv.Require(t, testenv.M32, testenv.IA32)
	}
	return program(t, "sent.c", sentBuilds[build]...)
}

// TestSentWhileBlocked: a SIGTRAP that is sent to a thread which blocks all signals stays pending as it was sent,
// although the session has left SIGTRAP unblocked there: with its siginfo, and for another thread that waits for it if
// it was sent to the process.
func TestSentWhileBlocked(t *testing.T) {
	for build := range sentBuilds {
		for _, how := range append(sentWays(build), "other fetched") {
			t.Run(build+" "+how, func(t *testing.T) {
				p := start(t, sentProgram(t, build), append(strings.Fields(how), "always")...)
				if line, err := p.out.ReadString('\n'); err != nil {
					t.Fatalf("the target does not begin: %q, %v", line, err)
				}
				w := newWorld(t, Config{Follow: FollowThreads})
				if err := w.Attach(p.pid()); err != nil {
					t.Fatal(err)
				}
				n := w.counter()
				w.probe("work", Handlers{Enter: w.counts(n)})
				if err := w.Start(); err != nil {
					t.Fatal(err)
				}
				p.in.Write([]byte("x"))
				eventually(t, "rounds", func() bool { return n.get() > 60 })
				if got := p.end(); got != "victim bad=0" {
					t.Errorf("the target said %q, %v", got, p.cmd.Wait())
				}
			})
		}
	}
}

// TestKilledAsSignalIsWithheld kills sessions as they have seen such a SIGTRAP and as they have blocked it, and when it
// is pending. Where the thread does not block SIGTRAP yet, the handler has to keep the signal and to remove the
// breakpoints; otherwise what the session has left is cleaned up.
func TestKilledAsSignalIsWithheld(t *testing.T) {
	t.Parallel()
	for build := range sentBuilds {
		for _, how := range sentWays(build) {
			t.Run(build+" "+how, func(t *testing.T) {
				t.Parallel()
				path := sentProgram(t, build)
				for step := 1; step <= 3; step++ {
					if killedAsWithheld(t, path, how, step, step > 1); t.Failed() {
						t.Fatalf("at step %d", step)
					}
				}
			})
		}
	}
}

// killedAsWithheld attaches a session that kills itself at a step; if it makes no such step, it is killed when the
// signal is pending.
func killedAsWithheld(t *testing.T, path, how string, step int, clean bool) {
	t.Helper()
	p := start(t, path, append(strings.Fields(how), "once")...)
	if line, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("the target does not begin: %q, %v", line, err)
	}
	before := text(t, p.pid())
	armed := filepath.Join(t.TempDir(), "armed")
	s := startCrashed(t, crashPlan{Pid: p.pid(), Threads: true, Specs: []string{"work"}, At: tracee.InSent, AtStep: step, Armed: armed}, nil, nil)
	eventually(t, "breakpoints", func() bool { _, err := os.Stat(armed); return err == nil })
	p.in.Write([]byte("x"))
	if line, err := p.out.ReadString('\n'); line != "pending\n" {
		t.Errorf("the target said %q, %v: %v", line, err, p.cmd.Wait())
		return
	}
	if step > 2 {
		s.Process.Kill()
	}
	s.Wait()
	if clean {
		if _, err := Clean(p.pid()); err != nil {
			t.Error(err)
		}
	}
	untouched(t, p.pid(), before)
	if got := p.end(); got != "victim bad=0" {
		t.Errorf("the target said %q, %v", got, p.cmd.Wait())
	}
}
