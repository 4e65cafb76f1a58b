package remote_test

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"gotap/engine/testenv"
)

// TestLeftAlone: a target that cannot be traced, as the file that was named is not its program, does what it does
// without us.
func TestLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, k kind) {
		g := k.start(t)
		if _, errs, status := run(t, `probe("work", () => {});`, "--remote", g.address, "--exe", "testdata/none"); status != 3 || !strings.Contains(errs, "testdata/none") {
			t.Errorf("status %d\n%s", status, errs)
		}
		if out, status := g.wait(t); !strings.Contains(out, output) || !strings.HasPrefix(k.name, "gdbserver") && status != 3 {
			t.Errorf("the target ended with status %d and wrote %q", status, out)
		}
	})
}

// TestNoProgram: a gdbserver that waits to be told what to start is told from one whose target has ended.
func TestNoProgram(t *testing.T) {
	testenv.Require(t, testenv.GDBServer)
	port := freePort(t)
	g := &target{cmd: exec.Command("gdbserver", "--multi", fmt.Sprintf("127.0.0.1:%d", port)), ended: make(chan struct{})}
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { g.cmd.Wait(); close(g.ended) }()
	t.Cleanup(func() { g.cmd.Process.Kill(); <-g.ended })
	g.awaitListener(t, port)
	_, errs, status := run(t, `probe("main", () => {});`, "--remote", fmt.Sprintf("127.0.0.1:%d", port))
	if status != 3 || !strings.Contains(errs, "the stub has no program that runs\nhint: gdbserver --multi ") {
		t.Errorf("status %d\n%s", status, errs)
	}
}
