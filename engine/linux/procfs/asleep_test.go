package procfs

import (
	"os/exec"
	"testing"
	"time"
)

// TestAsleep: a program that sleeps is asleep, one that runs or has ended is not.
func TestAsleep(t *testing.T) {
	for _, c := range []struct {
		name string
		want bool
	}{{"sleep 100", true}, {"while :; do :; done", false}} {
		cmd := exec.Command("/bin/sh", "-c", "exec "+c.name)
		if !c.want {
			cmd = exec.Command("/bin/sh", "-c", c.name)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
		for end := time.Now().Add(time.Minute); Asleep(cmd.Process.Pid) != c.want; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%s: asleep is %v", c.name, !c.want)
				break
			}
		}
	}
	if Asleep(-1) {
		t.Error("a thread that does not exist is asleep")
	}
}
