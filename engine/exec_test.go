package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotap/engine/linux/procfs"
)

// TestAttachWhileExecuting attaches to a program that does little else than to replace itself: most attaches meet an
// execve under way. Each must find the probe's place, and the program must never notice.
func TestAttachWhileExecuting(t *testing.T) {
	end := filepath.Join(t.TempDir(), "end")
	p := start(t, program(t, "reexec.c"), end)
	rounds := 60
	if os.Getenv("GOTAP_LONG") != "" {
		rounds = 1000
	}
	for round := 0; round < rounds && !t.Failed(); round++ {
		t.Run("", func(t *testing.T) { attachWhileExecuting(t, p, round) }) // gives its arena back: a 32-bit process has no room for all
	}
	touch(t, end)
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// attachWhileExecuting attaches once, sees calls, and lets go.
func attachWhileExecuting(t *testing.T, p *stranger, round int) {
	w := newWorld(t, Config{})
	n := w.counter()
	w.probe("spot", Handlers{Enter: w.counts(n)}, func(p *ProbeSpec) { p.Optional = true })
	if err := w.Attach(p.pid()); err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	for since := time.Now(); n.get() < 6; time.Sleep(time.Millisecond) {
		if time.Since(since) > patience() {
			t.Fatalf("round %d: %d calls were seen: %+v", round, n.get(), w.Stats())
		}
	}
	if err := w.Close(false); err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	if len(w.warned) > 0 {
		t.Errorf("round %d: %v", round, w.warned)
	}
}

// TestAttachWithoutFiles attaches to a program that has no file mapped: that is no sign of an execve under way.
func TestAttachWithoutFiles(t *testing.T) {
	p := start(t, program(t, "fileless.c", "-static", "-no-pie"), "")
	p.out.ReadString('\n')
	eventually(t, "the file to be unmapped", func() bool { return !strings.Contains(procfs.Read(p.pid(), "maps"), "fileless") })
	w := newWorld(t, Config{})
	if err := w.Attach(p.pid()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	if procfs.Ended(p.pid()) {
		t.Error("the target has ended")
	}
}
