package gotap_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gotap"
	"gotap/compile/diag"
	"gotap/engine"
	"gotap/engine/testenv"
	"gotap/script/output"
)

// patience is how long a test waits for what has to come.
const patience = 5 * time.Minute

func withPatience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// echo is a command whose output goes nowhere.
func echo(t *testing.T, text string) gotap.Options {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	return gotap.Options{Command: []string{"echo", text}, Stdin: null, Stdout: null, Stderr: null}
}

// sleeper is a process to attach to.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c
}

const writes = `const n = count("writes");
probe("syscall:write", { enter(c) { n.inc(); exit({ bytes: c.arg2 }); } });
end(() => console.log("the end"));`

func TestRunCommand(t *testing.T) {
	testenv.Require(t, testenv.Ptrace)
	var events []gotap.Event
	var printed strings.Builder
	o := echo(t, "hello")
	o.Event = func(e gotap.Event) { events = append(events, e) }
	o.Print = func(text string) { printed.WriteString(text) }
	result, err := gotap.Run(withPatience(t), gotap.Script{Name: "writes.js", Text: writes}, o)
	if err != nil {
		t.Fatal(err)
	}
	if result.Count("writes") != 1 || len(events) != 1 || printed.String() != "the end\n" {
		t.Errorf("%d writes, %d events, printed %q", result.Count("writes"), len(events), printed.String())
	}
	if f := events[0].Fields; len(f) != 1 || f[0].Name != "bytes" || f[0].Value != int64(6) {
		t.Errorf("the event has %+v", f)
	}
	if p := result.Probes; len(p) != 1 || p[0].Hits != 1 || len(result.Lost) != 0 {
		t.Errorf("probes %+v, lost %v", p, result.Lost)
	}
	if target := result.Targets; len(target) != 1 || !target[0].Ended || target[0].Status != 0 {
		t.Errorf("targets %+v", target)
	}
}

func TestBadScript(t *testing.T) {
	_, err := gotap.Run(withPatience(t), gotap.Script{Name: "bad.js", Text: "let x = 1;\nprobe(\"syscall:write\", { enter(c) { new Map(); } });"}, echo(t, ""))
	var failure *gotap.Error
	var list gotap.Diagnostics
	if !errors.As(err, &failure) || failure.Kind != gotap.BadScript || !errors.As(err, &list) {
		t.Fatalf("%T: %v", err, err)
	}
	d := list[0]
	if at := d.Span.Source.Position(d.Span.Start); d.Severity != diag.Error || d.Span.Source.Name != "bad.js" || at.Line != 2 {
		t.Errorf("%s at line %d: %s", d.Span.Source.Name, at.Line, d.Text)
	}
}

func TestUnknownPlace(t *testing.T) {
	testenv.Require(t, testenv.Ptrace)
	_, err := gotap.Run(withPatience(t), gotap.Script{Name: "a.js", Text: `probe("libc:no_such_function", c => {});`}, echo(t, ""))
	var failure *gotap.Error
	var list gotap.Diagnostics
	if !errors.As(err, &failure) || failure.Kind != gotap.NoMatch || !errors.As(err, &list) || list[0].Span.Source == nil {
		t.Errorf("%T: %v", err, err)
	}
}

func TestUnknownPid(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	_, err := gotap.Run(withPatience(t), gotap.Script{Name: "a.js", Text: writes}, gotap.Options{Pids: []int{gone.Process.Pid}})
	var failure *gotap.Error
	if !errors.As(err, &failure) || failure.Kind != gotap.BadTarget {
		t.Errorf("%T: %v", err, err)
	}
}

