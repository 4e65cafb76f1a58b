package engine

import (
	"os"
	"strings"
	"testing"

	"gotap/engine/linux/procfs"
	"gotap/engine/linux/ptrace"
	"gotap/engine/testenv"
	"gotap/engine/tracee"
)

// askBuilds are the builds of the programs that ask for their action, by name.
var askBuilds = map[string][]string{"libc": nil, "static": {"-static"}, "32": {"-m32"}, "32 static": {"-m32", "-static"}}

// asking starts such a program in each of its builds.
func asking(t *testing.T, source string, args []string, test func(t *testing.T, p *stranger)) {
	for name, flags := range askBuilds {
		if os.Getenv(prebuiltDir) != "" && name != "libc" {
			continue
		}
		t.Run(strings.Join(append([]string{name}, args...), " "), func(t *testing.T) {
			if strings.HasPrefix(name, "32") {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			p := start(t, program(t, source, flags...), append([]string{""}, args...)[len(args):]...)
			if line, err := p.out.ReadString('\n'); err != nil {
				t.Fatalf("the target does not begin: %q, %v", line, err)
			}
			test(t, p)
			if got := p.end(); got != "victim bad=0" {
				t.Errorf("the target said %q, %v", got, p.cmd.Wait())
			}
		})
	}
}

// countWork is a session from start to end: it counts calls of work in a program that runs already.
func countWork(t *testing.T, w *world, p *stranger) {
	t.Helper()
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	n := w.counter()
	w.probe("work", Handlers{Enter: w.counts(n)})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "hits", func() bool { return n.get() > 30 })
	if err := w.Close(false); err != nil {
		t.Error(err)
	}
}

// TestActionAtAttachAndDetach: a thread that runs reads the program's own action for SIGTRAP, and may set it again, at
// every moment of a session.
func TestActionAtAttachAndDetach(t *testing.T) {
	asking(t, "asks.c", nil, func(t *testing.T, p *stranger) {
		before := text(t, p.pid())
		for range 3 {
			w := newWorld(t, Config{Follow: FollowThreads})
			countWork(t, w, p)
			untouched(t, p.pid(), before)
		}
	})
}

// TestSleeperSeesHandler: a thread wakes up as the fallback is installed, or as it is removed, and reads the action for
// SIGTRAP. The program may set after the session what that thread has read.
func TestSleeperSeesHandler(t *testing.T) {
	for _, args := range [][]string{{"caught"}, {"ignored"}} {
		for name, closing := range map[string]bool{"attach": false, "detach": true} {
			t.Run(name, func(t *testing.T) {
				asking(t, "wakes.c", args, func(t *testing.T, p *stranger) { sleeperSeesHandler(t, p, closing) })
			})
		}
	}
}

// sleeperSeesHandler wakes the first thread at each moment at which its call is not watched, until it has seen the
// handler.
func sleeperSeesHandler(t *testing.T, p *stranger, closing bool) {
	eventually(t, "sleep", func() bool { return procfs.Asleep(p.pid()) })
	before := text(t, p.pid())
	w := newWorld(t, Config{Follow: FollowThreads})
	woken := false
	w.do(func() error {
		w.testAt = func(at tracee.Moment) {
			proc := w.procs[p.pid()]
			if woken || at != tracee.InCall || w.life.closing != closing || proc == nil || proc.guard.Handled() || !procfs.Asleep(p.pid()) {
				return
			}
			p.in.Write([]byte("?"))
			line, _ := p.out.ReadString('\n')
			woken = line == "x\n"
			if !comes(func() bool { return procfs.Asleep(p.pid()) }) {
				t.Error("the thread does not fall asleep again")
			}
		}
		return nil
	})
	countWork(t, w, p)
	if !woken {
		t.Error("the thread was not woken")
	}
	untouched(t, p.pid(), before)
}

// TestMaskBeforeAction: a session that ends blocks SIGTRAP again in the threads that block it for the program, before
// it gives the program its own action back.
func TestMaskBeforeAction(t *testing.T) {
	asking(t, "inmask.c", nil, func(t *testing.T, p *stranger) {
		w := newWorld(t, Config{Follow: FollowThreads})
		if err := w.Attach(p.pid()); err != nil {
			t.Fatal(err)
		}
		n := w.counter()
		w.probe("work", Handlers{Enter: w.counts(n)})
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "hits", func() bool { return n.get() > 30 })
		looks := 0
		w.do(func() error {
			w.testAt = func(at tracee.Moment) {
				if at != tracee.InCall || !w.life.closing {
					return
				}
				looks++
				for _, tid := range procfs.Threads(p.pid()) {
					if mask := procfs.SignalSet(tid, "SigBlk"); tid != p.pid() && mask&ptrace.TrapBit == 0 {
						t.Errorf("thread %d blocks %#x", tid, mask)
					}
				}
			}
			return nil
		})
		if err := w.Close(false); err != nil {
			t.Error(err)
		}
		if looks == 0 {
			t.Error("the action was not given back")
		}
	})
}
