package engine

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotap/engine/testenv"
	"gotap/engine/tracee"
)

// TestKilledInActionCall kills sessions at each step of the calls that they make in the place of a thread which sets
// the action for SIGTRAP: the action that the program has set is in force, and the one that the call returns is the one
// before.
func TestKilledInActionCall(t *testing.T) {
	testenv.Require(t, testenv.Ptrace)
	for name, flags := range map[string][]string{"libc": nil, "static": {"-static"}, "32": {"-m32"}} {
		t.Run(name, func(t *testing.T) {
			if name == "32" {
				testenv.Require(t, testenv.M32, testenv.IA32)
			}
			path := program(t, "actions.c", flags...)
			for step := 1; step <= actionSteps; step++ {
				if killedInActionCall(t, path, step); t.Failed() {
					t.Fatalf("at step %d", step)
				}
			}
		})
	}
}

// actionSteps is the number of steps of two such calls and a half: the third sets what the first has returned.
const actionSteps = 28

// killedInActionCall attaches a session that kills itself at a step of such a call, when all is armed.
func killedInActionCall(t *testing.T, path string, step int) {
	t.Helper()
	p := start(t, path, "")
	if line, err := p.out.ReadString('\n'); err != nil {
		t.Fatalf("the target does not begin: %q, %v", line, err)
	}
	armed := filepath.Join(t.TempDir(), "armed")
	s := startCrashed(t, crashPlan{Pid: p.pid(), Specs: []string{"work"}, At: tracee.InAction, AtStep: step, Armed: armed}, nil, nil)
	eventually(t, "breakpoints", func() bool { _, err := os.Stat(armed); return err == nil })
	p.in.Write([]byte("x"))
	s.Wait()
	if ws := s.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
		t.Errorf("the session did not come to the step: status %#x", uint32(ws))
	}
	if got := p.end(); got != "victim bad=0" {
		t.Errorf("the target said %q, %v", got, p.cmd.Wait())
	}
}
