package procfs

import (
	"fmt"
	"os/exec"
	"strings"
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
	if _, _, ok := SleepsAt(-1); ok {
		t.Error("a thread that does not exist sleeps somewhere")
	}
	if Asleep(-1) {
		t.Error("a thread that does not exist is asleep")
	}
}

// TestSleepsAt: a program that sleeps does so in its code, with its stack pointer in its stack. One that runs sleeps
// nowhere.
func TestSleepsAt(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "exec sleep 100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	in := func(addr uint64, what string) bool {
		for line := range strings.Lines(Read(cmd.Process.Pid, "maps")) {
			var start, end uint64
			if _, err := fmt.Sscanf(line, "%x-%x", &start, &end); err == nil && addr >= start && addr < end && strings.Contains(line, what) {
				return true
			}
		}
		return false
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if pc, sp, ok := SleepsAt(cmd.Process.Pid); ok && in(pc, "r-xp") && in(sp, "[stack]") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it sleeps nowhere")
		}
	}
	runs := exec.Command("/bin/sh", "-c", "while :; do :; done")
	if err := runs.Start(); err != nil {
		t.Fatal(err)
	}
	defer runs.Wait()
	defer runs.Process.Kill()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, _, ok := SleepsAt(runs.Process.Pid); !ok && Read(runs.Process.Pid, "syscall") != "" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a program that runs sleeps")
		}
	}
}
