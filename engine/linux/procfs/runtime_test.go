package procfs

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gotap/engine/testenv"
)

// TestRunClock compares with the thread's own clock, which the kernel reads from the same counter.
func TestRunClock(t *testing.T) {
	if !CountsRunTime() {
		testenv.Lack(t, testenv.RunTimes)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var c RunClock
	defer c.Close()
	own := func() uint64 {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
			t.Fatal(err)
		}
		return uint64(now.Nano())
	}
	for range 3 {
		for end := own() + uint64(20*time.Millisecond); own() < end; {
		}
		time.Sleep(time.Millisecond) // a thread that has slept is counted to the end
		before := own()
		got, ok := c.Now(os.Getpid(), unix.Gettid())
		if after := own(); !ok || got > after || got+uint64(5*time.Millisecond) < before {
			t.Errorf("%d %v, between %d and %d", got, ok, before, after)
		}
	}
	var ended RunClock
	if ns, ok := ended.Now(os.Getpid(), 1<<22); ok {
		t.Errorf("a thread that does not exist has run for %d", ns)
	}
}

// TestCgroup: the path is that of version 2, of systemd, or of any controller, in this order.
func TestCgroup(t *testing.T) {
	for text, want := range map[string]string{
		"0::/user.slice/a\n":                                       "/user.slice/a",
		"4:memory:/box\n1:name=systemd:/init\n0::/\n":              "/init",
		"9:name=systemd:/\n4:memory:/docker/0123\n1:cpu:/\n0::/\n": "/docker/0123",
		"0::/\n":    "/",
		"0::/a:b\n": "/a:b",
		"":          "",
	} {
		if got := cgroup(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
	if own := Cgroup(os.Getpid()); !strings.HasPrefix(own, "/") {
		t.Errorf("own group: %q", own)
	}
	if none := Cgroup(1 << 22); none != "" {
		t.Errorf("a process that does not exist is in %q", none)
	}
}
