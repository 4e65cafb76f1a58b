package engine

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotap/engine/testenv"
)

// odd is a program of testdata/torture and what it is to do.
type odd struct{ source, modes string }

// oddities are all of them: memory that is not there yet or changes, processes made in unusual ways, handlers within
// handlers, filters, rings and restartable sequences.
var oddities = []odd{
	{"memory.c", "faults user-faults keys makes stacks zone"},
	{"processes.c", "clones clones3 chain job orphan hidden setuid headless"},
	{"signals.c", "nodefer blocked alone beside file context alternate small defaults"},
	{"kernel.c", "strict filter ring sequences"},
}

// variants are ways to build them: plain, with marks where indirect branches may lead and all values on the stack, and
// for 32 bits.
var variants = map[string][]string{
	"64":     nil,
	"marked": {"-fcf-protection=full", "-O0"},
	"32":     {"-m32", "-idirafter", "/usr/include/x86_64-linux-gnu"},
}

// TestTorture puts a probe on every instruction of programs that make use of what most programs never do. Output and
// status have to be those of a run without.
func TestTorture(t *testing.T) {
	t.Parallel()
	for name, flags := range variants {
		for _, o := range oddities {
			for mode := range strings.FieldsSeq(o.modes) {
				t.Run(name+" "+mode, func(t *testing.T) {
					if len(flags) > 2 {
						testenv.Require(t, testenv.M32, testenv.IA32)
					}
					path := program(t, filepath.Join("torture", o.source), flags...)
					plain := runPlainly(t, path, mode)
					if len(flags) > 0 && !longRun() {
						probedEverywhere(t, Auto, path, mode, plain)
						return
					}
					eachEngine(t, func(t *testing.T, e Engine) { probedEverywhere(t, e, path, mode, plain) })
				})
			}
		}
	}
}

// outcome is what a program printed, and how it ended.
type outcome struct {
	text   string
	status int
	signal int
}

func runPlainly(t *testing.T, path string, args ...string) outcome {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return outcome{text: out.String(), signal: int(ws.Signal())}
	}
	return outcome{text: out.String(), status: ws.ExitStatus()}
}

// probedEverywhere runs the program with a probe on every instruction of its own, and compares.
func probedEverywhere(t *testing.T, e Engine, path, mode string, plain outcome) {
	w := newWorld(t, Config{Engine: e, Follow: FollowChildren})
	tg := w.launch(path, mode)
	n := w.counter()
	w.probe(filepath.Base(path)+":*+*", Handlers{Enter: w.counts(n)}, func(p *ProbeSpec) { p.Optional = true })
	w.run()
	got := outcome{text: tg.output()}
	for _, e := range w.events {
		if e.Kind == EventExit && e.Pid == tg.pid {
			got.status, got.signal = e.Status, e.Signal
		}
	}
	want(t, "outcome", got, plain)
	if n.get() == 0 {
		t.Error("nothing was hit")
	}
}

// TestOutlive kills sessions while their targets do what makes it hard to outlive them. A target begins when the
// session has put its probes in.
func TestOutlive(t *testing.T) {
	t.Parallel()
	for name, flags := range variants {
		for mode := range strings.FieldsSeq("threads process clear") {
			t.Run(name+" "+mode, func(t *testing.T) {
				if len(flags) > 2 {
					testenv.Require(t, testenv.M32, testenv.IA32)
				}
				path := program(t, "torture/outlive.c", flags...)
				for i := range scaled(3, 100) {
					outlives(t, []Engine{Auto, Step, Emulate}[i%3], nil, path, mode)
				}
			})
		}
	}
}

// TestOutliveContained is the same in containers, whose filters let the target be protected: as seen from outside,
// where filters can be read, and from inside.
func TestOutliveContained(t *testing.T) {
	contain := program(t, "torture/contain.c")
	path := program(t, "torture/outlive.c")
	for name, within := range map[string][]string{"from outside": nil, "from inside": {contain, "container"}} {
		t.Run(name, func(t *testing.T) {
			for i := range scaled(3, 100) {
				outlives(t, []Engine{Auto, Step, Emulate}[i%3], within, contain, "container", path, "threads")
			}
		})
	}
}

// TestDeadlyFilters traces processes that would be ended for what a session has its targets do, and does not have them
// do it.
func TestDeadlyFilters(t *testing.T) {
	t.Parallel()
	contain := program(t, "torture/contain.c")
	path := program(t, "torture/outlive.c")
	for _, kind := range []string{"mapping", "trap"} {
		eachEngine(t, func(t *testing.T, e Engine) {
			p := start(t, contain, kind, path, "threads")
			p.out.ReadString('\n')
			w := newWorld(t, Config{Engine: e, Follow: FollowThreads})
			if err := w.Attach(p.pid()); err != nil {
				t.Fatal(err)
			}
			n := w.counter()
			w.probe("outlive*:leaf+*", Handlers{Enter: w.counts(n)})
			w.Start()
			p.in.Write([]byte("x"))
			p.out.ReadString('\n')
			eventually(t, "hits", func() bool { return n.get() > 100 })
			if err := w.Close(false); err != nil {
				t.Error(err)
			}
			want(t, "target", p.end(), "outlive bad=0 status 0x900")
			w.mu.Lock()
			defer w.mu.Unlock()
			if !strings.Contains(strings.Join(w.warned, "\n"), "seccomp filter does not let it") {
				t.Errorf("%s: nobody is told: %q", kind, w.warned)
			}
		})
	}
}

// outlives starts a target, a session within a command, and kills the session.
func outlives(t *testing.T, e Engine, within []string, argv ...string) {
	t.Helper()
	p := start(t, argv[0], argv[1:]...)
	p.out.ReadString('\n')
	before := text(t, p.pid())
	const at = "outlive*:"
	s := startCrashed(t, crashPlan{Pid: p.pid(), Within: within, Engine: e, Specs: []string{at + "leaf+*", at + "fact+*", at + "mixed+*", at + "runs"}}, nil, nil)
	eventually(t, "breakpoints", func() bool { return text(t, p.pid()) != before })
	p.in.Write([]byte("x"))
	if line, err := p.out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the target does not begin: %q, %v", line, err)
	}
	killSoon(s, time.Duration(rand.IntN(30000))*time.Microsecond)
	time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond)
	if got := p.end(); got != "outlive bad=0 status 0x900" {
		t.Errorf("%v: the target said %q, %v", e, got, p.cmd.Wait())
	}
}
