package engine

import (
	"io"
	"os/exec"
	goruntime "runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"gotap/engine/linux/procfs"
)

// TestChildrenOfOthers has every thread of this process start a child, whose stop and end the kernel reports to that
// thread alone. Nothing of it belongs to a session, whose tracing thread may be any of them.
func TestChildrenOfOthers(t *testing.T) {
	type child struct {
		cmd *exec.Cmd
		in  io.Closer
	}
	var (
		mu      sync.Mutex
		all     []child
		started sync.WaitGroup
		release = make(chan struct{})
		idle    sync.WaitGroup
	)
	for range 16 {
		started.Add(1)
		idle.Go(func() {
			goruntime.LockOSThread()
			defer goruntime.UnlockOSThread()
			cmd := exec.Command("cat")
			in, err := cmd.StdinPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Error(err)
			} else {
				mu.Lock()
				all = append(all, child{cmd, in})
				mu.Unlock()
			}
			started.Done()
			<-release // until each has a thread of its own
		})
	}
	started.Wait()
	close(release)
	idle.Wait()
	p := start(t, program(t, "target.c"), "spin", "2")
	w := newWorld(t, Config{Follow: FollowThreads})
	for _, c := range all {
		unix.Kill(c.cmd.Process.Pid, unix.SIGSTOP)
	}
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	n := w.counter()
	w.probe("work", Handlers{Enter: w.counts(n)})
	w.Start()
	eventually(t, "hits", func() bool { return n.get() > 0 })
	w.do(func() error {
		if len(w.arrivals.children.early) > 0 || procfs.IsParent(w.loop.Tid()) {
			t.Errorf("the session has taken %d stops of children that are not its own", len(w.arrivals.children.early))
		}
		return nil
	})
	for _, c := range all {
		unix.Kill(c.cmd.Process.Pid, unix.SIGCONT)
		c.in.Close()
		if err := c.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	want(t, "target", p.end(), "spin bad=0")
}
