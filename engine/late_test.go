package engine

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotap/engine/linux/procfs"
	"gotap/engine/testenv"
)

// TestReplacedUnderProbes has images replaced over and over while the fallback is put into each and its first hits
// come.
func TestReplacedUnderProbes(t *testing.T) {
	lasts := 3 * time.Second
	if os.Getenv("GOTAP_LONG") != "" {
		lasts = 5 * time.Minute
	}
	for began := time.Now(); time.Since(began) < lasts; {
		replaceUnderProbes(t, 400*time.Millisecond)
	}
}

// replaceUnderProbes runs a program that replaces itself over and over, with a probe on its function, and makes sure
// that it ends well. A shell between makes the program's end its own business: this process would take the stops of its
// child.
func replaceUnderProbes(t *testing.T, lasts time.Duration) {
	dir := t.TempDir()
	end, number, status := filepath.Join(dir, "end"), filepath.Join(dir, "pid"), filepath.Join(dir, "status")
	shell := exec.Command("sh", "-c", `"$0" "$1" & echo $! >"$2"; wait $!; echo $? >"$3"`, program(t, "reexec.c"), end, number, status)
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	eventually(t, "the program's number", func() bool {
		text, _ := os.ReadFile(number)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid != 0 && procfs.Name(pid) != "sh"
	})
	w := newWorld(t, Config{})
	n := w.counter()
	if err := w.Attach(pid); err != nil {
		t.Fatal(err)
	}
	w.probe("spot", Handlers{Enter: w.counts(n)})
	w.Start()
	time.Sleep(lasts)
	if err := w.Close(false); err != nil {
		t.Fatal(err)
	}
	touch(t, end)
	shell.Wait()
	text, err := os.ReadFile(status)
	if err != nil || string(text) != "0\n" {
		t.Errorf("after %d hits: status %q, %v", n.get(), text, err)
	}
}

// TestLateFallbackMeetsFirstHit has the fallback put into launched programs at about the time of their first hits. A
// thread that is stopped for it may have run into a breakpoint just before: that hit is neither lost, nor the
// instruction run from its middle.
func TestLateFallbackMeetsFirstHit(t *testing.T) {
	before := lateAfter
	t.Cleanup(func() { lateAfter = before })
	path := program(t, "target.c")
	for range 40 {
		lateAfter = time.Duration(200+rand.IntN(6000)) * time.Microsecond
		w := newWorld(t, Config{LateFallback: true})
		tg := w.launch(path, "work", "300")
		n := w.counter()
		w.probe("work", Handlers{Enter: w.counts(n)})
		w.run()
		want(t, "hits", n.get(), int64(300))
		want(t, "output", tg.output(), "work bad=0\n")
	}
}

// TestLateFallbackIsUnseen: a launched program finds its signal actions as they are without probes if it hits none
// before the fallback's time has come.
func TestLateFallbackIsUnseen(t *testing.T) {
	before := lateAfter
	t.Cleanup(func() { lateAfter = before })
	lateAfter = time.Hour
	w := newWorld(t, Config{LateFallback: true})
	tg := w.launch("/bin/cat", "/proc/self/status")
	w.probe("work", Handlers{Enter: w.counts(w.counter())}, func(p *ProbeSpec) { p.Optional = true })
	w.run()
	if text := tg.output(); !strings.Contains(text, "SigCgt:\t0000000000000000\n") {
		t.Errorf("it has handlers: %s", text)
	}
}

// TestFirstHitWithSignalsBlocked has the first hit of a program in a thread that blocks all signals, or SIGTRAP alone:
// it goes on doing so, and so do programs that inherit it. A launched program gets the fallback by that hit, one that
// is executed has it before.
func TestFirstHitWithSignalsBlocked(t *testing.T) {
	t.Parallel()
	path := program(t, "torture/signals.c")
	for _, flags := range []string{"", "-static", "-m32"} {
		if flags == "-m32" {
			testenv.Require(t, testenv.M32, testenv.IA32)
			path = program(t, "torture/signals.c", variants["32"]...)
		} else if flags != "" {
			path = program(t, "torture/signals.c", flags)
		}
		for _, mode := range []string{"blocked", "alone"} {
			plain := runPlainly(t, path, mode)
			eachEngine(t, func(t *testing.T, e Engine) {
				for _, command := range [][]string{{path, mode}, {"/bin/sh", "-c", `exec "$0" "$1"`, path, mode}} {
					w := newWorld(t, Config{Engine: e, Follow: FollowChildren, LateFallback: true})
					tg := w.launch(command[0], command[1:]...)
					n := w.counter()
					w.probe("work", Handlers{Enter: w.counts(n)}, func(p *ProbeSpec) { p.Optional = true })
					w.run()
					want(t, "output", tg.output(), plain.text)
					if n.get() == 0 {
						t.Errorf("%s: nothing was hit", command)
					}
				}
			})
		}
	}
}
