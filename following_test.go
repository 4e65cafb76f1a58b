package gotap_test

import (
	"context"
	"os/exec"
	"testing"

	"gotap"
	"gotap/engine/testenv"
)

// TestSomeEnded: of processes that may have ended those that have are passed over, unless all have.
func TestSomeEnded(t *testing.T) {
	testenv.Require(t, testenv.Ptrace)
	target := exec.Command("sleep", "600")
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		target.Process.Kill()
		target.Wait()
	})
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	script := gotap.Script{Name: "stop.js", Text: "begin(() => stop());"}
	o := gotap.Options{Pids: []int{ended.Process.Pid, target.Process.Pid}, Tool: gotap.Tool{MayEnd: true}}
	result, err := gotap.Run(context.Background(), script, o)
	if err != nil || len(result.Targets) != 1 || result.Targets[0].Pid != target.Process.Pid {
		t.Errorf("result %+v, error %v; want process %d as the only target", result, err, target.Process.Pid)
	}
	o.Pids = o.Pids[:1]
	if _, err := gotap.Run(context.Background(), script, o); err == nil {
		t.Error("Run traced nothing and reported no error")
	}
	o.Tool.MayEnd, o.Pids = false, []int{ended.Process.Pid, target.Process.Pid}
	if _, err := gotap.Run(context.Background(), script, o); err == nil {
		t.Error("Run reported no error for a process that has ended")
	}
}