func TestNoTarget(t *testing.T) {
	for _, o := range []gotap.Options{{}, {Command: []string{"true"}, Pids: []int{1}}} {
		if _, err := gotap.Run(withPatience(t), gotap.Script{Name: "a.js", Text: writes}, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// TestRemoteBudget: a budget that cannot be kept is refused before the stub is connected to.
func TestRemoteBudget(t *testing.T) {
	_, err := gotap.Run(withPatience(t), gotap.Script{Name: "writes.js", Text: writes}, gotap.Options{Remote: "localhost:1", Budget: 0.1})
	if err == nil || !strings.Contains(err.Error(), "no budget") {
		t.Errorf("%v", err)
	}
}

// TestContextEndsTheSession attaches to a process that has no end, which goes on when the context is done.
func TestContextEndsTheSession(t *testing.T) {
	testenv.Require(t, testenv.Ptrace)
	c := sleeper(t)
	ctx, cancel := context.WithCancel(withPatience(t))
	s, err := gotap.Open(ctx, gotap.Script{Name: "a.js", Text: writes}, gotap.Options{Pids: []int{c.Process.Pid}})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{s.Arm, s.Start} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	result, err := s.Close()
	if err != nil || result == nil || result.Targets[0].Ended {
		t.Errorf("%+v: %v", result, err)
	}
	if err := c.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process has ended: %v", err)
	}
	if _, err := s.Close(); err == nil {
		t.Error("a second Close has no error")
	}
}

func TestContextBeforeTheProbes(t *testing.T) {
	testenv.Require(t, testenv.Ptrace)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := gotap.Run(ctx, gotap.Script{Name: "a.js", Text: `probe("libc:malloc", c => {});`}, echo(t, ""))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestContextBeforeTheTargets: a session whose context is done attaches to nothing and starts nothing.
func TestContextBeforeTheTargets(t *testing.T) {
	testenv.Require(t, testenv.Ptrace)
	for _, o := range []gotap.Options{{Pids: []int{sleeper(t).Process.Pid}}, {Command: []string{"/bin/false"}}} {
		ctx, cancel := context.WithCancel(withPatience(t))
		s, err := gotap.Open(ctx, gotap.Script{Name: "a.js", Text: writes}, o)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := s.Wait(); err != nil { // until the session knows
			t.Error(err)
		}
		if err := s.Arm(); !errors.Is(err, engine.ErrInterrupted) {
			t.Errorf("armed: %v", err)
		}
		if result, err := s.Close(); err != nil || len(result.Targets) > 0 {
			t.Errorf("%+v, %v", result, err)
		}
	}
}

// TestLosses fills a map of one key with several.
func TestLosses(t *testing.T) {
	testenv.Require(t, testenv.Ptrace)
	script := `const n = count("sizes", { keys: 1, max: 1 });
probe("syscall:*", { enter(c) { n.at(c.arg0).inc(); } });`
	var reported atomic.Int32
	o := echo(t, "hello")
	o.Output = lossCounter{output.Discard, &reported}
	result, err := gotap.Run(withPatience(t), gotap.Script{Name: "a.js", Text: script}, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Lost) == 0 || int(reported.Load()) != len(result.Lost) {
		t.Errorf("lost %v, reported %d", result.Lost, reported.Load())
	}
}

// lossCounter counts the losses that are reported.
type lossCounter struct {
	output.Sink
	n *atomic.Int32
}

func (c lossCounter) Lost(string, uint64) { c.n.Add(1) }

// TestStopHasAStatus: the script ends the session, and its command.
func TestStopHasAStatus(t *testing.T) {
	testenv.Require(t, testenv.Ptrace)
	script := `begin(() => {}); probe("syscall:*", { enter(c) { exit({}); }, exit(e) { stop(7); } });`
	o := echo(t, "")
	o.Command = []string{"sleep", "60"}
	result, err := gotap.Run(withPatience(t), gotap.Script{Name: "a.js", Text: script}, o)
	if err != nil || result.Status != 7 || result.Targets[0].Signal != int(syscall.SIGTERM) {
		t.Errorf("%+v: %v", result, err)
	}
}

// TestChanges: a session that runs takes further scripts and a new version of its own, and answers about them.
func TestChanges(t *testing.T) {
	testenv.Require(t, testenv.Ptrace)
	c := sleeper(t)
	s, err := gotap.Open(withPatience(t), gotap.Script{Name: "own.js", Text: writes}, gotap.Options{Pids: []int{c.Process.Pid}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, step := range []func() error{s.Arm, s.Start} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	guest := gotap.Insertion{Script: gotap.Script{Name: "guest.js", Text: `const k = count("k"); probe("syscall:read", { enter(c) { k.inc(); } });`}}
	if notes, err := s.Control().Insert(guest); err != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], "inserted guest.js: 1 probe") {
		t.Fatalf("%q: %v", notes, err)
	}
	if _, err := s.Control().Insert(guest); err == nil {
		t.Error("a script was inserted twice")
	}
	if list, err := s.Control().Query(); err != nil || len(list) != 2 || list[1].Script != "guest.js" {
		t.Errorf("%+v: %v", list, err)
	}
	if values, err := s.Control().Values(false); err != nil || len(values) != 2 || values[1].Object.Name != "k" {
		t.Errorf("%+v: %v", values, err)
	}
	for _, bad := range []string{"no script", `probe("libc:no_such_function", c => {});`} {
		if err := s.Control().Replace(gotap.Script{Name: "own.js", Text: bad}); err == nil {
			t.Errorf("replaced by %q", bad)
		}
	}
	if err := s.Control().Replace(gotap.Script{Name: "own.js", Text: writes + "\n"}); err != nil {
		t.Error(err)
	}
	if note, err := s.Control().Remove("guest.js"); err != nil || note != "removed guest.js" {
		t.Errorf("%q: %v", note, err)
	}
	if _, err := s.Control().Disable("nothing"); err == nil {
		t.Error("a probe that is not there was disabled")
	}
	s.Control().Freeze()
	if _, err := s.Control().Query(); err == nil {
		t.Error("a session that ends answers")
	}
}
