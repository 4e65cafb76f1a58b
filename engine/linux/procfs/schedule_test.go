package procfs

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gotap/engine/testenv"
)

// TestScheduleOf compares with what the process was started with, and with the system call.
func TestScheduleOf(t *testing.T) {
	testenv.Require(t, "nice", "chrt")
	for want, argv := range map[Schedule][]string{
		{Threads: 1, Nice: 19, Policy: PolicyOther}: {"nice", "-n", "19", "sleep", "100"},
		{Threads: 1, Nice: 0, Policy: PolicyBatch}:  {"chrt", "--batch", "0", "sleep", "100"},
	} {
		own, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want.Nice += 20 - own; want.Nice > 19 { // the system call returns 20 less the niceness
			want.Nice = 19
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var got Schedule
		for range 5000 {
			if Name(cmd.Process.Pid) == "sleep" {
				break
			}
			time.Sleep(time.Millisecond)
		}
		got, _ = ScheduleOf(cmd.Process.Pid)
		cmd.Process.Kill()
		cmd.Wait()
		if got.CPU < 0 {
			t.Errorf("%v: CPU %d", argv, got.CPU)
		}
		if got.CPU = 0; got != want {
			t.Errorf("%v: %+v, not %+v", argv, got, want)
		}
	}
	if _, ok := ScheduleOf(1 << 22); ok {
		t.Error("a thread that does not exist is scheduled")
	}
}
