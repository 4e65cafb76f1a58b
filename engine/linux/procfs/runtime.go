package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// RunClock reads for how long a thread has run, in nanoseconds. It keeps the thread's file open, because it is read
// again at each hit. The zero value has no file. It is not safe for concurrent use.
type RunClock struct{ file *os.File }

// Now returns for how long the thread has run. ok is false if the thread has ended, or if the kernel does not count
// (CONFIG_SCHED_INFO). The time that a running thread has been on its processor since the scheduler's last tick may be
// missing; of a stopped thread nothing is.
func (c *RunClock) Now(pid, tid int) (ns uint64, ok bool) {
	if c.file == nil {
		f, err := os.Open(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, tid))
		if err != nil {
			return 0, false
		}
		c.file = f
	}
	var text [64]byte
	n, _ := c.file.ReadAt(text[:], 0)
	return runTime(string(text[:n]))
}

// Close closes the file. The next Now opens one again.
func (c *RunClock) Close() {
	if c.file != nil {
		c.file.Close()
		c.file = nil
	}
}

// CountsRunTime reports whether the kernel tells how long threads have run.
func CountsRunTime() bool {
	ran, ok := runTime(Read(os.Getpid(), "schedstat"))
	return ok && ran > 0
}

// runTime returns the first number of a schedstat file.
func runTime(schedstat string) (ns uint64, ok bool) {
	first, _, _ := strings.Cut(schedstat, " ")
	ns, err := strconv.ParseUint(first, 10, 64)
	return ns, err == nil
}

// Cgroup returns the control group of a process as a path: that in the hierarchy of version 2, or if the process is at
// its root, of systemd, or else of any controller of version 1. It is relative to the cgroup namespace of the caller,
// and "" if the process does not exist.
func Cgroup(pid int) string { return cgroup(Read(pid, "cgroup")) }

// cgroup chooses among the lines of /proc/PID/cgroup: "ID:CONTROLLERS:PATH".
func cgroup(text string) string {
	best, rank := "", -1
	for line := range strings.Lines(text) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, path, ok := strings.Cut(rest, ":")
		r := 1
		switch {
		case !ok:
			continue
		case path == "/":
			r = 0
		case controllers == "":
			r = 3
		case controllers == "name=systemd":
			r = 2
		}
		if r > rank {
			best, rank = path, r
		}
	}
	return best
}
